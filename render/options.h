/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The command line of flamegraph. Options have the names of flamegraph.pl's and inferno's, in any
 * of Perl's spellings: -title, --Title. Added are --diff and its options, --counts, --compare,
 * --labels, --max-frames, --embedded, --strict and -o.
 */
#include <stdbool.h>
#include <stdio.h>

#include "page.h"
#include "input_reader.h"

#define BASES 16 /* the most */

struct options {
	struct page page;
	const char *out; /* NULL: standard output */
	bool strict;
	bool quiet;		 /* no messages about lines */
	const char *base[BASES]; /* only stacks with one of these functions, from there on */
	unsigned bases;		 /* 0: all of each stack */
	bool diff, normalize, strip_hex;
	enum input_counts counts; /* a line has */
	bool help, help_all, version;
};

/*
 * Parse; the files start at argv[optind]. 0, or -EINVAL with one line in err[0..err_size) that says
 * what is wrong.
 */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t err_size);

/* Write the most used options, or all. */
void options_help(FILE *f, bool all);
