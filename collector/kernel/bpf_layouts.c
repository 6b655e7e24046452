// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel stacks that are known without a walk: learning them, and forgetting what is not used.
 */
#include "bpf_private.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#include "clock.h"

/* Forgetting takes a few milliseconds: at most this often. */
#define FORGET_EVERY_NS 5000000000u
/* Pieces of kernel code that have changed since; more of them are taken for all of it. */
#define GONE_MAX 64u

enum layout_state { LAYOUT_FREE, LAYOUT_KNOWN, LAYOUT_DROPPED };

/*
 * How a layout's number can be used again. A program may be following the old tree, or may have
 * found the number in the map "stacks", until the grace period is over; what it puts into a ring
 * then is taken out by the next drain of all rings.
 */
enum forgetting {
	FORGET_NOTHING,
	FORGET_GRACE, /* the programs follow the new tree; some may not yet */
	FORGET_DRAIN, /* all do; records of those that did not may be in the rings */
};

struct layouts {
	uint64_t hash[WIRE_LAYOUTS]; /* of the stack: the key in the map "stacks" */
	uint64_t used_ns[WIRE_LAYOUTS];
	uint8_t state[WIRE_LAYOUTS];
	uint32_t n, last; /* known ones; number given last */
	bool is_full;
	enum forgetting forgetting;
	struct grace *grace; /* NULL: nothing can be forgotten */
	uint64_t forgot_ns, forgotten;
	uint64_t keep_from_ns; /* while copying */
	struct wire_range gone[GONE_MAX];
	uint32_t n_gone;
};

int bpf_session_make_layouts(struct bpf_session *s)
{
	s->layouts = calloc(1, sizeof(*s->layouts));
	if (!s->layouts)
		return -ENOMEM;
	(void)grace_new(&s->layouts->grace); /* without it nothing is forgotten */
	return 0;
}

void bpf_session_free_layouts(struct bpf_session *s)
{
	if (s->layouts)
		grace_free(s->layouts->grace);
	free(s->layouts);
}

/* ---- learning ------------------------------------------------------------------------------ */

/* A free number; 0: there is none. */
static uint32_t free_number(struct layouts *l)
{
	for (uint32_t i = 1; i < WIRE_LAYOUTS; i++) {
		uint32_t number = (l->last + i) % WIRE_LAYOUTS;

		if (number && l->state[number] == LAYOUT_FREE)
			return l->last = number;
	}
	return 0;
}

static void add(struct bpf_session *s, const struct stack_slots *slots, uint32_t id)
{
	/* Otherwise just the places of this one are taken. */
	if (stack_trie_add(&s->trie, slots, id) && stack_trie_is_full(&s->trie))
		s->layouts->is_full = true;
}

uint32_t bpf_session_learn(void *session, const struct wire_layout_sample *sample, uint32_t first)
{
	struct bpf_session *s = session;
	struct wire_known_stack known = { .check = (uint32_t)(sample->hash >> 32) | WIRE_SENT };
	struct wire_known_stack old;
	struct layouts *l = s->layouts;
	int stacks = bpf_map__fd(s->skel->maps.stacks);
	struct stack_slots slots;

	if (l->is_full || !slot_finder_add(s->finder, sample, first, &slots))
		return 0;
	/* It may have two layouts, on the thread's stack and on the CPU's own, but one id. */
	if (!bpf_map_lookup_elem(stacks, &sample->hash, &old) && old.layout) {
		add(s, &slots, old.id);
		return 0;
	}
	known.layout = free_number(l);
	if (!known.layout) {
		l->is_full = true;
		return 0;
	}
	known.id = WIRE_STACK_LAYOUT | known.layout;
	if (bpf_map_update_elem(stacks, &sample->hash, &known, BPF_EXIST))
		return 0;
	l->hash[known.layout] = sample->hash;
	l->used_ns[known.layout] = sample->r.time_ns;
	l->state[known.layout] = LAYOUT_KNOWN;
	l->n++;
	add(s, &slots, known.id);
	return known.layout;
}

void bpf_session_note_use(struct bpf_session *s, const struct wire_record *r, size_t len)
{
	uint32_t number = 0;

	if (r->kind == WIRE_SWITCH && len >= sizeof(struct wire_switch))
		number = wire_layout(((const struct wire_switch *)(const void *)r)->kstack);
	else if (r->kind <= WIRE_WAKING_NEW && len >= sizeof(struct wire_waking))
		number = wire_layout(((const struct wire_waking *)(const void *)r)->kstack);
	if (number)
		__atomic_store_n(&s->layouts->used_ns[number % WIRE_LAYOUTS], r->time_ns,
				 __ATOMIC_RELAXED);
}

