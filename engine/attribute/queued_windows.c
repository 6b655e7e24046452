// SPDX-License-Identifier: GPL-2.0-or-later
#include "queued_windows.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"

/* Where a window begins (+1) or ends (-1). */
struct window_edge {
	uint64_t ns;
	uint32_t window;
	int32_t count;
};

void queued_windows_add(struct queued_windows *q, const struct queued_window *w)
{
	XAPPEND(q->at, q->n, q->cap) = *w;
}

void queued_windows_free(struct queued_windows *q)
{
	free(q->at);
	*q = (struct queued_windows) { .n = 0 };
}

const struct request_span *served_span_at(const struct timelines *tl, uint32_t reader,
					  uint64_t from_ns, const struct request_span **end)
{
	size_t n;
	const struct request_span *s = timelines_spans_served(tl, reader, &n);

	if (!n)
		return *end = NULL;
	*end = s + n;
	return s + LOWER_BOUND(i, n, s[i].to_ns <= from_ns);
}

/* Windows of one chain and of a reader while it had one name. */
static int compare_kinds(const struct queued_window *a, const struct queued_window *b)
{
	if (a->node != b->node)
		return compare_numbers(a->node, b->node);
	if (a->reader != b->reader)
		return compare_numbers(a->reader, b->reader);
	return compare_numbers(a->name, b->name);
}

static int by_kind_and_time(const void *pa, const void *pb, void *windows)
{
	const struct window_edge *a = pa, *b = pb;
	const struct queued_window *w = windows;
	int order = compare_kinds(&w[a->window], &w[b->window]);

	return order ? order : compare_numbers(a->ns, b->ns);
}

struct stretch_sink {
	void (*put)(void *arg, const struct queued_window *of, const struct request *for_it,
		    uint64_t from_ns, uint64_t to_ns, uint32_t count);
	void *arg;
};

/* Cuts [from_ns, to_ns) where *s, the next span of the reader, and those after it begin and end. */
static void put_stretch(const struct timelines *tl, const struct queued_window *of,
			const struct request_span **s, const struct request_span *end,
			uint64_t from_ns, uint64_t to_ns, uint32_t count, struct stretch_sink to)
{
	while (*s < end && (*s)->from_ns < to_ns) {
		uint64_t span_ns = clip_ns((*s)->from_ns, from_ns, to_ns);
		uint64_t span_to_ns = clip_ns((*s)->to_ns, from_ns, to_ns);

		if (from_ns < span_ns)
			to.put(to.arg, of, NULL, from_ns, span_ns, count);
		if (span_ns < span_to_ns)
			to.put(to.arg, of, timelines_request(tl, (*s)->request), span_ns,
			       span_to_ns, count);
		from_ns = span_to_ns;
		if ((*s)->to_ns > to_ns)
			return;
		(*s)++;
	}
	if (from_ns < to_ns)
		to.put(to.arg, of, NULL, from_ns, to_ns, count);
}

void queued_windows_sweep(struct queued_windows *q, const struct timelines *tl,
			  void (*put)(void *arg, const struct queued_window *of,
				      const struct request *for_it, uint64_t from_ns,
				      uint64_t to_ns, uint32_t count),
			  void *arg)
{
	struct window_edge *edges = xmalloc((2 * q->n + 1) * sizeof(*edges));
	const struct request_span *s = NULL, *end = NULL;
	struct stretch_sink to = { put, arg };
	int64_t count = 0;

	for (size_t i = 0; i < q->n; i++) {
		edges[2 * i] = (struct window_edge) { q->at[i].from_ns, (uint32_t)i, 1 };
		edges[2 * i + 1] = (struct window_edge) { q->at[i].to_ns, (uint32_t)i, -1 };
	}
	qsort_r(edges, 2 * q->n, sizeof(*edges), by_kind_and_time, q->at);
	for (size_t i = 0; i < 2 * q->n; i++) {
		const struct queued_window *of = &q->at[edges[i].window];

		/* As many windows of a kind end as begin: the count is 0 before the next kind. */
		if (!count)
			s = served_span_at(tl, of->reader, edges[i].ns, &end);
		count += edges[i].count;
		if (count)
			put_stretch(tl, of, &s, end, edges[i].ns, edges[i + 1].ns, (uint32_t)count,
				    to);
	}
	free(edges);
	q->n = 0;
}
