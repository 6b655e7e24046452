// SPDX-License-Identifier: GPL-2.0-or-later
#include "flight_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "id_pool.h"

struct space {
	uint32_t tgid; /* 0: free */
	uint32_t next_free;
	char *exe;
};

struct frame_key {
	uint64_t addr;
	uint32_t space, generation; /* of the kernel's, see symbolizer_kernel_generation() */
};

struct flight_stacks {
	struct symbolizer *sym;
	struct id_pool stacks; /* by why they end, and frame ids */
	struct id_pool frames; /* by struct frame_key */
	/* By frame id - 1. The offset of a kernel frame is its generation. */
	struct symbolizer_place *places;
	size_t cap_places;
	struct space *spaces; /* by id - 1 */
	uint32_t n_spaces, free_space;
	size_t cap_spaces;
	size_t old_bytes; /* at the last collection: kept, but no event refers to it */
};

struct flight_stacks *flight_stacks_new(struct symbolizer *sym)
{
	struct flight_stacks *f = calloc(1, sizeof(*f));

	if (f)
		f->sym = sym;
	return f;
}

void flight_stacks_free(struct flight_stacks *f)
{
	if (!f)
		return;
	id_pool_free(&f->stacks);
	id_pool_free(&f->frames);
	for (uint32_t i = 0; i < f->n_spaces; i++)
		free(f->spaces[i].exe);
	free(f->spaces);
	free(f->places);
	free(f);
}

/* ---- address spaces ------------------------------------------------------------------------ */

uint32_t flight_stacks_space(void *ctx, uint32_t tgid, const char *exe)
{
	struct flight_stacks *f = ctx;
	uint32_t id = f->free_space;
	char *copy = strdup(exe ? exe : "");

	if (!copy)
		return 0;
	if (id) {
		f->free_space = f->spaces[id - 1].next_free;
	} else {
		struct space *spaces =
			grow_array(f->spaces, f->n_spaces, &f->cap_spaces, sizeof(*spaces));

		if (!spaces) {
			free(copy);
			return 0;
		}
		f->spaces = spaces;
		id = ++f->n_spaces;
	}
	f->spaces[id - 1] = (struct space) { .tgid = tgid, .exe = copy };
	return id;
}

static void drop_space(struct flight_stacks *f, uint32_t id)
{
	struct space *s = &f->spaces[id - 1];

	symbolizer_forget_space(f->sym, id);
	free(s->exe);
	*s = (struct space) { .next_free = f->free_space };
	f->free_space = id;
}

/* ---- the store of stacks ------------------------------------------------------------------- */

static uint32_t store_frame(void *ctx, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct flight_stacks *f = ctx;
	struct frame_key key = {
		.addr = addr,
		.space = space,
		.generation = space ? 0 : symbolizer_kernel_generation(f->sym, addr, time_ns),
	};
	bool is_new;
	uint32_t id = id_pool_get(&f->frames, &key, sizeof(key), time_ns, &is_new);

	if (!is_new)
		return id;
	if (id > f->cap_places) {
		struct symbolizer_place *places =
			realloc(f->places, f->frames.cap * sizeof(*places));

		if (!places) {
			id_pool_drop(&f->frames, id);
			return 0;
		}
		f->places = places;
		f->cap_places = f->frames.cap;
	}
	f->places[id - 1] = space ? symbolizer_place(f->sym, space, addr, time_ns)
				  : (struct symbolizer_place) { .offset = key.generation };
	return id;
}

/* Fills key, of 1 + WIRE_STACK_MAX numbers, and returns its bytes. */
static size_t make_key(uint32_t *key, const uint32_t *frames, size_t n, enum chainlog_stack_end end)
{
	key[0] = end;
	memcpy(key + 1, frames, n * sizeof(*key));
	return (n + 1) * sizeof(*key);
}

static uint32_t store_stack(void *ctx, const uint32_t *frames, size_t n,
			    enum chainlog_stack_end end, uint64_t time_ns)
{
	uint32_t key[1 + WIRE_STACK_MAX];
	struct flight_stacks *f = ctx;

	return id_pool_get(&f->stacks, key, make_key(key, frames, n, end), time_ns, NULL);
}

static uint32_t store_reserve(void *ctx, uint64_t time_ns)
{
	struct flight_stacks *f = ctx;

	return id_pool_reserve(&f->stacks, time_ns);
}

static int store_define(void *ctx, uint32_t id, const uint32_t *frames, size_t n,
			enum chainlog_stack_end end)
{
	uint32_t key[1 + WIRE_STACK_MAX];
	struct flight_stacks *f = ctx;

	return id_pool_define(&f->stacks, id, key, make_key(key, frames, n, end)) ? 0 : -ENOMEM;
}

static uint32_t store_addrs(void *ctx, uint32_t id, __u64 *addrs, enum chainlog_stack_end *end)
{
	struct flight_stacks *f = ctx;
	size_t n = 0, len;
	const uint32_t *frames;

	*end = CHAINLOG_STACK_UNKNOWN;
	frames = flight_stacks_frames(f, id, &n, end);

	for (size_t i = 0; frames && i < n; i++) {
		/* 0: there was no memory for the frame. */
		const struct frame_key *frame =
			frames[i] ? id_pool_key(&f->frames, frames[i], &len) : NULL;

		addrs[i] = frame ? frame->addr : 0;
	}
	return frames ? (uint32_t)n : 0;
}

