// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chainwalk - explains a trace: each wait is linked to its waker, recursively. This file is the
 * order of things and the messages; all work is done behind the other headers.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "import.h"
#include "progress.h"
#include "several.h"
#include "summary.h"
#include "unmatched.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_DAMAGED = 3,
};

/* Why a trace could not be opened, in the user's words. */
static const char *open_error(int err)
{
	switch (err) {
	case -ENODATA:
		return "it is empty, not a trace";
	case -EBADMSG:
		return "neither a trace that chaincap wrote nor text of perf script";
	case -EPROTONOSUPPORT:
		return "a trace in another version of the format; a newer chainwalk may read it";
	default:
		return import_error_text(err) ? import_error_text(err) : strerror(-err);
	}
}

static void print_damage(const char *name, const struct trace_damage *d)
{
	fprintf(stderr, "chainwalk: %s: damaged at byte %llu: %s", name,
		(unsigned long long)d->first_offset, d->what);
	if (d->bytes)
		fprintf(stderr, "; skipped %llu bytes", (unsigned long long)d->bytes);
	if (d->blocks)
		fprintf(stderr, " (damaged blocks: %llu)", (unsigned long long)d->blocks);
	fputs(d->cut ? "; read up to there\n" : "; the rest was read\n", stderr);
}

/*
 * Finishes writing. Returns 0 or a negative errno; -EPIPE also where an earlier write met it and
 * errno is long overwritten.
 */
