// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
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

static bool parse_number(const char *s, double least, double most, double *v)
{
	char *end;

	errno = 0;
	*v = strtod(s, &end);
	return end != s && !*end && !errno && *v >= least && *v <= most;
}

static int bad_value(const char *option, const char *value)
{
	fprintf(stderr, "flamegraph: --%s: bad value '%s'\n", option, value);
	return -1;
}

static int parse_size(const char *option, const char *value, struct page_range r, double *v)
{
	return parse_number(value, r.least, r.most, v) ? 0 : bad_value(option, value);
}

static int parse_minwidth(struct page *pg, const char *value)
{
	size_t n = strlen(value);
	char *copy = strdup(value);
	bool ok;

	if (!copy)
		return -1;
	pg->minwidth_percent = n && copy[n - 1] == '%';
	if (pg->minwidth_percent)
		copy[n - 1] = 0;
	ok = parse_number(copy, 0, pg->minwidth_percent ? 100 : page_minwidth_range.most,
			  &pg->minwidth);
	free(copy);
	return ok ? 0 : bad_value("minwidth", value);
}

static int parse_encoding(struct page *pg, const char *value)
{
	if (!strcasecmp(value, "utf-8") || !strcasecmp(value, "utf8"))
		pg->encoding = SVG_UTF8;
	else if (!strcasecmp(value, "iso-8859-1") || !strcasecmp(value, "latin1"))
		pg->encoding = SVG_LATIN1;
	else
		return bad_value("encoding", value);
	return 0;
}

enum { /* options without a letter */
       O_TITLE = 256,
       O_SUBTITLE,
       O_NOTES,
       O_WIDTH,
       O_HEIGHT,
       O_MINWIDTH,
       O_FONTTYPE,
       O_FONTSIZE,
       O_FONTWIDTH,
       O_COUNTNAME,
       O_NAMETYPE,
       O_COLORS,
       O_BGCOLORS,
       O_HASH,
       O_RANDOM,
       O_REVERSE,
       O_INVERTED,
       O_FLAMECHART,
       O_NEGATE,
       O_DIFF,
       O_NORMALIZE,
       O_STRIP_HEX,
       O_CP,
       O_TOTAL,
       O_FACTOR,
       O_ENCODING,
       O_MAX_FRAMES,
       O_EMBEDDED,
       O_STRICT,
};

