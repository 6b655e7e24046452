// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded lines for flame graphs: of chains, of wakers only (--view=wakeup), or of what disks were
 * asked for (--view=io).
 */
#include "fold/disk_fold.h"
#include "fold/folded.h"
#include "format.h"
#include "words/process_notes.h"

static int fold_io(const struct format_input *in, const char *root, struct folded *lines)
{
	struct disk_fold *f;
	int err = disk_fold_new(&f, in->timelines, in->options);

	if (!err)
		err = folded_add(lines, disk_fold_rows(f), root, ROOT_NONE);
	disk_fold_free(f);
	return err;
}

static int fold_chains(const struct format_input *in, const char *root, struct folded *lines)
{
	bool chains = in->options->view == VIEW_CHAIN;
	struct fold *f;
	int err = 0;

	fold_new(&f, in->timelines, in->options, chains ? FOLD_BY_NAME : FOLD_BY_WAKER);

	err = folded_add(lines, fold_rows(f), root, in->options->root);
	if (!err && chains)
		format_take_totals(in, f);
	fold_free(f);
	return err;
}

/* What the stacks lack belongs into the picture, too: those of the processes that are chosen. */
static int add_notes(const struct format_input *in, struct folded *lines)
{
	const struct process_list *chosen = &in->options->processes;
	bool some = chosen->ids.n || chosen->names.n;
	struct process_notes notes;
	int err;

	/* Of a thread it is not known here which process it belongs to. */
	if (!some && in->options->given & GIVEN_WHO)
		return 0;
	err = process_notes_of(&notes, in->trace, some ? chosen : NULL, PROCESS_NOTES_NAMED);

	for (size_t i = 0; !err && i < notes.n; i++) {
		folded_note(lines, notes.line[i]);
		err = 0;
	}
	process_notes_free(&notes);
	return err;
}

static int fold(const struct format_input *in, const char *root, struct folded *lines)
{
	bool io = in->options->view == VIEW_IO;
	int err = io ? fold_io(in, root, lines) : fold_chains(in, root, lines);

	return err ? err : add_notes(in, lines);
}

static int write_folded(const struct format_input *in, FILE *out)
{
	struct folded lines = { .n = 0 };
	int err = fold(in, NULL, &lines);

	if (!err)
		folded_write(&lines, in->options, out);
	folded_free(&lines);
	return err;
}

const struct format format_folded = {
	.name = "folded",
	.summary = "one line for each distinct chain, for flame graphs",
	.wants_timelines = true,
	.running = true,
	.several = SEVERAL_MERGED,
	.joins = true,
	.refuses = GIVEN_TABLE | GIVEN_BY_NAME,
	.write = write_folded,
	.fold = fold,
};
