// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/text.h"
#include "common/xalloc.h"
#include "common/intern.h"
#include "common/lower_bound.h"
#include "attribute/sums.h"

static void append_row(struct chain_rows *r, const struct chain_row *row)
{
	XAPPEND(r->at, r->n, r->cap) = *row;
}

void chain_rows_add(struct chain_rows *r, uint32_t node, uint32_t end, uint32_t above, uint64_t ns,
		    uint64_t waits)
{
	const struct pair *nodes = r->nodes->at;
	uint32_t root = node, depth = 0;

	for (; nodes[root].a; root = nodes[root].a)
		depth++;
	append_row(r, &(struct chain_row) {
			      .ns = ns,
			      .waits = waits,
			      .group = nodes[root].b,
			      .node = node,
			      .links = depth - 1, /* without the head */
			      .end = end,
			      .above = above,
		      });
}

void chain_rows_add_ran(struct chain_rows *r, const struct chain_ran *ran)
{
	XAPPEND(r->ran, r->n_ran, r->cap_ran) = *ran;
}

/* ---- samples -------------------------------------------------------------------------------- */

/* Compares the row of ran with (node, end). */
static int by_end(const struct chain_ran *ran, uint32_t node, uint32_t end)
{
	return ran->node != node ? compare_numbers(ran->node, node)
				 : compare_numbers(ran->end, end);
}

static int by_end_and_frames(const void *pa, const void *pb, void *lists)
{
	const struct chain_ran *a = pa, *b = pb;
	int order = by_end(a, b->node, b->end);

	if (!order)
		order = frame_lists_compare_lines(lists, a->list, b->list);
	return order ? order : frame_lists_compare(lists, a->list, b->list);
}

/* Sorts the samples, and adds up those of the same row and place. */
static void merge_ran(struct chain_rows *r)
{
	size_t n = 0;

	if (r->n_ran)
		qsort_r(r->ran, r->n_ran, sizeof(*r->ran), by_end_and_frames,
			interned_stacks_lists(r->stacks));
	for (size_t i = 0; i < r->n_ran; i++) {
		const struct chain_ran *ran = &r->ran[i];

		if (n && !by_end(&r->ran[n - 1], ran->node, ran->end) &&
		    r->ran[n - 1].list == ran->list)
			r->ran[n - 1].samples += ran->samples;
		else
			r->ran[n++] = *ran;
	}
	r->n_ran = n;
}

/* How many of the first places of ran[0..n), which are sorted, give the same folded line. */
static size_t places_of_line(const struct chain_rows *r, const struct chain_ran *ran, size_t n)
{
	size_t k = 1;

	while (k < n && !frame_lists_compare_lines(interned_stacks_lists(r->stacks), ran[0].list,
						   ran[k].list))
		k++;
	return k;
}

/*
 * Shares out ns to the places ran[0..n): first to folded lines, so that each gets as much as when
 * lines are written (folded.h), then within each line to its places. numbers: room for 3 * n; the
 * first n become the shares.
 */
static void share_places(const struct chain_rows *r, uint64_t ns, const struct chain_ran *ran,
			 size_t n, uint64_t *numbers)
{
	uint64_t *shares = numbers, *samples = numbers + n, *of_line = numbers + 2 * n;
	size_t lines = 0;

	for (size_t k = 0, len; k < n; k += len, lines++) {
		len = places_of_line(r, ran + k, n - k);
		samples[lines] = 0;
		for (size_t i = 0; i < len; i++)
			samples[lines] += ran[k + i].samples;
	}
	share_out(ns, samples, lines, of_line);
	lines = 0;
	for (size_t k = 0, len; k < n; k += len, lines++) {
		len = places_of_line(r, ran + k, n - k);
		for (size_t i = 0; i < len; i++)
			samples[i] = ran[k + i].samples;
		share_out(of_line[lines], samples, len, shares + k);
	}
}

/*
 * Replaces the i-th row by one row for each of its places ran[0..n) with a share. (Its waits are
 * not shared out: rows that end running have none.) numbers: room for 3 * n.
 */
static void share_row(struct chain_rows *r, size_t i, const struct chain_ran *ran, size_t n,
		      uint64_t *numbers)
{
	const uint64_t *shares = numbers;
	struct chain_row row = r->at[i];
	bool placed = false;

	share_places(r, row.ns, ran, n, numbers);
	for (size_t k = 0; k < n; k++) {
		if (!shares[k])
			continue;
		row.above = ran[k].list;
		row.ns = shares[k];
		if (placed) {
			append_row(r, &row);
		} else
			r->at[i] = row;
		placed = true;
	}
}

