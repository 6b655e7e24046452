// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf_private.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

void bpf_session_find_tables(struct bpf_session *s)
{
	struct chaincap_bpf__bss *tables = s->skel->bss;

	if (s->programs != BPF_USUAL) {
		bpf_older_tables(s);
		return;
	}
	s->trie.steps = (void *)tables->steps;
	s->trie.branches = (void *)tables->branches;
	if (!s->skel->rodata->user_stacks)
		return;
	s->rules = (void *)tables->rules;
	s->generations = (void *)tables->generations;
	s->copiers = (void *)tables->copiers;
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

/*
 * Puts the rule into a free place of its bucket, or else in place of another rule. If the BPF side
 * still needs that one, it asks for it again.
 */
void bpf_session_rule(void *session, uint64_t key, uint64_t rule)
{
	struct bpf_session *s = session;
	struct wire_rules *bucket = &s->rules[wire_rule_bucket(key)];
	uint32_t way = WIRE_RULE_WAYS;

	for (uint32_t i = 0; i < WIRE_RULE_WAYS; i++) {
		if ((bucket->check[i] ^ bucket->rule[i]) == key && bucket->rule[i] == rule)
			return;
		/* Its own place, before a free one. */
		if ((bucket->check[i] ^ bucket->rule[i]) == key) {
			way = i;
			break;
		}
		if (!bucket->rule[i])
			way = i;
	}
	if (way == WIRE_RULE_WAYS)
		way = s->n_rules % WIRE_RULE_WAYS;
	s->n_rules++;
	/* A program that reads one word old and the other one new finds no rule: see wire_rules. */
	__atomic_store_n(&bucket->rule[way], rule, __ATOMIC_RELAXED);
	__atomic_store_n(&bucket->check[way], key ^ rule, __ATOMIC_RELAXED);
}

void bpf_session_replaced(void *session, uint32_t tgid)
{
	struct bpf_session *s = session;

	__atomic_fetch_add(&s->generations[tgid % WIRE_GENERATIONS], 1, __ATOMIC_RELAXED);
}

void bpf_session_cut_stack(struct bpf_session *s, uint32_t tgid)
{
	struct wire_copier *of = &s->copiers[wire_copier(s->skel->rodata->hash_seed, tgid)];

	if (!of->cut)
		of->tgid = tgid;
	if (of->tgid == tgid)
		__atomic_fetch_add(&of->cut, 1, __ATOMIC_RELAXED);
}

void bpf_session_take_cut(struct bpf_session *s,
			  void (*fn)(void *ctx, uint32_t tgid, uint32_t stacks), void *ctx)
{
	for (uint32_t i = 0; s->copiers && i < 1u << WIRE_COPIERS_SHIFT; i++) {
		uint32_t tgid = s->copiers[i].tgid;
		uint32_t n = __atomic_exchange_n(&s->copiers[i].cut, 0, __ATOMIC_RELAXED);

		if (n)
			fn(ctx, tgid, n);
	}
}

bool bpf_session_unwinds(const struct bpf_session *s)
{
	return s->rules;
}

/* Moves the hashes of entries of map "stacks" to be removed to the front; returns how many. */
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

	bpf_session_forget(s);
	bpf_session_forget_code(s);
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

/* There are rare stacks all the time: for those it is not worth it to read the rings sooner. */
#define LEARNING_LEAST 4u

bool bpf_session_learning(struct bpf_session *s)
{
	return __atomic_exchange_n(&s->n_samples, 0, __ATOMIC_RELAXED) >= LEARNING_LEAST;
}
