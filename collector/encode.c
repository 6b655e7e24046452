// SPDX-License-Identifier: GPL-2.0-or-later
#include "encode_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"

/* ---- blocks -------------------------------------------------------------------------------- */

/* Gives header + head + body to the sink. */
int encode_put_block(struct encoder *e, enum chainlog_block type, const uint8_t *head,
		     size_t head_len, const uint8_t *body, size_t body_len)
{
	size_t len = head_len + body_len;
	uint8_t *p = e->out;

	memset(p, 0, CHAINLOG_HEADER_SIZE);
	chainlog_put_le32(p + CHAINLOG_OFF_SYNC, CHAINLOG_SYNC);
	p[CHAINLOG_OFF_TYPE] = (uint8_t)type;
	p[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION;
	chainlog_put_le32(p + CHAINLOG_OFF_LEN, (uint32_t)len);
	if (head_len)
		memcpy(p + CHAINLOG_HEADER_SIZE, head, head_len);
	if (body_len)
		memcpy(p + CHAINLOG_HEADER_SIZE + head_len, body, body_len);
	chainlog_put_le32(p + CHAINLOG_OFF_CRC,
			  crc32c(crc32c(0, p, CHAINLOG_OFF_CRC), p + CHAINLOG_HEADER_SIZE, len));
	e->bytes += CHAINLOG_HEADER_SIZE + len;
	return e->sink(e->ctx, p, CHAINLOG_HEADER_SIZE + len);
}

static int flush_list(struct encoder *e, struct list_block *b)
{
	uint8_t head[2 * CHAINLOG_VARINT_MAX], *p = head;
	int err;

	if (!b->count)
		return 0;
	if (b->has_ids)
		p = chainlog_put_varint(p, b->first_id);
	p = chainlog_put_varint(p, b->count);
	err = encode_put_block(e, b->type, head, (size_t)(p - head), b->items, b->len);
	b->count = 0;
	b->len = 0;
	b->prev = 0;
	return err;
}

/*
 * Begins an item of list block type with the given id (0 for lists without ids) and returns where
 * its at most ITEM_MAX bytes go; NULL with *err set. end_item() ends it.
 */
static uint8_t *begin_item(struct encoder *e, enum chainlog_block type, uint32_t id, int *err)
{
	struct list_block *b = &e->list[type];

	*err = 0;
	if (!b->items) {
		b->items = malloc(BLOCK_CAP);
		if (!b->items) {
			*err = -ENOMEM;
			return NULL;
		}
		b->type = type;
		b->has_ids = id != 0;
	}
	if (b->len >= BLOCK_TARGET) {
		*err = flush_list(e, b);
		if (*err)
			return NULL;
	}
	if (!b->count++)
		b->first_id = id;
	return b->items + b->len;
}

static void end_item(struct encoder *e, enum chainlog_block type, const uint8_t *end)
{
	struct list_block *b = &e->list[type];

	b->len = (size_t)(end - b->items);
}

static uint8_t *put_svarint(uint8_t *p, uint64_t v, uint64_t *prev)
{
	p = chainlog_put_varint(p, chainlog_zigzag((int64_t)(v - *prev)));
	*prev = v;
	return p;
}

struct encoder *encoder_new(encoder_sink sink, void *ctx)
{
	struct encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->sink = sink;
	e->ctx = ctx;
	e->out = malloc(CHAINLOG_HEADER_SIZE + EVENTS_HEAD_MAX + BLOCK_CAP);
	e->tids = calloc(TIDS / 8, 1);
	if (!e->out || !e->tids) {
		free(e->tids);
		free(e->out);
		free(e);
		return NULL;
	}
	return e;
}

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->ncpus; i++)
		encode_free_cpu(e->cpus[i]);
	free(e->cpus);
	for (size_t i = 0; i < sizeof(e->list) / sizeof(e->list[0]); i++)
		free(e->list[i].items);
	intern_free(&e->strings);
	intern_free(&e->frames);
	intern_free(&e->stacks);
	free(e->tids);
	free(e->stack_ids);
	free(e->out);
	free(e);
}

