// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as a trace, through the reader and every output format.
 *
 * Built by libFuzzer (make fuzz), or with -DREPLAY as a program that runs the files named on its
 * command line once each.
 *
 * Checksums would stop nearly all changes at the door. So the first byte of an input says whether
 * they are put right before it is read (bit 0), and which mode is used (bit 1); the trace follows.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../engine/format.h"
#include "crc32c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "broken promise: %s\n", what);
		abort();
	}
}

/* What trace.h promises of any input. */
static void check_promises(const struct trace *t)
{
	struct trace_cursor *c = trace_cursor_new(t);
	const struct trace_info *info = trace_info(t);
	uint64_t last_ns = info->start_ns, n = 0;
	struct event ev;

	must(c != NULL, "memory for a cursor");
	must(info->tids_end <= TRACE_TID_LIMIT, "tids are bounded");
	while (trace_cursor_next(c, &ev)) {
		must(ev.time_ns >= last_ns, "times do not decrease");
		must(ev.time_ns <= info->end_ns, "no event after the end");
		must(ev.tid < info->tids_end && ev.other < info->tids_end, "tids are bounded");
		must(ev.kstack < trace_stacks_end(t), "stack ids are in range");
		must(ev.ustack < trace_stacks_end(t), "stack ids are in range");
		must(ev.string < trace_strings_end(t), "string ids are in range");
		must(ev.kind != EVENT_LOST || ev.last_ns >= ev.time_ns, "losses have a length");
		last_ns = ev.time_ns;
		n += ev.kind != EVENT_LOST;
	}
	must(trace_cursor_error(c) == 0, "the cursor meets no malformed block");
	must(n == info->events, "as many events as counted");
	trace_cursor_free(c);
}

static void write_all(const struct trace *t, const struct options *o)
{
	struct format_input in = { .trace = t, .options = o };
	struct timelines *timelines = NULL;
	const struct format *f;

	if (timelines_new(&timelines, t))
		return;
	for (size_t i = 0; (f = format_at(i)); i++) {
		FILE *out = fopen("/dev/null", "w");

		must(out != NULL, "/dev/null");
		in.timelines = f->wants_timelines ? timelines : NULL;
		(void)f->write(&in, out);
		fclose(out);
	}
	timelines_free(timelines);
}

static char *folded(const struct timelines *timelines, const struct options *o)
{
	struct fold *f = NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	must(out && !fold_new(&f, timelines, o) && !fold_write(f, o, out), "folded lines");
	fclose(out);
	fold_free(f);
	return text;
}

/* Opened quickly, and checked only if a malformed event is met, it gives the same. */
static void read_quickly(const struct trace *checked, const uint8_t *p, size_t len,
			 const struct options *o)
{
	struct timelines *quick = NULL, *slow = NULL;
	struct trace *t;
	char *a, *b;
	int err;

	must(!trace_open_memory_quick(&t, p, len), "what can be checked can be opened");
	err = timelines_new(&quick, t);
	if (err == -EBADMSG) {
		must(!trace_check(t), "it can be checked later");
		err = timelines_new(&quick, t);
	}
	must(!err && !timelines_new(&slow, checked), "timelines");
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
	o.verbose = true;
	o.blocked_stacks = true;
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	if (!trace_open_memory(&t, copy, size - 1)) {
		check_promises(t);
		read_quickly(t, copy, size - 1, &o);
		write_all(t, &o);
		trace_close(t);
	}
	options_free(&o);
	free(copy);
	return 0;
}

#ifdef REPLAY
static int replay(const char *path)
{
	static uint8_t buf[4 << 20];
	FILE *f = fopen(path, "rb");
	size_t len;

	if (!f) {
		perror(path);
		return 1;
	}
	len = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	LLVMFuzzerTestOneInput(buf, len);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	printf("%d inputs replayed\n", argc - 1);
	return failed;
}
#endif
