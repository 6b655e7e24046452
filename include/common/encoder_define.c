// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of definitions: strings, frames, stacks, files, objects and threads. Each is written once,
 * and has an id.
 */
#include <errno.h>
#include <stdlib.h>

#include "build_id.h"
#include "encoder_private.h"
#include "grow.h"

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

/* No item but a string and a module is longer; these are longer by their bytes. */
#define ITEM_MAX ((CHAINLOG_STACK_MAX + 1) * CHAINLOG_VARINT_MAX)

int encoder_note(struct encoder *e, int err)
{
	if (err && !e->err)
		e->err = err;
	return err;
}

int encoder_give(struct encoder *e, const void *block, size_t len)
{
	if (!block)
		return 0;
	e->bytes += len;
	return encoder_note(e, e->sink(e->ctx, block, len));
}

static bool has_ids(enum chainlog_block type)
{
	return type != CHAINLOG_BLOCK_NAMES && type != CHAINLOG_BLOCK_THREADS &&
	       type != CHAINLOG_BLOCK_LOST && type != CHAINLOG_BLOCK_STACK_ENDS &&
	       type != CHAINLOG_BLOCK_SEGMENTS && type != CHAINLOG_BLOCK_THREAD_OBJECTS &&
	       type != CHAINLOG_BLOCK_THREAD_HOLDERS && type != CHAINLOG_BLOCK_NOTES &&
	       type != CHAINLOG_BLOCK_THREAD_GROUPS && type != CHAINLOG_BLOCK_THREAD_OWN_IDS;
}

int encoder_flush_list(struct encoder *e, enum chainlog_block type)
{
	struct encoder_list *l = &e->lists[type];
	uint64_t head[2] = { l->first_id, l->count };
	bool ids = has_ids(type);
	size_t len = l->len;
	const uint8_t *block;

	if (!l->count)
		return 0;
	l->count = 0;
	l->len = 0;
	l->prev = 0;
	block = chainlog_finish_block(type, ids ? head : head + 1, ids ? 2 : 1,
				      l->block + CHAINLOG_FRONT, len, &len);
	return encoder_give(e, block, len);
}

/* Returns where an item of a list goes, with room for a string; NULL with e->err set. */
static uint8_t *begin_item(struct encoder *e, enum chainlog_block type)
{
	struct encoder_list *l = &e->lists[type];
	int err = 0;

	/* An item is begun below CHAINLOG_BLOCK_TARGET. */
	if (!l->block)
		l->block =
			malloc(CHAINLOG_FRONT + CHAINLOG_BLOCK_TARGET + e->string_max + ITEM_MAX);
	if (!l->block)
		err = encoder_note(e, -ENOMEM);
	else if (l->len >= CHAINLOG_BLOCK_TARGET)
		err = encoder_flush_list(e, type);
	return err ? NULL : l->block + CHAINLOG_FRONT + l->len;
}

/* Ends an item, which has this id (ignored in lists without ids) and ends before end. */
static void end_item(struct encoder *e, enum chainlog_block type, uint32_t id, const uint8_t *end)
{
	struct encoder_list *l = &e->lists[type];

	if (!l->count++)
		l->first_id = id;
	l->len = (size_t)(end - l->block) - CHAINLOG_FRONT;
}

/* A block holds a run of ids; one that was reserved earlier begins another block. */
static uint8_t *begin_item_of_id(struct encoder *e, enum chainlog_block type, uint32_t id)
{
	const struct encoder_list *l = &e->lists[type];

	if (l->count && id != l->first_id + l->count && encoder_flush_list(e, type))
		return NULL;
	return begin_item(e, type);
}

static uint8_t *put_delta(uint8_t *p, uint64_t v, uint64_t *prev)
{
	p = chainlog_put_varint(p, chainlog_zigzag((int64_t)(v - *prev)));
	*prev = v;
	return p;
}

/* Which number of an item is the difference to that of the item before. */
enum delta { DELTA_NONE, DELTA_FIRST, DELTA_SECOND };

/* An item that is some numbers. Returns its id, 0 if it failed. */
static uint32_t put_numbers(struct encoder *e, enum chainlog_block type, uint32_t id,
			    const uint64_t *v, size_t n, enum delta delta)
{
	uint8_t *p = begin_item(e, type);

	if (!p)
		return 0;
	for (size_t i = 0; i < n; i++)
		p = i + 1 == delta ? put_delta(p, v[i], &e->lists[type].prev)
				   : chainlog_put_varint(p, v[i]);
	end_item(e, type, id, p);
	return id;
}

/* The same in a list without ids. Returns 0 or a negative errno. */
static int list_numbers(struct encoder *e, enum chainlog_block type, const uint64_t *v, size_t n,
			enum delta delta)
{
	return put_numbers(e, type, 1, v, n, delta) ? 0 : e->err;
}

