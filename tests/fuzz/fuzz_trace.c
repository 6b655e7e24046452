// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as a trace, through the reader and every output format.
 *
 * Checksums would stop nearly all changes at the door. So the first byte of an input says whether
 * they are put right before it is read (bit 0), and which mode is used (bit 1); the trace follows.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crc32c.h"
#include "engine.h"

/* Makes the CRC of everything that looks like a block right. */
static void repair(uint8_t *p, size_t len)
{
	size_t at = 0;

	while (at + CHAINLOG_HEADER_SIZE <= len) {
		uint32_t payload = chainlog_get_le32(p + at + CHAINLOG_OFF_LEN);

		if (chainlog_get_le32(p + at) != CHAINLOG_SYNC ||
		    payload > len - at - CHAINLOG_HEADER_SIZE) {
			at++;
			continue;
		}
		chainlog_put_le32(p + at + CHAINLOG_OFF_CRC,
				  crc32c(crc32c(0, p + at, CHAINLOG_OFF_CRC),
					 p + at + CHAINLOG_HEADER_SIZE, payload));
		at += CHAINLOG_HEADER_SIZE + payload;
	}
}

static char *folded(const struct timelines *timelines, const struct options *o)
{
	struct fold *f = NULL;
	struct text_buf text = { 0 };

	text_puts(&text, "lines:\n");
	fold_new(&f, timelines, o, FOLD_BY_NAME);
	fold_put(&text, f, o);
	fold_free(f);
	return text.p;
}

/* Opened without a check, and checked only if a malformed event is met, it gives the same. */
static void read_quickly(const struct trace *checked, const uint8_t *p, size_t len,
			 const struct options *o)
{
	struct timelines *quick = NULL, *slow = NULL;
	struct trace *t;
	char *a, *b;
	int err;

	must(!trace_open_bytes(&t, &(struct trace_bytes) { .base = p, .len = len }, false),
	     "what can be checked can be opened");
	trace_choose_frames(t, o->native);
	err = timelines_new_with_cpus(&quick, t);
	if (err == -EBADMSG) {
		must(!trace_check(t), "it can be checked later");
		trace_choose_frames(t, o->native);
		err = timelines_new_with_cpus(&quick, t);
	}
	must(!err && !timelines_new_with_cpus(&slow, checked), "timelines");
	sleep_ends_settle(quick);
	sleep_ends_settle(slow);
	a = folded(quick, o);
	b = folded(slow, o);
	must(!strcmp(a, b), "the same either way");
	free(a);
	free(b);
	timelines_free(quick);
	timelines_free(slow);
	trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct options o;
	struct trace *t;
	uint8_t *copy;

	if (!size)
		return 0;
	/* A copy of just this size, so that a read beyond it is caught. */
	copy = malloc(size);
	must(copy != NULL, "memory for a copy");
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 1)
		repair(copy, size - 1);
	options_init(&o);
	o.mode = data[0] & 2 ? MODE_CLASSIC : MODE_EXACT;
	o.native = data[0] & 4;
	o.verbose = true;
	o.blocked_stacks = true;
	o.who_ran = true;
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	if (!trace_open_memory(&t, copy, size - 1)) {
		check_promises(t);
		trace_choose_frames(t, o.native);
		check_promises(t);
		read_quickly(t, copy, size - 1, &o);
		write_all(t, &o);
		trace_close(t);
	}
	options_free(&o);
	free(copy);
	return 0;
}
