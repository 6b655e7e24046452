/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_samples.h - the samples that fall into running pieces of chains (chain-semantics, section
 * 8). A sample counts once for each window that covers it.
 */
#ifndef ENGINE_CHAIN_SAMPLES_H
#define ENGINE_CHAIN_SAMPLES_H

#include "timeline/timeline.h"

/* Takes count samples of the chain that ends running at node. A count below 0 takes them back. */
typedef void (*chain_ran_fn)(void *arg, uint32_t node, uint32_t pair, int64_t count);

/* ns of what the thread ran, in chains that end running at node, went to interrupts. */
typedef void (*chain_interrupted_fn)(void *arg, uint32_t node, uint64_t ns);

/* All zero: samples are not wanted, or the trace has none. */
struct chain_samples {
	const struct timelines *timelines;
	chain_ran_fn ran;
	chain_interrupted_fn interrupted; /* NULL: not wanted, or not known */
	void *arg;
	uint32_t *hints; /* by thread: where its samples were looked for last */
};

/* interrupted may be NULL; it is called by chain_samples_window() alone. 0 or -ENOMEM. */
int chain_samples_init(struct chain_samples *s, const struct timelines *tl, chain_ran_fn ran,
		       chain_interrupted_fn interrupted, void *arg);
void chain_samples_free(struct chain_samples *s);

static inline bool chain_samples_wanted(const struct chain_samples *s)
{
	return s->timelines;
}

/*
 * Those of the thread in [from_ns, to_ns), which count windows of node cover. Fast if consecutive
 * calls for a thread are near each other in time.
 */
void chain_samples_add(struct chain_samples *s, uint32_t node, uint32_t thread, uint64_t from_ns,
		       uint64_t to_ns, int64_t count);
/* The same of one window, with what interrupts took of it. */
void chain_samples_window(struct chain_samples *s, uint32_t node, uint32_t thread, uint64_t from_ns,
			  uint64_t to_ns);

/* A way back in time over a thread's samples: [first, last) are still ahead. */
struct sample_way {
	const struct sample *first, *last;
};

static inline struct sample_way sample_way(const struct chain_samples *s, uint32_t thread)
{
	struct sample_way way = { NULL, NULL };

	if (s->timelines)
		way.first = timelines_samples(s->timelines, thread, &way.last);
	return way;
}

/* Whether samples are ahead that may lie at from_ns or later. */
static inline bool sample_way_has(const struct sample_way *way, uint64_t from_ns)
{
	return way->last != way->first && way->last[-1].ns >= from_ns;
}

/* Takes the latest sample of [from_ns, to_ns) that is ahead; NULL: there is none. */
const struct sample *sample_way_take(struct sample_way *way, uint64_t from_ns, uint64_t to_ns);

#endif /* ENGINE_CHAIN_SAMPLES_H */
