// SPDX-License-Identifier: GPL-2.0-or-later
#include "fold.h"
#include "format.h"

static int write_folded(const struct format_input *in, FILE *out)
{
	struct fold *f;
	int err = fold_new(&f, in->timelines, in->options);

	if (!err)
		err = fold_write(f, in->options, out);
	fold_free(f);
	return err;
}

const struct format format_folded = {
	.name = "folded",
	.summary = "one line for each distinct chain, for flame graphs",
	.wants_timelines = true,
	.write = write_folded,
};