static const struct option longopts[] = {
	{ "title", required_argument, NULL, O_TITLE },
	{ "subtitle", required_argument, NULL, O_SUBTITLE },
	{ "notes", required_argument, NULL, O_NOTES },
	{ "width", required_argument, NULL, O_WIDTH },
	{ "height", required_argument, NULL, O_HEIGHT },
	{ "minwidth", required_argument, NULL, O_MINWIDTH },
	{ "fonttype", required_argument, NULL, O_FONTTYPE },
	{ "fontsize", required_argument, NULL, O_FONTSIZE },
	{ "fontwidth", required_argument, NULL, O_FONTWIDTH },
	{ "countname", required_argument, NULL, O_COUNTNAME },
	{ "nametype", required_argument, NULL, O_NAMETYPE },
	{ "colors", required_argument, NULL, O_COLORS },
	{ "color", required_argument, NULL, O_COLORS },
	{ "bgcolors", required_argument, NULL, O_BGCOLORS },
	{ "hash", no_argument, NULL, O_HASH },
	{ "random", no_argument, NULL, O_RANDOM },
	{ "reverse", no_argument, NULL, O_REVERSE },
	{ "inverted", no_argument, NULL, O_INVERTED },
	{ "flamechart", no_argument, NULL, O_FLAMECHART },
	{ "negate", no_argument, NULL, O_NEGATE },
	{ "diff", no_argument, NULL, O_DIFF },
	{ "normalize", no_argument, NULL, O_NORMALIZE },
	{ "strip-hex", no_argument, NULL, O_STRIP_HEX },
	{ "cp", no_argument, NULL, O_CP },
	{ "total", required_argument, NULL, O_TOTAL },
	{ "factor", required_argument, NULL, O_FACTOR },
	{ "encoding", required_argument, NULL, O_ENCODING },
	{ "max-frames", required_argument, NULL, O_MAX_FRAMES },
	{ "embedded", no_argument, NULL, O_EMBEDDED },
	{ "strict", no_argument, NULL, O_STRICT },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* One option into *o. 0, or -1 after a message. */
static int take_option(struct options *o, int c, char *arg)
{
	struct page *pg = &o->draw.page;
	double v;

	switch (c) {
	case O_TITLE:
		pg->title = arg;
		break;
	case O_SUBTITLE:
		pg->subtitle = arg;
		break;
	case O_NOTES:
		pg->notes = arg;
		break;
	case O_FONTTYPE:
		pg->fonttype = arg;
		break;
	case O_COUNTNAME:
		pg->countname = arg;
		break;
	case O_NAMETYPE:
		pg->nametype = arg;
		break;
	case O_HASH:
		pg->by = PALETTE_BY_HASH;
		break;
	case O_RANDOM:
		pg->by = PALETTE_RANDOM;
		break;
	case O_REVERSE:
		o->draw.reverse = true;
		break;
	case O_INVERTED:
		pg->inverted = true;
		break;
	case O_FLAMECHART:
		o->draw.flamechart = true;
		break;
	case O_NEGATE:
		pg->negate = true;
		break;
	case O_EMBEDDED:
		pg->embedded = true;
		break;
	case O_STRICT:
		o->strict = true;
		break;
	case O_DIFF:
		o->diff = true;
		break;
	case O_NORMALIZE:
		o->normalize = true;
		break;
	case O_STRIP_HEX:
		o->strip_hex = true;
		break;
	case O_CP:
		o->cp = true;
		break;
	case 'h':
		o->help = true;
		break;
	case 'V':
		o->version = true;
		break;
	case 'o':
		o->out = arg;
		break;
	case O_MINWIDTH:
		return parse_minwidth(pg, arg);
	case O_ENCODING:
		return parse_encoding(pg, arg);
	case O_WIDTH:
		pg->fluid = false;
		return parse_size("width", arg, page_width_range, &pg->width);
	case O_HEIGHT:
		return parse_size("height", arg, page_height_range, &pg->height);
	case O_FONTSIZE:
		return parse_size("fontsize", arg, page_fontsize_range, &pg->fontsize);
	case O_FONTWIDTH:
		return parse_number(arg, 0.1, 10, &pg->fontwidth) ? 0 : bad_value("fontwidth", arg);
	case O_TOTAL:
		return parse_number(arg, 0, 1e19, &pg->total) ? 0 : bad_value("total", arg);
	case O_FACTOR:
		return parse_number(arg, 1e-12, 1e12, &pg->factor) ? 0 : bad_value("factor", arg);
	case O_MAX_FRAMES:
		if (!parse_number(arg, 1, 1e9, &v))
			return bad_value("max-frames", arg);
		o->draw.max_frames = (uint32_t)v;
		break;
	case O_COLORS:
		pg->palette = palette_find(arg);
		if (!pg->palette)
			return bad_value("colors", arg);
		break;
	case O_BGCOLORS: {
		uint32_t top, bottom;

		pg->background = arg;
		if (!palette_background(arg, &top, &bottom))
			return bad_value("bgcolors", arg);
		break;
	}
	default:
		return -1; /* getopt_long has said it */
	}
	return 0;
}

void options_init(struct options *o)
{
	memset(o, 0, sizeof(*o));
	draw_init(&o->draw);
}

/* What cannot go together. */
static const char *clash(const struct options *o, int files)
{
	if (o->diff && files != 2)
		return "--diff takes two files";
	if (o->diff && o->draw.flamechart)
		return "--diff and --flamechart do not go together: a difference has no order";
	if (!o->diff && (o->normalize || o->strip_hex))
		return "--normalize and --strip-hex are for --diff";
	if (o->cp && (o->diff || o->draw.page.by == PALETTE_RANDOM))
		return "--cp does not go with --diff or --random: their colours are not the names'";
	return NULL;
}

int options_parse(struct options *o, int argc, char **argv)
{
	const char *why;
	int c;

	while ((c = getopt_long(argc, argv, "o:hV", longopts, NULL)) != -1) {
		if (take_option(o, c, optarg))
			return -1;
		if (o->help || o->version)
			return 0;
	}
	why = clash(o, argc - optind);
	if (why)
		fprintf(stderr, "flamegraph: %s\n", why);
	return why ? -1 : 0;
}
