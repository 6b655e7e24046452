// SPDX-License-Identifier: GPL-2.0-or-later
/* Cursors of which each returns the events of a window of time, for several threads; and windows.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"
#include "cursor_private.h"
#include "common/xalloc.h"

void trace_cursor_new_part(struct trace_cursor **out, const struct trace_cursor *whole)
{
	struct trace_cursor *c = xcalloc(1, sizeof(*c));

	*out = NULL;
	c->t = whole->t;
	c->is_part = true;
	c->order = whole->order;
	c->runs = whole->runs;
	c->n_runs = c->next_run = whole->n_runs;
	cursor_make_heap(c);
	*out = c;
}

void trace_cursor_window(struct trace_cursor *c, uint64_t from_ns, uint64_t to_ns)
{
	cursor_stop(c, 0);
	c->taken = false;
	c->next_run = 0;
	c->from_ns = from_ns;
	c->to_ns = to_ns;
	if (!c->is_part)
		return;
	pairs_clear(&c->pairs);
	c->n_acts = c->n_done = 0;
}

int trace_cursor_take_over(struct trace_cursor *whole, const struct trace_cursor *part,
			   uint32_t *pair_of)
{
	/* Those of a request have its number among those of the part. */
	const uint32_t is_request = TRACE_PAIR_REQUEST & ~TRACE_PAIR_OBJECT;

	if (part->n_done >= TRACE_PAIR_IDS - whole->n_done)
		return -EAGAIN;
	pair_of[0] = 0;
	for (uint32_t id = 1; id <= part->pairs.n; id++) {
		struct pair p = part->pairs.at[id];

		if (p.a & TRACE_PAIR_OBJECT) {
			p.a += p.a & is_request ? whole->n_done : 0;
			p.b = pair_of[p.b];
		}
		pair_of[id] = pairs_id(&whole->pairs, p.a, p.b);
	}
	for (uint32_t cpu = 0; cpu < part->n_acts; cpu++) {
		uint32_t request = part->acts[cpu].request;
		struct last_acts *last = cursor_acts(whole, cpu);

		if (request != REQUEST_BEFORE)
			last->request = request ? whole->n_done + request : 0;
	}
	whole->n_done += part->n_done;
	return 0;
}

/* The most runs that are looked through for each slice. */
#define SLICED_RUNS 1024u
/* A block has at most so many places at which a slice may begin, about so many events apart. */
#define BLOCK_PLACES 16u
#define PLACE_EVENTS 8u

/* About so many events from from_ns on, up to the next place. */
struct place {
	uint64_t from_ns, events;
};

static int by_from(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	return compare_numbers(a->from_ns, b->from_ns);
}

static uint32_t places_in(const struct event_block_ref *b)
{
	uint32_t n = b->count / PLACE_EVENTS + 1;

	return n < BLOCK_PLACES ? n : BLOCK_PLACES;
}

/* The places of all blocks in order of time. */
static struct place *find_places(const struct trace *t, size_t *n)
{
	struct place *places;
	size_t most = 1;

	*n = 0;
	for (size_t i = 0; i < t->n_blocks; i++)
		most += places_in(&t->blocks[i]);
	places = xmalloc(most * sizeof(*places));
	for (size_t i = 0; i < t->n_blocks; i++) {
		const struct event_block_ref *b = &t->blocks[i];
		uint32_t parts = places_in(b);

		for (uint32_t k = 0; k < parts; k++)
			places[(*n)++] = (struct place) {
				b->first_ns + (b->last_ns - b->first_ns) / parts * k,
				b->count / parts,
			};
	}
	qsort(places, *n, sizeof(*places), by_from);
	return places;
}

/* Blocks that reach over a bound are read twice: in a slice of so many events, half of it. */
static uint64_t fewest_events(const struct trace_cursor *c)
{
	const struct trace_info *info = &c->t->info;
	size_t blocks = c->t->n_blocks;

	return blocks ? (info->events + info->aux_events) / blocks * c->n_runs : 0;
}

void trace_cursor_slices(const struct trace_cursor *c, uint64_t events, bool cheap,
			 uint64_t **from_ns, size_t *n)
{
	size_t n_places;
	struct place *places = find_places(c->t, &n_places);
	uint64_t *from = xmalloc((n_places + 2) * sizeof(*from)), sum = 0;

	*from_ns = from;
	*n = 0;
	if (cheap && events < fewest_events(c))
		events = fewest_events(c);
	from[(*n)++] = 0;
	for (size_t i = 0; i < n_places && c->n_runs <= SLICED_RUNS; i++) {
		if (sum >= events && places[i].from_ns > from[*n - 1]) {
			from[(*n)++] = places[i].from_ns;
			sum = 0;
		}
		sum += places[i].events;
	}
	from[*n] = UINT64_MAX;
	free(places);
}
