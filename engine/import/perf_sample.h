/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_sample.h - the fields of a record whose presence depends on what was asked for: those of a
 * sample, and those that end other records. Source: include/uapi/linux/perf_event.h, enum
 * perf_event_type.
 */
#pragma once

#include "perf_file.h"

/* Fields that are not there are 0, tid and tgid -1. */
struct perf_sample {
	uint64_t time_ns;
	uint64_t period;	 /* how many of what it counts it stands for */
	int32_t tid, tgid;	 /* -1: not said; the thread was exiting */
	int32_t cpu;		 /* -1: not said */
	struct perf_bytes chain; /* the call chain, 8 bytes for each address */
	struct perf_bytes raw;	 /* the fields of a tracepoint */
	bool has_user_copy;	 /* with a copy of the user stack, in place of its call chain */
};

/* The time alone; false: it has none, or is cut off. */
bool perf_sample_time(const struct perf_attr *a, const struct perf_record *r, uint64_t *time_ns);
/* Of a sample. False: its fields do not fit. */
bool perf_sample_read(const struct perf_attr *a, const struct perf_record *r,
		      struct perf_sample *s);
/*
 * Of another record, if it ends with such fields; they are cut off from its body. False: they do
 * not fit.
 */
bool perf_sample_trailer(const struct perf_attr *a, struct perf_record *r, struct perf_sample *s);
