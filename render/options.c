// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "help.h"
#include "palette.h"

enum kind {
	HEADING,
	FLAG, /* bool */
	HASH,
	RANDOM,
	WITH_VALUE,
	TEXT = WITH_VALUE, /* const char * */
	NUMBER,		   /* double, within .range */
	WIDTH,
	MINWIDTH,
	MAX_FRAMES,
	PALETTE,
	BACKGROUND,
	ENCODING,
};

#define FIELD(f) .field = offsetof(struct options, f)
#define NUMBER_IN(f, r) .kind = NUMBER, FIELD(f), .range = &(r)

static const struct page_range fontwidth_range = { 0.1, 10 };
static const struct page_range total_range = { 0, 1e19 };
static const struct page_range factor_range = { 1e-12, 1e12 };

/* An option; or, without a kind, a heading of the help. */
struct spec {
	const char *name;  /* after "--"; NULL: it has a letter only */
	char letter;	   /* after "-"; 0: none */
	bool brief;	   /* -h shows it, too */
	const char *value; /* its name in the help */
	const char *help;  /* NULL: the help does not show the option */
	enum kind kind;
	size_t field; /* of FLAG, TEXT, NUMBER, WIDTH */
	const struct page_range *range;
};

/* flamegraph.pl's names, and a few more. Each line of the help fits 80 columns. */
static const struct spec specs[] = {
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
	{ .name = "minwidth",
	  .value = "W",
	  .kind = MINWIDTH,
	  .brief = true,
	  .help = "draw no narrower frames: pixels (default 0.1) or 0.5%" },
	{ .name = "inverted",
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
	  .value = "PALETTE",
	  .kind = PALETTE,
	  .brief = true,
	  .help = "one of the palettes below" },
	{ .name = "color", .kind = PALETTE }, /* flamegraph.pl has both */
	{ .name = "bgcolors",
	  .value = "COLOR",
	  .kind = BACKGROUND,
	  .help = "background: yellow, blue, green, grey, #rrggbb" },
	{ .name = "hash", .kind = HASH, .help = "similar colours for names that begin alike" },
	{ .name = "random", .kind = RANDOM, .help = "colours by chance" },
	{ .name = "cp", .kind = FLAG, FIELD(cp), .help = "keep the colours in palette.map" },

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
	{ .name = "negate", .kind = FLAG, FIELD(draw.page.negate), .help = "swap red and blue" },

	{ .help = "Input and output" },
	{ .name = "encoding",
	  .value = "NAME",
	  .kind = ENCODING,
	  .help = "of the input: utf-8 (default), iso-8859-1" },
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

/* What getopt_long() returns for specs[i]. */
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
		const struct spec *s = &specs[i];

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

/* Parse a number that `tail` follows. False: it is not a number, or out of range. */
static bool parse_number(const char *s, const char *tail, struct page_range r, double *v)
{
	char *end;

	errno = 0;
	*v = strtod(s, &end);
	return end != s && !strcmp(end, tail) && !errno && *v >= r.least && *v <= r.most;
}

static bool parse_minwidth(struct page *pg, const char *value)
{
	size_t n = strlen(value);

	pg->minwidth_percent = n && value[n - 1] == '%';
	if (pg->minwidth_percent)
		return parse_number(value, "%", (struct page_range) { 0, 100 }, &pg->minwidth);
	return parse_number(value, "", page_minwidth_range, &pg->minwidth);
}

static bool parse_encoding(struct page *pg, const char *value)
{
	bool latin1 = !strcasecmp(value, "iso-8859-1") || !strcasecmp(value, "latin1");

	pg->encoding = latin1 ? SVG_LATIN1 : SVG_UTF8;
	return latin1 || !strcasecmp(value, "utf-8") || !strcasecmp(value, "utf8");
}

/* Put one option into *o. False: its value is invalid. */
static bool take_option(struct options *o, const struct spec *s, const char *value)
{
	struct page *pg = &o->draw.page;
	void *field = (char *)o + s->field;
	uint32_t top, bottom;
	double v;

	switch (s->kind) {
	case HEADING:
		break;
	case FLAG:
		*(bool *)field = true;
		return true;
	case HASH:
		pg->by = PALETTE_BY_HASH;
		return true;
	case RANDOM:
		pg->by = PALETTE_RANDOM;
		return true;
	case TEXT:
		*(const char **)field = value;
		return true;
	case WIDTH:
		pg->fluid = false;
		return parse_number(value, "", *s->range, field);
	case NUMBER:
		return parse_number(value, "", *s->range, field);
	case MINWIDTH:
		return parse_minwidth(pg, value);
	case MAX_FRAMES:
		if (!parse_number(value, "", (struct page_range) { 1, 1e9 }, &v))
			return false;
		o->draw.max_frames = (uint32_t)v;
		return true;
	case PALETTE:
		pg->palette = palette_find(value);
		return pg->palette != NULL;
	case BACKGROUND:
		pg->background = value;
		return palette_background(value, &top, &bottom);
	case ENCODING:
		return parse_encoding(pg, value);
	}
	return false;
}

static const char *conflict(const struct options *o, int files)
{
	if (o->diff && files != 2)
		return "--diff takes two files";
	if (o->diff && o->draw.flamechart)
		return "--diff and --flamechart do not go together: a difference has no order";
	if (!o->diff && (o->normalize || o->strip_hex))
		return "--normalize and --strip-hex are for --diff";
	if (o->cp && (o->diff || o->draw.page.by == PALETTE_RANDOM))
		return "--cp does not go with --diff or --random: their colours do not depend on "
		       "names";
	return NULL;
}

int options_parse(struct options *o, int argc, char **argv)
{
	struct option longopts[SPECS + 1] = { 0 }, *l = longopts;
	const char *why;
	int c;

	memset(o, 0, sizeof(*o));
	draw_init(&o->draw);
	for (size_t i = 0; i < SPECS; i++)
		if (specs[i].name)
			*l++ = (struct option) {
				.name = specs[i].name,
				.has_arg = specs[i].kind >= WITH_VALUE,
				.val = value_of(i),
			};
	while ((c = getopt_long(argc, argv, "o:hV", longopts, NULL)) != -1) {
		size_t i = 0;

		while (i < SPECS && value_of(i) != c)
			i++;
		if (i == SPECS)
			return -1; /* getopt_long() has printed the reason */
		if (!take_option(o, &specs[i], optarg)) {
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
