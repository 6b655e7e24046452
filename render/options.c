// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/option_table.h"
#include "palette.h"

/* ---- values ---- */

static int set_nothing(struct setting *s, const char *value)
{
	(void)s, (void)value;
	return 0;
}

static int set_font(struct setting *s, const char *value)
{
	((struct options *)s->options)->page.mean_width = true;
	return set_text(s, value);
}

/* Parse a number that `tail` follows. False: it is not a number, or out of range. */
static bool parse_double(const char *s, const char *tail, const struct page_range *r, double *v)
{
	char *end;

	errno = 0;
	*v = strtod(s, &end);
	return end != s && !strcmp(end, tail) && !errno && *v >= r->least && *v <= r->most;
}

static int set_number(struct setting *s, const char *value)
{
	return parse_double(value, "", s->row->range, s->member) ? 0 : -EINVAL;
}

static int set_fontwidth(struct setting *s, const char *value)
{
	((struct options *)s->options)->page.mean_width = true;
	return set_number(s, value);
}

static int set_width(struct setting *s, const char *value)
{
	((struct options *)s->options)->page.fluid = false;
	return set_number(s, value);
}

static int set_minwidth(struct setting *s, const char *value)
{
	static const struct page_range percent = { 0, 100 };
	struct page *pg = &((struct options *)s->options)->page;
	size_t n = strlen(value);

	pg->minwidth_percent = n && value[n - 1] == '%';
	if (pg->minwidth_percent)
		return parse_double(value, "%", &percent, &pg->minwidth) ? 0 : -EINVAL;
	return set_number(s, value);
}

static int set_max_frames(struct setting *s, const char *value)
{
	double v;

	if (!parse_double(value, "", s->row->range, &v))
		return -EINVAL;
	*(uint32_t *)s->member = (uint32_t)v;
	return 0;
}

static int set_labels_start(struct setting *s, const char *value)
{
	(void)value;
	*(enum label_keep *)s->member = LABEL_START;
	return 0;
}

static int add_base(struct setting *s, const char *value)
{
	struct options *o = s->options;

	if (o->bases == BASES)
		return -EINVAL;
	o->base[o->bases++] = value;
	return 0;
}

static int set_palette(struct setting *s, const char *value)
{
	const struct palette *p = palette_find(value);

	*(const struct palette **)s->member = p;
	return p ? 0 : -EINVAL;
}

static int set_background(struct setting *s, const char *value)
{
	uint32_t top, bottom;

	set_text(s, value);
	return palette_background(value, &top, &bottom) ? 0 : -EINVAL;
}

static int set_color(struct setting *s, const char *value)
{
	return *value == '#' ? set_background(s, value) : -EINVAL;
}

static int set_stroke(struct setting *s, const char *value)
{
	return strcmp(value, "none") ? set_color(s, value) : set_text(s, value);
}

static int set_counts(struct setting *s, const char *value)
{
	*(enum input_counts *)s->member = !strcmp(value, "1") ? COUNTS_ONE : COUNTS_TWO;
	return !strcmp(value, "1") || !strcmp(value, "2") ? 0 : -EINVAL;
}

static int set_compare(struct setting *s, const char *value)
{
	((struct options *)s->options)->page.compares = true;
	*(bool *)s->member = !strcmp(value, "total");
	return !strcmp(value, "total") || !strcmp(value, "own") ? 0 : -EINVAL;
}

/* ---- the options: flamegraph.pl's names, and a few more ---- */

#define AT(member) offsetof(struct options, member)
#define OF_PAGE(member) offsetof(struct options, page.member)

static const struct page_range fontwidth_range = { 0.1, 10 };
static const struct page_range total_range = { 0, 1e19 };
static const struct page_range factor_range = { 1e-12, 1e12 };
static const struct page_range frames_range = { 1, 1e9 };

/* Each line of the help fits 80 columns. */
static const struct option_row rows[] = {
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
	{ "labels", 0, false, "auto|start|end", set_word, OF_PAGE(labels),
	  .help = "part of a long name (default auto)" },
	{ "truncate-text-right", 0, false, NULL, set_labels_start, OF_PAGE(labels),
	  .help = "--labels start" },
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
	{ "max-frames", 0, false, "N", set_max_frames, OF_PAGE(max_frames),
	  .help = "frames kept in the file for zooming (default 100000)", .range = &frames_range },

	{ .help = "Colours" },
	{ "colors", 'c', true, "PALETTE", set_palette, OF_PAGE(palette),
	  .help = "one of the palettes below" },
	{ "color", 0, false, "PALETTE", set_palette, OF_PAGE(palette),
	  .help = NULL }, /* flamegraph.pl has both */
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
	{ "counts", 0, false, "N", set_counts, AT(counts),
	  .help = "a line has 1 or 2 counts (default: as most have)" },
	{ "compare", 0, false, "WHAT", set_compare, OF_PAGE(by_total),
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
	  .help = "write to FILE, not to standard output" },

	{ .help = "Other" },
	{ NULL, 'h', false, NULL, set_and_stop, AT(help), .help = "the most used options" },
	{ "help", 0, false, NULL, set_and_stop, AT(help_all), .help = "all options" },
	{ "version", 'V', false, NULL, set_and_stop, AT(version), .help = "version" },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static const struct option_table table = { rows, ROWS, .order = ":", .one_dash = true };

void options_help(FILE *f, bool all)
{
	const struct palette *p;
	int column;

	fputs("Usage: flamegraph [options] [FOLDED...] > graph.svg\n"
	      "Draws folded stacks as a flame graph: one self-contained SVG.\n",
	      f);
	option_table_help(&table, f, all);
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
static const struct option_row *named(const char *word)
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
		const struct option_row *s = named(argv[i]);

		if (!s)
			continue;
		memcpy(argv[i] + strspn(argv[i], "-"), s->name, strlen(s->name));
		if (s->value && !strchr(argv[i], '='))
			i++;
	}
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t err_size)
{
	const char *why;
	int ret;

	memset(o, 0, sizeof(*o));
	page_init(&o->page);
	fold_case(argc, argv);
	ret = option_table_parse(&table, o, argc, argv, NULL, err, err_size);
	if (ret)
		return ret < 0 ? ret : 0;
	why = conflict(o, argc - optind);
	if (why)
		snprintf(err, err_size, "%s", why);
	return why ? -EINVAL : 0;
}