void encoder_define_elsewhere(struct encoder *e, const struct encoder_elsewhere *elsewhere)
{
	e->elsewhere = *elsewhere;
}

void encoder_forget_threads(struct encoder *e)
{
	memset(e->tids, 0, TIDS / 8);
	e->n_tids = 0;
}

/* ---- definitions --------------------------------------------------------------------------- */

uint32_t encoder_string(struct encoder *e, const char *s, size_t len)
{
	uint32_t id;
	bool is_new;
	uint8_t *p;
	int err;

	if (len > STRING_MAX)
		len = STRING_MAX;
	if (e->elsewhere.string)
		return e->elsewhere.string(e->elsewhere.string_ctx, s, len);
	id = intern_id(&e->strings, s, len, &is_new);
	if (!id || !is_new)
		return id;
	p = begin_item(e, CHAINLOG_BLOCK_STRINGS, id, &err);
	if (!p)
		return 0;
	p = chainlog_put_varint(p, len);
	memcpy(p, s, len);
	end_item(e, CHAINLOG_BLOCK_STRINGS, p + len);
	return id;
}

uint32_t encode_cstring(struct encoder *e, const char *s)
{
	return s ? encoder_string(e, s, strlen(s)) : 0;
}

uint32_t encoder_frame(struct encoder *e, uint32_t space, uint64_t addr)
{
	uint64_t key[2] = { space, addr };
	uint32_t id;
	bool is_new;
	uint8_t *p;
	int err;

	id = intern_id(&e->frames, key, sizeof(key), &is_new);
	if (!id || !is_new)
		return id;
	p = begin_item(e, CHAINLOG_BLOCK_FRAMES, id, &err);
	if (!p)
		return 0;
	p = chainlog_put_varint(p, space);
	p = put_svarint(p, addr, &e->list[CHAINLOG_BLOCK_FRAMES].prev);
	end_item(e, CHAINLOG_BLOCK_FRAMES, p);
	return id;
}

uint32_t encoder_stack_reserve(struct encoder *e)
{
	return ++e->last_stack;
}

int encoder_stack_define(struct encoder *e, uint32_t id, const uint32_t *frames, size_t n, int cut)
{
	struct list_block *b = &e->list[CHAINLOG_BLOCK_STACKS];
	uint8_t *p;
	int err;

	if (n > CHAINLOG_STACK_MAX) {
		n = CHAINLOG_STACK_MAX;
		cut = 1;
	}
	/* A block holds a run of ids; one that was reserved earlier begins another block. */
	if (b->count && id != b->first_id + b->count) {
		err = flush_list(e, b);
		if (err)
			return err;
	}
	p = begin_item(e, CHAINLOG_BLOCK_STACKS, id, &err);
	if (!p)
		return err;
	p = chainlog_put_varint(p, n << 1 | (cut != 0));
	for (size_t i = 0; i < n; i++)
		p = put_svarint(p, frames[i], &b->prev);
	end_item(e, CHAINLOG_BLOCK_STACKS, p);
	return 0;
}

uint32_t encoder_stack(struct encoder *e, const uint32_t *frames, size_t n, int cut)
{
	uint32_t key[CHAINLOG_STACK_MAX + 1], i;
	bool is_new;

	if (n > CHAINLOG_STACK_MAX) {
		n = CHAINLOG_STACK_MAX;
		cut = 1;
	}
	/* A stack that comes again after this is another one to the reader. */
	if (e->stacks.arena_len > STACKS_KEPT_BYTES)
		intern_free(&e->stacks);
	key[0] = cut != 0;
	memcpy(key + 1, frames, n * sizeof(*frames));
	i = intern_id(&e->stacks, key, (n + 1) * sizeof(*key), &is_new);
	if (!i)
		return 0;
	if (!is_new)
		return e->stack_ids[i - 1];
	if (i > e->stack_ids_cap) {
		uint32_t cap = e->stack_ids_cap ? e->stack_ids_cap * 2 : 1024;
		uint32_t *ids = realloc(e->stack_ids, cap * sizeof(*ids));

		if (!ids)
			return 0;
		e->stack_ids = ids;
		e->stack_ids_cap = cap;
	}
	e->stack_ids[i - 1] = encoder_stack_reserve(e);
	return encoder_stack_define(e, e->last_stack, frames, n, cut) ? 0 : e->last_stack;
}

