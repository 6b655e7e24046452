/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * go_bytes.h - execution traces of Go in the making, for tests: events stated one by one, written
 * as Go writes them. A tick is a microsecond. Include test.h before it.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define TICKS 1000000u

struct bytes {
	uint8_t p[8192];
	size_t len;
};

static inline void put_byte(struct bytes *b, uint8_t v)
{
	assert_true(b->len < sizeof(b->p));
	b->p[b->len++] = v;
}

static inline void put_number(struct bytes *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(b, (uint8_t)(v | 0x80));
	put_byte(b, (uint8_t)v);
}

static inline void put_bytes(struct bytes *b, const void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put_byte(b, ((const uint8_t *)p)[i]);
}

static inline struct bytes begin(const char *header)
{
	struct bytes b = { .len = 0 };
	char padded[16] = { 0 };

	memcpy(padded, header, strlen(header));
	put_bytes(&b, padded, sizeof(padded));
	return b;
}

/* Numbers up to UINT64_MAX, which ends them. */
#define END UINT64_MAX
#define NUMBERS(...)             \
	(const uint64_t[])       \
	{                        \
		__VA_ARGS__, END \
	}

static inline void put_numbers(struct bytes *b, const uint64_t *v)
{
	for (; *v != END; v++)
		put_number(b, *v);
}

/* An item of the layout up to Go 1.21: two bits say how many numbers follow, or that a length does.
 */
static inline void item(struct bytes *b, uint8_t type, const uint64_t *v)
{
	struct bytes in = { .len = 0 };
	size_t n = 0;

	while (v[n] != END)
		n++;
	put_numbers(&in, v);
	put_byte(b, (uint8_t)(type | (n < 4 ? n - 1 : 3) << 6));
	if (n >= 4)
		put_number(b, in.len);
	put_bytes(b, in.p, in.len);
}

static inline void old_string(struct bytes *b, uint64_t id, const char *s)
{
	put_byte(b, 37);
	put_number(b, id);
	put_number(b, strlen(s));
	put_bytes(b, s, strlen(s));
}

/*
 * The end of an old trace: the stacks 1 to 9, of one frame each, with the function "f1" to "f9" in
 * a file "x.go", at the line of the same number; 12 has f1 and below it f2.
 */
static inline void old_end(struct bytes *b)
{
	char name[] = "f0";

	item(b, 2, NUMBERS(TICKS));
	old_string(b, 20, "x.go");
	for (uint64_t i = 1; i < 10; i++) {
		name[1] = (char)('0' + i);
		old_string(b, i, name);
		item(b, 3, NUMBERS(i, 1, 0x1000 + i, i, 20, i));
	}
	item(b, 3, NUMBERS(12, 2, 0x1001, 1, 20, 1, 0x1002, 2, 20, 2));
}

/* Types of both layouts. */
enum {
	OLD_BATCH = 1,
	OLD_PROC_START = 5,
	OLD_CREATE = 13,
	OLD_START,
	OLD_ENDS,
	OLD_YIELD = 17,
	OLD_SLEEP = 19,
	OLD_BLOCK,
	OLD_UNBLOCK,
	OLD_SEND,
	OLD_RECEIVE,
	OLD_SELECT,
	OLD_SYNC,
	OLD_NETWORK = 27,
	OLD_CALL,
	OLD_CALL_EXIT,
	OLD_CALL_BLOCKED,
	OLD_WAITING,
	OLD_IN_CALL,
	OLD_START_LOCAL = 38,
	OLD_UNBLOCK_LOCAL,
	OLD_SAMPLE = 49,
};

/* Goroutines 1, 2 and 3, begun with f1, f2 and f3, exist; P 0 runs 1 from 1010 on. */
static inline struct bytes old_begin(void)
{
	struct bytes b = begin("go 1.19 trace");

	item(&b, OLD_BATCH, NUMBERS(0, 1000));
	for (uint64_t g = 1; g <= 3; g++)
		item(&b, OLD_CREATE, NUMBERS(g > 1, g, g, 0));
	item(&b, OLD_PROC_START, NUMBERS(8, 0));
	item(&b, OLD_START, NUMBERS(0, 1, 1));
	return b;
}

/* ---- since Go 1.22 -------------------------------------------------------------------------- */

enum {
	NEW_PROC_START = 10,
	NEW_PROC_STATUS = 13,
	NEW_CREATE,
	NEW_START = 16,
	NEW_ENDS,
	NEW_BLOCK = 20,
	NEW_UNBLOCK,
	NEW_CALL,
	NEW_CALL_END,
	NEW_CALL_END_BLOCKED,
	NEW_STATUS,
	NEW_SWITCH = 45,
	NEW_STATUS_STACK = 48,
	NEW_GENERATION_END = 52,
	RUNNABLE = 1,
	RUNNING,
	IN_CALL,
	WAITING,
	NOBODY = 1u << 30, /* the thread of an id that no thread has */
};

static inline void put_event(struct bytes *b, uint8_t type, const uint64_t *v)
{
	put_byte(b, type);
	put_numbers(b, v);
}

static inline void put_batch(struct bytes *b, uint64_t generation, uint64_t thread, uint64_t time,
			     const struct bytes *in)
{
	put_event(b, 1, NUMBERS(generation, thread, time, in->len));
	put_bytes(b, in->p, in->len);
}

/* What a generation has besides events: frequency, strings and stacks, as old_end(). */
static inline void put_tables(struct bytes *b, uint64_t generation)
{
	struct bytes frequency = { .len = 0 }, strings = { .len = 0 }, stacks = { .len = 0 };
	static const char *const texts[] = { "sync", "chan receive", "x.go" };
	char name[] = "f0";

	put_event(&frequency, 8, NUMBERS(TICKS));
	put_byte(&strings, 4);
	put_byte(&stacks, 2);
	for (uint64_t i = 1; i < 13; i++) {
		const char *s = i < 10 ? name : texts[i - 10];

		name[1] = (char)('0' + i);
		put_event(&strings, 5, NUMBERS(i, strlen(s)));
		put_bytes(&strings, s, strlen(s));
		if (i < 10)
			put_event(&stacks, 3, NUMBERS(i, 1, 0x1000 + i, i, 12, i));
	}
	put_event(&stacks, 3, NUMBERS(12, 2, 0x1001, 1, 12, 1, 0x1002, 2, 12, 2));
	put_batch(b, generation, NOBODY, 900, &frequency);
	put_batch(b, generation, NOBODY, 900, &strings);
	put_batch(b, generation, NOBODY, 900, &stacks);
}
