// SPDX-License-Identifier: GPL-2.0-or-later
#include "flight_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"
#include "pool.h"

/*
 * The kernel side names the ids of the last BPF_SESSION_IDS, and the half of it until the next
 * sweep, and those of a very busy moment. What is older than PINNED is not waited for.
 */
#define PINNED (2 * BPF_SESSION_IDS)
#define NAMED (4 * BPF_SESSION_IDS) /* a power of two */
/* Stacks for one event stand right before it in the ring; programs nest at most a few deep. */
#define ONCE_SLOTS 16u

struct named {
	uint32_t wire_id; /* 0: free */
	uint32_t id;
	uint32_t space; /* of a user stack that has come */
};

struct space {
	uint32_t tgid; /* 0: free */
	uint32_t next_free;
	char *exe;
};

struct frame_key {
	uint64_t addr, space;
};

struct flight_stacks {
	struct symbolizer *sym;
	struct pool stacks;		 /* by "cut" and frame ids */
	struct pool frames;		 /* by struct frame_key */
	struct symbolizer_place *places; /* by frame id - 1 */
	uint32_t cap_places;
	struct space *spaces; /* by id - 1 */
	uint32_t n_spaces, cap_spaces, free_space;
	size_t old_bytes;	   /* of what was kept though no event names it */
	uint32_t newest;	   /* wire id */
	struct named named[NAMED]; /* by wire id modulo NAMED */
	uint32_t layouts[WIRE_LAYOUTS];
	struct named once[ONCE_SLOTS];
	unsigned int next_once;
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
	pool_free(&f->stacks);
	pool_free(&f->frames);
	for (uint32_t i = 0; i < f->n_spaces; i++)
		free(f->spaces[i].exe);
	free(f->spaces);
	free(f->places);
	free(f);
}

/* ---- spaces and frames --------------------------------------------------------------------- */

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
		if (f->n_spaces == f->cap_spaces) {
			uint32_t cap = f->cap_spaces ? f->cap_spaces * 2 : 64;
			struct space *spaces = realloc(f->spaces, cap * sizeof(*spaces));

			if (!spaces) {
				free(copy);
				return 0;
			}
			f->spaces = spaces;
			f->cap_spaces = cap;
		}
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

static uint32_t frame_id(struct flight_stacks *f, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct frame_key key = { addr, space };
	bool is_new;
	uint32_t id = pool_id(&f->frames, &key, sizeof(key), time_ns, &is_new);

	if (!is_new)
		return id;
	if (id > f->cap_places) {
		struct symbolizer_place *places =
			realloc(f->places, f->frames.cap * sizeof(*places));

		if (!places) {
			pool_drop(&f->frames, id);
			return 0;
		}
		f->places = places;
		f->cap_places = f->frames.cap;
	}
	f->places[id - 1] = space ? symbolizer_place(f->sym, space, addr, time_ns)
				  : (struct symbolizer_place) { 0 };
	return id;
}

uint32_t flight_stacks_tracer_frames(struct flight_stacks *f, const __u64 *addrs, uint32_t n)
{
	uint32_t first = 0;

	while (first < n && symbolizer_is_tracer_frame(f->sym, addrs[first]))
		first++;
	return first;
}

/* Fills ids with a kernel stack's frames, the tracer's own left out; returns how many. */
static size_t kernel_frames(struct flight_stacks *f, uint64_t time_ns, const __u64 *addrs,
			    uint32_t n, uint32_t *ids)
{
	uint32_t first = flight_stacks_tracer_frames(f, addrs, n);

	for (uint32_t i = first; i < n; i++)
		ids[i - first] = frame_id(f, 0, addrs[i], time_ns);
	return n - first;
}

