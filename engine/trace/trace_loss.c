// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The losses that damage may have caused. Skipped bytes may have been a block of any CPU, and a
 * block of a CPU holds its events since that CPU's previous block in the file. So each CPU may
 * have lost events between its last sound block before the skipped bytes and its first one after
 * them: for CPUs that lost no block, that is only the short time between two events.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "common/lower_bound.h"
#include "trace_private.h"
#include "common/xalloc.h"

static int by_cpu_and_place(const void *pa, const void *pb)
{
	const struct event_block_ref *a = *(const struct event_block_ref *const *)pa;
	const struct event_block_ref *b = *(const struct event_block_ref *const *)pb;

	if (a->cpu != b->cpu)
		return compare_numbers(a->cpu, b->cpu);
	return compare_numbers(a->offset, b->offset);
}

static int by_time(const void *pa, const void *pb)
{
	const struct trace_loss *a = pa, *b = pb;

	if (a->first_ns != b->first_ns)
		return compare_numbers(a->first_ns, b->first_ns);
	if (a->last_ns != b->last_ns)
		return compare_numbers(a->last_ns, b->last_ns);
	if (a->cpu != b->cpu)
		return compare_numbers(a->cpu, b->cpu);
	return compare_numbers(a->n, b->n);
}

/* True if anything was skipped in the file's [from, to). The skips are in file order. */
static bool skipped_between(const struct trace *t, uint64_t from, uint64_t to)
{
	size_t first = LOWER_BOUND(i, t->n_skips, t->skips[i].offset < from);

	return first < t->n_skips && t->skips[first].offset < to;
}

/* Notes losses in the gaps between a CPU's blocks: in all, or only where bytes were skipped. */
static void note_gaps(struct trace *t, const struct event_block_ref **blocks, size_t n,
		      bool everywhere, uint32_t *cpus)
{
	*cpus = 0;
	for (size_t i = 0; i < n;) {
		uint32_t cpu = blocks[i]->cpu;
		uint64_t last_ns = t->info.start_ns, offset = 0;

		++*cpus;
		for (; i < n && blocks[i]->cpu == cpu; i++) {
			const struct event_block_ref *b = blocks[i];

			if (b->first_ns >= last_ns &&
			    (everywhere || skipped_between(t, offset, b->offset)))
				trace_note_loss(t, cpu, 0, last_ns, b->first_ns);
			if (b->last_ns > last_ns)
				last_ns = b->last_ns;
			offset = b->offset;
		}
		if ((everywhere || skipped_between(t, offset, UINT64_MAX)))
			trace_note_loss(t, cpu, 0, last_ns, t->info.end_ns);
	}
}

/*
 * A skipped block may also have been the only one of a CPU. Blocks are written when they are full
 * or all together, so its times are about those of its neighbours in the file.
 */
static void note_unseen_cpus(struct trace *t)
{
	const struct event_block_ref *before = NULL, *after;
	size_t k = 0;

	for (size_t i = 0; i < t->n_skips; i++) {
		uint64_t first_ns = t->info.start_ns, last_ns = t->info.end_ns;

		for (; k < t->n_blocks && t->blocks[k].offset < t->skips[i].offset; k++)
			before = &t->blocks[k];
		after = k < t->n_blocks ? &t->blocks[k] : NULL;
		/* Before a cut every CPU with events has written blocks. */
		if (t->skips[i].at_end)
			continue;
		if (before)
			first_ns = after && after->first_ns < before->first_ns ? after->first_ns
									       : before->first_ns;
		if (after)
			last_ns = before && before->last_ns > after->last_ns ? before->last_ns
									     : after->last_ns;
		trace_note_loss(t, EVENT_CPU_UNKNOWN, 0, first_ns, last_ns);
	}
}

/* Cuts all losses, also those that were recorded, to the trace's time. */
static void clamp_losses(struct trace *t)
{
	for (size_t i = 0; i < t->n_losses; i++) {
		struct trace_loss *l = &t->losses[i];

		if (l->first_ns < t->info.start_ns)
			l->first_ns = t->info.start_ns;
		if (l->first_ns > t->info.end_ns)
			l->first_ns = t->info.end_ns;
		if (l->last_ns < l->first_ns)
			l->last_ns = l->first_ns;
		if (l->last_ns > t->info.end_ns)
			l->last_ns = t->info.end_ns;
	}
}

static void find_time_range(struct trace *t)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	for (size_t i = 0; i < t->n_blocks; i++) {
		if (t->blocks[i].first_ns < first_ns)
			first_ns = t->blocks[i].first_ns;
		if (t->blocks[i].last_ns > last_ns)
			last_ns = t->blocks[i].last_ns;
	}
	if (t->n_blocks && (!t->has_start || first_ns < t->info.start_ns))
		t->info.start_ns = first_ns;
	if (last_ns > t->info.end_ns)
		t->info.end_ns = last_ns;
	if (t->info.end_ns < t->info.start_ns)
		t->info.end_ns = t->info.start_ns;
}

void trace_find_losses(struct trace *t)
{
	const struct event_block_ref **blocks = NULL;
	uint64_t known = t->info.events + t->bad_events;
	bool everywhere = false;
	size_t n_blocks = 0;
	uint32_t cpus;

	find_time_range(t);
	if (t->info.complete) {
		if (known == t->end_events) {
			t->n_skips = 0; /* the skipped bytes held no events */
		} else {
			everywhere = known < t->end_events && !t->n_skips;
			trace_note_damage(t, t->bytes.len, 0, 0,
					  known < t->end_events ? "blocks of events are missing"
								: "more events than were written");
		}
		/* Without damage that explains it. */
		if (!t->damage.what && t->end_aux != UINT64_MAX && t->info.aux_events != t->end_aux)
			trace_note_damage(t, t->bytes.len, 0, 0,
					  "blocks of samples or the like are missing");
	}
	if (t->n_skips || everywhere) {
		blocks = xmalloc((t->n_blocks + 1) * sizeof(*blocks));
		for (size_t i = 0; i < t->n_blocks; i++)
			if (!t->blocks[i].aux)
				blocks[n_blocks++] = &t->blocks[i];
		qsort(blocks, n_blocks, sizeof(*blocks), by_cpu_and_place);
		note_gaps(t, blocks, n_blocks, everywhere, &cpus);
		if ((cpus < t->info.cpus || !t->info.cpus))
			note_unseen_cpus(t);
		free(blocks);
	}
	clamp_losses(t);
	if (t->n_losses)
		qsort(t->losses, t->n_losses, sizeof(*t->losses), by_time);
}
