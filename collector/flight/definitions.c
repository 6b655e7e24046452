// SPDX-License-Identifier: GPL-2.0-or-later
#include "definitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct frame_key {
	uint64_t addr;
	uint32_t space, generation; /* of the kernel's, see symbolizer_kernel_generation() */
};

void definitions_free(struct definitions *d)
{
	id_pool_free(&d->stacks);
	id_pool_free(&d->frames);
	id_pool_free(&d->spaces);
	id_pool_free(&d->objects);
	id_pool_free(&d->strings);
	free(d->places);
}

uint32_t definitions_new_space(void *ctx, uint32_t tgid, const char *exe)
{
	struct definitions *d = ctx;
	size_t len = strlen(exe ? exe : "") + 1;
	char *key = malloc(sizeof(tgid) + len);
	uint32_t id = key ? id_pool_reserve(&d->spaces, 0) : 0;

	if (id) {
		memcpy(key, &tgid, sizeof(tgid));
		memcpy(key + sizeof(tgid), exe ? exe : "", len);
		if (!id_pool_define(&d->spaces, id, key, sizeof(tgid) + len)) {
			id_pool_drop(&d->spaces, id);
			id = 0;
		}
	}
	free(key);
	return id;
}

/* ---- the store of definitions -------------------------------------------------------------- */

/* The id of the frame with that key, which begins with a struct frame_key; *is_new: it has no place
 * yet. */
static uint32_t frame_id(struct definitions *d, const void *key, size_t len, uint64_t time_ns,
			 bool *is_new)
{
	uint32_t id = id_pool_get(&d->frames, key, len, time_ns, is_new);

	if (!*is_new)
		return id;
	if (id > d->cap_places) {
		struct symbolizer_place *places =
			realloc(d->places, d->frames.cap * sizeof(*places));

		if (!places) {
			id_pool_drop(&d->frames, id);
			*is_new = false;
			return 0;
		}
		d->places = places;
		d->cap_places = d->frames.cap;
	}
	d->places[id - 1] = (struct symbolizer_place) { 0 };
	return id;
}

static uint32_t store_frame(void *ctx, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct definitions *d = ctx;
	struct frame_key key = {
		.addr = addr,
		.space = space,
		.generation = space ? 0 : symbolizer_kernel_generation(d->sym, addr, time_ns),
	};
	bool is_new;
	uint32_t id = frame_id(d, &key, sizeof(key), time_ns, &is_new);

	if (is_new)
		d->places[id - 1] = space ? symbolizer_place(d->sym, space, addr, time_ns)
					  : (struct symbolizer_place) { .offset = key.generation };
	return id;
}

/* Behind the key of a frame of interpreted code: function and file, with terminators. */
static uint32_t store_code_frame(void *ctx, uint32_t space, uint64_t addr,
				 const struct code_location *at, uint64_t time_ns)
{
	size_t n_function = strlen(at->function) + 1, n_file = strlen(at->file) + 1;
	struct frame_key head = { .addr = addr, .space = space };
	uint8_t *key = malloc(sizeof(head) + n_function + n_file);
	struct definitions *d = ctx;
	bool is_new;
	uint32_t id;

	if (!key)
		return 0;
	memcpy(key, &head, sizeof(head));
	memcpy(key + sizeof(head), at->function, n_function);
	memcpy(key + sizeof(head) + n_function, at->file, n_file);
	id = frame_id(d, key, sizeof(head) + n_function + n_file, time_ns, &is_new);
	free(key);
	return id;
}

/* Stores key under *id, which is reserved, or if that is 0 under an id that *id then is. */
static int store(struct id_pool *p, uint32_t *id, const void *key, size_t len, uint64_t time_ns)
{
	if (*id)
		return id_pool_define(p, *id, key, len) ? 0 : -ENOMEM;
	*id = id_pool_get(p, key, len, time_ns, NULL);
	return *id ? 0 : -ENOMEM;
}

static int store_stack(void *ctx, uint32_t *id, const uint32_t *frames, size_t n,
		       enum chainlog_stack_end end, uint64_t time_ns)
{
	uint32_t key[1 + WIRE_STACK_MAX] = { end };
	struct definitions *d = ctx;

	memcpy(key + 1, frames, n * sizeof(*key));
	return store(&d->stacks, id, key, (n + 1) * sizeof(*key), time_ns);
}

/*
 * Both processes and what tells it from others, then class, name, own end and protocol, with
 * terminators.
 */