/* Likewise a user stack's, up to the first return address that lies in no code: see translate.c. */
static size_t user_frames(struct flight_stacks *f, uint32_t space, const struct wire_stack *s,
			  uint32_t *ids)
{
	uint32_t i = 0;

	for (; space && i < s->n; i++) {
		if (i && !symbolizer_is_code(f->sym, space, s->frames[i], s->r.time_ns))
			break;
		ids[i] = frame_id(f, space, s->frames[i], s->r.time_ns);
	}
	return i;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static struct named *find_once(struct flight_stacks *f, uint32_t wire_id)
{
	for (unsigned int i = 0; i < ONCE_SLOTS; i++)
		if (f->once[i].wire_id == wire_id)
			return &f->once[i];
	return NULL;
}

/* Where the id of a stack that is told once and named often is kept. */
static struct named *named_slot(struct flight_stacks *f, uint32_t wire_id)
{
	struct named *n = &f->named[wire_id % NAMED];

	/* Ids come from several rings: the newest one is so up to half a turn. */
	if (((wire_id - f->newest) & (WIRE_STACK_IDS - 1)) < WIRE_STACK_IDS / 2)
		f->newest = wire_id;
	if (n->wire_id != wire_id)
		*n = (struct named) { .wire_id = wire_id };
	return n;
}

static bool is_layout(uint32_t wire_id)
{
	return (wire_id & (WIRE_STACK_ONCE | WIRE_STACK_LAYOUT)) == WIRE_STACK_LAYOUT;
}

/*
 * The stack's id where other code is now at its addresses than when it came: a library has been
 * loaded where another one was.
 */
static uint32_t tell_again(struct flight_stacks *f, struct named *n, uint64_t time_ns)
{
	uint32_t key[1 + WIRE_STACK_MAX];
	const uint32_t *told;
	size_t len;

	told = pool_key(&f->stacks, n->id, &len);
	if (!told)
		return n->id;
	memcpy(key, told, len);
	n->space = symbolizer_space(f->sym, f->spaces[n->space - 1].tgid, time_ns);
	for (size_t i = 1; i < len / sizeof(key[0]); i++) {
		size_t frame_len;
		const struct frame_key *frame =
			key[i] ? pool_key(&f->frames, key[i], &frame_len) : NULL;

		/* 0: there was no memory for it. */
		if (frame)
			key[i] = frame_id(f, n->space, frame->addr, time_ns);
	}
	n->id = pool_id(&f->stacks, key, len, time_ns, NULL);
	return n->id;
}

uint32_t flight_stacks_id(struct flight_stacks *f, uint32_t wire_id, uint64_t time_ns)
{
	struct named *n;
	uint32_t id;

	if (!wire_id)
		return 0;
	if (is_layout(wire_id)) {
		id = f->layouts[(wire_id & ~WIRE_STACK_LAYOUT) % WIRE_LAYOUTS];
	} else if (wire_id & WIRE_STACK_ONCE) {
		n = find_once(f, wire_id);
		/* Its stack found no room: an id that stays without one says so. */
		return n ? n->id : pool_reserve(&f->stacks, time_ns);
	} else {
		n = named_slot(f, wire_id);
		if (!n->id)
			n->id = pool_reserve(&f->stacks, time_ns);
		id = n->id;
		if (n->space && !symbolizer_holds(f->sym, n->space, time_ns))
			id = tell_again(f, n, time_ns);
	}
	if (id)
		pool_touch(&f->stacks, id, time_ns);
	return id;
}

void flight_stacks_alias(struct flight_stacks *f, uint32_t wire_id, uint32_t layout)
{
	f->layouts[layout % WIRE_LAYOUTS] = flight_stacks_id(f, wire_id, 0);
}

int flight_stacks_take(struct flight_stacks *f, const struct wire_stack *s, size_t len)
{
	uint32_t key[1 + WIRE_STACK_MAX], id, space = 0;
	struct named *known = NULL;
	size_t n;

	if (s->n > WIRE_STACK_MAX ||
	    len < offsetof(struct wire_stack, frames) + s->n * sizeof(__u64) || is_layout(s->id))
		return -EBADMSG;
	if (!(s->id & WIRE_STACK_ONCE)) {
		size_t old;

		/* Two CPUs may have sent it at the same time. */
		known = named_slot(f, s->id);
		if (known->id && pool_key(&f->stacks, known->id, &old))
			return 0;
	}
	if (s->tgid)
		space = symbolizer_space(f->sym, s->tgid, s->r.time_ns);
	if (known)
		known->space = space;
	n = s->tgid ? user_frames(f, space, s, key + 1)
		    : kernel_frames(f, s->r.time_ns, s->frames, s->n, key + 1);
	key[0] = s->n >= WIRE_STACK_MAX || (s->tgid && n < s->n);
	n = (n + 1) * sizeof(key[0]);
	if (known && known->id)
		return pool_define(&f->stacks, known->id, key, n) ? 0 : -ENOMEM;
	id = pool_id(&f->stacks, key, n, s->r.time_ns, NULL);
	if (known) {
		known->id = id;
	} else {
		f->once[f->next_once] = (struct named) { s->id, id, 0 };
		f->next_once = (f->next_once + 1) % ONCE_SLOTS;
	}
	return id ? 0 : -ENOMEM;
}

uint32_t flight_stacks_of_thread(struct flight_stacks *f, const struct wire_thread *t)
{
	uint32_t key[1 + WIRE_STACK_MAX];
	size_t n;

	if (!t->n_kernel || t->n_kernel > WIRE_STACK_MAX)
		return 0;
	n = kernel_frames(f, t->seen_ns, t->frames, t->n_kernel, key + 1);
	key[0] = t->n_kernel == WIRE_STACK_MAX;
	return pool_id(&f->stacks, key, (n + 1) * sizeof(key[0]), t->seen_ns, NULL);
}

/* ---- forgetting ---------------------------------------------------------------------------- */

/* Why something is kept. */
enum { UNNEEDED, FOR_LATER, FOR_EVENTS };

static void mark(uint8_t *kept, uint32_t id, uint8_t why)
{
	if (kept[id] < why)
		kept[id] = why;
}

/* The stacks to keep for another reason than their age. */
static void mark_stacks(struct flight_stacks *f, uint8_t *kept, const struct threads *t)
{
	for (uint32_t i = 0; i < NAMED; i++) {
		struct named *n = &f->named[i];

		if (((f->newest - n->wire_id) & (WIRE_STACK_IDS - 1)) > PINNED)
			*n = (struct named) { 0 };
		mark(kept, n->id, FOR_LATER);
	}
	for (uint32_t i = 0; i < WIRE_LAYOUTS; i++)
		mark(kept, f->layouts[i], FOR_LATER);
	for (uint32_t i = 0; i < ONCE_SLOTS; i++)
		mark(kept, f->once[i].id, FOR_LATER);
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

		if (!pool_has(&f->stacks, id))
			continue;
		if (f->stacks.items[id - 1].used_ns >= oldest_ns)
			kept[id] = FOR_EVENTS;
		if (kept[id] == UNNEEDED) {
			pool_drop(&f->stacks, id);
			continue;
		}
		key = pool_key(&f->stacks, id, &len);
		if (key && kept[id] == FOR_LATER)
			f->old_bytes += pool_item_bytes(len);
		for (size_t i = 1; key && i < len / sizeof(*key); i++)
			mark(frames, key[i], kept[id]);
	}
}

