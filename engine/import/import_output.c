// SPDX-License-Identifier: GPL-2.0-or-later
#include "import_output.h"
#include "common/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Of the trace, to begin with. */
#define FIRST_BYTES (1u << 20)

/* A sink: keeps a block. */
static int keep_block(void *ctx, const void *block, size_t len)
{
	struct import_output *o = ctx;
	if (!o->info_len && ((const uint8_t *)block)[CHAINLOG_OFF_TYPE] == CHAINLOG_BLOCK_INFO) {
		memcpy(o->out + ENCODER_INFO_SIZE - len, block, len);
		o->info_len = len;
		return 0;
	}
	if (o->cap - o->len < len) {
		o->cap = o->cap * 2 + len;
		o->out = xreallocarray(o->out, o->cap, 1);
	}
	memcpy(o->out + o->len, block, len);
	o->len += len;
	return 0;
}

void import_output_begin(struct import_output *o)
{
	o->cap = FIRST_BYTES;
	o->len = ENCODER_INFO_SIZE;
	o->out = xmalloc(o->cap);
	if (encoder_new(&o->enc, keep_block, o))
		out_of_memory();
	encoder_keep_all(o->enc);
}

int import_output_end(struct import_output *o, struct chainlog_info *info, struct trace_bytes *out)
{
	size_t begin;
	struct encoder_counts c;

	encoder_flush(o->enc);
	encoder_counts(o->enc, &c);
	info->start_ns = c.first_ns;
	encoder_info(o->enc, info);
	encoder_end(o->enc, c.last_ns, 0, 0);
	if (encoder_error(o->enc))
		return encoder_error(o->enc);
	begin = ENCODER_INFO_SIZE - o->info_len;
	*out = (struct trace_bytes) {
		.heap = o->out,
		.base = o->out + begin,
		.len = o->len - CHAINLOG_FOOTER_SIZE - begin, /* a footer is for files */
	};
	o->out = NULL;
	return 0;
}

void import_output_free(struct import_output *o)
{
	encoder_free(o->enc);
	free(o->out);
}