void chain_rows_share_ran(struct chain_rows *r)
{
	uint64_t *numbers;

	if (!r->n_ran)
		return;
	merge_ran(r);
	numbers = xmalloc(3 * r->n_ran * sizeof(*numbers));
	for (size_t i = 0, rows = r->n; i < rows; i++) {
		uint32_t node = r->at[i].node, end = r->at[i].end;
		size_t first = LOWER_BOUND(k, r->n_ran, by_end(&r->ran[k], node, end) < 0), n = 0;

		while (first + n < r->n_ran && !by_end(&r->ran[first + n], node, end))
			n++;
		if (n)
			share_row(r, i, r->ran + first, n, numbers);
	}
	free(numbers);
	r->n_ran = 0;
}

void chain_rows_free(struct chain_rows *r)
{
	free(r->at);
	free(r->ran);
	free(r->number);
	free(r->frame_of);
	free(r->frames);
}

/* ---- order ---------------------------------------------------------------------------------- */

struct order {
	const struct chain_rows *rows;
	uint32_t *rank; /* by list: its place among the lists by content; NULL: order by number */
};

static int by_frames(const void *pa, const void *pb, void *lists)
{
	return frame_lists_compare(lists, *(const uint32_t *)pa, *(const uint32_t *)pb);
}

/* By group, then number of links, then the first difference from the last link to the head. */
static int by_content(const struct order *o, const struct chain_row *a, const struct chain_row *b)
{
	const struct interned_stacks *stacks = o->rows->stacks;
	const struct pair *nodes = o->rows->nodes->at;
	uint32_t x = a->node, y = b->node;

	if (a->group != b->group) {
		struct thread_group ga = interned_stacks_thread_group(stacks, a->group);
		struct thread_group gb = interned_stacks_thread_group(stacks, b->group);

		return ga.name != gb.name	    ? compare_numbers(ga.name, gb.name)
		       : ga.pid != gb.pid	    ? compare_numbers(ga.pid, gb.pid)
		       : ga.leader != gb.leader	    ? compare_numbers(ga.leader, gb.leader)
		       : ga.root != gb.root	    ? compare_numbers(ga.root, gb.root)
		       : ga.endpoint != gb.endpoint ? compare_numbers(ga.endpoint, gb.endpoint)
						    : compare_numbers(ga.trace, gb.trace);
	}
	if (a->links != b->links)
		return compare_numbers(a->links, b->links);
	for (; x != y; x = nodes[x].a, y = nodes[y].a)
		if (nodes[x].b != nodes[y].b)
			return compare_numbers(o->rank[nodes[x].b], o->rank[nodes[y].b]);
	return a->end != b->end ? compare_numbers(a->end, b->end)
				: compare_numbers(o->rank[a->above], o->rank[b->above]);
}

static int by_place(const void *pa, const void *pb, void *arg)
{
	const struct chain_row *a = pa, *b = pb;
	const struct order *o = arg;

	if (o->rank)
		return by_content(o, a, b);
	if (a->group != b->group)
		return compare_numbers(a->group, b->group);
	if (a->node != b->node)
		return compare_numbers(a->node, b->node);
	return a->end != b->end ? compare_numbers(a->end, b->end)
				: compare_numbers(a->above, b->above);
}

/* The place of each list in the order of content, to be freed. */
static uint32_t *rank_lists(struct frame_lists *lists)
{
	uint32_t end = frame_lists_end(lists);
	uint32_t *list = xmalloc(end * sizeof(*list)), *rank = xmalloc(end * sizeof(*rank));

	for (uint32_t i = 1; i < end; i++)
		list[i - 1] = i;
	qsort_r(list, end - 1, sizeof(*list), by_frames, lists);
	rank[0] = 0; /* no list */
	for (uint32_t i = 1; i < end; i++)
		rank[list[i - 1]] = i;
	free(list);
	return rank;
}

struct use {
	uint64_t rows; /* that have the frame */
	uint32_t frame;
};

static int most_used_first(const void *pa, const void *pb, void *lists)
{
	const struct use *a = pa, *b = pb;

	return a->rows != b->rows ? compare_numbers(b->rows, a->rows)
				  : frames_compare(lists, a->frame, b->frame);
}