static size_t half_bytes(const struct recent_half *h)
{
	return h->keys.n_bytes + h->keys.n * (sizeof(*h->keys.keys) + sizeof(*h->ids)) +
	       (h->keys.index.mask ? ((size_t)h->keys.index.mask + 1) * sizeof(uint32_t) : 0);
}

static void turn(struct recent *r)
{
	struct recent_half young = r->old;

	r->old = r->young;
	r->young = young;
	intern_clear(&r->young.keys);
}

static uint32_t find(const struct recent_half *h, const void *key, size_t len)
{
	uint32_t i = intern_find(&h->keys, key, len);

	return i ? h->ids[i - 1] : 0;
}

/*
 * Returns the id of the len bytes at key, given now if they are not known any more; *is_new says
 * so. What is kept takes max_bytes, about, unless the encoder keeps all. 0: out of memory or of
 * ids.
 */
static uint32_t id_of(struct encoder *e, struct recent *r, size_t max_bytes, const void *key,
		      size_t len, bool *is_new)
{
	uint32_t id = find(&r->young, key, len), i;

	*is_new = false;
	if (id)
		return id;
	if (!e->keep_all && half_bytes(&r->young) > max_bytes / 2)
		turn(r);
	if (!GROW(r->young.ids, r->young.keys.n, r->young.cap) || r->last == UINT32_MAX)
		goto fail;
	id = find(&r->old, key, len);
	i = intern_id(&r->young.keys, key, len, NULL);
	if (!i)
		goto fail;
	*is_new = !id;
	r->young.ids[i - 1] = id ? id : ++r->last;
	return r->young.ids[i - 1];
fail:
	encoder_note(e, -ENOMEM);
	return 0;
}

void recent_free(struct recent *r)
{
	intern_free(&r->young.keys);
	intern_free(&r->old.keys);
	free(r->young.ids);
	free(r->old.ids);
	*r = (struct recent) { .last = 0 };
}

uint32_t encoder_string(struct encoder *e, const char *s, size_t len)
{
	uint32_t id;
	bool is_new;
	uint8_t *p;

	if (len > e->string_max)
		len = e->string_max;
	if (e->elsewhere.string)
		return e->elsewhere.string(e->elsewhere.string_ctx, s, len);
	id = id_of(e, &e->strings, STRINGS_KEPT_BYTES, s, len, &is_new);
	if (!is_new)
		return id;
	p = begin_item(e, CHAINLOG_BLOCK_STRINGS);
	if (!p)
		return 0;
	end_item(e, CHAINLOG_BLOCK_STRINGS, id, encoder_put_bytes(p, s, len));
	return id;
}

uint32_t encoder_text(struct encoder *e, const char *s)
{
	return s ? encoder_string(e, s, strlen(s)) : 0;
}

/* ---- frames and stacks ---------------------------------------------------------------------- */

static uint32_t put_frame(struct encoder *e, uint32_t id, uint32_t space, uint64_t addr)
{
	uint64_t v[] = { space, addr };

	return put_numbers(e, CHAINLOG_BLOCK_FRAMES, id, v, 2, DELTA_SECOND);
}

static uint32_t frame_of(struct encoder *e, uint32_t space, uint64_t addr, uint32_t generation)
{
	uint64_t key[2] = { (uint64_t)generation << 32 | space, addr };
	bool is_new;
	uint32_t id = id_of(e, &e->frames, FRAMES_KEPT_BYTES, key, sizeof(key), &is_new);

	return is_new ? put_frame(e, id, space, addr) : id;
}

uint32_t encoder_frame(struct encoder *e, uint32_t space, uint64_t addr)
{
	return frame_of(e, space, addr, 0);
}

uint32_t encoder_kernel_frame(struct encoder *e, uint64_t addr, uint32_t generation)
{
	return frame_of(e, 0, addr, generation);
}

uint32_t encoder_new_frame(struct encoder *e, uint32_t space, uint64_t addr)
{
	if (e->frames.last == UINT32_MAX) {
		encoder_note(e, -ENOMEM);
		return 0;
	}
	return put_frame(e, ++e->frames.last, space, addr);
}

uint32_t encoder_stack_reserve(struct encoder *e)
{
	return ++e->stacks.last;
}

int encoder_stack_define(struct encoder *e, uint32_t id, const uint32_t *frames, size_t n,
			 enum chainlog_stack_end end)
{
	struct encoder_list *l = &e->lists[CHAINLOG_BLOCK_STACKS];
	uint64_t stack_end[] = { id, end };
	uint8_t *p;

