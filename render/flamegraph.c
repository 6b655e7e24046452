// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flamegraph: folded stacks in, one self-contained SVG out. Here: the options and what is said to
 * the user; reading, merging and drawing are in the other files of this directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folded.h"
#include "layout.h"
#include "page.h"
#include "palette.h"
#include "tree.h"

#define MAX_FRAMES 1000000 /* kept in a file: some 6 MB */
#define BAD_SHOWN  3       /* unusable lines that get a message of their own */

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

struct options {
	struct page page;
	const char *colors, *out;
	uint32_t max_frames;
	bool reverse, flamechart, strict;
};

struct input {
	struct tree *tree;
	const char *file; /* as messages call it */
	struct folded_stats stats;
	bool strict;
};

static void usage(FILE *f)
{
	fputs("usage: flamegraph [options] [FOLDED...] > graph.svg\n"
	      "\n"
	      "  --title TEXT  --subtitle TEXT  --notes TEXT\n"
	      "  --width PX         of the picture (1200, and as wide as its window)\n"
	      "  --height PX        of a row (16)\n"
	      "  --minwidth W       draw no narrower frames: pixels, or percent as 0.5% (0.1)\n"
	      "  --fonttype FONT  --fontsize PX  --fontwidth EMS (Verdana, 12, 0.59)\n"
	      "  --countname TEXT  --nametype TEXT   (\"samples\", \"us\" for chains; \"Function:\")\n"
	      "  --colors PALETTE   hot mem io wakeup chain java js perl red green blue aqua yellow\n"
	      "                     purple orange (chain where a frame `--` is seen, else hot)\n"
	      "  --bgcolors COLOR   yellow blue green grey #rrggbb\n"
	      "  --hash  --random   colours by the names' letters, by chance\n"
	      "  --reverse          merge from the leaves\n"
	      "  --inverted         icicle graph: root on top\n"
	      "  --flamechart       in input order, only neighbours merged\n"
	      "  --negate           swap the hues of a differential graph (two counts a line)\n"
	      "  --total N  --factor X   whole width in counts; multiply counts shown\n"
	      "  --encoding NAME    of the input: utf-8 (default), iso-8859-1\n"
	      "  --max-frames N     kept in the file for zooming (1000000), widest first\n"
	      "  --strict           an unusable line is an error\n"
	      "  -o, --output FILE  -h, --help  -V, --version\n"
	      "\n"
	      "  chainwalk --depth 6 trace.bin | flamegraph --title mysqld > chain.svg\n"
	      "  flamegraph --colors io --countname us --minwidth 0.5% out.folded > io.svg\n",
	      f);
}

static int on_line(void *ctx, const struct folded_line *line)
{
	struct input *in = ctx;

	in->tree->diff |= in->stats.two && !in->tree->n;
	return tree_add(in->tree, line->stack, line->len, line->count, line->before);
}

static int on_bad(void *ctx, uint64_t line_no, enum folded_err err)
{
	struct input *in = ctx;

	if (in->strict || in->stats.bad <= BAD_SHOWN)
		fprintf(stderr, "flamegraph: %s:%llu: %s\n", in->file, (unsigned long long)line_no,
			folded_strerror(err));
	return in->strict ? -EBADMSG : 0;
}