static int finish_output(FILE *out)
{
	struct pollfd p = { .fd = fileno(out), .events = POLLOUT };
	int err = 0;

	if (fflush(out))
		err = -errno;
	else if (ferror(out))
		err = -EIO;
	if (err && poll(&p, 1, 0) > 0 && (p.revents & POLLERR))
		err = -EPIPE;
	return err;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void print_cost(const struct trace *trace, uint64_t started_ns)
{
	double s = (double)(now_ns() - started_ns) / 1e9;

	fprintf(stderr, "took %.3f s: %.1f million events/s\n", s,
		s > 0 ? (double)trace_info(trace)->events / s / 1e6 : 0);
}

/* True if both names lead to one file: writing one would cut the other off. */
static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* A run over all traces. */
struct run {
	const struct options *o;
	FILE *out; /* NULL: not open yet */
	const char *out_name;
	struct several *merged; /* NULL: each trace's result goes straight to out */
	bool together;		/* several traces, or one below a root frame */
	bool damaged;
	size_t n_done;
};

/* Where a trace is read from, if it is the i-th. */
static const char *path_of(const struct options *o, size_t i)
{
	return o->n_traces ? o->traces[i] : "trace.bin";
}

static const char *name_of(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static size_t n_traces(const struct options *o)
{
	return o->n_traces ? o->n_traces : 1;
}

/* Only once a trace is there: a mistyped name must not cost the last result. */
static int open_output(struct run *r)
{
	const char *path = r->o->output;
	int err = 0;

	r->out_name = path ? path : "standard output";
	if (r->out)
		return 0;
	if (!path || !strcmp(path, "-")) {
		r->out = stdout;
		return 0;
	}
	for (size_t i = 0; i < n_traces(r->o) && !err; i++)
		if (same_file(path, path_of(r->o, i)))
			err = -ETXTBSY;
	if (!err) {
		r->out = fopen(path, "we");
		err = r->out ? 0 : -errno;
	}
	if (err)
		fprintf(stderr, "chainwalk: %s: %s\n", path,
			err == -ETXTBSY ? "it is the trace itself" : strerror(-err));
	return err;
}

/* Ends what has been written so far. Returns 0 or a negative errno, told unless it is -EPIPE. */
static int flush_output(struct run *r)
{
	int err = finish_output(r->out);

	if (err && err != -EPIPE)
		fprintf(stderr, "chainwalk: %s: %s\n", r->out_name, strerror(-err));
	return err;
}

/* Builds the timelines; a trace with malformed events is checked first, and read without them. */
static int link_waits(struct trace *trace, struct timelines **timelines)
{
	int err = timelines_new(timelines, trace);

	if (err != -EBADMSG)
		return err;
	err = trace_check(trace);
	return err ? err : timelines_new(timelines, trace);
}

/* Writes what was asked for, and the summary. Returns 0 or a negative errno, told to the user. */
static int explain(struct run *r, struct trace *trace, const char *name)
{
	const struct options *o = r->o;
	const struct format *format = format_find(o->format);
	struct format_totals totals = { .known = false };
	struct format_input in = { .trace = trace, .options = o };
	struct timelines *timelines = NULL;
	int err;

	err = open_output(r);
	if (err)
		return err;
	if (format->wants_timelines)
		err = link_waits(trace, &timelines);
	if (timelines)
		unmatched_print(timelines, o, name, stderr);
	r->damaged |= trace_damage(trace)->what != NULL;
	if (trace_import(trace))
		import_report_print(trace_import(trace), name, o->quiet, stderr);
	else if (trace_damage(trace)->what)
		print_damage(name, trace_damage(trace));
	in.timelines = timelines;
	in.totals = o->quiet ? NULL : &totals;
	if (!err)
		err = r->merged	    ? several_add(r->merged, &in, name)
		      : r->together ? several_part(&in, name, !r->n_done, r->out)
				    : format->write(&in, r->out);
	if (err) {
		fprintf(stderr, "chainwalk: %s: %s\n", name, strerror(-err));
		goto out;
	}
	err = flush_output(r);
	if (!err && !o->quiet) {
		err = summary_print(&in, name, stderr);
		if (err)
			fprintf(stderr, "chainwalk: %s: %s\n", name, strerror(-err));
	}
out:
	timelines_free(timelines);
	return err;
}

/* One trace. Returns 0 or a negative errno, told to the user. */
static int walk_trace(struct run *r, const char *path)
{
	const char *name = name_of(path);
	uint64_t started_ns = now_ns();
	struct trace *trace;
	int err;

	err = format_find(r->o->format)->wants_timelines ? trace_open_quick(&trace, path)
							 : trace_open(&trace, path);
	if (err) {
		progress_stop();
		fprintf(stderr, "chainwalk: %s: %s\n", name, open_error(err));
		return err == -EPIPE ? -EIO : err;
	}
	err = explain(r, trace, name);
	if (!err && r->o->verbose)
		print_cost(trace, started_ns);
	trace_close(trace);
	r->n_done++;
	return err;
}

static int walk(const struct options *o)
{
	const struct format *format = format_find(o->format);
	struct run r = { .o = o, .together = o->n_traces > 1 || o->root != ROOT_NONE };
	int err = 0;

	if (r.together && format->several == SEVERAL_MERGED) {
		r.merged = several_new(o);
		if (!r.merged) {
			fprintf(stderr, "chainwalk: %s\n", strerror(ENOMEM));
			return EXIT_FAILED;
		}
	}
	progress_start(!o->quiet);
	for (size_t i = 0; i < n_traces(o) && !err; i++)
		err = walk_trace(&r, path_of(o, i));
	progress_stop();
	if (!err && r.merged) {
		err = several_write(r.merged, r.out);
		if (err)
			fprintf(stderr, "chainwalk: %s\n", strerror(-err));
		else
			err = flush_output(&r);
	}
	if (r.out && r.out != stdout && fclose(r.out) && !err) {
		err = -errno;
		fprintf(stderr, "chainwalk: %s: %s\n", r.out_name, strerror(-err));
	}
	several_free(r.merged);
	if (err && err != -EPIPE)
		return EXIT_FAILED;
	return r.damaged ? EXIT_DAMAGED : EXIT_OK;
}

/* The trace is mapped: if another process makes the file shorter, its pages are gone. */
static void on_sigbus(int sig)
{
	static const char message[] = "chainwalk: the trace became shorter while it was read\n";

	ssize_t written;

	(void)sig;
	written = write(STDERR_FILENO, message, sizeof(message) - 1);
	(void)written; /* nothing is left to be done about it */
	_exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	struct options o = { .depth = 0 };
	char why[256];
	int ret;

	/* A closed pipe is then an error of a write, and ends the program with an exit code. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGBUS, on_sigbus);
	ret = options_parse(&o, argc, argv, why, sizeof(why));
	if (ret) {
		fprintf(stderr, "chainwalk: %s (chainwalk --help tells more)\n", why);
		ret = ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else if (o.help) {
		options_help(stdout);
	} else if (o.version) {
		puts("chainwalk " CHAIN_VERSION);
	} else {
		ret = walk(&o);
	}
	options_free(&o);
	return ret;
}