uint32_t encoder_module(struct encoder *e, const char *path, const uint8_t *build_id, size_t len)
{
	uint32_t path_id = encode_cstring(e, path);
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_MODULES, e->modules + 1, &err);
	if (!p)
		return 0;
	if (len > 64) /* SHA-1 has 20 bytes, others 8 to 32 */
		len = 64;
	p = chainlog_put_varint(p, path_id);
	p = chainlog_put_varint(p, len);
	if (len)
		memcpy(p, build_id, len);
	end_item(e, CHAINLOG_BLOCK_MODULES, p + len);
	return ++e->modules;
}

uint32_t encoder_space(struct encoder *e, uint32_t tgid, const char *exe)
{
	uint32_t exe_id;
	uint8_t *p;
	int err;

	if (e->elsewhere.space)
		return e->elsewhere.space(e->elsewhere.space_ctx, tgid, exe);
	exe_id = encode_cstring(e, exe);
	p = begin_item(e, CHAINLOG_BLOCK_SPACES, e->spaces + 1, &err);
	if (!p)
		return 0;
	p = chainlog_put_varint(p, tgid);
	p = chainlog_put_varint(p, exe_id);
	end_item(e, CHAINLOG_BLOCK_SPACES, p);
	return ++e->spaces;
}

int encoder_name(struct encoder *e, uint32_t frame, const char *symbol, uint32_t module,
		 uint64_t offset)
{
	uint32_t symbol_id = encode_cstring(e, symbol);
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_NAMES, 0, &err);
	if (!p)
		return err;
	p = put_svarint(p, frame, &e->list[CHAINLOG_BLOCK_NAMES].prev);
	p = chainlog_put_varint(p, symbol_id);
	p = chainlog_put_varint(p, module);
	p = chainlog_put_varint(p, offset);
	end_item(e, CHAINLOG_BLOCK_NAMES, p);
	return 0;
}

void encode_count_thread(struct encoder *e, uint32_t tid)
{
	uint8_t bit = (uint8_t)(1u << tid % 8);

	if (tid >= TIDS || e->tids[tid / 8] & bit)
		return;
	e->tids[tid / 8] |= bit;
	e->n_tids++;
}

int encoder_thread(struct encoder *e, const struct encoder_thread *t)
{
	uint32_t name = encode_cstring(e, t->name);
	uint8_t *p;
	int err;

	encode_count_thread(e, t->tid);
	p = begin_item(e, CHAINLOG_BLOCK_THREADS, 0, &err);
	if (!p)
		return err;
	p = chainlog_put_varint(p, t->tid);
	p = chainlog_put_varint(p, t->tgid);
	p = chainlog_put_varint(p, t->start_ns);
	p = chainlog_put_varint(p, t->seen_ns);
	p = chainlog_put_varint(p, t->flags);
	*p++ = (uint8_t)t->state;
	p = chainlog_put_varint(p, name);
	p = chainlog_put_varint(p, t->kstack);
	p = chainlog_put_varint(p, t->ustack);
	end_item(e, CHAINLOG_BLOCK_THREADS, p);
	return 0;
}

int encoder_lost(struct encoder *e, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_LOST, 0, &err);
	if (!p)
		return err;
	p = chainlog_put_varint(p, cpu < 0 ? 0 : (uint64_t)cpu + 1);
	p = chainlog_put_varint(p, n);
	p = chainlog_put_varint(p, first_ns);
	p = chainlog_put_varint(p, last_ns - first_ns);
	end_item(e, CHAINLOG_BLOCK_LOST, p);
	e->lost += n;
	return 0;
}

/* ---- beginning and end --------------------------------------------------------------------- */

