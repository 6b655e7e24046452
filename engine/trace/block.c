// SPDX-License-Identifier: GPL-2.0-or-later
#include "block.h"

#include <string.h>

#include "common/crc32c.h"

const char *block_status_text(enum block_status status)
{
	switch (status) {
	case BLOCK_SOUND:
		return "sound";
	case BLOCK_CUT:
		return "the file ends in the middle of a block";
	case BLOCK_NO_SYNC:
		return "bytes that are no block";
	case BLOCK_BAD_HEADER:
		return "a block header with impossible values";
	case BLOCK_BAD_VERSION:
		return "a block of an unknown version of the format";
	case BLOCK_BAD_CRC:
		return "a block whose checksum does not match";
	}
	return "";
}

enum block_status block_check(const uint8_t *p, const uint8_t *end, struct block *b)
{
	size_t left = (size_t)(end - p);
	uint8_t sync[4];
	uint32_t crc;

	chainlog_put_le32(sync, CHAINLOG_SYNC);
	if (memcmp(p, sync, left < sizeof(sync) ? left : sizeof(sync)))
		return BLOCK_NO_SYNC;
	if (left < CHAINLOG_HEADER_SIZE)
		return BLOCK_CUT;
	b->type = p[CHAINLOG_OFF_TYPE];
	b->len = chainlog_get_le32(p + CHAINLOG_OFF_LEN);
	b->payload = p + CHAINLOG_HEADER_SIZE;
	if (!b->type || p[CHAINLOG_OFF_ZERO] || p[CHAINLOG_OFF_ZERO + 1] ||
	    b->len > CHAINLOG_PAYLOAD_MAX)
		return BLOCK_BAD_HEADER;
	if (b->len > left - CHAINLOG_HEADER_SIZE)
		return BLOCK_CUT;
	crc = crc32c(crc32c(0, p, CHAINLOG_OFF_CRC), b->payload, b->len);
	if (crc != chainlog_get_le32(p + CHAINLOG_OFF_CRC))
		return BLOCK_BAD_CRC;
	if (!p[CHAINLOG_OFF_VERSION] || p[CHAINLOG_OFF_VERSION] > CHAINLOG_VERSION)
		return BLOCK_BAD_VERSION;
	return BLOCK_SOUND;
}

void block_scan_init(struct block_scan *s, const void *p, size_t len)
{
	*s = (struct block_scan) {
		.base = p,
		.len = len,
		/* A few megabytes for small inputs; else a small multiple of reading it once. */
		.budget = 16 * (uint64_t)len + 16 * (uint64_t)CHAINLOG_PAYLOAD_MAX,
	};
}

/* Where the next sync word may begin, at or after at; len if nowhere. */
static size_t find_sync(const struct block_scan *s, size_t at)
{
	uint8_t sync[4];
	const uint8_t *p;

	chainlog_put_le32(sync, CHAINLOG_SYNC);
	if (at >= s->len)
		return s->len;
	p = memmem(s->base + at, s->len - at, sync, sizeof(sync));
	return p ? (size_t)(p - s->base) : s->len;
}

bool block_next(struct block_scan *s, struct block *b)
{
	const uint8_t *end = s->base + s->len;
	enum block_status status;
	size_t at = s->at;

	s->skip_at = at;
	s->skipped = 0;
	s->why = BLOCK_SOUND;
	while (at < s->len) {
		status = block_check(s->base + at, end, b);
		if (status == BLOCK_SOUND) {
			b->offset = at;
			s->skipped = at - s->skip_at;
			s->at = at + CHAINLOG_HEADER_SIZE + b->len;
			return true;
		}
		if (s->why == BLOCK_SOUND)
			s->why = status;
		if (status == BLOCK_BAD_CRC || status == BLOCK_BAD_VERSION) {
			if (b->len > s->budget)
				break;
			s->budget -= b->len;
		}
		at = find_sync(s, at + 1);
	}
	s->at = s->len;
	s->skipped = s->len - s->skip_at;
	return false;
}
