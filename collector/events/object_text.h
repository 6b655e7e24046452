/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_text.h - what the BPF side says of an object (struct wire_object) in words: its class, and
 * its name among the objects of that class. Names contain strangers' text: any bytes but 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

#define OBJECT_CLASS_LEN 32
#define OBJECT_NAME_LEN 640
#define OBJECT_END_LEN 96

struct object_text {
	char class[OBJECT_CLASS_LEN];
	char name[OBJECT_NAME_LEN]; /* "": there is no more to say than the class */
	/*
	 * Sockets with addresses: the own end, "tcp 10.0.0.1:40000". The other end's own one leads
	 * to its process, if that is on this machine.
	 */
	char own[OBJECT_END_LEN];
	uint32_t peer;	/* process at the other end; 0: not known */
	uint32_t owner; /* with own: its process */
	/*
	 * Of a file, or where a shared lock lies: the kernel's numbers for it (device: major << 20
	 * | minor), which tell it from another one of the same path. 0: none.
	 */
	uint32_t device;
	uint64_t inode;
	const char *protocol; /* of a route, as route_protocol_name(); NULL: not known */
};

/* Describes the record of len bytes. Returns 0, or -EBADMSG if it is none. */
int object_describe(const struct wire_object *o, size_t len, struct object_text *out);

#define DISK_NAME_LEN 128 /* device-mapper's own limit, with the terminator */
#define DISK_NAMES 16

/*
 * How people call a block device: as the kernel does (vda, md0), but those of device-mapper by the
 * names that they were given (vg-root for dm-0). All zero is empty.
 */
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
