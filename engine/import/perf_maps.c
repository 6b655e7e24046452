// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_maps.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "common/lower_bound.h"

/* The kernel's default limit, vm.max_map_count, is about this. */
#define MAPS_OF_PROCESS 65536u
/*
 * Bounds the memory, to 256 MiB: a hostile recording has processes with many mappings fork often.
 */
#define MAPS_MAX (8u << 20)
/* Bounds the time, to some 20 s: how many mappings are copied or moved in all. */
#define WORK_MAX (1ull << 31)

struct perf_process {
	struct perf_map *maps; /* by start, not overlapping */
	size_t n, cap;
	uint32_t version; /* 0: nothing is known */
};

static struct perf_process *process_of(struct perf_maps *m, uint32_t tgid)
{
	int is_new;
	uint32_t id = pairs_id_new(&m->tgids, tgid, 0, &is_new);

	XGROW_ZEROED(m->processes, id, m->cap);
	return &m->processes[id];
}

static const struct perf_process *known_process(const struct perf_maps *m, uint32_t tgid)
{
	uint32_t id = pairs_find(&m->tgids, tgid, 0);

	return id ? &m->processes[id] : NULL;
}

static void clear(struct perf_maps *m, struct perf_process *p)
{
	m->n_maps -= p->n;
	free(p->maps);
	p->maps = NULL;
	p->n = p->cap = 0;
	p->version = ++m->changes;
}

/* The first of maps that ends above an address. */
static size_t above(const struct perf_process *p, uint64_t addr)
{
	return LOWER_BOUND(i, p->n, p->maps[i].end <= addr);
}

static void insert(struct perf_maps *m, struct perf_process *p, size_t at,
		   const struct perf_map *map)
{
	m->work += p->n - at;
	XGROW(p->maps, p->n, p->cap);
	memmove(p->maps + at + 1, p->maps + at, (p->n - at) * sizeof(*map));
	p->maps[at] = *map;
	p->n++;
	m->n_maps++;
}

void perf_maps_add(struct perf_maps *m, uint32_t tgid, const struct perf_map *map)
{
	struct perf_process *p = process_of(m, tgid);
	size_t first, last;

	p->version = ++m->changes;
	first = above(p, map->start);
	/* One that goes on on both sides becomes two. */
	if (first < p->n && p->maps[first].start < map->start && p->maps[first].end > map->end) {
		struct perf_map rest = p->maps[first];

		rest.offset += map->end - rest.start;
		rest.start = map->end;
		p->maps[first].end = map->start;
		insert(m, p, first + 1, &rest);
		first++;
	} else if (first < p->n && p->maps[first].start < map->start) {
		p->maps[first++].end = map->start;
	}
	for (last = first; last < p->n && p->maps[last].end <= map->end; last++)
		;
	m->work += last > first ? p->n - last : 0;
	if (last > first)
		memmove(p->maps + first, p->maps + last, (p->n - last) * sizeof(*p->maps));
	p->n -= last - first;
	m->n_maps -= last - first;
	if (first < p->n && p->maps[first].start < map->end) {
		p->maps[first].offset += map->end - p->maps[first].start;
		p->maps[first].start = map->end;
	}
	if (p->n >= MAPS_OF_PROCESS || m->n_maps >= MAPS_MAX || m->work > WORK_MAX) {
		m->is_full = true;
		return;
	}
	insert(m, p, first, map);
}

void perf_maps_fork(struct perf_maps *m, uint32_t parent, uint32_t child)
{
	/* Makes room first: both may move. */
	struct perf_process *to = process_of(m, child);
	const struct perf_process *from = known_process(m, parent);

	if (parent == child)
		return;
	clear(m, to);
	if (!from || !from->n)
		return;
	m->work += from->n;
	if (m->n_maps + from->n > MAPS_MAX || m->work > WORK_MAX) {
		m->is_full = true;
		return;
	}
	to->maps = xmalloc(from->n * sizeof(*to->maps));
	memcpy(to->maps, from->maps, from->n * sizeof(*to->maps));
	to->n = to->cap = from->n;
	m->n_maps += to->n;
}

void perf_maps_exec(struct perf_maps *m, uint32_t tgid)
{
	struct perf_process *p = process_of(m, tgid);

	clear(m, p);
}

uint32_t perf_maps_version(const struct perf_maps *m, uint32_t tgid)
{
	const struct perf_process *p = known_process(m, tgid);

	return p ? p->version : 0;
}

const struct perf_map *perf_maps_find(const struct perf_maps *m, uint32_t tgid, uint64_t addr)
{
	const struct perf_process *p = known_process(m, tgid);
	size_t i = p ? above(p, addr) : 0;

	return p && i < p->n && p->maps[i].start <= addr ? &p->maps[i] : NULL;
}

void perf_maps_free(struct perf_maps *m)
{
	for (uint32_t id = 1; id <= m->tgids.n && id < m->cap; id++)
		free(m->processes[id].maps);
	free(m->processes);
	pairs_free(&m->tgids);
}
