/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainlog_block.h - writes blocks of the trace format (chainlog.h): the header with its checksum,
 * the items of definitions, the tags of INFO and END. It allocates nothing and checks no room: the
 * caller provides memory for what the functions are documented to write.
 */
#ifndef CHAINLOG_BLOCK_H
#define CHAINLOG_BLOCK_H

#include <string.h>

#include "chainlog.h"
#include "crc32c.h"

/*
 * A writer finishes a block at about this many payload bytes: a trace that is cut off loses little,
 * and the dictionaries inside a block of events still pay.
 */
#define CHAINLOG_BLOCK_TARGET (64u << 10)
/* Room kept before a payload in the making, for the block's header and the payload's head. */
#define CHAINLOG_FRONT (CHAINLOG_HEADER_SIZE + 4 * CHAINLOG_VARINT_MAX)

/* Writes the header of the block at p, whose payload of len bytes stands behind it already. */
static inline void chainlog_put_header(uint8_t *p, enum chainlog_block type, size_t len)
{
	uint32_t crc;

	memset(p, 0, CHAINLOG_HEADER_SIZE);
	chainlog_put_le32(p + CHAINLOG_OFF_SYNC, CHAINLOG_SYNC);
	p[CHAINLOG_OFF_TYPE] = (uint8_t)type;
	p[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION;
	chainlog_put_le32(p + CHAINLOG_OFF_LEN, (uint32_t)len);
	crc = crc32c(crc32c(0, p, CHAINLOG_OFF_CRC), p + CHAINLOG_HEADER_SIZE, len);
	chainlog_put_le32(p + CHAINLOG_OFF_CRC, crc);
}

/*
 * Completes a block whose payload is the numbers head[0..n) and then the len bytes at body, before
 * which there are CHAINLOG_FRONT bytes of room. Returns where the block begins and its length in
 * *block_len.
 */
static inline uint8_t *chainlog_finish_block(enum chainlog_block type, const uint64_t *head,
					     size_t n, uint8_t *body, size_t len, size_t *block_len)
{
	uint8_t numbers[4 * CHAINLOG_VARINT_MAX] = { 0 }, *p = numbers;
	uint8_t *block;

	for (size_t i = 0; i < n; i++)
		p = chainlog_put_varint(p, head[i]);
	len += (size_t)(p - numbers);
	block = body - (p - numbers) - CHAINLOG_HEADER_SIZE;
	memcpy(block + CHAINLOG_HEADER_SIZE, numbers, (size_t)(p - numbers));
	chainlog_put_header(block, type, len);
	*block_len = CHAINLOG_HEADER_SIZE + len;
	return block;
}

/* ---- events -------------------------------------------------------------------------------- */

/* What the head of a block of events says, in the making: all of one CPU, in the order of time. */
struct chainlog_events {
	uint32_t cpu, count;
	uint64_t first_ns, last_ns;
	size_t len; /* bytes of the events */
};

/* True if the block has to be finished before an event at time_ns. */
static inline bool chainlog_events_full(const struct chainlog_events *e, uint64_t time_ns)
{
	return e->count && (e->len >= CHAINLOG_BLOCK_TARGET || time_ns < e->last_ns);
}

/*
 * Completes the block, whose events are at body, before which there are CHAINLOG_FRONT bytes of
 * room; the next event begins another. NULL: there are no events.
 */
static inline uint8_t *chainlog_finish_events(struct chainlog_events *e, enum chainlog_block type,
					      uint8_t *body, size_t *block_len)
{
	uint64_t head[4] = { e->cpu, e->first_ns, e->last_ns - e->first_ns, e->count };
	size_t len = e->len;

	*block_len = 0;
	if (!e->count)
		return NULL;
	e->count = 0;
	e->len = 0;
	return chainlog_finish_block(type, head, 4, body, len, block_len);
}

/* ---- lists of definitions ------------------------------------------------------------------ */

/* A list block in the making. */
struct chainlog_list {
	uint8_t *block; /* the caller's memory: CHAINLOG_FRONT bytes of room, then the items */
	size_t len;	/* of the items */
	uint32_t first_id, count;
	uint64_t prev; /* what the next item's delta is against */
};

static inline bool chainlog_list_has_ids(enum chainlog_block type)
{
	return type != CHAINLOG_BLOCK_NAMES && type != CHAINLOG_BLOCK_THREADS &&
	       type != CHAINLOG_BLOCK_LOST && type != CHAINLOG_BLOCK_STACK_ENDS &&
	       type != CHAINLOG_BLOCK_SEGMENTS && type != CHAINLOG_BLOCK_THREAD_OBJECTS;
}

/* Where the next item goes. */
static inline uint8_t *chainlog_list_place(const struct chainlog_list *l)
{
	return l->block + CHAINLOG_FRONT + l->len;
}

/* Ends an item, which has this id (ignored in lists without ids) and ends before end. */
static inline void chainlog_list_end_item(struct chainlog_list *l, uint32_t id, const uint8_t *end)
{
	if (!l->count++)
		l->first_id = id;
	l->len = (size_t)(end - l->block) - CHAINLOG_FRONT;
}

/* Completes the block and empties the list. NULL: there was nothing in it. */
static inline uint8_t *chainlog_finish_list(struct chainlog_list *l, enum chainlog_block type,
					    size_t *block_len)
{
	uint64_t head[2] = { l->first_id, l->count };
	bool ids = chainlog_list_has_ids(type);
	size_t len = l->len;

	*block_len = 0;
	if (!l->count)
		return NULL;
	l->count = 0;
	l->len = 0;
	l->prev = 0;
	return chainlog_finish_block(type, ids ? head : head + 1, ids ? 2 : 1,
				     l->block + CHAINLOG_FRONT, len, block_len);
}

/*
 * One item each, at p; they return the byte after it. No item but a string and a module is longer
 * than CHAINLOG_ITEM_MAX bytes; these are longer by their len.
 */
#define CHAINLOG_ITEM_MAX ((CHAINLOG_STACK_MAX + 1) * CHAINLOG_VARINT_MAX)

static inline uint8_t *chainlog_put_delta(uint8_t *p, uint64_t v, uint64_t *prev)
{
	p = chainlog_put_varint(p, chainlog_zigzag((int64_t)(v - *prev)));
	*prev = v;
	return p;
}

static inline uint8_t *chainlog_put_bytes(uint8_t *p, const void *bytes, size_t len)
{
	p = chainlog_put_varint(p, len);
	if (len)
		memcpy(p, bytes, len);
	return p + len;
}

static inline uint8_t *chainlog_put_frame(uint8_t *p, uint32_t space, uint64_t addr, uint64_t *prev)
{
	return chainlog_put_delta(chainlog_put_varint(p, space), addr, prev);
}

/* n is at most CHAINLOG_STACK_MAX. */
static inline uint8_t *chainlog_put_stack(uint8_t *p, const uint32_t *frames, size_t n, bool cut,
					  uint64_t *prev)
{
	p = chainlog_put_varint(p, n << 1 | cut);
	for (size_t i = 0; i < n; i++)
		p = chainlog_put_delta(p, frames[i], prev);
	return p;
}

static inline uint8_t *chainlog_put_stack_end(uint8_t *p, uint32_t stack,
					      enum chainlog_stack_end end, uint64_t *prev)
{
	return chainlog_put_varint(chainlog_put_delta(p, stack, prev), end);
}

static inline uint8_t *chainlog_put_name(uint8_t *p, uint32_t frame, uint32_t symbol,
					 uint32_t module, uint64_t offset, uint64_t *prev)
{
	p = chainlog_put_delta(p, frame, prev);
	p = chainlog_put_varint(p, symbol);
	p = chainlog_put_varint(p, module);
	return chainlog_put_varint(p, offset);
}

/* An item of THREADS, its fields in the order of the format. */
struct chainlog_thread_item {
	uint32_t tid, tgid;
	uint64_t start_ns, seen_ns; /* CLOCK_MONOTONIC */
	uint32_t flags;		    /* CHAINLOG_THREAD_* */
	char state;		    /* as ps shows it */
	uint32_t name;		    /* string id */
	uint32_t kstack, ustack;    /* stack ids, 0: none */
};

static inline uint8_t *chainlog_put_thread(uint8_t *p, const struct chainlog_thread_item *t)
{
	p = chainlog_put_varint(p, t->tid);
	p = chainlog_put_varint(p, t->tgid);
	p = chainlog_put_varint(p, t->start_ns);
	p = chainlog_put_varint(p, t->seen_ns);
	p = chainlog_put_varint(p, t->flags);
	*p++ = (uint8_t)t->state;
	p = chainlog_put_varint(p, t->name);
	p = chainlog_put_varint(p, t->kstack);
	return chainlog_put_varint(p, t->ustack);
}

/* Has no padding, so that equal objects are equal bytes. */
struct chainlog_object {
	uint32_t class, name; /* string ids */
	uint32_t peer;	      /* process id, 0: not known */
	uint32_t own;	      /* string id */
	uint32_t owner;	      /* process id */
};

static inline uint8_t *chainlog_put_object(uint8_t *p, const struct chainlog_object *o)
{
	uint8_t fields[5 * 5], *end = fields;

	end = chainlog_put_varint(chainlog_put_varint(end, o->class), o->name);
	end = chainlog_put_varint(chainlog_put_varint(end, o->peer), o->own);
	end = chainlog_put_varint(end, o->owner);
	return chainlog_put_bytes(p, fields, (size_t)(end - fields));
}

/* cpu -1: it is not known which. */
static inline uint8_t *chainlog_put_lost(uint8_t *p, int cpu, uint64_t n, uint64_t first_ns,
					 uint64_t last_ns)
{
	p = chainlog_put_varint(p, cpu < 0 ? 0 : (uint64_t)cpu + 1);
	p = chainlog_put_varint(p, n);
	p = chainlog_put_varint(p, first_ns);
	return chainlog_put_varint(p, last_ns - first_ns);
}

/* ---- tags of INFO and END ------------------------------------------------------------------ */

/* Longer strings of INFO are cut. */
#define CHAINLOG_INFO_TEXT_MAX 4000u
/* No tag takes more than this, without the bytes of a string. */
#define CHAINLOG_TAG_MAX 24u
#define CHAINLOG_INFO_SIZE (5 * CHAINLOG_INFO_TEXT_MAX + 12 * CHAINLOG_TAG_MAX)
#define CHAINLOG_END_SIZE (12 * CHAINLOG_TAG_MAX)

/* The INFO block. Strings that are NULL are written as empty ones. */
struct chainlog_info {
	const char *host, *release, *arch, *options, *tool;
	uint32_t cpus;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	int64_t wall_ns;   /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint32_t recorder_tgid;
	uint32_t command_tgid; /* 0: the recorder started none */
	uint32_t parts;	       /* bit 0 kernel stacks, bit 1 user stacks were recorded */
	uint32_t more;	       /* bit k: kind k of MORE_EVENTS; not written if 0 */
};

/* The END block. */
struct chainlog_end {
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	uint64_t events, lost, kernel_events, sideband_lost;
	uint64_t stacks, frames, strings, threads;
	uint64_t more_events, more_lost, more_kernel; /* not written if there were none */
};

static inline uint8_t *chainlog_put_tag_number(uint8_t *p, unsigned int tag, uint64_t v)
{
	uint8_t number[CHAINLOG_VARINT_MAX] = { 0 };
	size_t len = (size_t)(chainlog_put_varint(number, v) - number);

	return chainlog_put_bytes(chainlog_put_varint(p, tag), number, len);
}

static inline uint8_t *chainlog_put_tag_string(uint8_t *p, unsigned int tag, const char *s)
{
	size_t len = s ? strnlen(s, CHAINLOG_INFO_TEXT_MAX) : 0;

	return chainlog_put_bytes(chainlog_put_varint(p, tag), s, len);
}

/* Write the payloads: at most CHAINLOG_INFO_SIZE and CHAINLOG_END_SIZE bytes. */
static inline uint8_t *chainlog_put_info(uint8_t *p, const struct chainlog_info *i)
{
	p = chainlog_put_tag_string(p, CHAINLOG_INFO_HOST, i->host);
	p = chainlog_put_tag_string(p, CHAINLOG_INFO_RELEASE, i->release);
	p = chainlog_put_tag_string(p, CHAINLOG_INFO_ARCH, i->arch);
	p = chainlog_put_tag_string(p, CHAINLOG_INFO_OPTIONS, i->options);
	p = chainlog_put_tag_string(p, CHAINLOG_INFO_TOOL, i->tool);
	p = chainlog_put_tag_number(p, CHAINLOG_INFO_CPUS, i->cpus);
	p = chainlog_put_tag_number(p, CHAINLOG_INFO_START, i->start_ns);
	p = chainlog_put_tag_number(p, CHAINLOG_INFO_WALL, (uint64_t)i->wall_ns);
	p = chainlog_put_tag_number(p, CHAINLOG_INFO_TGID, i->recorder_tgid);
	if (i->command_tgid)
		p = chainlog_put_tag_number(p, CHAINLOG_INFO_COMMAND, i->command_tgid);
	p = chainlog_put_tag_number(p, CHAINLOG_INFO_PARTS, i->parts);
	return i->more ? chainlog_put_tag_number(p, CHAINLOG_INFO_MORE, i->more) : p;
}

static inline uint8_t *chainlog_put_end(uint8_t *p, const struct chainlog_end *e)
{
	p = chainlog_put_tag_number(p, CHAINLOG_END_TIME, e->end_ns);
	p = chainlog_put_tag_number(p, CHAINLOG_END_EVENTS, e->events);
	p = chainlog_put_tag_number(p, CHAINLOG_END_LOST, e->lost);
	p = chainlog_put_tag_number(p, CHAINLOG_END_KERNEL, e->kernel_events);
	p = chainlog_put_tag_number(p, CHAINLOG_END_STACKS, e->stacks);
	p = chainlog_put_tag_number(p, CHAINLOG_END_FRAMES, e->frames);
	p = chainlog_put_tag_number(p, CHAINLOG_END_STRINGS, e->strings);
	p = chainlog_put_tag_number(p, CHAINLOG_END_THREADS, e->threads);
	p = chainlog_put_tag_number(p, CHAINLOG_END_SIDEBAND_LOST, e->sideband_lost);
	if (!e->more_events && !e->more_kernel)
		return p;
	p = chainlog_put_tag_number(p, CHAINLOG_END_MORE_EVENTS, e->more_events);
	p = chainlog_put_tag_number(p, CHAINLOG_END_MORE_LOST, e->more_lost);
	return chainlog_put_tag_number(p, CHAINLOG_END_MORE_KERNEL, e->more_kernel);
}

#endif /* CHAINLOG_BLOCK_H */
