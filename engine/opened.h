/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opened.h - a trace that is open, and its timelines when they are needed. */
#pragma once

#include "formats/format.h"
#include "recording.h"
#include "symbols/symbols.h"

struct opened {
	struct recording rec; /* if is_open */
	bool is_open;
	struct timelines *timelines; /* NULL: not made yet, or not needed */
};

/*
 * Opens path. 0 or what recording_open() returns, which is negative. To be closed with
 * opened_close(), which may be called at any time.
 */
int opened_open(struct opened *t, const char *path, const struct format *format,
		const struct options *o);
/*
 * Names functions, for which *symbols are made if there are none, and makes the timelines, if the
 * format needs them and they are not there. 0 or a negative errno.
 */
int opened_link(struct opened *t, const struct options *o, const struct format *format,
		struct symbols **symbols);
void opened_close(struct opened *t);