static void keep_frames(struct flight_stacks *f, const uint8_t *kept, uint8_t *spaces)
{
	for (uint32_t id = 1; id <= f->frames.n; id++) {
		const struct frame_key *key;
		size_t len;

		if (!pool_has(&f->frames, id))
			continue;
		if (kept[id] != UNNEEDED) {
			key = pool_key(&f->frames, id, &len);
			mark(spaces, (uint32_t)key->space, FOR_LATER);
			if (kept[id] == FOR_LATER)
				f->old_bytes += pool_item_bytes(len) + sizeof(f->places[0]);
			continue;
		}
		symbolizer_release(f->sym, &f->places[id - 1]);
		pool_drop(&f->frames, id);
	}
}

int flight_stacks_collect(struct flight_stacks *f, uint64_t oldest_ns, const struct threads *t)
{
	uint8_t *stacks = calloc(f->stacks.n + 1, 1);
	uint8_t *frames = calloc(f->frames.n + 1, 1);
	uint8_t *spaces = calloc(f->n_spaces + 1, 1);
	int err = -ENOMEM;

	if (!stacks || !frames || !spaces)
		goto out;
	f->old_bytes = 0;
	mark_stacks(f, stacks, t);
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
				     int *cut)
{
	size_t len;
	const uint32_t *key = pool_has(&f->stacks, id) ? pool_key(&f->stacks, id, &len) : NULL;

	if (!key)
		return NULL;
	*n = len / sizeof(*key) - 1;
	*cut = key[0] != 0;
	return key + 1;
}

uint32_t flight_frame(const struct flight_stacks *f, uint32_t id, uint64_t *addr,
		      struct symbolizer_place *place)
{
	size_t len;
	const struct frame_key *key = pool_key(&f->frames, id, &len);

	*addr = key->addr;
	*place = f->places[id - 1];
	return (uint32_t)key->space;
}

struct flight_space flight_space(const struct flight_stacks *f, uint32_t id)
{
	return (struct flight_space) { f->spaces[id - 1].tgid, f->spaces[id - 1].exe };
}