	if (n > CHAINLOG_STACK_MAX) {
		n = CHAINLOG_STACK_MAX;
		end = stack_end[1] = CHAINLOG_STACK_DEPTH;
	}
	p = begin_item_of_id(e, CHAINLOG_BLOCK_STACKS, id);
	if (!p)
		return e->err;
	p = chainlog_put_varint(p, n << 1 | (end > CHAINLOG_STACK_WHOLE));
	for (size_t i = 0; i < n; i++)
		p = put_delta(p, frames[i], &l->prev);
	end_item(e, CHAINLOG_BLOCK_STACKS, id, p);
	if (end == ENCODER_STACK_CUT)
		return 0;
	e->ends[end]++;
	if (end == CHAINLOG_STACK_UNKNOWN)
		return 0;
	return list_numbers(e, CHAINLOG_BLOCK_STACK_ENDS, stack_end, 2, DELTA_FIRST);
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
	id = id_of(e, &e->stacks, STACKS_KEPT_BYTES, key, (n + 1) * sizeof(*key), &is_new);
	if (!is_new)
		return id;
	return encoder_stack_define(e, id, frames, n, end) ? 0 : id;
}

int encoder_name(struct encoder *e, uint32_t frame, uint32_t symbol, uint32_t module,
		 uint64_t offset)
{
	uint64_t v[] = { frame, symbol, module, offset };

	return list_numbers(e, CHAINLOG_BLOCK_NAMES, v, 4, DELTA_FIRST);
}

/* ---- files and address spaces --------------------------------------------------------------- */

uint32_t encoder_module(struct encoder *e, uint32_t path, const uint8_t *build_id, size_t len)
{
	uint8_t *p = begin_item(e, CHAINLOG_BLOCK_MODULES);

	if (!p)
		return 0;
	p = chainlog_put_varint(p, path);
	p = encoder_put_bytes(p, build_id, len < BUILD_ID_MAX ? len : BUILD_ID_MAX);
	end_item(e, CHAINLOG_BLOCK_MODULES, ++e->modules, p);
	return e->modules;
}

int encoder_segment(struct encoder *e, uint32_t module, uint64_t offset, uint64_t bytes,
		    uint64_t address)
{
	uint64_t v[] = { module, offset, bytes, address };

	return list_numbers(e, CHAINLOG_BLOCK_SEGMENTS, v, 4, DELTA_NONE);
}

/* Files that are recognized; then all are forgotten. */
#define SOURCES_MAX 65536u

static uint32_t source_module(struct encoder *e, const char *file)
{
	bool is_new;
	uint32_t id;

	if (e->sources.n >= SOURCES_MAX)
		intern_clear(&e->sources);
	if (!GROW(e->source_modules, e->sources.n, e->cap_sources))
		return 0;
	id = intern_id(&e->sources, file, strlen(file), &is_new);
	if (id && is_new)
		e->source_modules[id - 1] = encoder_module(e, encoder_text(e, file), NULL, 0);
	return id ? e->source_modules[id - 1] : 0;
}

int encoder_code_name(struct encoder *e, uint32_t frame, const char *function, const char *file,
		      uint32_t line)
{
	uint32_t module = *file ? source_module(e, file) : 0;

	return encoder_name(e, frame, encoder_text(e, function), module, line);
}

uint32_t encoder_space(struct encoder *e, uint32_t tgid, const char *exe)
{
	uint64_t v[] = { tgid, 0 };

	if (e->elsewhere.space)
		return e->elsewhere.space(e->elsewhere.space_ctx, tgid, exe);
	v[1] = encoder_text(e, exe);
	if (e->spaces == SPACES_MAX ||
	    !put_numbers(e, CHAINLOG_BLOCK_SPACES, e->spaces + 1, v, 2, DELTA_NONE))
		return 0;
	return ++e->spaces;
}

/* ---- objects and threads -------------------------------------------------------------------- */

/* Has no padding, so that equal objects are equal bytes. */
struct object {
	uint32_t class, name; /* string ids */
	uint32_t peer;	      /* process id, 0: not known */
	uint32_t own;	      /* string id */
	uint32_t owner;	      /* process id */
	uint32_t device;
	uint64_t inode;
	uint32_t protocol; /* string id */
	uint32_t zero;	   /* no padding: it is compared as bytes */
};

_Static_assert(sizeof(struct object) == 40, "an object has no padding");

uint32_t encoder_object_reserve(struct encoder *e)
{
	return ++e->objects.last;
}

static struct object object_of(struct encoder *e, const struct encoder_object *o)
{
	return (struct object) {
		.class = encoder_text(e, o->class),
		.name = *o->name ? encoder_text(e, o->name) : 0,
		.own = *o->own ? encoder_text(e, o->own) : 0,
		.protocol = o->protocol && *o->protocol ? encoder_text(e, o->protocol) : 0,
		.peer = o->peer,
		.owner = o->owner,
		.device = o->device,
		.inode = o->inode,
	};
}

