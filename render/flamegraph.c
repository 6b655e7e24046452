// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flamegraph: reads folded stacks, writes one self-contained SVG. This file has files and messages;
 * options, merging and drawing are in the other files of this directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diff.h"
#include "folded.h"
#include "foreign.h"
#include "input_reader.h"
#include "options.h"
#include "page.h"
#include "tree.h"
#include "common/output_file.h"
#include "common/xalloc.h"

#define BAD_SHOWN 3 /* invalid lines that are reported one by one */

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

/* --base: cut the line's stack so that it begins with its first frame of these names. False: none.
 */
static bool cut_below_base(const struct options *o, struct folded_line *line)
{
	const char *p = line->stack, *end = p + line->len;

	while (o->bases) {
		const char *next = memchr(p, ';', (size_t)(end - p));
		size_t len = (size_t)((next ? next : end) - p), skipped = (size_t)(p - line->stack);

		for (unsigned i = 0; i < o->bases; i++)
			if (strlen(o->base[i]) == len && !memcmp(p, o->base[i], len)) {
				line->stack = p;
				line->len -= skipped;
				line->one_len -= skipped;
				return true;
			}
		if (!next)
			return false;
		p = next + 1;
	}
	return true;
}

/* --diff: which of its two files is being read. */
enum side { SIDE_NONE, SIDE_BEFORE, SIDE_AFTER };

struct input {
	struct tree *tree;
	struct input_reader reader; /* into the tree */
	const struct options *o;
	const char *file; /* its name in messages */
	enum side side;
	struct folded_stats stats;
	struct diff_strip strip;
	struct remarks *remarks;
	const struct foreign *foreign; /* what the input is instead; NULL: folded stacks */
};

static int on_line(void *ctx, const struct folded_line *given)
{
	struct folded_line line = *given;
	struct input *in = ctx;
	int err = remarks_take(in->remarks, given);

	if (err)
		return err < 0 ? err : 0;
	err = in->o->strip_hex ? diff_strip_hex(&in->strip, &line) : 0;
	if (err || !cut_below_base(in->o, &line))
		return err;
	if (in->side == SIDE_NONE)
		return input_reader_line(&in->reader, &line);
	return input_reader_pair(&in->reader, &line, in->side == SIDE_BEFORE);
}

static int on_bad(void *ctx, uint64_t line_no, enum folded_err err)
{
	struct input *in = ctx;

	if (in->o->strict || (!in->o->quiet && in->stats.bad <= BAD_SHOWN))
		fprintf(stderr, "flamegraph: %s:%llu: %s\n", in->file, (unsigned long long)line_no,
			folded_strerror(err));
	return in->o->strict ? -EBADMSG : 0;
}

static int on_head(void *ctx, const char *p, size_t len)
{
	struct input *in = ctx;

	in->foreign = foreign_find(p, len);
	if (!in->foreign)
		return 0;
	fprintf(stderr, "flamegraph: %s: this is %s, not folded stacks; %s\n", in->file,
		in->foreign->what, in->foreign->how);
	return -EBADMSG;
}

/* Most lines of an input without counts: what the others have are not counts either. */
static bool is_garbage(const struct folded_stats *st)
{
	return st->bad >= 10 && st->bad / 10 >= st->good;
}

/* What the library says of its callers' memory ends the program. Returns err. */
static int checked(int err)
{
	if (err == -ENOMEM)
		out_of_memory();
	return err;
}

/* 0, or -1 after a message. */
static int read_file(struct input *in, const char *name)
{
	bool from_stdin = !strcmp(name, "-");
	int fd = from_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	in->file = from_stdin ? "standard input" : name;
	if (!err)
		err = folded_read_known(fd, &in->stats, on_head, on_line, on_bad, in);
	if (fd > STDIN_FILENO)
		close(fd);
	if (checked(err) && err != -EBADMSG)
		fprintf(stderr, "flamegraph: %s: %s\n", in->file, strerror(-err));
	return err ? -1 : 0;
}

static void report(const struct options *o, const struct input *in, double total)
{
	if (o->quiet)
		return;
	if (in->stats.bad)
		fprintf(stderr, "flamegraph: ignored %llu line%s with invalid format\n",
			(unsigned long long)in->stats.bad, in->stats.bad == 1 ? "" : "s");
	if (in->reader.asked && in->reader.one && in->reader.two)
		fprintf(stderr, "flamegraph: %llu of %llu lines have two counts: %s\n",
			(unsigned long long)in->reader.two,
			(unsigned long long)(in->reader.one + in->reader.two),
			in->tree->diff ? "taken as before and after (--counts 1: part of names)"
				       : "the first is taken as part of a name (--counts 2: before "
					 "and after)");
	if (o->page.total > 0 && o->page.total / total > 0.02 && o->page.total < total)
		fprintf(stderr,
			"flamegraph: --total %g is less than the actual total %g: ignored\n",
			o->page.total, total);
}