/* ---- forgetting ---------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The time since when half of the known layouts were used. UINT64_MAX when out of memory. */
static uint64_t median_use(const struct layouts *l)
{
	uint64_t *times = malloc(WIRE_LAYOUTS * sizeof(*times)), median = UINT64_MAX;
	uint32_t n = 0;

	for (uint32_t i = 1; times && i < WIRE_LAYOUTS; i++)
		if (l->state[i] == LAYOUT_KNOWN)
			times[n++] = l->used_ns[i];
	if (n) {
		qsort(times, n, sizeof(*times), compare_times);
		median = times[n / 2];
	}
	free(times);
	return median;
}

static bool is_gone(void *layouts, uint64_t ret)
{
	const struct layouts *l = layouts;

	if (!(ret >> 63) || ret == WIRE_STEP_ELSE)
		return false; /* not an address */
	/* A return address may be just past the last byte. */
	for (uint32_t i = 0; i < l->n_gone; i++)
		if (ret > l->gone[i].start && ret <= l->gone[i].end)
			return true;
	return false;
}

static void drop(void *layouts, uint32_t id)
{
	struct layouts *l = layouts;

	l->state[wire_layout(id) % WIRE_LAYOUTS] = LAYOUT_DROPPED;
}

static bool keep(void *layouts, uint32_t id)
{
	const struct layouts *l = layouts;
	uint32_t number = wire_layout(id) % WIRE_LAYOUTS;

	return l->state[number] == LAYOUT_KNOWN && l->used_ns[number] >= l->keep_from_ns;
}

/* Makes the programs follow a tree without what is to be forgotten, and forget its ids. */
static void begin_to_forget(struct bpf_session *s, uint64_t now_ns)
{
	struct layouts *l = s->layouts;
	struct stack_trie_choice choice = { is_gone, drop, keep, l };
	int stacks = bpf_map__fd(s->skel->maps.stacks);

	l->keep_from_ns = l->is_full ? median_use(l) : 0;
	if (l->keep_from_ns == UINT64_MAX || stack_trie_copy(&s->trie, &choice))
		return;
	/* Release: who reads the new root finds the steps behind it. */
	__atomic_store_n(&s->skel->bss->tree_root, s->trie.root, __ATOMIC_RELEASE);
	for (uint32_t i = 1; i < WIRE_LAYOUTS; i++) {
		if (l->state[i] == LAYOUT_KNOWN && l->used_ns[i] < l->keep_from_ns)
			l->state[i] = LAYOUT_DROPPED;
		if (l->state[i] != LAYOUT_DROPPED)
			continue;
		(void)bpf_map_delete_elem(stacks, &l->hash[i]);
		l->n--;
		l->forgotten++;
	}
	l->is_full = false;
	l->n_gone = 0;
	l->forgot_ns = now_ns;
	l->forgetting = FORGET_GRACE;
	if (!grace_begin(l->grace)) {
		/* For want of a thread: the old tree is never used again. */
		grace_free(l->grace);
		l->grace = NULL;
	}
}

static void end_forgetting(struct bpf_session *s)
{
	struct layouts *l = s->layouts;

	for (uint32_t i = 1; i < WIRE_LAYOUTS; i++)
		if (l->state[i] == LAYOUT_DROPPED)
			l->state[i] = LAYOUT_FREE;
	stack_trie_clear_other(&s->trie);
	l->forgetting = FORGET_NOTHING;
}

void bpf_session_forget(struct bpf_session *s)
{
	struct layouts *l = s->layouts;
	uint64_t now_ns;

	if (!l->grace)
		return;
	switch (l->forgetting) {
	case FORGET_NOTHING:
		now_ns = l->is_full || l->n_gone ? clock_now_ns() : 0;
		if (l->n_gone || (l->is_full && now_ns - l->forgot_ns >= FORGET_EVERY_NS))
			begin_to_forget(s, now_ns);
		break;
	case FORGET_GRACE:
		if (grace_is_over(l->grace))
			l->forgetting = FORGET_DRAIN;
		break;
	case FORGET_DRAIN:
		end_forgetting(s);
		break;
	}
}

void bpf_session_code_gone(void *session, uint64_t start, uint64_t end)
{
	struct bpf_session *s = session;
	struct layouts *l = s->layouts;

	if (l->n_gone == GONE_MAX) {
		l->gone[0] = (struct wire_range) { 0, UINT64_MAX };
		l->n_gone = 1;
		return;
	}
	l->gone[l->n_gone++] = (struct wire_range) { start, end };
	/* Mostly no layout has that code in it: BPF programs do not sleep. */
	if (!stack_trie_has(&s->trie, is_gone, l))
		l->n_gone--;
}

uint32_t bpf_session_layouts(const struct bpf_session *s)
{
	return s->layouts->n;
}

uint64_t bpf_session_forgotten(const struct bpf_session *s)
{
	return s->layouts->forgotten;
}