/* Numbers the frames that are used, most used first, as small numbers are shorter. */
static void number_frames(struct chain_rows *r)
{
	struct frame_lists *lists = interned_stacks_lists(r->stacks);
	uint32_t *number, *frame_of;
	struct use *uses;
	size_t n_frames, n;

	/* Create the frames of all ends now, as later there must be no new ones. */
	for (int end = 0; end < CHAIN_ENDS; end++)
		frame_of_text(lists, chain_end_name((enum chain_end)end));
	frame_of_text(lists, CHAIN_OTHER);
	n_frames = frames_end(lists);
	uses = xcalloc(n_frames, sizeof(*uses));
	number = xcalloc(n_frames, sizeof(*number));
	frame_of = xcalloc(n_frames, sizeof(*frame_of));
	for (uint32_t i = 0; i < n_frames; i++)
		uses[i].frame = i;
	for (size_t i = 0; i < r->n; i++)
		for (const uint32_t *frames = chain_row_frames(r, &r->at[i], &n); n-- > 0;)
			uses[frames[n]].rows++;
	qsort_r(uses + 1, n_frames - 1, sizeof(*uses), most_used_first, lists);
	for (n = 0; n + 1 < n_frames && uses[n + 1].rows; n++) {
		number[uses[n + 1].frame] = (uint32_t)n + 1;
		frame_of[n + 1] = uses[n + 1].frame;
	}
	free(uses);
	r->number = number;
	r->frame_of = frame_of;
	r->n_numbers = n;
}

/* ---- --top ---------------------------------------------------------------------------------- */

/* A folded line: the rows of several processes may make one. */
struct line {
	uint64_t ns;
	uint32_t text; /* id in lines.texts */
};

struct lines {
	struct intern texts;
	struct line *at; /* by text - 1 */
	size_t n, cap;
};

/* The id of the row's line. */
static uint32_t line_of(struct chain_rows *r, const struct chain_row *row, struct lines *l,
			struct text_buf *buf)
{
	struct frame_lists *lists = interned_stacks_lists(r->stacks);
	size_t n;
	const uint32_t *frames = chain_row_frames(r, row, &n);
	uint32_t id;

	buf->len = 0;
	while (n-- > 0) {
		text_puts(buf, frame_at(lists, frames[n]).text);
		if (n)
			text_puts(buf, ";");
	}
	id = xintern(&l->texts, buf->p, buf->len, NULL);
	XGROW(l->at, id - 1, l->cap);
	for (; l->n < id; l->n++)
		l->at[l->n] = (struct line) { 0, (uint32_t)l->n + 1 };
	l->at[id - 1].ns += row->ns;
	return id;
}

static int widest_first(const void *pa, const void *pb, void *arg)
{
	const struct line *a = pa, *b = pb;
	const struct intern *texts = arg;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	return strcmp(intern_text(texts, a->text), intern_text(texts, b->text));
}

/* Marks the nodes above a row's end: the rows that only count its waits are there. */
static void mark_path(const struct chain_rows *r, uint32_t node, bool *marked)
{
	for (; node && !marked[node]; node = r->nodes->at[node].a)
		marked[node] = true;
}

/*
 * Keeps the rows of the `top` widest lines, and adds up the others: in other[1] if they end on the
 * CPU, else in other[0].
 */
static void keep_top(struct chain_rows *r, uint64_t top, struct chain_row other[2])
{
	uint32_t *line = xcalloc(r->n + 1, sizeof(*line)); /* by row; 0: it has no time */
	bool *marked = xcalloc((size_t)r->nodes->n + 1, sizeof(*marked)), *wide = NULL;
	struct lines l = { .n = 0 };
	struct text_buf buf = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].ns)
			line[i] = line_of(r, &r->at[i], &l, &buf);
	wide = xcalloc(l.n + 1, sizeof(*wide)); /* by text */
	if (top >= l.n)
		goto out;
	qsort_r(l.at, l.n, sizeof(*l.at), widest_first, &l.texts);
	for (size_t i = 0; i < top; i++)
		wide[l.at[i].text] = true;
	for (size_t i = 0; i < r->n; i++)
		if (wide[line[i]])
			mark_path(r, r->at[i].node, marked);
	for (size_t i = 0; i < r->n; i++) {
		const struct chain_row row = r->at[i];

		if (line[i] ? wide[line[i]] : marked[row.node]) {
			r->at[n++] = row;
		} else {
			other[row.end == CHAIN_ON_CPU].ns += row.ns;
			other[row.end == CHAIN_ON_CPU].waits += row.waits;
		}
	}
	r->n = n;
