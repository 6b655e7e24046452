/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_OPTIONS_H
#define RENDER_OPTIONS_H
/*
 * The command line of flamegraph. Options are spelled as flamegraph.pl spells them; those of our
 * own are --diff and what goes with it, --max-frames, --embedded, --strict, -o.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "draw.h"

struct options {
	struct draw draw;
	const char *out; /* NULL: standard output */
	bool strict;
	bool cp; /* colours kept in palette.map */
	bool diff, normalize, strip_hex;
	bool help, version;
};

void options_init(struct options *o);

/* Parse; what is left starts at argv[optind]. 0, or -1 after a message on standard error. */
int options_parse(struct options *o, int argc, char **argv);

void options_usage(FILE *f);

#endif