/* 0, or -1 after a message. */
static int read_file(struct input *in, const char *name)
{
	bool from_stdin = !strcmp(name, "-");
	int fd = from_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	in->file = from_stdin ? "standard input" : name;
	if (!err)
		err = folded_read(fd, &in->stats, on_line, on_bad, in);
	if (fd > STDIN_FILENO)
		close(fd);
	if (err && err != -EBADMSG)
		fprintf(stderr, "flamegraph: %s: %s\n", in->file, strerror(-err));
	return err ? -1 : 0;
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
	ok = parse_number(copy, 0, pg->minwidth_percent ? 100 : 1e6, &pg->minwidth);
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
	O_TITLE = 256, O_SUBTITLE, O_NOTES, O_WIDTH, O_HEIGHT, O_MINWIDTH, O_FONTTYPE, O_FONTSIZE,
	O_FONTWIDTH, O_COUNTNAME, O_NAMETYPE, O_COLORS, O_BGCOLORS, O_HASH, O_RANDOM, O_REVERSE,
	O_INVERTED, O_FLAMECHART, O_NEGATE, O_TOTAL, O_FACTOR, O_ENCODING, O_MAX_FRAMES, O_STRICT,
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
	{ "total", required_argument, NULL, O_TOTAL },
	{ "factor", required_argument, NULL, O_FACTOR },
	{ "encoding", required_argument, NULL, O_ENCODING },
	{ "max-frames", required_argument, NULL, O_MAX_FRAMES },
	{ "strict", no_argument, NULL, O_STRICT },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* One option into *o. 0, or -1 after a message. */
static int take_option(struct options *o, int c, char *arg)
{
	struct page *pg = &o->page;
	double v;

	switch (c) {
	case O_TITLE: pg->title = arg; break;
	case O_SUBTITLE: pg->subtitle = arg; break;
	case O_NOTES: pg->notes = arg; break;
	case O_FONTTYPE: pg->fonttype = arg; break;
	case O_COUNTNAME: pg->countname = arg; break;
	case O_NAMETYPE: pg->nametype = arg; break;
	case O_HASH: pg->by = PALETTE_BY_HASH; break;
	case O_RANDOM: pg->by = PALETTE_RANDOM; break;
	case O_REVERSE: o->reverse = true; break;
	case O_INVERTED: pg->inverted = true; break;
	case O_FLAMECHART: o->flamechart = true; break;
	case O_NEGATE: pg->negate = true; break;
	case O_STRICT: o->strict = true; break;
	case 'o': o->out = arg; break;
	case O_MINWIDTH: return parse_minwidth(pg, arg);
	case O_ENCODING: return parse_encoding(pg, arg);
	case O_WIDTH:
		pg->fluid = false;
		return parse_number(arg, 100, 1e6, &pg->width) ? 0 : bad_value("width", arg);
	case O_HEIGHT:
		return parse_number(arg, 4, 1000, &pg->height) ? 0 : bad_value("height", arg);
	case O_FONTSIZE:
		return parse_number(arg, 1, 1000, &pg->fontsize) ? 0 : bad_value("fontsize", arg);
	case O_FONTWIDTH:
		return parse_number(arg, 0.1, 10, &pg->fontwidth) ? 0 : bad_value("fontwidth", arg);
	case O_TOTAL:
		return parse_number(arg, 0, 1e19, &pg->total) ? 0 : bad_value("total", arg);
	case O_FACTOR:
		return parse_number(arg, 1e-12, 1e12, &pg->factor) ? 0 : bad_value("factor", arg);
	case O_MAX_FRAMES:
		if (!parse_number(arg, 1, 1e9, &v))
			return bad_value("max-frames", arg);
		o->max_frames = (uint32_t)v;
		break;
	case O_COLORS:
		o->colors = arg;
		if (!palette_find(arg))
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

/* Wishes left open are settled once it is known what was read. */
static void settle(struct options *o, const struct tree *t, const struct folded_stats *st)
{
	struct page *pg = &o->page;

	pg->palette = palette_find(o->colors ? o->colors : t->chain ? "chain" : "hot");
	if (!pg->background)
		pg->background = pg->palette->background;
	if (!pg->title)
		pg->title = o->flamechart ? "Flame Chart" : pg->inverted ? "Icicle Graph" :
			    t->chain ? "Wakeup Chain Graph" : "Flame Graph";
	if (!pg->countname)
		pg->countname = t->chain ? "us" : "samples";
	pg->decimals = st->decimals;
	pg->max_delta = t->max_delta > 1 ? t->max_delta : 1;
}

static void report(struct options *o, const struct input *in, double total)
{
	if (in->stats.bad)
		fprintf(stderr, "flamegraph: ignored %llu line%s with invalid format\n",
			(unsigned long long)in->stats.bad, in->stats.bad == 1 ? "" : "s");
	if (in->stats.mixed)
		fputs("flamegraph: some lines have two counts and some one: the latter count as "
		      "unchanged\n", stderr);
	if (o->page.total > 0 && o->page.total < total) {
		if (o->page.total / total > 0.02)
			fprintf(stderr, "flamegraph: --total %g is less than the actual total %g: "
				"not used\n", o->page.total, total);
		o->page.total = 0;
	}
}

/* Draw what was read into f. An exit status. */
static int draw(struct options *o, struct input *in, FILE *f)
{
	struct tree *t = in->tree;
	struct layout l = { 0 };
	int err;

	tree_finish(t);
	settle(o, t, &in->stats);
	if (!t->n || !(t->node[0].total > 0)) {
		report(o, in, 0);
		fputs("flamegraph: ERROR: No stack counts found\n", stderr);
		page_write_error(f, &o->page, "No valid input provided to flamegraph.");
		return EXIT_USAGE;
	}
	report(o, in, t->node[0].total);
	err = layout_tree(&l, t, 0, o->max_frames);
	if (!err)
		err = page_write(f, &o->page, t, &l);
	if (err)
		fprintf(stderr, "flamegraph: %s\n", strerror(-err));
	layout_free(&l);
	return err ? EXIT_FAILED : EXIT_OK;
}

/* Flush and close f; a reader that went away is no error of ours to talk about. */
static int finish_output(FILE *f, const char *name)
{
	int bad = ferror(f);

	bad |= fflush(f);
	if (f != stdout)
		bad |= fclose(f);
	if (!bad)
		return 0;
	if (errno != EPIPE)
		fprintf(stderr, "flamegraph: %s: %s\n", name ? name : "standard output",
			strerror(errno));
	return -1;
}

static int run(struct options *o, char **files, int n)
{
	struct tree tree;
	struct input in = { .tree = &tree, .strict = o->strict };
	FILE *f = stdout;
	int status = EXIT_FAILED;
	char *dash = (char[]){ "-" };

	if (tree_init(&tree)) {
		fprintf(stderr, "flamegraph: %s\n", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	tree.reverse = o->reverse;
	tree.in_order = o->flamechart;
	for (int i = 0; i < (n ? n : 1); i++)
		if (read_file(&in, n ? files[i] : dash))
			goto out;
	if (o->out) {
		f = fopen(o->out, "we");
		if (!f) {
			fprintf(stderr, "flamegraph: %s: %s\n", o->out, strerror(errno));
			goto out;
		}
	}
	setvbuf(f, NULL, _IOFBF, 1 << 18);
	status = draw(o, &in, f);
	if (finish_output(f, o->out))
		status = EXIT_FAILED;
out:
	tree_free(&tree);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = {
		.page = {
			.fonttype = "Verdana, DejaVu Sans, sans-serif",
			.nametype = "Function:",
			.width = 1200,
			.fluid = true,
			.height = 16,
			.fontsize = 12,
			.fontwidth = 0.59,
			.minwidth = 0.1,
			.factor = 1,
		},
		.max_frames = MAX_FRAMES,
	};
	int c;

	while ((c = getopt_long(argc, argv, "o:hV", longopts, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			return finish_output(stdout, NULL) ? EXIT_FAILED : EXIT_OK;
		}
		if (c == 'V') {
			puts("flamegraph " CHAIN_VERSION);
			return finish_output(stdout, NULL) ? EXIT_FAILED : EXIT_OK;
		}
		if (take_option(&o, c, optarg)) {
			fputs("Try 'flamegraph --help'.\n", stderr);
			return EXIT_USAGE;
		}
	}
	return run(&o, argv + optind, argc - optind);
}
