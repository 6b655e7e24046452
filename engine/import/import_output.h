/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_output.h - what an import is given, and the trace in memory that it makes: an encoder
 * whose blocks are kept, and the INFO block, which is complete only at the end, before all others.
 */
#pragma once

#include "common/encoder.h"
#include "trace/trace.h"

/* What is imported. */
struct import_input {
	const uint8_t *p;
	size_t len;
	int fd;			  /* text goes on there; -1: it is all */
	const char *sample_event; /* whose samples say what ran; NULL: see import_samples.h */
	int64_t written_ns;	  /* when it was written, CLOCK_REALTIME; 0: not known */
};

/* Zero is nothing. */
struct import_output {
	struct encoder *enc;
	uint8_t *out; /* ENCODER_INFO_SIZE bytes of room for INFO, then the other blocks */
	size_t len, cap, info_len;
};

/* To be freed with import_output_free(). */
void import_output_begin(struct import_output *o);
/*
 * All events are put. Completes info, whose start becomes that of the first event, and hands the
 * trace over, in memory of its own. Returns 0 or a negative errno.
 */
int import_output_end(struct import_output *o, struct chainlog_info *info, struct trace_bytes *out);
void import_output_free(struct import_output *o);
