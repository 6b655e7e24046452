/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block.h - finds the blocks of a trace in its bytes. It owns the checks of header and CRC, and the
 * search for the next sound block behind damage; payloads are opaque to it.
 */
#ifndef ENGINE_BLOCK_H
#define ENGINE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chainlog.h"

struct block {
	const uint8_t *payload; /* borrowed from the input */
	uint32_t len;		/* payload bytes */
	uint32_t type;		/* enum chainlog_block, or one that this version does not know */
	uint64_t offset;	/* of the header, bytes from the start of the input */
};

enum block_status {
	BLOCK_SOUND,
	BLOCK_CUT,	   /* the input ends inside it */
	BLOCK_NO_SYNC,	   /* no block begins here */
	BLOCK_BAD_HEADER,  /* impossible length, type or zero field */
	BLOCK_BAD_VERSION, /* sound, but of another version of the format */
	BLOCK_BAD_CRC,
};

/* The damage in a few words. */
const char *block_status_text(enum block_status status);

/* Checks the block at p; fills *b (all but the offset) if it is sound. */
enum block_status block_check(const uint8_t *p, const uint8_t *end, struct block *b);

/*
 * Walks over the sound blocks of [base, base + len). budget limits the bytes spent on the CRC of
 * damaged blocks: without it, crafted input could cost the square of its length.
 */
struct block_scan {
	const uint8_t *base;
	size_t len, at;
	uint64_t budget;
	/* The bytes that the last block_next() skipped; skipped is 0 if there were none. */
	size_t skip_at, skipped;
	enum block_status why; /* the damage at skip_at */
};

void block_scan_init(struct block_scan *s, const void *p, size_t len);
/* The next sound block; false at the end of the input (which may have skipped bytes, too). */
bool block_next(struct block_scan *s, struct block *b);

#endif /* ENGINE_BLOCK_H */
