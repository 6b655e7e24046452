// SPDX-License-Identifier: GPL-2.0-or-later
#include "fold.h"
#include "format.h"
#include "wakeup.h"

static int write_folded(const struct format_input *in, FILE *out)
{
	struct fold *f;
	int err;

	if (in->options->view == VIEW_WAKEUP)
		return wakeup_write(in->timelines, in->options, out);
	err = fold_new(&f, in->timelines, in->options);
	if (!err)
		err = fold_write(f, in->options, out);
	if (!err && in->totals)
		*in->totals = (struct format_totals) { true, *fold_summary(f) };
	fold_free(f);
	return err;
}

const struct format format_folded = {
	.name = "folded",
	.summary = "one line for each distinct chain, for flame graphs",
	.wants_timelines = true,
	.several = SEVERAL_MERGED,
	.refuses = GIVEN_BY_NAME,
	.write = write_folded,
};
