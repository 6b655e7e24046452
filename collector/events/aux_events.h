/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aux_events.h - records of the BPF side that become events of AUX_EVENTS blocks. A new kind is a
 * line in the table of kinds and one in the switch that takes its fields.
 */
#ifndef AUX_EVENTS_H
#define AUX_EVENTS_H

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "disk_names.h"
#include "common/encoder.h"
#include "object_map.h"
#include "stack_map.h"

/* The kind in the trace, with CHAINLOG_AUX added, of a kind of record; 0: it is none of these. */
uint32_t aux_events_kind(uint32_t wire_kind);

/* Where events of these kinds go, and what their ids and names are found by. */
struct aux_events {
	struct encoder *enc;
	struct stack_map *stacks;
	struct object_map *objects;
	struct disk_names disks;
};

/* Encodes a record of such a kind. Returns 0 or the encoder's negative errno. */
int aux_events_encode(struct aux_events *m, const struct wire_record *r);

#endif /* AUX_EVENTS_H */
