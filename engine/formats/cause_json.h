/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cause_json.h - the causes for scripts: --format=causes --json. */
#pragma once

#include "causes/causes.h"
#include "format.h"

/*
 * Writes an object on a line of its own for each cause, all times in ns, the pauses behind the
 * others; with --top only so many. 0 or -ENOMEM.
 */
int causes_put_json(FILE *out, const struct format_input *in, const struct names *n,
		    const struct causes *all);
