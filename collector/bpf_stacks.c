// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf_private.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STEPS_SIZE (WIRE_STEPS * sizeof(struct wire_step))
#define BRANCHES_SIZE (WIRE_BRANCHES * sizeof(uint64_t))

static void *map_array(const struct bpf_map *map, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return p == MAP_FAILED ? NULL : p;
}

int bpf_session_map_steps(struct bpf_session *s)
{
	s->steps.steps = map_array(s->skel->maps.steps, STEPS_SIZE);
	s->steps.branches = map_array(s->skel->maps.branches, BRANCHES_SIZE);
	return s->steps.steps && s->steps.branches ? 0 : -errno;
}

void bpf_session_unmap_steps(struct bpf_session *s)
{
	if (s->steps.steps)
		munmap(s->steps.steps, STEPS_SIZE);
	if (s->steps.branches)
		munmap(s->steps.branches, BRANCHES_SIZE);
}

void bpf_session_interrupt_entry(void *session, uint64_t start, uint64_t end)
{
	struct bpf_session *s = session;

	for (uint32_t i = 0; i < WIRE_ENTRIES; i++) {
		struct wire_range *r = (void *)&s->skel->bss->entries[i];

		if (!r->end) {
			*r = (struct wire_range) { start, end };
			return;
		}
	}
}

uint32_t bpf_session_learn(struct bpf_session *s, const struct wire_sample *sample, uint32_t first)
{
	struct wire_known_stack known = { sample->id, (uint32_t)(sample->hash >> 32), .sent = 1 };
	struct wire_known_stack old;
	int stacks = bpf_map__fd(s->skel->maps.stacks);
	struct layout layout;

	if (s->layouts + 1 >= WIRE_LAYOUTS || !layout_finder_add(s->finder, sample, first, &layout))
		return 0;
	/* It may lie in two ways, on the thread's stack and on the CPU's own: it keeps its id. */
	if (!bpf_map_lookup_elem(stacks, &sample->hash, &old) && old.layout) {
		steps_add(&s->steps, &layout, old.id);
		return 0;
	}
	known.layout = s->layouts + 1;
	known.id = WIRE_STACK_LAYOUT | known.layout;
	if (bpf_map_update_elem(stacks, &sample->hash, &known, BPF_EXIST))
		return 0;
	s->layouts++;
	steps_add(&s->steps, &layout, known.id);
	return known.layout;
}

/* Of the n entries of the map "stacks" those that are to go, to the front; returns how many. */
static uint32_t pick_old(uint32_t last, uint64_t *hashes, const struct wire_known_stack *known,
			 uint32_t n)
{
	uint32_t old = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!known[i].layout &&
		    ((last - known[i].id) & (WIRE_STACK_IDS - 1)) >= BPF_SESSION_IDS)
			hashes[old++] = hashes[i];
	return old;
}

static int sweep(int fd, uint32_t last, uint64_t *hashes, struct wire_known_stack *known,
		 uint32_t cap)
{
	uint64_t at = 0;
	bool first = true;
	int err;

	do {
		uint32_t n = cap, old;

		/* -ENOENT: these were the last. */
		err = bpf_map_lookup_batch(fd, first ? NULL : &at, &at, hashes, known, &n, NULL);
		if (err && err != -ENOENT)
			return err;
		first = false;
		old = pick_old(last, hashes, known, n);
		if (old && bpf_map_delete_batch(fd, hashes, &old, NULL))
			return -errno;
	} while (!err);
	return 0;
}

#define SWEEP_EVERY (BPF_SESSION_IDS / 2)
#define SWEEP_BATCH 8192u

int bpf_session_recycle(struct bpf_session *s)
{
	uint32_t last = s->skel->bss->last_stack_id;
	struct wire_known_stack *known;
	uint64_t *hashes;
	int err = -ENOMEM;

	if (last - s->swept_at < SWEEP_EVERY)
		return 0;
	hashes = malloc(SWEEP_BATCH * sizeof(*hashes));
	known = malloc(SWEEP_BATCH * sizeof(*known));
	if (hashes && known)
		err = sweep(bpf_map__fd(s->skel->maps.stacks), last, hashes, known, SWEEP_BATCH);
	if (!err)
		s->swept_at = last;
	free(hashes);
	free(known);
	return err;
}

bool bpf_session_learning(const struct bpf_session *s)
{
	return s->learning;
}

uint32_t bpf_session_layouts(const struct bpf_session *s)
{
	return s->layouts;
}
