/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain_lines.h - the chain of several waits for reading, a line for each link (chain_steps.h). */
#pragma once

#include <stdio.h>

#include "answer/chain_steps.h"

/*
 * Writes at most `most` lines, none wider than o's screen, with its colours: who, where in its own
 * code, the part of all that time, and for what it waited or what it did. The branch with most time
 * is followed, and others that have a quarter of all. 0 or -ENOMEM.
 */
int chain_lines_put(FILE *out, const struct chain_steps *s, const struct names *names,
		    const struct options *o, size_t most);
