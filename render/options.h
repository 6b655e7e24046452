/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_OPTIONS_H
#define RENDER_OPTIONS_H
/*
 * The command line of flamegraph. Options have flamegraph.pl's names; added are --diff and its
 * options, --max-frames, --embedded, --strict and -o.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "draw.h"

struct options {
	struct draw draw;
	const char *out; /* NULL: standard output */
	bool strict;
	bool cp; /* keep colours in palette.map */
	bool diff, normalize, strip_hex;
	bool help, help_all, version;
};

/* Parse; the files start at argv[optind]. 0, or -1 after a message on standard error. */
int options_parse(struct options *o, int argc, char **argv);

/* Write the most used options, or all. */
void options_help(FILE *f, bool all);

#endif
