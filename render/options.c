// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/help.h"
#include "option_values.h"
#include "palette.h"

#define FIELD(f) .field = offsetof(struct options, f)
#define NUMBER_IN(f, r) .kind = NUMBER, FIELD(f), .range = &(r)

static const struct page_range fontwidth_range = { 0.1, 10 };
static const struct page_range total_range = { 0, 1e19 };
static const struct page_range factor_range = { 1e-12, 1e12 };

/* flamegraph.pl's names, and a few more. Each line of the help fits 80 columns. */
static const struct option_spec specs[] = {
	{ .help = "Text" },
	{ .name = "title",
	  .value = "TEXT",
	  .kind = TEXT,
	  FIELD(draw.page.title),
	  .brief = true,
	  .help = "heading" },
	{ .name = "subtitle",
	  .value = "TEXT",
	  .kind = TEXT,
	  FIELD(draw.page.subtitle),
	  .help = "second heading" },
	{ .name = "notes",
	  .value = "TEXT",
	  .kind = TEXT,
	  FIELD(draw.page.notes),
	  .help = "text kept in the file, not shown" },
	{ .name = "countname",
	  .value = "TEXT",
	  .kind = TEXT,
	  FIELD(draw.page.countname),
	  .brief = true,
	  .help = "unit of the counts (default samples; us for chains)" },
	{ .name = "nametype",
	  .value = "TEXT",
	  .kind = TEXT,
	  FIELD(draw.page.nametype),
	  .help = "label of names (default Function:)" },
	{ .name = "fonttype",
	  .value = "FONT",
	  .kind = TEXT,
	  FIELD(draw.page.fonttype),
	  .help = "font (default Verdana)" },
	{ .name = "fontsize",
	  .value = "PX",
	  NUMBER_IN(draw.page.fontsize, page_fontsize_range),
	  .help = "font size (default 12)" },
	{ .name = "fontwidth",
	  .value = "EMS",
	  NUMBER_IN(draw.page.fontwidth, fontwidth_range),
	  .help = "mean width of a character (default 0.59)" },

	{ .help = "Drawing" },
	{ .name = "width",
	  .value = "PX",
	  .kind = WIDTH,
	  FIELD(draw.page.width),
	  .brief = true,
	  .range = &page_width_range,
	  .help = "width (default 1200, fitted to the window)" },
	{ .name = "height",
	  .value = "PX",
	  NUMBER_IN(draw.page.height, page_height_range),
	  .help = "height of a row (default 16)" },
	{ .name = "labels",
	  .value = "WHICH",
	  .kind = LABELS,
	  .help = "part of a long name: auto (default), start, end" },
	{ .name = "truncate-text-right", .kind = TRUNCATE_RIGHT, .help = "--labels start" },
	{ .name = "minwidth",
	  .value = "W",
	  .kind = MINWIDTH,
	  .brief = true,
	  .help = "draw no narrower frames: pixels (default 0.1) or 0.5%" },
	{ .name = "inverted",
	  .letter = 'i',
	  .kind = FLAG,
	  FIELD(draw.page.inverted),
	  .brief = true,
	  .help = "root on top" },
	{ .name = "reverse",
	  .kind = FLAG,
	  FIELD(draw.reverse),
	  .brief = true,
	  .help = "merge from the leaves" },
	{ .name = "flamechart",
	  .kind = FLAG,
	  FIELD(draw.flamechart),
	  .brief = true,
	  .help = "keep the input's order, merge only neighbours" },
	{ .name = "base",
	  .value = "NAME",
	  .kind = BASE,
	  .help = "only stacks with this function, from there on" },
	{ .name = "total",
	  .value = "N",
	  NUMBER_IN(draw.page.total, total_range),
	  .help = "whole width in counts" },
	{ .name = "factor",
	  .value = "X",
	  NUMBER_IN(draw.page.factor, factor_range),
	  .help = "multiply the counts that are shown" },
	{ .name = "max-frames",
	  .value = "N",
	  .kind = MAX_FRAMES,
	  .help = "frames kept in the file for zooming (default 100000)" },

	{ .help = "Colours" },
	{ .name = "colors",
	  .letter = 'c',
	  .value = "PALETTE",
	  .kind = PALETTE,
	  .brief = true,
	  .help = "one of the palettes below" },
	{ .name = "color", .kind = PALETTE }, /* flamegraph.pl has both */
	{ .name = "bgcolors",
	  .value = "COLOR",
	  .kind = BACKGROUND,
	  .help = "background: yellow, blue, green, grey, #rrggbb" },
	{ .name = "search-color",
	  .value = "COLOR",
	  .kind = COLOR,
	  FIELD(draw.page.search_color),
	  .help = "matching frames: #rrggbb" },
	{ .name = "stroke-color",
	  .value = "COLOR",
	  .kind = COLOR,
	  FIELD(draw.page.stroke_color),
	  .help = "edges of frames: #rrggbb or none" },
	{ .name = "uicolor",
	  .value = "COLOR",
	  .kind = COLOR,
	  FIELD(draw.page.ui_color),
	  .help = "headings and controls: #rrggbb" },
	{ .name = "deterministic", .kind = NOTHING, .help = "no effect: a name has one colour" },
	{ .name = "hash", .kind = NOTHING, .help = "no effect: a name has one colour" },

	{ .help = "Differences" },
	{ .name = "diff",
	  .kind = FLAG,
	  FIELD(diff),
	  .brief = true,
	  .help = "draw the second of two files, coloured by the change" },
	{ .name = "normalize",
	  .kind = FLAG,
	  FIELD(normalize),
	  .help = "scale the first file to the sum of the second" },
	{ .name = "strip-hex",
	  .kind = FLAG,
	  FIELD(strip_hex),
	  .help = "take all numbers such as 0x123 as equal" },
	{ .name = "counts",
	  .value = "N",
	  .kind = COUNTS,
	  .help = "a line has 1 or 2 counts (default: as most have)" },
	{ .name = "compare",
	  .value = "WHAT",
	  .kind = COMPARE,
	  .help = "colour by own (default) or total counts" },
	{ .name = "negate", .kind = FLAG, FIELD(draw.page.negate), .help = "swap red and blue" },

	{ .help = "Input and output" },
	{ .name = "no-sort", .kind = NOTHING, .help = "no effect: lines need no order" },
	{ .name = "quiet",
	  .letter = 'q',
	  .kind = FLAG,
	  FIELD(quiet),
	  .help = "no messages about lines of the input" },
	{ .name = "strict", .kind = FLAG, FIELD(strict), .help = "fail at the first invalid line" },
	{ .name = "embedded",
	  .kind = FLAG,
	  FIELD(draw.page.embedded),
	  .help = "write an element for the body of an HTML page" },
	{ .name = "output",
	  .letter = 'o',
	  .value = "FILE",
	  .kind = TEXT,
	  FIELD(out),
	  .brief = true,
	  .help = "write here, not to standard output" },

	{ .help = "Other" },
	{ .letter = 'h', .kind = FLAG, FIELD(help), .help = "the most used options" },
	{ .name = "help", .kind = FLAG, FIELD(help_all), .help = "all options" },
	{ .name = "version", .letter = 'V', .kind = FLAG, FIELD(version), .help = "version" },
};

