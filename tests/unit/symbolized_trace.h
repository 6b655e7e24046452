/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_trace.h - for the tests of the symbolizer: a trace in memory, and the names in it by
 * frame. The blocks are decoded here by the format's page alone. Include test.h before it.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "names/reader.h"
#include "names/symbolize.h"

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct trace {
	uint8_t *bytes;
	size_t len;
	struct encoder *enc;
	struct helpers *readers;
	struct symbolizer *s;
	struct symbolizer_stats stats;
	uint32_t last_kernel_frame;
};

static inline int keep(void *ctx, const void *block, size_t len)
{
	struct trace *t = ctx;

	t->bytes = realloc(t->bytes, t->len + len);
	assert_non_null(t->bytes);
	memcpy(t->bytes + t->len, block, len);
	t->len += len;
	return 0;
}

static inline struct trace *begin(unsigned int parts)
{
	struct trace *t = calloc(1, sizeof(*t));
	int kernel, sideband;

	assert_non_null(t);
	assert_int_equal(encoder_new(&t->enc, keep, t), 0);
	assert_non_null(t->enc);
	assert_int_equal(helpers_start(&t->readers, HELPERS_NO_RIGHTS), 0);
	assert_int_equal(symbolizer_new(&t->s, t->enc, parts), 0);
	symbolizer_read_by(t->s, t->readers);
	symbolizer_limit(t->s, false, 1000000000000u); /* however busy the machine is */
	symbolizer_status(t->s, &kernel, &sideband);
	if (sideband == -EACCES || sideband == -EPERM) {
		print_message("perf_event_open is not permitted\n");
		skip();
	}
	assert_int_equal(sideband, 0);
	return t;
}

static inline void finish(struct trace *t)
{
	assert_int_equal(symbolizer_finish(t->s, &t->stats), 0);
	assert_int_equal(encoder_flush(t->enc), 0);
	assert_int_equal(t->stats.user_frames - t->stats.user_named,
			 t->stats.unmapped + t->stats.too_many + t->stats.no_file +
				 t->stats.no_symbol + t->stats.no_perf_map + t->stats.late);
}

static inline void end(struct trace *t)
{
	symbolizer_free(t->s);
	helpers_free(t->readers);
	encoder_free(t->enc);
	free(t->bytes);
	free(t);
}

/* A user address of a process, now: the frame's id. */
static inline uint32_t seen(struct trace *t, pid_t tgid, uint64_t addr)
{
	uint64_t now = now_ns();
	uint32_t space = symbolizer_space(t->s, (uint32_t)tgid, now), frame;

	assert_true(space != 0);
	frame = encoder_frame(t->enc, space, addr);
	symbolizer_frame(t->s, frame, space, addr, now);
	return frame;
}

/* A kernel address, at that time: the frame's id. */
static inline uint32_t kernel_seen(struct trace *t, uint64_t addr, uint64_t time_ns)
{
	uint32_t generation = symbolizer_kernel_generation(t->s, addr, time_ns);
	uint32_t frame = encoder_kernel_frame(t->enc, addr, generation);

	if (frame > t->last_kernel_frame)
		symbolizer_kernel_frame(t->s, frame, addr, generation);
	t->last_kernel_frame = frame > t->last_kernel_frame ? frame : t->last_kernel_frame;
	return frame;
}

static inline uint64_t number(const uint8_t **p, const uint8_t *e)
{
	uint64_t v = 0;

	*p = chainlog_get_varint(*p, e, &v);
	assert_non_null(*p);
	return v;
}

/* The payload of the next block of that type from *at on; NULL: no more. */
static inline const uint8_t *next_block(const struct trace *t, size_t *at, int type,
					const uint8_t **e)
{
	while (*at < t->len) {
		const uint8_t *p = t->bytes + *at + CHAINLOG_HEADER_SIZE;
		uint32_t len = chainlog_get_le32(t->bytes + *at + CHAINLOG_OFF_LEN);
		int found = t->bytes[*at + CHAINLOG_OFF_TYPE];

		*at += CHAINLOG_HEADER_SIZE + len;
		*e = p + len;
		if (found == type)
			return p;
	}
	return NULL;
}

/* The string with that id, in a buffer of four. */
static inline const char *string(const struct trace *t, uint64_t id)
{
	static char bufs[4][5000];
	static int turn;
	const uint8_t *p, *e;
	size_t at = 0;

	while (id && (p = next_block(t, &at, CHAINLOG_BLOCK_STRINGS, &e))) {
		uint64_t first = number(&p, e), n = number(&p, e);

		for (uint64_t i = first; i < first + n; i++) {
			uint64_t len = number(&p, e);

			assert_true(len <= (size_t)(e - p));
			if (i == id) {
				turn = (turn + 1) % 4;
				snprintf(bufs[turn], sizeof(bufs[0]), "%.*s", (int)len,
					 (const char *)p);
				return bufs[turn];
			}
			p += len;
		}
	}
	return NULL;
}

struct name {
	const char *symbol, *module; /* NULL: none */
	uint64_t offset, build_id_len;
};

static inline void look_up_module(const struct trace *t, uint64_t id, struct name *out)
{
	const uint8_t *p, *e;
	size_t at = 0;

	while ((p = next_block(t, &at, CHAINLOG_BLOCK_MODULES, &e))) {
		uint64_t first = number(&p, e), n = number(&p, e);

		for (uint64_t i = first; i < first + n; i++) {
			uint64_t path = number(&p, e), len = number(&p, e);

			p += len;
			if (i == id) {
				out->module = string(t, path);
				out->build_id_len = len;
			}
		}
	}
}

static inline struct name name_of(const struct trace *t, uint32_t frame)
{
	struct name out = { 0 };
	const uint8_t *p, *e;
	size_t at = 0;

	while ((p = next_block(t, &at, CHAINLOG_BLOCK_NAMES, &e))) {
		uint64_t id = 0;

		for (uint64_t n = number(&p, e); n; n--) {
			uint64_t symbol, module, offset;

			id += (uint64_t)chainlog_unzigzag(number(&p, e));
			symbol = number(&p, e);
			module = number(&p, e);
			offset = number(&p, e);
			if (id != frame)
				continue;
			out.symbol = string(t, symbol);
			out.offset = offset;
			look_up_module(t, module, &out);
		}
	}
	return out;
}

/* Of process tgid, says its `what` with that text in it; of how many such notes it is the first
 * ("0": of none). */
static inline uint32_t notes_with(const struct trace *t, const char *what, uint32_t tgid,
				  uint32_t *place)
{
	const uint8_t *p, *e;
	uint32_t n = 0;
	size_t at = 0;

	*place = 0;
	while ((p = next_block(t, &at, CHAINLOG_BLOCK_NOTES, &e)))
		for (uint64_t left = number(&p, e); left; left--) {
			uint64_t len = number(&p, e), of;
			const uint8_t *fields = p;

			p += len;
			of = number(&fields, p);
			number(&fields, p); /* the program */
			if (!strstr(string(t, number(&fields, p)), what))
				continue;
			n++;
			if (of == tgid && !*place)
				*place = n;
		}
	return n;
}

static inline void expect(const struct trace *t, uint32_t frame, const char *symbol,
			  const char *module, uint64_t offset)
{
	struct name n = name_of(t, frame);

	assert_string_equal(n.symbol ? n.symbol : "none", symbol);
	assert_string_equal(n.module ? n.module : "none", module);
	assert_int_equal(n.offset, offset);
}
