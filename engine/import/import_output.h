/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_output.h - the trace in memory that an import makes: an encoder whose blocks are kept, and
 * the INFO block, which is complete only at the end, before all others.
 */
#pragma once

#include "common/encoder.h"

/* Zero is nothing. */
struct import_output {
	struct encoder *enc;
	uint8_t *out; /* ENCODER_INFO_SIZE bytes of room for INFO, then the other blocks */
	size_t len, cap, info_len;
};

/* 0 or -ENOMEM; import_output_free() in all cases. */
int import_output_begin(struct import_output *o);
/*
 * All events are put. Completes info, whose start becomes that of the first event, and hands the
 * trace over: *buf is to be freed with free(), the trace begins at *buf + *offset and has
 * *trace_len bytes. Returns 0 or a negative errno.
 */
int import_output_end(struct import_output *o, struct chainlog_info *info, uint8_t **buf,
		      size_t *offset, size_t *trace_len);
void import_output_free(struct import_output *o);
