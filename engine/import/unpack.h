/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - what gzip, xz or zstd has compressed, as a stream: a thread decompresses into a socket
 * as fast as somebody reads, so that it takes no more memory than the decompressor does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the beginning that unpack_is() looks at. */
#define UNPACK_SNIFF 6u

struct unpack;

/* True if what begins with these bytes is compressed so that this program can read it. */
bool unpack_is(const void *p, size_t len);

/*
 * Begins to decompress what starts with [head, head + len), which must stay valid, and goes on in
 * fd, which stays the caller's. *from is where to read the result, to the end. Returns 0 or a
 * negative errno.
 */
int unpack_begin(struct unpack **out, const void *head, size_t len, int fd, int *from);
/*
 * Ends it, closes *from. Returns 0; -EBADMSG if it was damaged or cut off; or another negative
 * errno. NULL is allowed.
 */
int unpack_end(struct unpack *u);
