/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_end.h - time that ended when a block device was done with something, by device, operation
 * and stage (chain-semantics, section 11). As one number, it is what a chain_user's disk() gets.
 */
#ifndef ENGINE_DISK_END_H
#define ENGINE_DISK_END_H

#include "timeline/timeline.h"

enum disk_stage {
	DISK_WHOLE,  /* it is not known when the device got the request */
	DISK_QUEUED, /* before the device got it */
	DISK_DEVICE,
	DISK_STAGES,
};

static inline uint32_t disk_what(uint32_t kind, enum disk_stage stage)
{
	return kind * DISK_STAGES + stage;
}

static inline uint32_t disk_what_kind(uint32_t what)
{
	return what / DISK_STAGES;
}

static inline enum disk_stage disk_what_stage(uint32_t what)
{
	return (enum disk_stage)(what % DISK_STAGES);
}

/* "[queued]", "[device]"; NULL of DISK_WHOLE. */
const char *disk_stage_name(enum disk_stage stage);
/* The request that ended w, whose chain ends in CHAIN_DISK. */
const struct disk_request *disk_request_of(const struct timelines *tl, const struct wait *w);

#endif /* ENGINE_DISK_END_H */
