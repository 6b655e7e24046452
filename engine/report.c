// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>
#include <stdlib.h>

#include "grow.h"

static int read_losses(struct report *r)
{
	struct trace_cursor *c = trace_cursor_new(r->in->trace);
	size_t cap = 0;
	struct event ev, *p;
	int err = c ? 0 : -ENOMEM;

	while (!err && trace_cursor_next(c, &ev)) {
		if (ev.kind != EVENT_LOST || r->n_all_losses++ >= REPORT_LOSSES)
			continue;
		p = grow_array(r->losses, r->n_losses, &cap, sizeof(*p));
		if (!p) {
			err = -ENOMEM;
			continue;
		}
		r->losses = p;
		p[r->n_losses++] = ev;
	}
	if (!err)
		err = trace_cursor_error(c);
	trace_cursor_free(c);
	return err;
}

static int make_rows(struct report *r)
{
	uint32_t n_threads = timelines_threads(r->in->timelines);
	int err = thread_rows_new(&r->rows, &r->n_threads, r->in->timelines, r->selection);

	if (err)
		return err;
	r->n_rows = r->n_threads < REPORT_ROWS ? (uint32_t)r->n_threads : REPORT_ROWS;
	r->row_of = malloc(((size_t)n_threads + 1) * sizeof(*r->row_of));
	if (!r->row_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_threads; i++)
		r->row_of[i] = r->n_rows;
	for (uint32_t i = 0; i < r->n_rows; i++)
		r->row_of[r->rows[i].thread] = i;
	for (size_t i = r->n_rows; i < r->n_threads; i++)
		thread_row_add(&r->rest, &r->rows[i]);
	return 0;
}

int report_init(struct report *r, const struct format_input *in)
{
	const struct options *o = in->options;
	const struct timelines *tl = in->timelines;
	int err = 0;

	*r = (struct report) { .in = in, .names = names_new(tl, o) };
	r->selection = r->names ? selection_new(tl, o, r->names) : NULL;
	if (!r->selection)
		err = -ENOMEM;
	if (!err)
		err = fold_new(&r->fold, tl, o);
	if (!err)
		err = make_rows(r);
	if (!err)
		err = report_counts_init(&r->counts, tl, r->selection, r->names, r->row_of,
					 r->n_rows + 1);
	if (!err)
		err = report_picks_new(&r->picks, &r->n_picks, tl, r->selection, &r->counts,
				       r->row_of, o->top);
	if (!err)
		err = read_losses(r);
	return err;
}

void report_free(struct report *r)
{
	fold_free(r->fold);
	report_counts_free(&r->counts);
	free(r->picks);
	free(r->losses);
	free(r->rows);
	free(r->row_of);
	selection_free(r->selection);
	names_free(r->names);
}
