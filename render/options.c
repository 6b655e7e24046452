// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/help.h"
#include "palette.h"

/* An option; or, without set, a heading of the help. */
struct row {
	const char *name;  /* after "--"; NULL: it has a letter only */
	char letter;	   /* after "-"; 0: none */
	bool brief;	   /* -h shows it, too */
	const char *value; /* its name in the help; NULL: no value */
	bool (*set)(struct options *o, const struct row *row, const char *value); /* false: bad */
	size_t at;	  /* offset in struct options of what set sets; 0: set knows */
	const char *help; /* NULL: the help does not show the option */
	const struct page_range *range; /* of a number */
};

/* ---- values ---- */

static bool set_nothing(struct options *o, const struct row *row, const char *value)
{
	(void)o, (void)row, (void)value;
	return true;
}

static bool set_true(struct options *o, const struct row *row, const char *value)
{
	(void)value;
	*(bool *)((char *)o + row->at) = true;
	return true;
}

static bool set_text(struct options *o, const struct row *row, const char *value)
{
	*(const char **)((char *)o + row->at) = value;
	return true;
}

static bool set_font(struct options *o, const struct row *row, const char *value)
{
	o->page.mean_width = true;
	return set_text(o, row, value);
}

/* Parse a number that `tail` follows. False: it is not a number, or out of range. */
static bool parse_number(const char *s, const char *tail, const struct page_range *r, double *v)
{
	char *end;

	errno = 0;
	*v = strtod(s, &end);
	return end != s && !strcmp(end, tail) && !errno && *v >= r->least && *v <= r->most;
}

static bool set_number(struct options *o, const struct row *row, const char *value)
{
	return parse_number(value, "", row->range, (double *)((char *)o + row->at));
}

static bool set_fontwidth(struct options *o, const struct row *row, const char *value)
{
	o->page.mean_width = true;
	return set_number(o, row, value);
}

static bool set_width(struct options *o, const struct row *row, const char *value)
{
	o->page.fluid = false;
	return set_number(o, row, value);
}

static bool set_minwidth(struct options *o, const struct row *row, const char *value)
{
	static const struct page_range percent = { 0, 100 };
	struct page *pg = &o->page;
	size_t n = strlen(value);

	pg->minwidth_percent = n && value[n - 1] == '%';
	if (pg->minwidth_percent)
		return parse_number(value, "%", &percent, &pg->minwidth);
	return set_number(o, row, value);
}

static bool set_max_frames(struct options *o, const struct row *row, const char *value)
{
	double v;

	if (!parse_number(value, "", row->range, &v))
		return false;
	o->page.max_frames = (uint32_t)v;
	return true;
}

static bool set_labels(struct options *o, const struct row *row, const char *value)
{
	static const char *const which[] = {
		[LABEL_AUTO] = "auto",
		[LABEL_START] = "start",
		[LABEL_END] = "end",
	};

	(void)row;
	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++)
		if (!strcmp(value, which[i])) {
			o->page.labels = (enum label_keep)i;
			return true;
		}
	return false;
}

static bool set_labels_start(struct options *o, const struct row *row, const char *value)
{
	(void)value;
	return set_labels(o, row, "start");
}

static bool add_base(struct options *o, const struct row *row, const char *value)
{
	(void)row;
	if (o->bases == BASES)
		return false;
	o->base[o->bases++] = value;
	return true;
}

static bool set_palette(struct options *o, const struct row *row, const char *value)
{
	(void)row;
	o->page.palette = palette_find(value);
	return o->page.palette != NULL;
}

static bool set_background(struct options *o, const struct row *row, const char *value)
{
	uint32_t top, bottom;

	return set_text(o, row, value) && palette_background(value, &top, &bottom);
}

static bool set_color(struct options *o, const struct row *row, const char *value)
{
	return set_background(o, row, value) && *value == '#';
}

static bool set_stroke(struct options *o, const struct row *row, const char *value)
{
	return set_color(o, row, value) || !strcmp(value, "none");
}

static bool set_counts(struct options *o, const struct row *row, const char *value)
{
	(void)row;
	o->counts = !strcmp(value, "1") ? COUNTS_ONE : COUNTS_TWO;
	return !strcmp(value, "1") || !strcmp(value, "2");
}

static bool set_compare(struct options *o, const struct row *row, const char *value)
{
	(void)row;
	o->page.by_total = !strcmp(value, "total");
	return o->page.by_total || !strcmp(value, "own");
}

