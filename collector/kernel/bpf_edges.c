// SPDX-License-Identifier: GPL-2.0-or-later
/* --light: reads switches and wakings that have no stacks (chainwire_edges.h). */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf_private.h"

/* Words of a CPU: a server's of some seconds, half a second of one that passes a byte to and fro.
 */
#define WORDS_DEFAULT (256u << 10)
#define WORDS_OFFLINE (2u << 10)
#define WORDS_TOTAL (8u << 20)
#define WORDS_LEAST (16u << 10)
/* Words that are copied at once. */
#define COPIED 512u

/* Where the collector is in a CPU's words. */
struct edge_reader {
	uint64_t next;		 /* word */
	uint64_t edges, objects; /* before it, those included that are lost */
	uint64_t at_ns;		 /* of the last edge or mark */
	uint32_t running;
	bool is_lost; /* until the next mark nothing is known */
	/* A copy of some words: the first of them, and how many. */
	uint64_t copy_first;
	uint32_t n_copied;
	uint64_t copy[COPIED];
};

struct edge_arrays {
	struct wire_edges *of; /* by CPU, in memory shared with BPF */
	uint64_t *words;       /* likewise */
	size_t of_bytes, words_bytes;
	struct edge_reader readers[]; /* by CPU */
};

/* ---- making -------------------------------------------------------------------------------- */

/* How many words each CPU has that is online. */
static uint32_t words_of_online(size_t buffer_size, uint32_t online)
{
	uint32_t words = WORDS_DEFAULT;

	while (words > WORDS_LEAST && (uint64_t)words * online > WORDS_TOTAL)
		words /= 2;
	while (buffer_size && words > WORDS_OFFLINE && words * sizeof(uint64_t) > buffer_size)
		words /= 2;
	return words;
}

void bpf_session_size_edges(struct bpf_session *s, size_t buffer_size)
{
	uint32_t online = 0;

	if (!s->skel->rodata->light_ns)
		return;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++)
		online += s->is_online[cpu];
	s->edge_words = words_of_online(buffer_size, online);
	bpf_map__set_max_entries(s->skel->maps.edges, s->cpus);
	bpf_map__set_max_entries(s->skel->maps.edge_words,
				 s->edge_words * online + WORDS_OFFLINE * (s->cpus - online));
}

static void *map_values(const struct bpf_map *map, size_t *bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = bpf_map__value_size(map);
	void *at;

	*bytes = (size * bpf_map__max_entries(map) + page - 1) / page * page;
	at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	return at == MAP_FAILED ? NULL : at;
}

int bpf_session_map_edges(struct bpf_session *s)
{
	struct edge_arrays *a;
	uint32_t base = 0;

	if (!s->skel->rodata->light_ns || s->programs != BPF_USUAL)
		return 0;
	a = s->edges = calloc(1, sizeof(*a) + s->cpus * sizeof(*a->readers));
	if (!a)
		return -ENOMEM;
	a->of = map_values(s->skel->maps.edges, &a->of_bytes);
	a->words = map_values(s->skel->maps.edge_words, &a->words_bytes);
	if (!a->of || !a->words)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		uint32_t words = s->is_online[cpu] ? s->edge_words : WORDS_OFFLINE;

		a->of[cpu].base = base;
		a->of[cpu].mask = words - 1;
		base += words;
	}
	return 0;
}

void bpf_session_free_edges(struct bpf_session *s)
{
	if (s->edges && s->edges->of)
		munmap(s->edges->of, s->edges->of_bytes);
	if (s->edges && s->edges->words)
		munmap(s->edges->words, s->edges->words_bytes);
	free(s->edges);
}

/* ---- words --------------------------------------------------------------------------------- */

/*
 * Copies words from `first` on, fewer than are there or all. False: some were overwritten, or may
 * have been while they were copied.
 */
