// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "logmaker_private.h"

/* Kept free before the first block for INFO, of which all is known at the end only. */
#define INFO_ROOM (64u << 10)
#define INFO_TEXT_MAX 4096u

bool logmaker_reserve(struct logmaker *l, struct bytes *b, size_t more)
{
	size_t cap;
	void *p;

	if (b->cap - b->len >= more)
		return !l->failed;
	cap = b->cap * 2 + more + 64;
	p = l->failed || cap < more ? NULL : realloc(b->p, cap);
	if (!p) {
		l->failed = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void logmaker_put(struct logmaker *l, struct bytes *b, const void *p, size_t len)
{
	if (!len || !logmaker_reserve(l, b, len))
		return;
	memcpy(b->p + b->len, p, len);
	b->len += len;
}

void logmaker_put_byte(struct logmaker *l, struct bytes *b, unsigned int byte)
{
	uint8_t v = (uint8_t)byte;

	logmaker_put(l, b, &v, 1);
}

void logmaker_put_number(struct logmaker *l, struct bytes *b, uint64_t v)
{
	if (logmaker_reserve(l, b, CHAINLOG_VARINT_MAX))
		b->len = (size_t)(chainlog_put_varint(b->p + b->len, v) - b->p);
}

static void put_delta(struct logmaker *l, struct bytes *b, uint64_t v, uint64_t *prev)
{
	logmaker_put_number(l, b, chainlog_zigzag((int64_t)(v - *prev)));
	*prev = v;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void fill_header(uint8_t *p, unsigned int type, size_t len)
{
	memset(p, 0, CHAINLOG_HEADER_SIZE);
	chainlog_put_le32(p, CHAINLOG_SYNC);
	p[CHAINLOG_OFF_TYPE] = (uint8_t)type;
	p[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION;
	chainlog_put_le32(p + CHAINLOG_OFF_LEN, (uint32_t)len);
	chainlog_put_le32(p + CHAINLOG_OFF_CRC,
			  crc32c(crc32c(0, p, CHAINLOG_OFF_CRC), p + CHAINLOG_HEADER_SIZE, len));
}

/* Adds a block; its payload is n numbers and then the body, which is emptied. */
void logmaker_put_block(struct logmaker *l, unsigned int type, const uint64_t *numbers, size_t n,
			struct bytes *body)
{
	size_t begin = l->out.len;

	if (!logmaker_reserve(l, &l->out,
			      CHAINLOG_HEADER_SIZE + n * CHAINLOG_VARINT_MAX + body->len))
		return;
	l->out.len += CHAINLOG_HEADER_SIZE;
	for (size_t i = 0; i < n; i++)
		logmaker_put_number(l, &l->out, numbers[i]);
	logmaker_put(l, &l->out, body->p, body->len);
	fill_header(l->out.p + begin, type, l->out.len - begin - CHAINLOG_HEADER_SIZE);
	body->len = 0;
}

/* ---- definitions --------------------------------------------------------------------------- */

static bool has_ids(unsigned int type)
{
	return type != CHAINLOG_BLOCK_NAMES && type != CHAINLOG_BLOCK_THREADS &&
	       type != CHAINLOG_BLOCK_LOST;
}

static void end_list(struct logmaker *l, unsigned int type)
{
	struct list *list = &l->lists[type];
	uint64_t numbers[2] = { list->first, list->count };
	bool ids = has_ids(type);

	if (!list->count)
		return;
	logmaker_put_block(l, type, numbers + !ids, ids ? 2 : 1, &list->body);
	list->count = 0;
	list->prev = 0;
}

/* Begins an item of a list, and a new block if the last one is full. */
static struct list *begin_item(struct logmaker *l, unsigned int type, uint32_t *id)
{
	struct list *list = &l->lists[type];

	if (list->body.len >= LOGMAKER_BLOCK_BYTES)
		end_list(l, type);
	if (l->ids[type] == UINT32_MAX)
		l->failed = true;
	if (l->failed)
		return NULL;
	*id = ++l->ids[type];
	if (!list->count++)
		list->first = *id;
	return list;
}

uint32_t logmaker_string(struct logmaker *l, const char *s, size_t len)
{
	uint32_t id;
	struct list *list =
		len > LOGMAKER_STRING_MAX ? NULL : begin_item(l, CHAINLOG_BLOCK_STRINGS, &id);

	if (!list)
		return 0;
	logmaker_put_number(l, &list->body, len);
	logmaker_put(l, &list->body, s, len);
	return id;
}

uint32_t logmaker_module(struct logmaker *l, uint32_t path)
{
	uint32_t id;
	struct list *list = begin_item(l, CHAINLOG_BLOCK_MODULES, &id);

	if (!list)
		return 0;
	logmaker_put_number(l, &list->body, path);
	logmaker_put_number(l, &list->body, 0);
	return id;
}

uint32_t logmaker_frame(struct logmaker *l, uint32_t space, uint64_t addr, uint32_t symbol,
			uint32_t module, uint64_t offset)
{
	uint32_t id, unused;
	struct list *list = begin_item(l, CHAINLOG_BLOCK_FRAMES, &id);

	if (!list)
		return 0;
	logmaker_put_number(l, &list->body, space);
	put_delta(l, &list->body, addr, &list->prev);
	if (!symbol && !module)
		return id;
	list = begin_item(l, CHAINLOG_BLOCK_NAMES, &unused);
	if (!list)
		return 0;
	put_delta(l, &list->body, id, &list->prev);
	logmaker_put_number(l, &list->body, symbol);
	logmaker_put_number(l, &list->body, module);
	logmaker_put_number(l, &list->body, offset);
	return id;
}

uint32_t logmaker_stack(struct logmaker *l, const uint32_t *frames, size_t n, bool cut)
{
	uint32_t id;
	struct list *list =
		n > CHAINLOG_STACK_MAX ? NULL : begin_item(l, CHAINLOG_BLOCK_STACKS, &id);

	if (!list)
		return 0;
	logmaker_put_number(l, &list->body, n << 1 | cut);
	for (size_t i = 0; i < n; i++)
		put_delta(l, &list->body, frames[i], &list->prev);
	return id;
}

void logmaker_thread(struct logmaker *l, const struct logmaker_thread *t)
{
	uint32_t unused;
	struct list *list = begin_item(l, CHAINLOG_BLOCK_THREADS, &unused);

	if (!list)
		return;
	logmaker_put_number(l, &list->body, t->tid);
	logmaker_put_number(l, &list->body, t->tgid);
	logmaker_put_number(l, &list->body, t->start_ns);
	logmaker_put_number(l, &list->body, t->seen_ns);
	logmaker_put_number(l, &list->body, t->flags);
	logmaker_put_byte(l, &list->body, (unsigned char)t->state);
	logmaker_put_number(l, &list->body, t->name);
	logmaker_put_number(l, &list->body, 0);
	logmaker_put_number(l, &list->body, 0);
	l->threads++;
}

void logmaker_lost(struct logmaker *l, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	uint32_t unused;
	struct list *list = begin_item(l, CHAINLOG_BLOCK_LOST, &unused);

	if (!list)
		return;
	logmaker_put_number(l, &list->body, cpu < 0 ? 0 : (uint64_t)cpu + 1);
	logmaker_put_number(l, &list->body, n);
	logmaker_put_number(l, &list->body, first_ns);
	logmaker_put_number(l, &list->body, last_ns - first_ns);
	l->lost += n;
}

/* ---- the whole ----------------------------------------------------------------------------- */

struct logmaker *logmaker_new(void)
{
	struct logmaker *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	if (!logmaker_reserve(l, &l->out, 1u << 20)) {
		free(l);
		return NULL;
	}
	l->out.len = INFO_ROOM;
	return l;
}

void logmaker_free(struct logmaker *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_cpus; i++) {
		free(l->cpus[i].body.p);
		pairs_free(&l->cpus[i].threads);
		pairs_free(&l->cpus[i].stacks);
	}
	for (size_t i = 0; i < LISTS; i++)
		free(l->lists[i].body.p);
	free(l->cpus);
	free(l->out.p);
	free(l);
}

static void put_text_tag(struct logmaker *l, struct bytes *b, unsigned int tag, const char *text)
{
	size_t len = text ? strnlen(text, INFO_TEXT_MAX) : 0;

	if (!len)
		return;
	logmaker_put_number(l, b, tag);
	logmaker_put_number(l, b, len);
	logmaker_put(l, b, text, len);
}

static void put_number_tag(struct logmaker *l, struct bytes *b, unsigned int tag, uint64_t v)
{
	uint8_t value[CHAINLOG_VARINT_MAX];
	size_t len = (size_t)(chainlog_put_varint(value, v) - value);

	logmaker_put_number(l, b, tag);
	logmaker_put_number(l, b, len);
	logmaker_put(l, b, value, len);
}

static void put_end(struct logmaker *l)
{
	struct bytes b = { NULL, 0, 0 };

	put_number_tag(l, &b, CHAINLOG_END_TIME, l->last_ns);
	put_number_tag(l, &b, CHAINLOG_END_EVENTS, l->events);
	put_number_tag(l, &b, CHAINLOG_END_LOST, l->lost);
	put_number_tag(l, &b, CHAINLOG_END_STACKS, l->ids[CHAINLOG_BLOCK_STACKS]);
	put_number_tag(l, &b, CHAINLOG_END_FRAMES, l->ids[CHAINLOG_BLOCK_FRAMES]);
	put_number_tag(l, &b, CHAINLOG_END_STRINGS, l->ids[CHAINLOG_BLOCK_STRINGS]);
	put_number_tag(l, &b, CHAINLOG_END_THREADS, l->threads);
	logmaker_put_block(l, CHAINLOG_BLOCK_END, NULL, 0, &b);
	free(b.p);
}

/* Writes the INFO block right before the first one. Returns where it begins. */
static size_t put_info(struct logmaker *l, const struct logmaker_info *info)
{
	struct bytes b = { NULL, 0, 0 };
	size_t begin = 0;

	if (!logmaker_reserve(l, &b, INFO_ROOM))
		return 0;
	b.len = CHAINLOG_HEADER_SIZE;
	put_text_tag(l, &b, CHAINLOG_INFO_HOST, info->host);
	put_text_tag(l, &b, CHAINLOG_INFO_RELEASE, info->release);
	put_text_tag(l, &b, CHAINLOG_INFO_ARCH, info->arch);
	put_text_tag(l, &b, CHAINLOG_INFO_OPTIONS, info->options);
	put_text_tag(l, &b, CHAINLOG_INFO_TOOL, info->tool);
	put_number_tag(l, &b, CHAINLOG_INFO_CPUS, info->cpus);
	put_number_tag(l, &b, CHAINLOG_INFO_START, l->first_ns);
	put_number_tag(l, &b, CHAINLOG_INFO_PARTS, info->parts);
	if (!l->failed) {
		fill_header(b.p, CHAINLOG_BLOCK_INFO, b.len - CHAINLOG_HEADER_SIZE);
		begin = INFO_ROOM - b.len;
		memcpy(l->out.p + begin, b.p, b.len);
	}
	free(b.p);
	return begin;
}

int logmaker_finish(struct logmaker *l, const struct logmaker_info *info, uint8_t **buf,
		    size_t *offset, size_t *len)
{
	for (uint32_t cpu = 0; cpu < l->n_cpus; cpu++)
		logmaker_end_cpu(l, cpu);
	for (unsigned int type = 0; type < LISTS; type++)
		end_list(l, type);
	put_end(l);
	*offset = put_info(l, info);
	if (l->failed)
		return -ENOMEM;
	*buf = l->out.p;
	*len = l->out.len - *offset;
	l->out = (struct bytes) { NULL, 0, 0 };
	return 0;
}