/* ---- the options: flamegraph.pl's names, and a few more ---- */

#define AT(member) offsetof(struct options, member)
#define OF_PAGE(member) offsetof(struct options, page.member)

static const struct page_range fontwidth_range = { 0.1, 10 };
static const struct page_range total_range = { 0, 1e19 };
static const struct page_range factor_range = { 1e-12, 1e12 };
static const struct page_range frames_range = { 1, 1e9 };

/* Each line of the help fits 80 columns. */
static const struct row rows[] = {
	{ .help = "Text" },
	{ "title", 0, true, "TEXT", set_text, OF_PAGE(title), .help = "heading" },
	{ "subtitle", 0, false, "TEXT", set_text, OF_PAGE(subtitle), .help = "second heading" },
	{ "notes", 0, false, "TEXT", set_text, OF_PAGE(notes),
	  .help = "text kept in the file, not shown" },
	{ "countname", 0, true, "TEXT", set_text, OF_PAGE(countname),
	  .help = "unit of the counts (default samples; us for chains)" },
	{ "nametype", 0, false, "TEXT", set_text, OF_PAGE(nametype),
	  .help = "label of names (default Function:)" },
	{ "fonttype", 0, false, "FONT", set_font, OF_PAGE(fonttype),
	  .help = "font (default Verdana)" },
	{ "fontsize", 0, false, "PX", set_number, OF_PAGE(fontsize),
	  .help = "font size (default 12)", .range = &page_fontsize_range },
	{ "fontwidth", 0, false, "EMS", set_fontwidth, OF_PAGE(fontwidth),
	  .help = "mean width of a character (default 0.59)", .range = &fontwidth_range },

	{ .help = "Drawing" },
	{ "width", 0, true, "PX", set_width, OF_PAGE(width),
	  .help = "width (default 1200, fitted to the window)", .range = &page_width_range },
	{ "height", 0, false, "PX", set_number, OF_PAGE(height),
	  .help = "height of a row (default 16)", .range = &page_height_range },
	{ "labels", 0, false, "WHICH", set_labels, 0,
	  .help = "part of a long name: auto (default), start, end" },
	{ "truncate-text-right", 0, false, NULL, set_labels_start, 0, .help = "--labels start" },
	{ "minwidth", 0, true, "W", set_minwidth, OF_PAGE(minwidth),
	  .help = "draw no narrower frames: pixels (default 0.1) or 0.5%",
	  .range = &page_minwidth_range },
	{ "inverted", 'i', true, NULL, set_true, OF_PAGE(inverted), .help = "root on top" },
	{ "reverse", 0, true, NULL, set_true, AT(page.reverse), .help = "merge from the leaves" },
	{ "flamechart", 0, true, NULL, set_true, AT(page.flamechart),
	  .help = "keep the input's order, merge only neighbours" },
	{ "base", 0, false, "NAME", add_base, 0,
	  .help = "only stacks with this function, from there on" },
	{ "total", 0, false, "N", set_number, OF_PAGE(total), .help = "whole width in counts",
	  .range = &total_range },
	{ "factor", 0, false, "X", set_number, OF_PAGE(factor),
	  .help = "multiply the counts that are shown", .range = &factor_range },
	{ "max-frames", 0, false, "N", set_max_frames, 0,
	  .help = "frames kept in the file for zooming (default 100000)", .range = &frames_range },

	{ .help = "Colours" },
	{ "colors", 'c', true, "PALETTE", set_palette, 0, .help = "one of the palettes below" },
	{ "color", 0, false, "PALETTE", set_palette, 0, .help = NULL }, /* flamegraph.pl has both */
	{ "bgcolors", 0, false, "COLOR", set_background, OF_PAGE(background),
	  .help = "background: yellow, blue, green, grey, #rrggbb" },
	{ "search-color", 0, false, "COLOR", set_color, OF_PAGE(search_color),
	  .help = "matching frames: #rrggbb" },
	{ "stroke-color", 0, false, "COLOR", set_stroke, OF_PAGE(stroke_color),
	  .help = "edges of frames: #rrggbb or none" },
	{ "uicolor", 0, false, "COLOR", set_color, OF_PAGE(ui_color),
	  .help = "headings and controls: #rrggbb" },
	{ "deterministic", 0, false, NULL, set_nothing, 0,
	  .help = "no effect: a name has one colour" },
	{ "hash", 0, false, NULL, set_nothing, 0, .help = "no effect: a name has one colour" },

	{ .help = "Differences" },
	{ "diff", 0, true, NULL, set_true, AT(diff),
	  .help = "draw the second of two files, coloured by the change" },
	{ "normalize", 0, false, NULL, set_true, AT(normalize),
	  .help = "scale the first file to the sum of the second" },
	{ "strip-hex", 0, false, NULL, set_true, AT(strip_hex),
	  .help = "take all numbers such as 0x123 as equal" },
	{ "counts", 0, false, "N", set_counts, 0,
	  .help = "a line has 1 or 2 counts (default: as most have)" },
	{ "compare", 0, false, "WHAT", set_compare, 0,
	  .help = "colour by own (default) or total counts" },
	{ "negate", 0, false, NULL, set_true, OF_PAGE(negate), .help = "swap red and blue" },

	{ .help = "Input and output" },
	{ "no-sort", 0, false, NULL, set_nothing, 0, .help = "no effect: lines need no order" },
	{ "quiet", 'q', false, NULL, set_true, AT(quiet),
	  .help = "no messages about lines of the input" },
	{ "strict", 0, false, NULL, set_true, AT(strict),
	  .help = "fail at the first invalid line" },
	{ "embedded", 0, false, NULL, set_true, OF_PAGE(embedded),
	  .help = "write an element for the body of an HTML page" },
	{ "output", 'o', true, "FILE", set_text, AT(out),
	  .help = "write here, not to standard output" },

	{ .help = "Other" },
	{ NULL, 'h', false, NULL, set_true, AT(help), .help = "the most used options" },
	{ "help", 0, false, NULL, set_true, AT(help_all), .help = "all options" },
	{ "version", 'V', false, NULL, set_true, AT(version), .help = "version" },
};

