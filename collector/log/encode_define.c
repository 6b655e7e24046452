// SPDX-License-Identifier: GPL-2.0-or-later
/* Strings, frames, stacks, files, objects and threads: each is written once, and has an id. */
#include "encode_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_ID_MAX 64u /* SHA-1 has 20 bytes, others 8 to 32 */
/*
 * What is recognized when it comes again: half of this at least, the most recent. Programs choose
 * their threads' names, run at as many addresses as they like, and a server has an object for each
 * connection. The largest programs have some hundred thousand frames, of 50 bytes here. With a
 * quarter of this, one in a hundred stacks of a browser, a JVM and compilers is written again.
 */
#define STRINGS_KEPT_BYTES (8u << 20)
#define FRAMES_KEPT_BYTES (16u << 20)
#define STACKS_KEPT_BYTES (16u << 20)
#define OBJECTS_KEPT_BYTES (4u << 20)
/* Readers have a table of them. */
#define SPACES_MAX (1u << 28)

uint32_t encoder_string(struct encoder *e, const char *s, size_t len)
{
	uint32_t id;
	bool is_new;
	uint8_t *p;
	int err;

	if (len > ENCODER_STRING_MAX)
		len = ENCODER_STRING_MAX;
	if (e->elsewhere.string)
		return e->elsewhere.string(e->elsewhere.string_ctx, s, len);
	id = recent_id(&e->strings, STRINGS_KEPT_BYTES, s, len, &is_new);
	if (!is_new)
		return id;
	p = encoder_begin_item(e, CHAINLOG_BLOCK_STRINGS, &err);
	if (!p)
		return 0;
	p = chainlog_put_bytes(p, s, len);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_STRINGS], id, p);
	return id;
}

/* The id of a C string; 0 for NULL. */
uint32_t encoder_string_id(struct encoder *e, const char *s)
{
	return s ? encoder_string(e, s, strlen(s)) : 0;
}

static uint32_t put_frame(struct encoder *e, uint32_t space, uint64_t addr, uint32_t generation)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_FRAMES];
	uint64_t key[2] = { (uint64_t)generation << 32 | space, addr };
	uint32_t id;
	bool is_new;
	uint8_t *p;
	int err;

	id = recent_id(&e->frames, FRAMES_KEPT_BYTES, key, sizeof(key), &is_new);
	if (!is_new)
		return id;
	p = encoder_begin_item(e, CHAINLOG_BLOCK_FRAMES, &err);
	if (!p)
		return 0;
	chainlog_list_end_item(l, id, chainlog_put_frame(p, space, addr, &l->prev));
	return id;
}

uint32_t encoder_frame(struct encoder *e, uint32_t space, uint64_t addr)
{
	return put_frame(e, space, addr, 0);
}

uint32_t encoder_kernel_frame(struct encoder *e, uint64_t addr, uint32_t generation)
{
	return put_frame(e, 0, addr, generation);
}

uint32_t encoder_stack_reserve(struct encoder *e)
{
	return ++e->stacks.last;
}

static int put_stack_end(struct encoder *e, uint32_t id, enum chainlog_stack_end end)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_STACK_ENDS];
	uint8_t *p;
	int err;

	p = encoder_begin_item(e, CHAINLOG_BLOCK_STACK_ENDS, &err);
	if (!p)
		return err;
	chainlog_list_end_item(l, 0, chainlog_put_stack_end(p, id, end, &l->prev));
	return 0;
}

int encoder_stack_define(struct encoder *e, uint32_t id, const uint32_t *frames, size_t n,
			 enum chainlog_stack_end end)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_STACKS];
	uint8_t *p;
	int err;

	if (n > CHAINLOG_STACK_MAX) {
		n = CHAINLOG_STACK_MAX;
		end = CHAINLOG_STACK_DEPTH;
	}
	/* A block holds a run of ids; one that was reserved earlier begins another block. */
	if (l->count && id != l->first_id + l->count) {
		err = encoder_flush_list(e, CHAINLOG_BLOCK_STACKS);
		if (err)
			return err;
	}
	p = encoder_begin_item(e, CHAINLOG_BLOCK_STACKS, &err);
	if (!p)
		return err;
	chainlog_list_end_item(
		l, id, chainlog_put_stack(p, frames, n, end > CHAINLOG_STACK_WHOLE, &l->prev));
	e->ends[end]++;
	return end == CHAINLOG_STACK_UNKNOWN ? 0 : put_stack_end(e, id, end);
}

uint32_t encoder_stack(struct encoder *e, const uint32_t *frames, size_t n,
		       enum chainlog_stack_end end)
{
	uint32_t key[CHAINLOG_STACK_MAX + 1], id;
	bool is_new;

	if (n > CHAINLOG_STACK_MAX) {
		n = CHAINLOG_STACK_MAX;
		end = CHAINLOG_STACK_DEPTH;
	}
	key[0] = end;
	memcpy(key + 1, frames, n * sizeof(*frames));
	id = recent_id(&e->stacks, STACKS_KEPT_BYTES, key, (n + 1) * sizeof(*key), &is_new);
	if (!is_new)
		return id;
	return encoder_stack_define(e, id, frames, n, end) ? 0 : id;
}

uint32_t encoder_module(struct encoder *e, const char *path, const uint8_t *build_id, size_t len)
{
	uint32_t path_id = encoder_string_id(e, path);
	uint8_t *p;
	int err;

	p = encoder_begin_item(e, CHAINLOG_BLOCK_MODULES, &err);
	if (!p)
		return 0;
	p = chainlog_put_varint(p, path_id);
	p = chainlog_put_bytes(p, build_id, len < BUILD_ID_MAX ? len : BUILD_ID_MAX);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_MODULES], ++e->modules, p);
	return e->modules;
}