struct object_numbers {
	uint64_t inode;
	uint32_t device, peer, owner, pad;
};
#define PROTOCOL_LEN 16
#define OBJECT_BYTES                                                                           \
	(sizeof(struct object_numbers) + OBJECT_CLASS_LEN + OBJECT_NAME_LEN + OBJECT_END_LEN + \
	 PROTOCOL_LEN)

static int store_object(void *ctx, uint32_t *id, const struct object_text *o, uint64_t time_ns)
{
	const char *const texts[] = { o->class, o->name, o->own, o->protocol ? o->protocol : "" };
	struct object_numbers numbers = {
		.inode = o->inode, .device = o->device, .peer = o->peer, .owner = o->owner
	};
	struct definitions *d = ctx;
	uint8_t key[OBJECT_BYTES];
	size_t n = sizeof(numbers);

	memcpy(key, &numbers, n);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t len = strlen(texts[i]) + 1;

		if (len > sizeof(key) - n)
			return -ENAMETOOLONG;
		memcpy(key + n, texts[i], len);
		n += len;
	}
	return store(&d->objects, id, key, n, time_ns);
}

static uint32_t store_reserve(void *ctx, bool is_object, uint64_t time_ns)
{
	struct definitions *d = ctx;

	return id_pool_reserve(is_object ? &d->objects : &d->stacks, time_ns);
}

static void store_use(void *ctx, bool is_object, uint32_t id, uint64_t time_ns)
{
	struct definitions *d = ctx;

	id_pool_touch(is_object ? &d->objects : &d->stacks, id, time_ns);
}

struct definition_store definitions_store(struct definitions *d)
{
	return (struct definition_store) {
		.frame = store_frame,
		.code_frame = store_code_frame,
		.stack = store_stack,
		.object = store_object,
		.reserve = store_reserve,
		.use = store_use,
		.ctx = d,
	};
}

/* ---- dropping what is unused --------------------------------------------------------------- */

/* Whether and why something is kept. */
enum { UNNEEDED, FOR_LATER, FOR_EVENTS };

/* By id; calls of the maps may come with any id. What they make meanwhile is not here, and kept. */
struct marks {
	uint8_t *why;
	uint32_t end;
};

static struct marks new_marks(const struct id_pool *p)
{
	return (struct marks) { calloc(p->n + 1, 1), p->n + 1 };
}

static void mark(struct marks *m, uint32_t id, uint8_t why)
{
	if (id < m->end && m->why[id] < why)
		m->why[id] = why;
}

/* Of stacks, of objects. */
struct referred {
	struct marks *stacks, *objects;
};

static void mark_for_later(void *referred, bool is_object, uint32_t id)
{
	struct referred *r = referred;

	mark(is_object ? r->objects : r->stacks, id, FOR_LATER);
}

/* What is to be kept whatever its age. */
static void mark_old(struct referred *r, const struct threads *t, struct id_map *ids)
{
	id_map_each(ids, mark_for_later, r);
	for (uint32_t i = 0; i < t->n; i++) {
		mark(r->stacks, t->list[i].kstack, FOR_LATER);
		mark(r->stacks, t->list[i].ustack, FOR_LATER);
		mark(r->objects, t->list[i].tid ? t->list[i].object : 0, FOR_LATER);
		mark(r->objects, t->list[i].tid ? t->list[i].group : 0, FOR_LATER);
	}
}

static void keep_stacks(struct definitions *d, uint64_t oldest_ns, struct marks *kept,
			struct marks *frames)
{
	for (uint32_t id = 1; id < kept->end; id++) {
		const uint32_t *key;
		size_t len;

		if (!id_pool_has(&d->stacks, id))
			continue;
		if (d->stacks.items[id - 1].used_ns >= oldest_ns)
			kept->why[id] = FOR_EVENTS;
		if (kept->why[id] == UNNEEDED) {
			id_pool_drop(&d->stacks, id);
			continue;
		}
		key = id_pool_key(&d->stacks, id, &len);
		if (key && kept->why[id] == FOR_LATER)
			d->old_bytes += id_pool_item_bytes(len);
		for (size_t i = 1; key && i < len / sizeof(*key); i++)
			mark(frames, key[i], kept->why[id]);
	}
}