static void store_use(void *ctx, uint32_t id, uint64_t time_ns)
{
	struct flight_stacks *f = ctx;

	id_pool_touch(&f->stacks, id, time_ns);
}

struct stack_store flight_stacks_store(struct flight_stacks *f)
{
	return (struct stack_store) {
		.frame = store_frame,
		.stack = store_stack,
		.reserve = store_reserve,
		.define = store_define,
		.addrs = store_addrs,
		.use = store_use,
		.ctx = f,
	};
}

/* ---- dropping what is unused --------------------------------------------------------------- */

/* Whether and why something is kept. */
enum { UNNEEDED, FOR_LATER, FOR_EVENTS };

static void mark(uint8_t *kept, uint32_t id, uint8_t why)
{
	if (kept[id] < why)
		kept[id] = why;
}

static void mark_for_later(void *kept, uint32_t id)
{
	mark(kept, id, FOR_LATER);
}

/* The stacks to keep whatever their age. */
static void mark_stacks(uint8_t *kept, const struct threads *t, struct stack_map *map)
{
	stack_map_each(map, mark_for_later, kept);
	for (uint32_t i = 0; i < t->n; i++) {
		mark(kept, t->list[i].kstack, FOR_LATER);
		mark(kept, t->list[i].ustack, FOR_LATER);
	}
}

static void keep_stacks(struct flight_stacks *f, uint64_t oldest_ns, uint8_t *kept, uint8_t *frames)
{
	for (uint32_t id = 1; id <= f->stacks.n; id++) {
		const uint32_t *key;
		size_t len;

		if (!id_pool_has(&f->stacks, id))
			continue;
		if (f->stacks.items[id - 1].used_ns >= oldest_ns)
			kept[id] = FOR_EVENTS;
		if (kept[id] == UNNEEDED) {
			id_pool_drop(&f->stacks, id);
			continue;
		}
		key = id_pool_key(&f->stacks, id, &len);
		if (key && kept[id] == FOR_LATER)
			f->old_bytes += id_pool_item_bytes(len);
		for (size_t i = 1; key && i < len / sizeof(*key); i++)
			mark(frames, key[i], kept[id]);
	}
}

static void keep_frames(struct flight_stacks *f, const uint8_t *kept, uint8_t *spaces)
{
	for (uint32_t id = 1; id <= f->frames.n; id++) {
		const struct frame_key *key;
		size_t len;

		if (!id_pool_has(&f->frames, id))
			continue;
		if (kept[id] != UNNEEDED) {
			key = id_pool_key(&f->frames, id, &len);
			mark(spaces, key->space, FOR_LATER);
			if (kept[id] == FOR_LATER)
				f->old_bytes += id_pool_item_bytes(len) + sizeof(f->places[0]);
			continue;
		}
		symbolizer_release(f->sym, &f->places[id - 1]);
		id_pool_drop(&f->frames, id);
	}
}

int flight_stacks_collect(struct flight_stacks *f, uint64_t oldest_ns, const struct threads *t,
			  struct stack_map *map)
{
	uint8_t *stacks = calloc(f->stacks.n + 1, 1);
	uint8_t *frames = calloc(f->frames.n + 1, 1);
	uint8_t *spaces = calloc(f->n_spaces + 1, 1);
	int err = -ENOMEM;

	if (!stacks || !frames || !spaces)
		goto out;
	f->old_bytes = 0;
	mark_stacks(stacks, t, map);
	keep_stacks(f, oldest_ns, stacks, frames);
	keep_frames(f, frames, spaces);
	for (uint32_t id = 1; id <= f->n_spaces; id++)
		if (spaces[id] == UNNEEDED && f->spaces[id - 1].exe)
			drop_space(f, id);
	err = 0;
out:
	free(stacks);
	free(frames);
	free(spaces);
	return err;
}

size_t flight_stacks_bytes(const struct flight_stacks *f)
{
	return f->stacks.bytes + f->frames.bytes + (size_t)f->frames.n * sizeof(f->places[0]) -
	       f->old_bytes;
}

/* ---- for writing --------------------------------------------------------------------------- */

uint32_t flight_stacks_end(const struct flight_stacks *f)
{
	return f->stacks.n + 1;
}

uint32_t flight_frames_end(const struct flight_stacks *f)
{
	return f->frames.n + 1;
}

uint32_t flight_spaces_end(const struct flight_stacks *f)
{
	return f->n_spaces + 1;
}

const uint32_t *flight_stacks_frames(const struct flight_stacks *f, uint32_t id, size_t *n,
				     enum chainlog_stack_end *end)
{
	size_t len;
	const uint32_t *key =
		id_pool_has(&f->stacks, id) ? id_pool_key(&f->stacks, id, &len) : NULL;

	if (!key)
		return NULL;
	*n = len / sizeof(*key) - 1;
	*end = (enum chainlog_stack_end)key[0];
	return key + 1;
}

uint32_t flight_frame(const struct flight_stacks *f, uint32_t id, uint64_t *addr,
		      struct symbolizer_place *place)
{
	size_t len;
	const struct frame_key *key = id_pool_key(&f->frames, id, &len);

	*addr = key->addr;
	*place = f->places[id - 1];
	return key->space;
}

struct flight_space flight_space(const struct flight_stacks *f, uint32_t id)
{
	return (struct flight_space) { f->spaces[id - 1].tgid, f->spaces[id - 1].exe };
}
