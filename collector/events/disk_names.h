/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_names.h - how people call a block device: as the kernel does (vda, md0), but those of
 * device-mapper by the names that they were given (vg-root for dm-0).
 */
#ifndef DISK_NAMES_H
#define DISK_NAMES_H

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

#define DISK_NAME_LEN 128 /* device-mapper's own limit, with the terminator */
#define DISK_NAMES 16

/* All zero is empty. */
struct disk_names {
	struct {
		char kernel[WIRE_DISK_NAME], shown[DISK_NAME_LEN];
		uint64_t read_ns;
	} known[DISK_NAMES]; /* of device-mapper's, by number */
};

/*
 * Puts the name of the device that the kernel calls so, WIRE_DISK_NAME bytes with or without a
 * terminator, into shown. time_ns: CLOCK_MONOTONIC; a name is read once a second at most.
 */
void disk_name(struct disk_names *d, const char *kernel, uint64_t time_ns,
	       char shown[DISK_NAME_LEN]);

#endif /* DISK_NAMES_H */
