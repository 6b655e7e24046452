/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proto.h - writes Protocol Buffers messages: the wire format alone (varints, fixed 64-bit numbers,
 * lengths), without schemas. Which field number means what is known to the formats that use it.
 *
 * A message is made in memory, field by field; one inside another is begun and ended around its
 * own fields. After out of memory nothing more is added and failed stays set.
 */
#ifndef ENGINE_PROTO_H
#define ENGINE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct proto {
	uint8_t *p;
	size_t len, cap; /* bytes */
	bool failed;	 /* out of memory */
};

void proto_free(struct proto *b);

/* A field of any of the varint types: int32, int64, uint32, uint64, bool, enum. */
void proto_uint(struct proto *b, uint32_t field, uint64_t v);
void proto_fixed64(struct proto *b, uint32_t field, uint64_t v);
void proto_bytes(struct proto *b, uint32_t field, const void *p, size_t len);
/* s ends with a NUL, and is valid UTF-8 where the schema says string. */
void proto_string(struct proto *b, uint32_t field, const char *s);

/* Begins a message in a field; returns what proto_end() wants to know. Ended innermost first. */
size_t proto_begin(struct proto *b, uint32_t field);
void proto_end(struct proto *b, size_t begin);
/* Begins the packed values of a repeated field, to be ended like a message. */
size_t proto_begin_packed(struct proto *b, uint32_t field);
void proto_packed(struct proto *b, uint64_t v);

#endif /* ENGINE_PROTO_H */
