/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * more_blocks.h - the MORE_EVENTS blocks of a trace in the making (chainlog_more.h): one for each
 * CPU that has such events.
 */
#ifndef MORE_BLOCKS_H
#define MORE_BLOCKS_H

#include <stdlib.h>

#include "chainlog_more.h"

/* Takes a finished block of len bytes, which are gone after the call. 0 or a negative errno. */
typedef int (*more_blocks_sink)(void *ctx, const void *block, size_t len);

/* All zero is empty. */
struct more_blocks {
	struct chainlog_more_writer **cpus; /* NULL: no event yet */
	uint32_t n_cpus;
	uint64_t events; /* all events */
	uint64_t losses; /* those of them that report losses */
	uint64_t lost;	 /* how many events these report as lost */
};

static inline void more_blocks_free(struct more_blocks *m)
{
	for (uint32_t i = 0; i < m->n_cpus; i++)
		free(m->cpus[i]);
	free(m->cpus);
	*m = (struct more_blocks) { .cpus = NULL };
}

static inline int more_blocks_finish(struct chainlog_more_writer *w, more_blocks_sink sink,
				     void *ctx)
{
	size_t len;
	const uint8_t *block = chainlog_more_finish(w, &len);

	return block ? sink(ctx, block, len) : 0;
}

static inline struct chainlog_more_writer *more_blocks_writer(struct more_blocks *m, uint32_t cpu)
{
	if (cpu >= CHAINLOG_CPU_LIMIT)
		return NULL;
	if (cpu >= m->n_cpus) {
		struct chainlog_more_writer **cpus = realloc(m->cpus, (cpu + 1) * sizeof(*cpus));

		if (!cpus)
			return NULL;
		memset(cpus + m->n_cpus, 0, (cpu + 1 - m->n_cpus) * sizeof(*cpus));
		m->cpus = cpus;
		m->n_cpus = cpu + 1;
	}
	if (!m->cpus[cpu]) {
		m->cpus[cpu] = malloc(sizeof(**m->cpus));
		if (m->cpus[cpu])
			chainlog_more_init(m->cpus[cpu], cpu);
	}
	return m->cpus[cpu];
}

/*
 * Takes an event whose kind has a line in chainlog_more_fields(). A block that is full goes to
 * sink(ctx, ...). Returns 0, -ENOMEM, -EINVAL if the kind is unknown, or the sink's error.
 */
static inline int more_blocks_put(struct more_blocks *m, const struct chainlog_fields *ev,
				  more_blocks_sink sink, void *ctx)
{
	struct chainlog_more_writer *w;
	int err = 0;

	if (ev->kind < CHAINLOG_MORE || !chainlog_more_fields(ev->kind - CHAINLOG_MORE)[0])
		return -EINVAL;
	w = more_blocks_writer(m, ev->cpu);
	if (!w)
		return -ENOMEM;
	if (chainlog_more_is_full(w, ev->time_ns))
		err = more_blocks_finish(w, sink, ctx);
	if (err)
		return err;
	chainlog_more_write(w, ev);
	m->events++;
	if (ev->kind == CHAINLOG_MORE + CHAINLOG_MORE_LOST) {
		m->losses++;
		m->lost += ev->number[0];
	}
	return 0;
}

/* Finishes all blocks that hold anything. Returns 0 or the sink's error. */
static inline int more_blocks_flush(struct more_blocks *m, more_blocks_sink sink, void *ctx)
{
	int err = 0;

	for (uint32_t i = 0; i < m->n_cpus && !err; i++)
		if (m->cpus[i])
			err = more_blocks_finish(m->cpus[i], sink, ctx);
	return err;
}

#endif /* MORE_BLOCKS_H */
