/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_spans.h - the spans of time that rows are of: the buckets of wall clock time in which there
 * are events, and between those the time without any, however many buckets that is. So there are
 * not many more spans than events, whatever times a trace says.
 */
#pragma once

#include "format.h"

struct row_spans {
	uint64_t *bounds; /* n + 1, CLOCK_MONOTONIC, see struct fold_spans */
	uint64_t *time_s; /* by span: when its first bucket begins, seconds since 1970 */
	size_t n;
};

/* Those of what --from and --to leave. 0 or -ENOMEM; to be freed in both cases. */
int row_spans_new(struct row_spans *s, const struct format_input *in);
void row_spans_free(struct row_spans *s);
