// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flamegraph: folded stacks in, one self-contained SVG out. Here: what is read and said; options,
 * merging and drawing are in the other files of this directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elide.h"
#include "feed.h"
#include "folded.h"
#include "layout.h"
#include "options.h"
#include "page.h"
#include "palette_map.h"
#include "tree.h"

#define BAD_SHOWN 3 /* unusable lines that get a message of their own */

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

enum side { SIDE_ALONE, SIDE_BEFORE, SIDE_AFTER };

struct input {
	struct tree *tree;
	struct feed feed; /* of the tree */
	const struct options *o;
	const char *file; /* as messages call it */
	enum side side;	  /* --diff: which of the two files */
	struct folded_stats stats;
	char *text; /* --strip-hex: the line at hand */
	size_t text_cap;
};

/* Copy the stack with every 0x1234 made 0x...; it never gets longer than three bytes more a number.
 */
static int strip_hex(struct input *in, struct folded_line *line)
{
	const char *p = line->stack, *end = p + line->len;
	size_t n = 0;

	if (in->text_cap < line->len * 2 + 8) {
		char *bigger = realloc(in->text, line->len * 2 + 8);

		if (!bigger)
			return -ENOMEM;
		in->text = bigger;
		in->text_cap = line->len * 2 + 8;
	}
	while (p < end) {
		const char *q = p + 2;

		if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
			while (q < end && strchr("0123456789abcdefABCDEF", *q) && *q)
				q++;
			if (q > p + 2) {
				memcpy(in->text + n, "0x...", 5);
				n += 5;
				p = q;
				continue;
			}
		}
		in->text[n++] = *p++;
	}
	line->stack = in->text;
	line->len = n;
	return 0;
}

static int on_line(void *ctx, const struct folded_line *given)
{
	struct folded_line line = *given;
	struct input *in = ctx;
	int err = in->o->strip_hex ? strip_hex(in, &line) : 0;

	if (err)
		return err;
	if (in->side == SIDE_BEFORE)
		return feed_add(&in->feed, line.stack, line.len, 0, line.count);
	if (in->side == SIDE_ALONE && in->stats.good == 1)
		in->tree->diff = in->stats.two;
	return feed_add(&in->feed, line.stack, line.len, line.count, line.before);
}

static int on_bad(void *ctx, uint64_t line_no, enum folded_err err)
{
	struct input *in = ctx;

	if (in->o->strict || in->stats.bad <= BAD_SHOWN)
		fprintf(stderr, "flamegraph: %s:%llu: %s\n", in->file, (unsigned long long)line_no,
			folded_strerror(err));
	return in->o->strict ? -EBADMSG : 0;
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

/* Wishes left open are settled once it is known what was read. */
static void settle(struct options *o, struct tree *t, const struct folded_stats *st)
{
	struct page *pg = &o->page;

	if (!pg->countname)
		pg->countname = t->chain ? "us" : "samples";
	/* Merged from the leaves, chains have no first link: nothing is said of links then. */
	t->chain &= !o->reverse;

	if (!pg->palette)
		pg->palette = palette_find(t->chain ? "chain" : "hot");
	if (!pg->background)
		pg->background = t->diff ? "grey" : pg->palette->background;
	if (!pg->title)
		pg->title = o->flamechart  ? "Flame Chart"
			    : pg->inverted ? "Icicle Graph"
			    : t->diff	   ? "Differential Flame Graph"
			    : t->chain	   ? "Wakeup Chain Graph"
					   : "Flame Graph";
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
		      "unchanged\n",
		      stderr);
	if (o->page.total > 0 && o->page.total < total) {
		if (o->page.total / total > 0.02)
			fprintf(stderr,
				"flamegraph: --total %g is less than the actual total %g: "
				"not used\n",
				o->page.total, total);
		o->page.total = 0;
	}
}

/* Lay out and write what is in the finished tree. 0 or a negative errno. */
static int draw_tree(struct options *o, const struct tree *t, FILE *f)
{
	struct palette_map map = { 0 };
	struct layout l = { 0 };
	uint32_t *rgb = NULL;
	int err = 0;

	if (o->cp) {
		err = palette_map_load(&map, PALETTE_MAP_FILE);
		if (!err)
			err = palette_map_colors(&map, o->page.palette, o->page.by, &t->names,
						 &rgb);
		if (!err)
			err = palette_map_save(&map, PALETTE_MAP_FILE);
		if (err)
			fprintf(stderr, "flamegraph: %s: %s\n", PALETTE_MAP_FILE, strerror(-err));
		o->page.name_color = rgb;
	}
	if (!err) {
		err = layout_tree(&l, t, 0, o->max_frames);
		if (!err)
			err = page_write(f, &o->page, t, &l);
		if (err)
			fprintf(stderr, "flamegraph: %s\n", strerror(-err));
	}
	o->page.name_color = NULL;
	free(rgb);
	palette_map_free(&map);
	layout_free(&l);
	return err;
}

/* Draw what was read into f. An exit status. */
static int draw(struct options *o, struct input *in, FILE *f)
{
	struct tree *t = in->tree;
	int err = 0;

	if (o->diff) {
		if (o->normalize)
			tree_normalize(t);
		err = elide(t);
	}
	if (!err)
		err = tree_finish(t);
	if (err) {
		fprintf(stderr, "flamegraph: %s\n", strerror(-err));
		return EXIT_FAILED;
	}
	settle(o, t, &in->stats);
	if (!t->n || !(t->node[0].total > 0)) {
		report(o, in, 0);
		fputs("flamegraph: ERROR: No stack counts found\n", stderr);
		page_write_error(f, &o->page, "No valid input provided to flamegraph.");
		return EXIT_USAGE;
	}
	report(o, in, t->node[0].total);
	return draw_tree(o, t, f) ? EXIT_FAILED : EXIT_OK;
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

/* All files into the tree. 0, or -1 after a message. */
static int read_all(struct input *in, char **files, int n)
{
	char *const dash[] = { (char[]) { "-" } };
	int err = feed_open(&in->feed, in->tree, in->o->reverse), closed, failed = 0;

	if (in->o->diff)
		in->stats.decided = true; /* one count a line in each of the files */
	for (int i = 0; i < (n ? n : 1) && !err && !failed; i++) {
		if (in->o->diff)
			in->side = i ? SIDE_AFTER : SIDE_BEFORE;
		failed = read_file(in, n ? files[i] : dash[0]);
	}
	closed = feed_close(&in->feed);
	if (!failed && (err || closed))
		fprintf(stderr, "flamegraph: %s\n", strerror(err ? -err : -closed));
	return err || closed || failed ? -1 : 0;
}

static int run(struct options *o, char **files, int n)
{
	struct tree tree;
	struct input in = { .tree = &tree, .o = o };
	int status = EXIT_FAILED;
	FILE *f = stdout;

	if (tree_init(&tree)) {
		fprintf(stderr, "flamegraph: %s\n", strerror(ENOMEM));
		goto out;
	}
	tree.in_order = o->flamechart;
	tree.diff = o->diff;
	if (read_all(&in, files, n))
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
	free(in.text);
	return status;
}

int main(int argc, char **argv)
{
	struct options o;

	options_init(&o);
	if (options_parse(&o, argc, argv)) {
		fputs("Try 'flamegraph --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (!o.help && !o.version)
		return run(&o, argv + optind, argc - optind);
	if (o.help)
		options_usage(stdout);
	else
		puts("flamegraph " CHAIN_VERSION);
	return finish_output(stdout, NULL) ? EXIT_FAILED : EXIT_OK;
}