static void keep_frames(struct definitions *d, const struct marks *kept, struct marks *spaces)
{
	for (uint32_t id = 1; id < kept->end; id++) {
		const struct frame_key *key;
		size_t len;

		if (!id_pool_has(&d->frames, id))
			continue;
		if (kept->why[id] != UNNEEDED) {
			key = id_pool_key(&d->frames, id, &len);
			mark(spaces, key->space, FOR_LATER);
			if (kept->why[id] == FOR_LATER)
				d->old_bytes += id_pool_item_bytes(len) + sizeof(d->places[0]);
			continue;
		}
		symbolizer_release(d->sym, &d->places[id - 1]);
		id_pool_drop(&d->frames, id);
	}
}

static void keep_spaces(struct definitions *d, const struct marks *kept)
{
	for (uint32_t id = 1; id < kept->end; id++) {
		if (kept->why[id] != UNNEEDED || !id_pool_has(&d->spaces, id))
			continue;
		symbolizer_forget_space(d->sym, id);
		id_pool_drop(&d->spaces, id);
	}
}

/* Drops what was last used before oldest_ns, unless it is marked (kept may be NULL). */
static void drop_unused(struct id_pool *p, uint64_t oldest_ns, const struct marks *kept)
{
	uint32_t end = kept ? kept->end : p->n + 1;

	for (uint32_t id = 1; id < end; id++)
		if (id_pool_has(p, id) && !(kept && kept->why[id]) &&
		    p->items[id - 1].used_ns < oldest_ns)
			id_pool_drop(p, id);
}

int definitions_collect(struct definitions *d, uint64_t oldest_ns, const struct threads *t,
			struct id_map *ids)
{
	struct marks stacks = new_marks(&d->stacks), frames = new_marks(&d->frames);
	struct marks spaces = new_marks(&d->spaces), objects = new_marks(&d->objects);
	int err = -ENOMEM;

	if (!stacks.why || !frames.why || !spaces.why || !objects.why)
		goto out;
	d->old_bytes = 0;
	mark_old(&(struct referred) { &stacks, &objects }, t, ids);
	keep_stacks(d, oldest_ns, &stacks, &frames);
	keep_frames(d, &frames, &spaces);
	keep_spaces(d, &spaces);
	drop_unused(&d->objects, oldest_ns, &objects);
	drop_unused(&d->strings, oldest_ns, NULL);
	err = 0;
out:
	free(stacks.why);
	free(frames.why);
	free(spaces.why);
	free(objects.why);
	return err;
}

size_t definitions_bytes(const struct definitions *d)
{
	return d->stacks.bytes + d->frames.bytes + (size_t)d->frames.n * sizeof(d->places[0]) +
	       d->objects.bytes + d->strings.bytes - d->old_bytes;
}

/* ---- for writing --------------------------------------------------------------------------- */

const uint32_t *definitions_stack(const struct definitions *d, uint32_t id, size_t *n,
				  enum chainlog_stack_end *end)
{
	size_t len;
	const uint32_t *key =
		id_pool_has(&d->stacks, id) ? id_pool_key(&d->stacks, id, &len) : NULL;

	if (!key)
		return NULL;
	*n = len / sizeof(*key) - 1;
	*end = (enum chainlog_stack_end)key[0];
	return key + 1;
}

uint32_t definitions_frame(const struct definitions *d, uint32_t id, uint64_t *addr,
			   struct symbolizer_place *place, struct code_location *code)
{
	size_t len;
	const struct frame_key *key = id_pool_key(&d->frames, id, &len);

	*addr = key->addr;
	*place = d->places[id - 1];
	*code = (struct code_location) { 0 };
	if (len > sizeof(*key)) {
		code->function = (const char *)(key + 1);
		code->file = code->function + strlen(code->function) + 1;
		code->line = (uint32_t)key->addr & ((1u << WIRE_CODE_PLACE_BITS) - 1);
	}
	return key->space;
}

const char *definitions_space(const struct definitions *d, uint32_t id, uint32_t *tgid)
{
	size_t len;
	const char *key = id_pool_key(&d->spaces, id, &len);

	memcpy(tgid, key, sizeof(*tgid));
	return key + sizeof(*tgid);
}

bool definitions_object(const struct definitions *d, uint32_t id, struct encoder_object *out)
{
	size_t len;
	const char *key = id_pool_key(&d->objects, id, &len);
	struct object_numbers numbers;

	if (!key)
		return false;
	memcpy(&numbers, key, sizeof(numbers));
	out->peer = numbers.peer;
	out->owner = numbers.owner;
	out->device = numbers.device;
	out->inode = numbers.inode;
	out->class = key + sizeof(numbers);
	out->name = out->class + strlen(out->class) + 1;
	out->own = out->name + strlen(out->name) + 1;
	out->protocol = out->own + strlen(out->own) + 1;
	return true;
}