int encoder_segment(struct encoder *e, uint32_t module, uint64_t offset, uint64_t bytes,
		    uint64_t address)
{
	uint8_t *p;
	int err;

	p = encoder_begin_item(e, CHAINLOG_BLOCK_SEGMENTS, &err);
	if (!p)
		return err;
	p = chainlog_put_varint(chainlog_put_varint(p, module), offset);
	p = chainlog_put_varint(chainlog_put_varint(p, bytes), address);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_SEGMENTS], 0, p);
	return 0;
}

uint32_t encoder_space(struct encoder *e, uint32_t tgid, const char *exe)
{
	uint32_t exe_id;
	uint8_t *p;
	int err;

	if (e->elsewhere.space)
		return e->elsewhere.space(e->elsewhere.space_ctx, tgid, exe);
	exe_id = encoder_string_id(e, exe);
	p = e->spaces < SPACES_MAX ? encoder_begin_item(e, CHAINLOG_BLOCK_SPACES, &err) : NULL;
	if (!p)
		return 0;
	p = chainlog_put_varint(chainlog_put_varint(p, tgid), exe_id);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_SPACES], ++e->spaces, p);
	return e->spaces;
}

int encoder_name(struct encoder *e, uint32_t frame, const char *symbol, uint32_t module,
		 uint64_t offset)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_NAMES];
	uint32_t symbol_id = encoder_string_id(e, symbol);
	uint8_t *p;
	int err;

	p = encoder_begin_item(e, CHAINLOG_BLOCK_NAMES, &err);
	if (!p)
		return err;
	p = chainlog_put_name(p, frame, symbol_id, module, offset, &l->prev);
	chainlog_list_end_item(l, 0, p);
	return 0;
}

uint32_t encoder_object_reserve(struct encoder *e)
{
	return ++e->objects.last;
}

static struct chainlog_object object_key(struct encoder *e, const struct encoder_object *o)
{
	return (struct chainlog_object) {
		.class = encoder_string_id(e, o->class),
		.name = *o->name ? encoder_string_id(e, o->name) : 0,
		.own = *o->own ? encoder_string_id(e, o->own) : 0,
		.peer = o->peer,
		.owner = o->owner,
	};
}

static int put_object(struct encoder *e, uint32_t id, const struct chainlog_object *key)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_OBJECTS];
	uint8_t *p;
	int err = 0;

	/* As in encoder_stack_define(). */
	if (l->count && id != l->first_id + l->count)
		err = encoder_flush_list(e, CHAINLOG_BLOCK_OBJECTS);
	if (err)
		return err;
	p = encoder_begin_item(e, CHAINLOG_BLOCK_OBJECTS, &err);
	if (!p)
		return err;
	p = chainlog_put_object(p, key);
	chainlog_list_end_item(l, id, p);
	return 0;
}

int encoder_object_define(struct encoder *e, uint32_t id, const struct encoder_object *o)
{
	struct chainlog_object key = object_key(e, o);

	return key.class ? put_object(e, id, &key) : -ENOMEM;
}

uint32_t encoder_object(struct encoder *e, const struct encoder_object *o)
{
	struct chainlog_object key = object_key(e, o);
	uint32_t id;
	bool is_new;

	if (!key.class)
		return 0;
	id = recent_id(&e->objects, OBJECTS_KEPT_BYTES, &key, sizeof(key), &is_new);
	if (!is_new)
		return id;
	return put_object(e, id, &key) ? 0 : id;
}

/* Counts the distinct threads. */
void encoder_count_thread(struct encoder *e, uint32_t tid)
{
	uint8_t bit = (uint8_t)(1u << tid % 8);

	if (tid >= CHAINLOG_TID_LIMIT || e->tids[tid / 8] & bit)
		return;
	e->tids[tid / 8] |= bit;
	e->n_tids++;
}

static int put_thread_object(struct encoder *e, uint32_t tid, uint32_t object)
{
	uint8_t *p;
	int err;

	p = encoder_begin_item(e, CHAINLOG_BLOCK_THREAD_OBJECTS, &err);
	if (!p)
		return err;
	p = chainlog_put_varint(chainlog_put_varint(p, tid), object);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_THREAD_OBJECTS], 0, p);
	return 0;
}

int encoder_thread(struct encoder *e, const struct encoder_thread *t)
{
	struct chainlog_thread_item item = {
		.tid = t->tid,
		.tgid = t->tgid,
		.start_ns = t->start_ns,
		.seen_ns = t->seen_ns,
		.flags = t->flags,
		.state = t->state,
		.name = encoder_string_id(e, t->name),
		.kstack = t->kstack,
		.ustack = t->ustack,
	};
	uint8_t *p;
	int err;

	encoder_count_thread(e, t->tid);
	p = encoder_begin_item(e, CHAINLOG_BLOCK_THREADS, &err);
	if (!p)
		return err;
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_THREADS], 0, chainlog_put_thread(p, &item));
	return t->object ? put_thread_object(e, t->tid, t->object) : 0;
}

int encoder_lost(struct encoder *e, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	uint8_t *p;
	int err;

	p = encoder_begin_item(e, CHAINLOG_BLOCK_LOST, &err);
	if (!p)
		return err;
	p = chainlog_put_lost(p, cpu, n, first_ns, last_ns);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_LOST], 0, p);
	e->lost += n;
	return 0;
}