static bool copy_words(struct edge_arrays *a, uint32_t cpu, struct edge_reader *r, uint64_t first,
		       uint64_t end)
{
	const struct wire_edges *e = &a->of[cpu];
	uint64_t n = end - first < COPIED ? end - first : COPIED, room = e->mask + 1ull;

	for (uint32_t i = 0; i < n; i++)
		r->copy[i] = __atomic_load_n(&a->words[e->base + ((first + i) & e->mask)],
					     __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	r->copy_first = first;
	r->n_copied = (uint32_t)n;
	return __atomic_load_n(&e->words, __ATOMIC_RELAXED) + WIRE_EDGE_WORDS_MAX <= first + room;
}

/*
 * The word `at`, of those before `end`. If it is overwritten, the reader goes to the oldest one
 * that will be there for a while, and false is returned.
 */
static bool get_word(struct edge_arrays *a, uint32_t cpu, struct edge_reader *r, uint64_t at,
		     uint64_t end, uint64_t *word)
{
	uint64_t room = a->of[cpu].mask + 1ull;

	if (at - r->copy_first >= r->n_copied && !copy_words(a, cpu, r, at, end)) {
		r->n_copied = 0;
		r->is_lost = true;
		r->next = __atomic_load_n(&a->of[cpu].words, __ATOMIC_ACQUIRE) - room + room / 8;
		return false;
	}
	*word = r->copy[at - r->copy_first];
	return true;
}

/* ---- edges --------------------------------------------------------------------------------- */

static uint32_t tid_of(uint64_t word)
{
	return word >> WIRE_EDGE_TID & (WIRE_IDS - 1);
}

static int tell_lost(uint32_t cpu, uint32_t kind, uint64_t n, uint64_t from_ns, uint64_t to_ns,
		     bpf_record_fn fn, void *ctx)
{
	struct wire_lost l = {
		.r = { .time_ns = from_ns, .kind = WIRE_LOST, .cpu = cpu },
		.n = n,
		.last_ns = to_ns,
		.event = kind,
	};

	return n ? fn(ctx, &l.r, sizeof(l)) : 0;
}

/* What was overwritten ends with this mark. Returns 0 or what fn does. */
static int take_mark(struct edge_reader *r, uint32_t cpu, const uint64_t mark[WIRE_EDGE_MARK_WORDS],
		     bpf_record_fn fn, void *ctx)
{
	uint64_t at_ns = mark[0] >> WIRE_EDGE_BITS, edges = mark[2] >> WIRE_EDGE_BITS;
	uint64_t objects = mark[3] >> WIRE_EDGE_BITS;
	int err = tell_lost(cpu, WIRE_SWITCH, edges - r->edges, r->at_ns, at_ns, fn, ctx);

	if (!err)
		err = tell_lost(cpu, WIRE_WAITS_FOR, objects - r->objects, r->at_ns, at_ns, fn,
				ctx);
	r->at_ns = at_ns;
	r->running = (uint32_t)(mark[1] >> WIRE_EDGE_BITS);
	r->edges = edges;
	r->objects = objects;
	r->is_lost = false;
	return err;
}

static int take_edge(struct edge_reader *r, uint32_t cpu, uint64_t word, uint32_t object,
		     bpf_record_fn fn, void *ctx)
{
	static const uint32_t states[] = {
		[WIRE_EDGE_RUNNABLE] = 0, [WIRE_EDGE_SLEEPS] = 1, [WIRE_EDGE_BLOCKED] = 2
	};
	uint32_t what = word & (WIRE_EDGE_OBJECT - 1), actor = r->running, other = tid_of(word);
	struct wire_record record = { .time_ns = r->at_ns, .cpu = cpu };

	r->edges++;
	r->objects += object > 0;
	if (what <= WIRE_EDGE_BLOCKED) {
		struct wire_switch ev = { .r = record,
					  .prev = actor,
					  .next = other,
					  .state = states[what],
					  .object = object };

		ev.r.kind = WIRE_SWITCH_EDGE;
		r->running = other;
		return fn(ctx, &ev.r, sizeof(ev));
	}
	struct wire_waking ev = { .r = record, .waker = actor, .target = other };

	ev.r.kind = WIRE_WAKING_EDGE;
	ev.target |= what == WIRE_EDGE_WAKES_OFF_QUEUE ? WIRE_OFF_QUEUE : 0;
	return fn(ctx, &ev.r, sizeof(ev));
}

/* The time of an edge: the first one from the last time on that has these lowest bits. */
static uint64_t edge_time(const struct edge_reader *r, uint64_t word)
{
	uint64_t mask = (1ull << WIRE_EDGE_TIME_BITS) - 1;

	return r->at_ns + (((word >> WIRE_EDGE_TIME) - r->at_ns) & mask);
}

/* Gives the next edge before until_ns. Returns 1, 0 if there is none, or what fn returns. */
static int give_edge(struct edge_arrays *a, uint32_t cpu, uint64_t end, uint64_t until_ns,
		     bpf_record_fn fn, void *ctx)
{
	struct edge_reader *r = &a->readers[cpu];
	uint64_t words[WIRE_EDGE_MARK_WORDS], at_ns;
	bool is_mark, has_object;
	uint32_t n = 1;
	int err;

	if (!get_word(a, cpu, r, r->next, end, &words[0]))
		return 1;
	is_mark = (words[0] & (WIRE_EDGE_OBJECT - 1)) == WIRE_EDGE_MARK;
	if (r->is_lost && !is_mark) {
		r->next++;
		return 1;
	}
	has_object = !is_mark && words[0] & WIRE_EDGE_OBJECT;
	at_ns = is_mark ? words[0] >> WIRE_EDGE_BITS : edge_time(r, words[0]);
	if (at_ns >= until_ns)
		return 0;
	while (n < (is_mark ? WIRE_EDGE_MARK_WORDS : 1u + has_object)) {
		if (!get_word(a, cpu, r, r->next + n, end, &words[n]))
			return 1;
		n++;
	}
	r->next += n;
	if (is_mark) {
		err = take_mark(r, cpu, words, fn, ctx);
	} else {
		r->at_ns = at_ns;
		err = take_edge(r, cpu, words[0],
				has_object ? (uint32_t)(words[1] >> WIRE_EDGE_BITS) : 0, fn, ctx);
	}
	return err < 0 ? err : 1;
}

int bpf_session_edges(struct bpf_session *s, uint32_t cpu, uint64_t until_ns, bpf_record_fn fn,
		      void *ctx)
{
	struct edge_arrays *a = s->edges;
	uint64_t end;
	int ret = 1;

	if (!a)
		return 0;
	end = __atomic_load_n(&a->of[cpu].words, __ATOMIC_ACQUIRE);
	while (ret > 0 && a->readers[cpu].next < end)
		ret = give_edge(a, cpu, end, until_ns, fn, ctx);
	return ret < 0 ? ret : 0;
}

void bpf_session_count_edges(const struct bpf_session *s, struct bpf_counts *c)
{
	for (uint32_t cpu = 0; s->edges && cpu < s->cpus; cpu++) {
		const struct wire_edges *e = &s->edges->of[cpu];

		c->seen += __atomic_load_n(&e->edges, __ATOMIC_RELAXED);
		c->aux_seen += __atomic_load_n(&e->objects, __ATOMIC_RELAXED);
		c->missed += __atomic_load_n(&e->missed, __ATOMIC_RELAXED);
		c->programs_ns += __atomic_load_n(&e->cost_ns, __ATOMIC_RELAXED) * WIRE_COST_EACH;
	}
}
