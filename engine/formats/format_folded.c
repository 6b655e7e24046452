// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded lines for flame graphs: of chains, of wakers only (--view=wakeup), or of what disks were
 * asked for (--view=io).
 */
#include "fold/disk_fold.h"
#include "fold/folded.h"
#include "format.h"

static int fold_io(const struct format_input *in, const char *root, struct folded *lines)
{
	struct disk_fold *f;
	int err = disk_fold_new(&f, in->timelines, in->options);

	if (!err)
		err = folded_add(lines, disk_fold_rows(f), root, false);
	disk_fold_free(f);
	return err;
}

static int fold(const struct format_input *in, const char *root, struct folded *lines)
{
	bool chains = in->options->view == VIEW_CHAIN;
	struct fold *f;
	int err;

	if (in->options->view == VIEW_IO)
		return fold_io(in, root, lines);
	err = fold_new(&f, in->timelines, in->options, chains ? FOLD_BY_NAME : FOLD_BY_WAKER);
	if (!err)
		err = folded_add(lines, fold_rows(f), root, in->options->root == ROOT_CLASS);
	if (!err && chains)
		format_take_totals(in, f);
	fold_free(f);
	return err;
}

static int write_folded(const struct format_input *in, FILE *out)
{
	struct folded lines = { .n = 0 };
	int err = fold(in, NULL, &lines);

	if (!err)
		err = folded_write(&lines, in->options, out);
	folded_free(&lines);
	return err;
}

const struct format format_folded = {
	.name = "folded",
	.summary = "one line for each distinct chain, for flame graphs",
	.wants_timelines = true,
	.running = true,
	.several = SEVERAL_MERGED,
	.refuses = GIVEN_BY_NAME,
	.write = write_folded,
	.fold = fold,
};