#define ROWS (sizeof(rows) / sizeof(*rows))
#define NO_LETTER 256 /* above all letters */

/* What getopt_long_only() returns for rows[i]. */
static int value_of(size_t i)
{
	return rows[i].letter ? rows[i].letter : NO_LETTER + (int)i;
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
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *s = &rows[i];

		if (!s->set && all)
			fprintf(f, "\n%s:\n", s->help);
		else if (s->set && s->help && (all || s->brief))
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
	if (o->diff && o->page.flamechart)
		return "--diff and --flamechart do not go together: a difference has no order";
	if (o->diff && o->counts != COUNTS_ASK)
		return "--diff and --counts do not go together: its files have one count a line";
	if (!o->diff && (o->normalize || o->strip_hex))
		return "--normalize and --strip-hex are for --diff";
	return NULL;
}

/* The option that the word names, in any case and with one dash or two. NULL: none. */
static const struct row *named(const char *word)
{
	size_t dashes = strspn(word, "-"), len = strcspn(word, "=") - dashes;

	if (!dashes || dashes > 2 || len < 2)
		return NULL;
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].name && strlen(rows[i].name) == len &&
		    !strncasecmp(rows[i].name, word + dashes, len))
			return &rows[i];
	return NULL;
}

/* Perl's Getopt::Long takes --Title for --title; getopt_long_only() takes -title. */
static void fold_case(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const struct row *s = named(argv[i]);

		if (!s)
			continue;
		memcpy(argv[i] + strspn(argv[i], "-"), s->name, strlen(s->name));
		if (s->value && !strchr(argv[i], '='))
			i++;
	}
}

int options_parse(struct options *o, int argc, char **argv)
{
	struct option longopts[ROWS + 1] = { 0 }, *l = longopts;
	const char *why;
	int c;

	memset(o, 0, sizeof(*o));
	page_init(&o->page);
	fold_case(argc, argv);
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].name)
			*l++ = (struct option) {
				.name = rows[i].name,
				.has_arg = rows[i].value != NULL,
				.val = value_of(i),
			};
	while ((c = getopt_long_only(argc, argv, "c:hio:qV", longopts, NULL)) != -1) {
		size_t i = 0;

		while (i < ROWS && value_of(i) != c)
			i++;
		if (i == ROWS)
			return -1; /* getopt_long_only() has printed the reason */
		if (!rows[i].set(o, &rows[i], optarg)) {
			fprintf(stderr, "flamegraph: --%s: bad value '%s'\n", rows[i].name, optarg);
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