#define SPECS (sizeof(specs) / sizeof(*specs))
#define NO_LETTER 256 /* above all letters */

/* What getopt_long_only() returns for specs[i]. */
static int value_of(size_t i)
{
	return specs[i].letter ? specs[i].letter : NO_LETTER + (int)i;
}

void options_help(FILE *f, bool all)
{
	const struct palette *p;
	int column;

	fputs("Usage: flamegraph [options] [FOLDED...] > graph.svg\n"
	      "Draws folded stacks as a flame graph: one self-contained SVG.\n",
	      f);
	if (!all)
		putc('\n', f);
	for (size_t i = 0; i < SPECS; i++) {
		const struct option_spec *s = &specs[i];

		if (s->kind == HEADING && all)
			fprintf(f, "\n%s:\n", s->help);
		else if (s->kind != HEADING && s->help && (all || s->brief))
			help_put(f, s->letter, s->name, s->value, s->help);
	}
	column = fprintf(f, "\nPalettes:") - 1;
	for (size_t i = 0; (p = palette_at(i)); i++) {
		if (column > 70)
			column = fprintf(f, "\n         ") - 1;
		column += fprintf(f, " %s", p->name);
	}
	fputs("\n(default chain if there is a frame --, else hot)\n", f);
	if (!all)
		fputs("\n--help shows all options.\n", f);
	fputs("\nExamples:\n"
	      "  chainwalk trace.bin | flamegraph --title mysqld > chain.svg\n"
	      "  flamegraph --diff before.folded after.folded > diff.svg\n",
	      f);
}

static const char *conflict(const struct options *o, int files)
{
	if (o->diff && files != 2)
		return "--diff takes two files";
	if (o->diff && o->draw.flamechart)
		return "--diff and --flamechart do not go together: a difference has no order";
	if (o->diff && o->counts != INTAKE_ASK)
		return "--diff and --counts do not go together: its files have one count a line";
	if (!o->diff && (o->normalize || o->strip_hex))
		return "--normalize and --strip-hex are for --diff";
	return NULL;
}

/* The option that the word names, in any case and with one dash or two. NULL: none. */
static const struct option_spec *named(const char *word)
{
	size_t dashes = strspn(word, "-"), len = strcspn(word, "=") - dashes;

	if (!dashes || dashes > 2 || len < 2)
		return NULL;
	for (size_t i = 0; i < SPECS; i++)
		if (specs[i].name && strlen(specs[i].name) == len &&
		    !strncasecmp(specs[i].name, word + dashes, len))
			return &specs[i];
	return NULL;
}

/* Perl's Getopt::Long takes --Title for --title; getopt_long_only() takes -title. */
static void fold_case(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const struct option_spec *s = named(argv[i]);

		if (!s)
			continue;
		memcpy(argv[i] + strspn(argv[i], "-"), s->name, strlen(s->name));
		if (s->kind >= WITH_VALUE && !strchr(argv[i], '='))
			i++;
	}
}

int options_parse(struct options *o, int argc, char **argv)
{
	struct option longopts[SPECS + 1] = { 0 }, *l = longopts;
	const char *why;
	int c;

	memset(o, 0, sizeof(*o));
	draw_init(&o->draw);
	fold_case(argc, argv);
	for (size_t i = 0; i < SPECS; i++)
		if (specs[i].name)
			*l++ = (struct option) {
				.name = specs[i].name,
				.has_arg = specs[i].kind >= WITH_VALUE,
				.val = value_of(i),
			};
	while ((c = getopt_long_only(argc, argv, "c:hio:qV", longopts, NULL)) != -1) {
		size_t i = 0;

		while (i < SPECS && value_of(i) != c)
			i++;
		if (i == SPECS)
			return -1; /* getopt_long_only() has printed the reason */
		if (!option_take(o, &specs[i], optarg)) {
			fprintf(stderr, "flamegraph: --%s: bad value '%s'\n", specs[i].name,
				optarg);
			return -1;
		}
		if (o->help || o->help_all || o->version)
			return 0;
	}
	why = conflict(o, argc - optind);
	if (why)
		fprintf(stderr, "flamegraph: %s\n", why);
	return why ? -1 : 0;
}
