// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "palette.h"

void options_usage(FILE *f)
{
	fputs("usage: flamegraph [options] [FOLDED...] > graph.svg\n"
	      "\n"
	      "  --title TEXT  --subtitle TEXT  --notes TEXT\n"
	      "  --width PX  --height PX   of the picture (1200, fitted to its window), of a row "
	      "(16)\n"
	      "  --minwidth W       draw no narrower frames: pixels, or percent as 0.5% (0.1)\n"
	      "  --fonttype FONT  --fontsize PX  --fontwidth EMS (Verdana, 12, 0.59)\n"
	      "  --countname TEXT  --nametype TEXT   (\"samples\", \"us\" for chains; "
	      "\"Function:\")\n"
	      "  --colors PALETTE   hot mem io wakeup chain java js perl red green blue aqua "
	      "yellow\n"
	      "                     purple orange (chain where a frame `--` is seen, else hot)\n"
	      "  --bgcolors COLOR   yellow blue green grey #rrggbb\n"
	      "  --hash  --random  --cp   colours by letters, by chance, kept in palette.map\n"
	      "  --reverse  --inverted  --flamechart   merge from the leaves; root on top; in\n"
	      "                     input order, only neighbours merged\n"
	      "  --diff             FOLDED is two files: draw the second, coloured by the change\n"
	      "  --normalize  --strip-hex   for --diff: equal totals; 0x... alike\n"
	      "  --negate           swap the hues of a differential graph\n"
	      "  --total N  --factor X   whole width in counts; multiply counts shown\n"
	      "  --encoding NAME    of the input: utf-8, iso-8859-1\n"
	      "  --max-frames N     kept in the file for zooming (100000), widest first\n"
	      "  --embedded  --strict   for the body of an HTML page; bad lines are an error\n"
	      "  -o, --output FILE  -h, --help  -V, --version\n"
	      "\n"
	      "  chainwalk --depth 6 trace.bin | flamegraph --title mysqld > chain.svg\n"
	      "  flamegraph --colors io --countname us --minwidth 0.5% out.folded > io.svg\n",
	      f);
}

enum kind {
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

static const struct spec {
	const char *name;
	enum kind kind;
	size_t field; /* of FLAG, TEXT, NUMBER, WIDTH */
	const struct page_range *range;
	int letter; /* 0: none */
} specs[] = {
	{ .name = "colors", .kind = PALETTE }, /* first: see options_parse() */
	{ .name = "title", .kind = TEXT, FIELD(draw.page.title) },
	{ .name = "subtitle", .kind = TEXT, FIELD(draw.page.subtitle) },
	{ .name = "notes", .kind = TEXT, FIELD(draw.page.notes) },
	{ .name = "width", .kind = WIDTH, FIELD(draw.page.width), .range = &page_width_range },
	{ .name = "height", NUMBER_IN(draw.page.height, page_height_range) },
	{ .name = "minwidth", .kind = MINWIDTH },
	{ .name = "fonttype", .kind = TEXT, FIELD(draw.page.fonttype) },
	{ .name = "fontsize", NUMBER_IN(draw.page.fontsize, page_fontsize_range) },
	{ .name = "fontwidth", NUMBER_IN(draw.page.fontwidth, fontwidth_range) },
	{ .name = "countname", .kind = TEXT, FIELD(draw.page.countname) },
	{ .name = "nametype", .kind = TEXT, FIELD(draw.page.nametype) },
	{ .name = "bgcolors", .kind = BACKGROUND },
	{ .name = "hash", .kind = HASH },
	{ .name = "random", .kind = RANDOM },
	{ .name = "reverse", .kind = FLAG, FIELD(draw.reverse) },
	{ .name = "inverted", .kind = FLAG, FIELD(draw.page.inverted) },
	{ .name = "flamechart", .kind = FLAG, FIELD(draw.flamechart) },
	{ .name = "negate", .kind = FLAG, FIELD(draw.page.negate) },
	{ .name = "diff", .kind = FLAG, FIELD(diff) },
	{ .name = "normalize", .kind = FLAG, FIELD(normalize) },
	{ .name = "strip-hex", .kind = FLAG, FIELD(strip_hex) },
	{ .name = "cp", .kind = FLAG, FIELD(cp) },
	{ .name = "total", NUMBER_IN(draw.page.total, total_range) },
	{ .name = "factor", NUMBER_IN(draw.page.factor, factor_range) },
	{ .name = "encoding", .kind = ENCODING },
	{ .name = "max-frames", .kind = MAX_FRAMES },
	{ .name = "embedded", .kind = FLAG, FIELD(draw.page.embedded) },
	{ .name = "strict", .kind = FLAG, FIELD(strict) },
	{ .name = "output", .kind = TEXT, FIELD(out), .letter = 'o' },
	{ .name = "help", .kind = FLAG, FIELD(help), .letter = 'h' },
	{ .name = "version", .kind = FLAG, FIELD(version), .letter = 'V' },
};

#define SPECS (sizeof(specs) / sizeof(*specs))
#define NO_LETTER 256 /* above all letters */

/* What getopt_long() returns for specs[i]. */
static int value_of(size_t i)
{
	return specs[i].letter ? specs[i].letter : NO_LETTER + (int)i;
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
	struct option longopts[SPECS + 2] = { 0 };
	const char *why;
	int c;

	memset(o, 0, sizeof(*o));
	draw_init(&o->draw);
	for (size_t i = 0; i < SPECS; i++)
		longopts[i] = (struct option) {
			.name = specs[i].name,
			.has_arg = specs[i].kind >= WITH_VALUE,
			.val = value_of(i),
		};
	longopts[SPECS] = longopts[0];
	longopts[SPECS].name = "color"; /* flamegraph.pl has --colors and --color */
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
		if (o->help || o->version)
			return 0;
	}
	why = conflict(o, argc - optind);
	if (why)
		fprintf(stderr, "flamegraph: %s\n", why);
	return why ? -1 : 0;
}
