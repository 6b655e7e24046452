/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proto.h - writes Protocol Buffers messages: the wire format alone (varints, fixed 64-bit numbers,
 * lengths), without schemas. The formats that use it know the field numbers.
 *
 * A message is built in memory, field by field; a nested message is written between proto_begin()
 * and proto_end().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* A field of any of the varint types: int32, int64, uint32, uint64, bool, enum. */
void proto_uint(struct text_buf *b, uint32_t field, uint64_t v);
void proto_fixed64(struct text_buf *b, uint32_t field, uint64_t v);
void proto_bytes(struct text_buf *b, uint32_t field, const void *p, size_t len);
/* s ends with a NUL; it must be valid UTF-8 if the schema's type is string. */
void proto_string(struct text_buf *b, uint32_t field, const char *s);

/*
 * Begins a nested message, or the packed values of a repeated field; returns the argument for its
 * proto_end(). Innermost first.
 */
size_t proto_begin(struct text_buf *b, uint32_t field);
void proto_end(struct text_buf *b, size_t begin);
void proto_packed(struct text_buf *b, uint64_t v);
