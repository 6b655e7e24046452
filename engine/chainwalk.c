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
#include "progress.h"
#include "summary.h"

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
		return "not a trace that chaincap wrote";
	case -EPROTONOSUPPORT:
		return "a trace in another version of the format; a newer chainwalk may read it";
	default:
		return strerror(-err);
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

static int open_output(const struct options *o, const char *trace, FILE **out)
{
	*out = stdout;
	if (!o->output || !strcmp(o->output, "-"))
		return 0;
	if (same_file(o->output, trace))
		return -ETXTBSY;
	*out = fopen(o->output, "we");
	return *out ? 0 : -errno;
}

/* Builds the timelines; a trace with malformed events is checked first, and read without them. */
static int link_waits(struct trace *trace, struct timelines **timelines)
{
	int err = timelines_new(timelines, trace);

	if (err == -EBADMSG)
		err = trace_check(trace);
	else
		return err;
	return err ? err : timelines_new(timelines, trace);
}

/* Writes what was asked for, and the summary. Returns 0 or a negative errno, told to the user. */
static int explain(const struct options *o, struct trace *trace, const char *name)
{
	const struct format *format = format_find(o->format);
	struct format_totals totals = { .known = false };
	struct format_input in = { .trace = trace, .options = o };
	struct timelines *timelines = NULL;
	const char *output = o->output ? o->output : "standard output";
	FILE *out = NULL;
	int err;

	err = open_output(o, name, &out);
	if (err) {
		fprintf(stderr, "chainwalk: %s: %s\n", output,
			err == -ETXTBSY ? "it is the trace itself" : strerror(-err));
		return err;
	}
	if (format->wants_timelines)
		err = link_waits(trace, &timelines);
	if (trace_damage(trace)->what)
		print_damage(name, trace_damage(trace));
	in.timelines = timelines;
	in.totals = o->quiet ? NULL : &totals;
	if (!err)
		err = format->write(&in, out);
	if (err) {
		fprintf(stderr, "chainwalk: %s: %s\n", name, strerror(-err));
		goto out;
	}
	err = finish_output(out);
	if (err && err != -EPIPE)
		fprintf(stderr, "chainwalk: %s: %s\n", output, strerror(-err));
	if (err)
		goto out;
	if (!o->quiet) {
		err = summary_print(&in, name, stderr);
		if (err)
			fprintf(stderr, "chainwalk: %s: %s\n", name, strerror(-err));
	}
out:
	if (out != stdout && fclose(out) && !err) {
		err = -errno;
		fprintf(stderr, "chainwalk: %s: %s\n", output, strerror(-err));
	}
	timelines_free(timelines);
	return err;
}

static int walk(const struct options *o)
{
	const char *path = o->n_traces ? o->traces[0] : "trace.bin";
	const char *name = strcmp(path, "-") ? path : "standard input";
	bool damaged;
	uint64_t started_ns = now_ns();
	struct trace *trace;
	int err;

	progress_start(!o->quiet);
	err = format_find(o->format)->wants_timelines ? trace_open_quick(&trace, path)
						      : trace_open(&trace, path);
	if (err) {
		progress_stop();
		fprintf(stderr, "chainwalk: %s: %s\n", name, open_error(err));
		return EXIT_FAILED;
	}
	err = explain(o, trace, name);
	progress_stop();
	damaged = trace_damage(trace)->what;
	if (!err && o->verbose)
		print_cost(trace, started_ns);
	trace_close(trace);
	if (err && err != -EPIPE)
		return EXIT_FAILED;
	return damaged ? EXIT_DAMAGED : EXIT_OK;
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
	} else if (o.n_traces > 1) {
		fprintf(stderr, "chainwalk: one trace at a time: '%s' is one too many\n",
			o.traces[1]);
		ret = EXIT_USAGE;
	} else {
		ret = walk(&o);
	}
	options_free(&o);
	return ret;
}