out:
	intern_free(&l.texts);
	text_free(&buf);
	free(l.at);
	free(line);
	free(marked);
	free(wide);
}

void chain_rows_order(struct chain_rows *r, uint64_t top, bool by_contents)
{
	struct chain_row other[2] = { { .end = CHAIN_NO_END }, { .end = CHAIN_ON_CPU } };
	struct order o = { .rows = r };

	if (by_contents) {
		o.rank = rank_lists(interned_stacks_lists(r->stacks));
	}
	if (top)
		keep_top(r, top, other);
	if (r->n)
		qsort_r(r->at, r->n, sizeof(*r->at), by_place, &o);
	free(o.rank);
	for (int i = 0; i < 2; i++)
		if (other[i].ns || other[i].waits)
			append_row(r, &other[i]);
	if (!by_contents)
		return;
	number_frames(r);
}

/* ---- frames --------------------------------------------------------------------------------- */

size_t chain_row_path(const struct chain_rows *r, const struct chain_row *row,
		      uint32_t path[CHAIN_PATH_MAX])
{
	const struct pair *nodes = r->nodes->at;
	size_t n = 0;

	if (!row->node)
		return 0;
	for (uint32_t node = row->node; nodes[node].a && n < CHAIN_PATH_MAX; node = nodes[node].a)
		path[n++] = nodes[node].b;
	return n;
}

uint32_t chain_node_group(const struct chain_rows *r, uint32_t node)
{
	const struct pair *nodes = r->nodes->at;

	while (nodes[node].a)
		node = nodes[node].a;
	return nodes[node].b;
}

/* The thread's name alone, without a stack in which it waited. */
static bool is_name_alone(const struct chain_rows *r, const struct chain_row *row)
{
	uint32_t path[CHAIN_PATH_MAX];

	return chain_row_path(r, row, path) == 1 &&
	       frame_list_len(interned_stacks_lists(r->stacks), path[0]) == 1;
}

unsigned int chain_row_part(const struct chain_rows *r, const struct chain_row *row)
{
	if (row->end == CHAIN_ON_CPU)
		return PART_RUNNING;
	if (row->end == CHAIN_PREEMPTED)
		return PART_PREEMPTED;
	if (row->end == CHAIN_UNKNOWN && is_name_alone(r, row))
		return 0;
	return row->end == CHAIN_RUNNABLE && !row->links ? PART_RUNNABLE : PART_BLOCKED;
}

const char *chain_row_end(const struct chain_rows *r, const struct chain_row *row)
{
	if (!row->node)
		return CHAIN_OTHER;
	if (!r->with_ends || row->end == CHAIN_NO_END)
		return NULL;
	/* What stands above says it all. */
	if (row->end == CHAIN_DISK && row->above)
		return NULL;
	return chain_end_name((enum chain_end)row->end);
}

uint32_t chain_row_above(const struct chain_rows *r, const struct chain_row *row)
{
	return row->node && r->with_ends ? row->above : 0;
}

static void add_frame(struct chain_rows *r, uint32_t frame)
{
	XAPPEND(r->frames, r->n_frames, r->cap_frames) = r->number ? r->number[frame] : frame;
}

/* A list, leaf first. */
static void add_list(struct chain_rows *r, const struct frame_lists *lists, uint32_t list)
{
	size_t n = frame_list_len(lists, list);

	while (n-- > 0)
		add_frame(r, frame_list_at(lists, list, n));
}

const uint32_t *chain_row_frames(struct chain_rows *r, const struct chain_row *row, size_t *n)
{
	struct frame_lists *lists = interned_stacks_lists(r->stacks);
	const char *end = chain_row_end(r, row);
	uint32_t path[CHAIN_PATH_MAX], above = chain_row_above(r, row);
	size_t n_path = chain_row_path(r, row, path);

	r->n_frames = 0;
	if (above)
		add_list(r, lists, above);
	if (end)
		add_frame(r, frame_of_text(lists, end));
	for (size_t i = 0; i < n_path; i++)
		add_list(r, lists, path[i]);
	*n = r->n_frames;
	return r->frames;
}

uint32_t chain_rows_frames_end(const struct chain_rows *r)
{
	return r->number ? (uint32_t)r->n_numbers + 1
			 : frames_end(interned_stacks_lists(r->stacks));
}

struct chain_frame chain_rows_frame(const struct chain_rows *r, uint32_t frame)
{
	return frame_at(interned_stacks_lists(r->stacks), r->number ? r->frame_of[frame] : frame);
}
