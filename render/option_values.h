/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_OPTION_VALUES_H
#define RENDER_OPTION_VALUES_H
/* The options, and how the value of one in the table of options.c becomes a member of them. */
#include <stdbool.h>
#include <stddef.h>

#include "base.h"
#include "draw.h"
#include "intake.h"
#include "page.h"

struct options {
	struct draw draw;
	const char *out; /* NULL: standard output */
	bool strict;
	bool quiet; /* no messages about lines */
	struct base base;
	bool diff, normalize, strip_hex;
	enum intake_counts counts; /* a line has */
	bool help, help_all, version;
};

enum option_kind {
	HEADING,
	NOTHING, /* says what is so anyway */
	FLAG,	 /* bool */
	TRUNCATE_RIGHT,
	WITH_VALUE,
	TEXT = WITH_VALUE, /* const char * */
	NUMBER,		   /* double, within .range */
	WIDTH,
	MINWIDTH,
	MAX_FRAMES,
	PALETTE,
	BACKGROUND,
	COUNTS,
	COMPARE,
	LABELS,
	BASE,
	COLOR, /* const char *: #rrggbb, or none */
};

/* An option; or, without a kind, a heading of the help. */
struct option_spec {
	const char *name;  /* after "--"; NULL: it has a letter only */
	char letter;	   /* after "-"; 0: none */
	bool brief;	   /* -h shows it, too */
	const char *value; /* its name in the help */
	const char *help;  /* NULL: the help does not show the option */
	enum option_kind kind;
	size_t field; /* of FLAG, TEXT, NUMBER, WIDTH */
	const struct page_range *range;
};

/* Put one option into *o. False: its value is invalid. */
bool option_take(struct options *o, const struct option_spec *s, const char *value);

#endif
