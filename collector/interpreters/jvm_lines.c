// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lines of methods: a table behind the bytecodes, of pairs (from which bytecode on, which
 * line), each as the difference to the one before. The number of a line is what javac has written.
 */
#include "jvm_code_private.h"

#include "files/jvm_structs.h"

#define HAS_LINES 1u /* a flag of ConstMethod */
#define TABLE_BYTES 4096u
#define PAIRS_MAX 65536u
/* A pair that is small is one byte, with three bits for the line; this one begins another one. */
#define LARGE_PAIR 0xff
#define LINE_BITS 3

/* Where the bytecodes are, and how many bytes. */
static bool find_bytecodes(const struct jvm *j, uint64_t method, uint64_t *at, uint16_t *size,
			   uint16_t *flags)
{
	uint64_t constant;

	if (!j->has_lines ||
	    !jvm_read(j->memory, &constant, sizeof(constant), method + j->o.method_const) ||
	    !jvm_read(j->memory, size, sizeof(*size), constant + j->o.const_code_size) ||
	    !jvm_read(j->memory, flags, sizeof(*flags), constant + j->o.const_flags))
		return false;
	*at = constant + j->o.const_bytes;
	return true;
}

int32_t jvm_method_bci(const struct jvm *j, uint64_t method, uint32_t bytecode)
{
	uint16_t size, flags, bci;
	uint64_t at;

	if (bytecode > UINT16_MAX || !find_bytecodes(j, method, &at, &size, &flags))
		return JVM_BCI_UNKNOWN;
	bci = (uint16_t)(bytecode - at);
	return bci < size ? bci : JVM_BCI_UNKNOWN;
}

struct table {
	uint8_t bytes[TABLE_BYTES];
	uint32_t n, at;
};

static int32_t take_difference(struct table *t)
{
	uint32_t v = jvm_take_number(t->bytes, t->n, &t->at);

	return (int32_t)(v >> 1 ^ -(v & 1));
}

/* Goes to the next pair. False: there is none. */
static bool take_pair(struct table *t, uint32_t *bci, uint32_t *line)
{
	uint8_t byte = t->at < t->n ? t->bytes[t->at++] : 0;

	if (byte == LARGE_PAIR) {
		*bci += (uint32_t)take_difference(t);
		*line += (uint32_t)take_difference(t);
	} else {
		*bci += byte >> LINE_BITS;
		*line += byte & ((1u << LINE_BITS) - 1);
	}
	return byte;
}

/* The table may end before so many bytes, and what is behind it may not be readable. */
static bool read_table(const struct jvm *j, uint64_t at, struct table *t)
{
	for (t->n = TABLE_BYTES; t->n; t->n /= 2)
		if (jvm_read(j->memory, t->bytes, t->n, at))
			return true;
	return false;
}

uint32_t jvm_method_line(const struct jvm *j, uint64_t method, int32_t bci)
{
	uint32_t from = 0, line = 0, best = 0, found = 0, wanted = bci < 0 ? 0 : (uint32_t)bci;
	struct table t = { .at = 0 };
	uint16_t size, flags;
	uint64_t at;

	if (bci < -1 || !find_bytecodes(j, method, &at, &size, &flags) || wanted >= size ||
	    !(flags & HAS_LINES) || !read_table(j, at + size, &t))
		return 0;
	for (uint32_t i = 0; i < PAIRS_MAX && take_pair(&t, &from, &line); i++)
		if (from <= wanted && from >= best) {
			best = from;
			found = line;
		}
	/* Not all of it was seen. */
	return t.at < t.n && found <= UINT16_MAX ? found : 0;
}
