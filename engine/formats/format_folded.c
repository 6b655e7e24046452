// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded lines for flame graphs: of chains, of wakers only (--view=wakeup), or of what disks were
 * asked for (--view=io).
 */
#include <inttypes.h>
#include <stdio.h>

#include "fold/chain_rows.h"
#include "fold/folded.h"
#include "fold/process_lines.h"
#include "format.h"
#include "select/wait_filter.h"
#include "words/process_notes.h"
#include "words/recording_title.h"

/* ---- what disks were asked for --------------------------------------------------------------- */

/*
 * Requests to block devices as rows: who asked, with what stack, what it was, and how long it took,
 * in powers of two of a microsecond. The time of a row is that of its requests, from the asking to
 * the end.
 */

/* The group of all rows: folded lines do not show it. */
#define GROUP 1

struct disk_fold {
	const struct timelines *timelines;
	struct interned_stacks *stacks;
	struct stack_cache cache;
	struct pairs nodes;
	struct pair_table sums; /* ns, by (node, list above) */
	struct chain_rows rows;
};

/* "[64-128 us]" */
static void put_band(char text[48], uint64_t ns)
{
	uint64_t from_us = 0, to_us = 1;

	while (to_us <= ns / 1000) {
		from_us = to_us;
		to_us *= 2;
	}
	snprintf(text, 48, "[%" PRIu64 "-%" PRIu64 " us]", from_us, to_us);
}

static bool add_request(void *arg, const struct disk_request *r)
{
	struct disk_fold *f = arg;
	uint64_t from_ns = r->asked_ns ? r->asked_ns : r->issued_ns;
	uint64_t ns = from_ns && from_ns < r->done_ns ? r->done_ns - from_ns : 0, *sum;
	bool known = r->thread != THREAD_NONE;
	uint32_t name = known ? timelines_name(f->timelines, r->thread, from_ns) : 0;
	uint32_t head = intern_head(&f->cache, name, r->pair);
	uint32_t root = pairs_id(&f->nodes, 0, GROUP), above;
	uint32_t node = pairs_id(&f->nodes, root, head);
	char band[48];

	put_band(band, ns);
	above = interned_stacks_disk(f->stacks, r->kind, band);
	sum = pair_table_at(&f->sums, node, above, sizeof(*sum));
	*sum += ns;
	return true;
}

static void make_rows(struct disk_fold *f)
{
	f->rows =
		(struct chain_rows) { .nodes = &f->nodes, .stacks = f->stacks, .with_ends = true };
	for (uint32_t i = 1; i <= f->sums.keys.n; i++)
		chain_rows_add(&f->rows, f->sums.keys.at[i].a, CHAIN_DISK, f->sums.keys.at[i].b,
			       ((const uint64_t *)f->sums.at)[i], 0);
}

static void fold_io(const struct format_input *in, const char *root, struct folded *lines)
{
	struct disk_fold f = { .timelines = in->timelines };

	interned_stacks_new(&f.stacks, in->timelines, in->options, GROUP_BY_NAME);
	stack_cache_init(&f.cache, f.stacks);
	wait_filter_disk_requests(in->timelines, in->options, interned_stacks_names(f.stacks),
				  add_request, &f);
	make_rows(&f);
	folded_add(lines, &f.rows, root, ROOT_NONE);
	chain_rows_free(&f.rows);
	stack_cache_free(&f.cache);
	interned_stacks_free(f.stacks);
	pairs_free(&f.nodes);
	pair_table_free(&f.sums);
}

/* ---- the format ------------------------------------------------------------------------------ */

/* Lines of scripts, and of several traces, have only what waited. */
static bool is_picture(const struct options *o)
{
	return !o->quiet && o->n_traces <= 1;
}

static void fold_chains(const struct format_input *in, const char *root, struct folded *lines)
{
	bool chains = in->options->view == VIEW_CHAIN;
	struct options o = *in->options;
	struct fold *f;

	if (is_picture(in->options) && process_lines_wanted(in->options))
		o.root = ROOT_BESIDE;
	fold_new(&f, in->timelines, &o, chains ? FOLD_BY_NAME : FOLD_BY_WAKER);
	folded_add(lines, fold_rows(f), root, in->options->root);
	if (chains)
		format_take_totals(in, f);
	fold_free(f);
}

/* What the stacks lack belongs into the picture, too: those of the processes that are chosen. */
static void add_notes(const struct format_input *in, struct folded *lines)
{
	const struct process_list *chosen = &in->options->processes;
	bool some = chosen->ids.n || chosen->names.n;
	struct process_notes notes;

	/* Of a thread it is not known here which process it belongs to. */
	if (!some && in->options->given & GIVEN_WHO)
		return;
	process_notes_of(&notes, in->trace, some ? chosen : NULL, PROCESS_NOTES_NAMED);
	for (size_t i = 0; i < notes.n; i++)
		folded_note(lines, notes.line[i]);
	process_notes_free(&notes);
}

/* flamegraph makes it the picture's title. */
static void add_title(const struct format_input *in, struct folded *lines)
{
	struct text_buf title = { 0 };

	text_puts(&title, "title: ");
	recording_title_put(&title, trace_info(in->trace));
	folded_note(lines, title.p);
	text_free(&title);
}

static void fold(const struct format_input *in, const char *root, struct folded *lines)
{
	if (in->options->view == VIEW_IO)
		fold_io(in, root, lines);
	else
		fold_chains(in, root, lines);
	add_notes(in, lines);
}

static int write_folded(const struct format_input *in, FILE *out)
{
	struct folded lines = { .n = 0 };

	fold(in, NULL, &lines);
	if (lines.n && is_picture(in->options))
		add_title(in, &lines);
	folded_write(&lines, in->options, out);
	folded_free(&lines);
	return 0;
}

const struct format format_folded = {
	.name = "folded",
	.summary = "one line for each distinct chain, for flame graphs",
	.wants_timelines = true,
	.running = true,
	.several = SEVERAL_MERGED,
	.joins = true,
	.takes = GIVEN_OF_CHAINS | GIVEN_ATTRIBUTED | GIVEN_WRITTEN | GIVEN_ROOT | GIVEN_VIEW |
		 GIVEN_TOP | GIVEN_UNIT,
	.write = write_folded,
	.fold = fold,
};