static uint8_t *put_tag_number(uint8_t *p, unsigned int tag, uint64_t v)
{
	uint8_t number[CHAINLOG_VARINT_MAX];
	size_t len = (size_t)(chainlog_put_varint(number, v) - number);

	p = chainlog_put_varint(p, tag);
	p = chainlog_put_varint(p, len);
	memcpy(p, number, len);
	return p + len;
}

static uint8_t *put_tag_string(uint8_t *p, unsigned int tag, const char *s)
{
	size_t len = s ? strnlen(s, STRING_MAX) : 0;

	p = chainlog_put_varint(p, tag);
	p = chainlog_put_varint(p, len);
	if (len)
		memcpy(p, s, len);
	return p + len;
}

int encoder_info(struct encoder *e, const struct encoder_info *info)
{
	uint8_t body[5 * STRING_MAX + 256], *p = body;

	p = put_tag_string(p, CHAINLOG_INFO_HOST, info->host);
	p = put_tag_string(p, CHAINLOG_INFO_RELEASE, info->release);
	p = put_tag_string(p, CHAINLOG_INFO_ARCH, info->arch);
	p = put_tag_string(p, CHAINLOG_INFO_OPTIONS, info->options);
	p = put_tag_string(p, CHAINLOG_INFO_TOOL, info->tool);
	p = put_tag_number(p, CHAINLOG_INFO_CPUS, info->cpus);
	p = put_tag_number(p, CHAINLOG_INFO_START, info->start_ns);
	p = put_tag_number(p, CHAINLOG_INFO_WALL, (uint64_t)info->wall_ns);
	p = put_tag_number(p, CHAINLOG_INFO_TGID, info->recorder_tgid);
	p = put_tag_number(p, CHAINLOG_INFO_PARTS, info->parts);
	return encode_put_block(e, CHAINLOG_BLOCK_INFO, NULL, 0, body, (size_t)(p - body));
}

int encoder_flush(struct encoder *e)
{
	int err = 0;

	/* Definitions first, so that a cut right after this call leaves no event without them. */
	for (size_t i = 0; !err && i < sizeof(e->list) / sizeof(e->list[0]); i++)
		err = flush_list(e, &e->list[i]);
	for (uint32_t i = 0; !err && i < e->ncpus; i++)
		if (e->cpus[i])
			err = encode_flush_events(e, e->cpus[i]);
	return err;
}

int encoder_end(struct encoder *e, uint64_t end_ns, uint64_t kernel_events, uint64_t sideband_lost)
{
	uint8_t body[256], footer[CHAINLOG_FOOTER_SIZE], *p = body;
	int err = encoder_flush(e);

	if (err)
		return err;
	chainlog_put_le64(footer, e->bytes);
	memcpy(footer + 8, CHAINLOG_FOOTER_MAGIC, 8);
	p = put_tag_number(p, CHAINLOG_END_TIME, end_ns);
	p = put_tag_number(p, CHAINLOG_END_EVENTS, e->events);
	p = put_tag_number(p, CHAINLOG_END_LOST, e->lost);
	p = put_tag_number(p, CHAINLOG_END_KERNEL, kernel_events);
	p = put_tag_number(p, CHAINLOG_END_STACKS, e->last_stack);
	p = put_tag_number(p, CHAINLOG_END_FRAMES, e->frames.n);
	p = put_tag_number(p, CHAINLOG_END_STRINGS, e->strings.n);
	p = put_tag_number(p, CHAINLOG_END_THREADS, e->n_tids);
	p = put_tag_number(p, CHAINLOG_END_SIDEBAND_LOST, sideband_lost);
	err = encode_put_block(e, CHAINLOG_BLOCK_END, NULL, 0, body, (size_t)(p - body));
	if (err)
		return err;
	e->bytes += sizeof(footer);
	return e->sink(e->ctx, footer, sizeof(footer));
}

void encoder_counts(const struct encoder *e, struct encoder_counts *out)
{
	*out = (struct encoder_counts) {
		.events = e->events,
		.lost = e->lost,
		.bytes = e->bytes,
		.stacks = e->last_stack,
		.frames = e->frames.n,
		.strings = e->strings.n,
		.threads = e->n_tids,
	};
}