static int put_object(struct encoder *e, uint32_t id, const struct object *o)
{
	uint8_t fields[7 * 5 + CHAINLOG_VARINT_MAX], *end = fields;
	uint8_t *p = begin_item_of_id(e, CHAINLOG_BLOCK_OBJECTS, id);

	if (!p)
		return e->err;
	end = chainlog_put_varint(chainlog_put_varint(end, o->class), o->name);
	end = chainlog_put_varint(chainlog_put_varint(end, o->peer), o->own);
	end = chainlog_put_varint(end, o->owner);
	if (o->inode || o->protocol)
		end = chainlog_put_varint(chainlog_put_varint(end, o->device), o->inode);
	if (o->protocol)
		end = chainlog_put_varint(end, o->protocol);
	p = encoder_put_bytes(p, fields, (size_t)(end - fields));
	end_item(e, CHAINLOG_BLOCK_OBJECTS, id, p);
	return 0;
}

int encoder_object_define(struct encoder *e, uint32_t id, const struct encoder_object *o)
{
	struct object object = object_of(e, o);

	return object.class ? put_object(e, id, &object) : -ENOMEM;
}

uint32_t encoder_object(struct encoder *e, const struct encoder_object *o)
{
	struct object object = object_of(e, o);
	uint32_t id;
	bool is_new;

	if (!object.class)
		return 0;
	id = id_of(e, &e->objects, OBJECTS_KEPT_BYTES, &object, sizeof(object), &is_new);
	if (!is_new)
		return id;
	return put_object(e, id, &object) ? 0 : id;
}

void encoder_count_thread(struct encoder *e, uint32_t tid)
{
	uint8_t bit = (uint8_t)(1u << tid % 8);

	if (tid >= CHAINLOG_TID_LIMIT || e->tids[tid / 8] & bit)
		return;
	e->tids[tid / 8] |= bit;
	e->n_tids++;
}

int encoder_thread(struct encoder *e, const struct encoder_thread *t)
{
	const struct {
		enum chainlog_block type;
		uint32_t value;
	} more[] = {
		{ CHAINLOG_BLOCK_THREAD_OBJECTS, t->object },
		{ CHAINLOG_BLOCK_THREAD_GROUPS, t->group },
		{ CHAINLOG_BLOCK_THREAD_OWN_IDS, t->own_id },
	};
	uint8_t *p;
	int err = 0;

	encoder_count_thread(e, t->tid);
	p = begin_item(e, CHAINLOG_BLOCK_THREADS);
	if (!p)
		return e->err;
	p = chainlog_put_varint(chainlog_put_varint(p, t->tid), t->tgid);
	p = chainlog_put_varint(chainlog_put_varint(p, t->start_ns), t->seen_ns);
	p = chainlog_put_varint(p, t->flags);
	*p++ = (uint8_t)t->state;
	p = chainlog_put_varint(p, t->name);
	p = chainlog_put_varint(chainlog_put_varint(p, t->kstack), t->ustack);
	end_item(e, CHAINLOG_BLOCK_THREADS, 0, p);
	for (size_t i = 0; !err && i < sizeof(more) / sizeof(more[0]); i++)
		if (more[i].value)
			err = list_numbers(e, more[i].type,
					   (const uint64_t[]) { t->tid, more[i].value }, 2,
					   DELTA_NONE);
	return err;
}

int encoder_thread_holder(struct encoder *e, uint32_t tid, uint32_t holder)
{
	uint64_t v[] = { tid, holder };

	return list_numbers(e, CHAINLOG_BLOCK_THREAD_HOLDERS, v, 2, DELTA_NONE);
}

int encoder_process_note(struct encoder *e, uint32_t tgid, const char *program, const char *what,
			 const char *cure)
{
	uint32_t v[] = { tgid, encoder_text(e, program), encoder_text(e, what),
			 encoder_text(e, cure) };
	uint8_t fields[4 * CHAINLOG_VARINT_MAX], *end = fields, *p;

	for (size_t i = 0; i < 4; i++)
		end = chainlog_put_varint(end, v[i]);
	p = begin_item(e, CHAINLOG_BLOCK_NOTES);
	if (!p)
		return e->err;
	end_item(e, CHAINLOG_BLOCK_NOTES, 0, encoder_put_bytes(p, fields, (size_t)(end - fields)));
	return 0;
}

int encoder_lost(struct encoder *e, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t v[] = { cpu < 0 ? 0 : (uint64_t)cpu + 1, n, first_ns, last_ns - first_ns };
	int err = list_numbers(e, CHAINLOG_BLOCK_LOST, v, 4, DELTA_NONE);

	if (!err)
		e->lost += n;
	return err;
}