static int finish_tree(const struct options *o, struct tree *t)
{
	int err = 0;

	if (o->normalize)
		diff_normalize(t);
	if (diff_is_wide(t, o->page.reverse))
		diff_widen(t);
	else if (o->diff)
		err = diff_add_gone(t);
	return err ? err : tree_finish(t);
}

/* The picture says what is wrong, too, as it is what is looked at. */
static int refuse(const struct options *o, const struct input *in, FILE *f)
{
	char why[512];

	if (in->foreign) {
		snprintf(why, sizeof(why), "This is %s, not folded stacks; %s", in->foreign->what,
			 in->foreign->how);
	} else {
		snprintf(why, sizeof(why),
			 "%llu of %llu lines have no count: these are not folded stacks",
			 (unsigned long long)in->stats.bad,
			 (unsigned long long)(in->stats.bad + in->stats.good));
		fprintf(stderr, "flamegraph: ERROR: %s\n", why);
	}
	page_write_error(f, &o->page, why);
	return EXIT_USAGE;
}

/* Draw the input into f. An exit status. */
static int draw(struct options *o, struct input *in, FILE *f)
{
	struct tree *t = in->tree;
	int err = finish_tree(o, t);
	double total;

	if (err)
		goto out;
	total = t->n ? t->node[0].total : 0;
	if (!in->foreign)
		report(o, in, total);
	/* A scaled count is no whole number. */
	page_settle(&o->page, t, in->reader.decimals + (o->normalize ? 3 : 0));
	if (in->foreign || is_garbage(&in->stats))
		return refuse(o, in, f);
	err = page_write(f, &o->page, t);
	if (err == -ENODATA) {
		fputs("flamegraph: ERROR: No stack counts found\n", stderr);
		page_write_error(f, &o->page, "No valid input provided to flamegraph.");
		return EXIT_USAGE;
	}
out:
	if (checked(err))
		fprintf(stderr, "flamegraph: %s\n", strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}

/* Flush and close f. 0, or -1 after a message; there is none if the reader closed the pipe. */
static int finish_output(FILE *f, const char *name)
{
	int bad = ferror(f);

	bad |= fflush(f);
	if (f != stdout)
		bad |= output_file_close(f);
	if (!bad)
		return 0;
	if (errno != EPIPE)
		fprintf(stderr, "flamegraph: %s: %s\n", name ? name : "standard output",
			strerror(errno));
	return -1;
}

/* Read all files into the tree. 0, or -1 after a message. */
static int read_all(struct input *in, char **files, int n)
{
	char *const dash[] = { (char[]) { "-" } };
	int err = input_reader_open(&in->reader, in->tree, in->o->page.reverse,
				    in->o->diff ? COUNTS_TWO : in->o->counts);
	int closed, failed = 0;

	for (int i = 0; i < (n ? n : 1) && !err && !failed; i++) {
		if (in->o->diff)
			in->side = i ? SIDE_AFTER : SIDE_BEFORE;
		failed = read_file(in, n ? files[i] : dash[0]);
	}
	closed = input_reader_close(&in->reader);
	checked(err);
	if (!failed && (err || checked(closed)))
		fprintf(stderr, "flamegraph: %s\n", strerror(err ? -err : -closed));
	return err || closed || failed ? -1 : 0;
}

/* Is out one of the input files? Writing to it would destroy the input. */
static bool is_input(const char *out, char **files, int n)
{
	struct stat a, b;

	if (stat(out, &a) || !S_ISREG(a.st_mode))
		return false;
	for (int i = 0; i < n; i++)
		if (!stat(files[i], &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return true;
	return false;
}

static int run(struct options *o, char **files, int n)
{
	struct tree tree;
	struct input in = { .tree = &tree, .o = o, .remarks = &o->page.remarks };
	int status = EXIT_FAILED;
	FILE *f = stdout;

	checked(tree_init(&tree));
	if (o->out && is_input(o->out, files, n)) {
		fprintf(stderr, "flamegraph: %s: this is an input file\n", o->out);
		goto out;
	}
	tree.in_order = o->page.flamechart;
	tree.negated = o->page.negate;
	if (read_all(&in, files, n) && !in.foreign)
		goto out;
	if (o->out) {
		f = output_file_open(o->out);
		if (!f) {
			checked(-errno);
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
	diff_strip_free(&in.strip);
	remarks_free(in.remarks);
	return status;
}

int main(int argc, char **argv)
{
	struct options o;
	char why[256];

	if (options_parse(&o, argc, argv, why, sizeof(why))) {
		fprintf(stderr, "flamegraph: %s\nTry 'flamegraph --help'.\n", why);
		return EXIT_USAGE;
	}
	if (!o.help && !o.help_all && !o.version)
		return run(&o, argv + optind, argc - optind);
	if (o.version)
		puts("flamegraph " CHAIN_VERSION);
	else
		options_help(stdout, o.help_all);
	return finish_output(stdout, NULL) ? EXIT_FAILED : EXIT_OK;
}
