// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded lines for flame graphs: of chains, of wakers only (--view=wakeup), or of what disks were
 * asked for (--view=io).
 */
#include "fold/disk_fold.h"
#include "fold/folded.h"
#include "fold/process_lines.h"
#include "format.h"
#include "words/process_notes.h"
#include "words/recording_title.h"

static void fold_io(const struct format_input *in, const char *root, struct folded *lines)
{
	struct disk_fold *f;

	disk_fold_new(&f, in->timelines, in->options);
	folded_add(lines, disk_fold_rows(f), root, ROOT_NONE);
	disk_fold_free(f);
}

static void fold_chains(const struct format_input *in, const char *root, struct folded *lines)
{
	bool chains = in->options->view == VIEW_CHAIN;
	struct fold *f;

	fold_new(&f, in->timelines, in->options, chains ? FOLD_BY_NAME : FOLD_BY_WAKER);
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

/* Whose threads are whose: flamegraph groups them by process, in the picture of a whole machine. */
static void add_processes(const struct format_input *in, struct folded *lines)
{
	const struct options *o = in->options;

	if (o->view == VIEW_CHAIN && o->root == ROOT_NONE)
		process_lines_put(&lines->notes, in->timelines, o);
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
	/* Those of scripts, and of several traces, have only what waited. */
	if (lines.n && !in->options->quiet && in->options->n_traces <= 1) {
		add_title(in, &lines);
		add_processes(in, &lines);
	}
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
