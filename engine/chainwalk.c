// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chainwalk - explains a trace: each wait is linked to its waker, recursively. This file opens each
 * trace, has the chosen format write it, reports errors and sets the exit status.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command_line.h"
#include "diagnostics.h"
#include "follow.h"
#include "format_table.h"
#include "base/text.h"
#include "common/option_table.h"
#include "common/output_file.h"
#include "fold/folded.h"
#include "formats/against.h"
#include "formats/screen_json.h"
#include "symbols/symbols.h"
#include "hosts/hosts.h"
#include "opened.h"
#include "common/xalloc.h"
#include "parts.h"

/* ---- traces of several machines -------------------------------------------------------------- */

/*
 * Several traces at once, if they are of machines that answer each other
 * (chain-semantics, section 16).
 */

/* All zero: no traces are joined. */
struct joined {
	struct opened *traces;	   /* NULL, or n that may be open */
	struct joined_host *hosts; /* NULL: no two of them share a connection */
	uint32_t n;
	struct host_pair *pairs;
	size_t n_pairs;
};

/* Whether chains can go on at another machine in what is shown. */
static bool may_join(char *const *paths, size_t n, const struct options *o,
		     const struct format *format)
{
	if (n < 2 || n > HOSTS_MAX || !format->joins || o->view != VIEW_CHAIN ||
	    o->mode != MODE_EXACT || o->plain_ends || o->no_ends)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(paths[i], "-"))
			return false;
	return true;
}

static bool has_streams(const struct opened *t)
{
	return t->is_open && trace_info(t->rec.trace)->aux & 1u << CHAINLOG_STREAM;
}

/* Whether any two traces have both ends of a connection. */
static void share(const struct joined *j, bool *is_shared)
{
	const struct trace *traces[HOSTS_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->n; i++)
		if (has_streams(&j->traces[i]))
			traces[n++] = j->traces[i].rec.trace;
	*is_shared = false;
	if (n >= 2)
		hosts_share(traces, n, is_shared);
}

/* The name of a machine, or of its trace, if another one has the same name, or it has none. */
static const char *host_name_of(const struct joined *j, uint32_t i, const char *path)
{
	const char *host = trace_info(j->traces[i].rec.trace)->host;

	for (uint32_t k = 0; k < j->n; k++)
		if (k != i && j->traces[k].is_open &&
		    !strcmp(host, trace_info(j->traces[k].rec.trace)->host))
			return path;
	return *host ? host : path;
}

static int join(struct joined *j, char *const *paths, const struct options *o,
		const struct format *format, struct symbols **symbols)
{
	struct timelines *timelines[HOSTS_MAX] = { NULL };
	int err = 0;

	j->hosts = xcalloc(j->n, sizeof(*j->hosts));
	for (uint32_t i = 0; i < j->n && !err; i++) {
		if (!j->traces[i].is_open)
			continue;
		err = opened_link(&j->traces[i], o, format, symbols);
		timelines[i] = j->traces[i].timelines;
		j->hosts[i] = (struct joined_host) { timelines[i], host_name_of(j, i, paths[i]) };
	}
	return err ? err : hosts_join(timelines, j->n, &j->pairs, &j->n_pairs);
}

/*
 * Opens n traces, if the format shows what one machine did for another one, and joins those that
 * share connections. What cannot be opened is left closed. 0 or a negative errno.
 */
static int joined_open(struct joined *j, char *const *paths, size_t n, const struct options *o,
		       const struct format *format, struct symbols **symbols)
{
	bool is_shared;

	if (!may_join(paths, n, o, format))
		return 0;
	j->traces = xcalloc(n, sizeof(*j->traces));
	j->n = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		if (opened_open(&j->traces[i], paths[i], format, o))
			return 0; /* it is opened again, and said what is wrong */
	share(j, &is_shared);
	return is_shared ? join(j, paths, o, format, symbols) : 0;
}

static void joined_close(struct joined *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		opened_close(&j->traces[i]);
	free(j->traces);
	free(j->hosts);
	free(j->pairs);
	*j = (struct joined) { .n = 0 };
}

/* ---- one trace --------------------------------------------------------------------------------
 */

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_DAMAGED = 3,
};

/* Where there is none. */
#define RECORD_ONE "; to record one: sudo chaincap -o trace.bin 10"

/* Why a trace could not be opened, and the next command. */
static const char *open_error(int err)
{
	switch (err) {
	case -ENODATA:
		return "not a trace: the file is empty" RECORD_ONE;
	case -EBADMSG:
		return "neither a trace of chaincap or Go nor text of perf script" RECORD_ONE;
	case -ENOENT:
		return "there is no such trace" RECORD_ONE;
	case -EISDIR:
		return "a folder; to see its newest trace, and each new one: chainwalk --follow";
	case -EACCES:
		return "only who recorded it may read it; try: sudo chainwalk";
	case -EPROTONOSUPPORT:
		return "unknown version of the trace format; a newer chainwalk may read it";
	default:
		return import_error_text(err) ? import_error_text(err) : strerror(-err);
	}
}

/* What has no other way to say so: libraries, and code that the recorder has, too. Returns err. */
static int checked(int err)
{
	if (err == -ENOMEM)
		out_of_memory();
	return err;
}

/*
 * Flushes out. Returns 0 or a negative errno. -EPIPE is also returned when an earlier write failed
 * with it, whose errno is overwritten since.
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

/* True if both paths are one regular file: opening it for writing would truncate the trace. */
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
	struct symbols *symbols; /* NULL: names are those of the traces */
	bool merging;		 /* lines are added up and written at the end */
	struct folded merged;
	struct joined joined;
	struct against against; /* of --against */
	bool together;		/* several traces, or one below a root frame */
	bool damaged;
	size_t n_done;
	size_t n_missing; /* traces without a thread that was asked for */
};

/* Without TRACE: what was given as standard input, a file or a pipe; else the recorder's default.
 */
static const char *default_trace(void)
{
	struct stat st;

	if (!fstat(STDIN_FILENO, &st) && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)))
		return "-";
	return "trace.bin";
}

/* The i-th trace; "-" is standard input. With --against that one is the first. */
static const char *path_of(const struct options *o, size_t i)
{
	if (o->against && !i)
		return o->against;
	if (o->against)
		i--;
	return o->n_traces ? o->traces[i] : default_trace();
}

static const char *name_of(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static size_t n_traces(const struct options *o)
{
	return (o->n_traces ? o->n_traces : 1) + (o->against ? 1 : 0);
}

/* Called after a trace was opened: a mistyped trace must not truncate the previous result. */
static int open_output(struct run *r)
{
	const char *path = r->o->output;
	int err = 0;

	r->out_name = path ? path : "standard output";
	if (r->out)
		return 0;
	if (!path || !strcmp(path, "-")) {
		r->out = stdout;
		__fsetlocking(r->out, FSETLOCKING_BYCALLER);
		return 0;
	}
	for (size_t i = 0; i < n_traces(r->o) && !err; i++)
		if (same_file(path, path_of(r->o, i)))
			err = -ETXTBSY;
	if (!err && !format_find(r->o->format)->database) {
		r->out = output_file_open(path);
		err = r->out ? 0 : checked(-errno);
	}
	if (err)
		fprintf(stderr, "chainwalk: %s: %s\n", path,
			err == -ETXTBSY ? "the output is the trace itself" : strerror(-err));
	else if (r->out)
		__fsetlocking(r->out, FSETLOCKING_BYCALLER);
	return err;
}

/* Returns 0 or a negative errno, which is reported unless it is -EPIPE. */
static int flush_output(struct run *r)
{
	int err = r->out ? finish_output(r->out) : 0;

	if (err && err != -EPIPE)
		fprintf(stderr, "chainwalk: %s: %s\n", r->out_name, strerror(-err));
	return err;
}

/*
 * The options for one trace: of the recording of a command its threads are meant, unless others
 * were asked for.
 */
static struct options options_for(const struct options *given, const struct trace *t,
				  const struct format *format)
{
	struct options o = *given;

	if (o.given & (GIVEN_WHO | GIVEN_ALL) || !format->wants_timelines ||
	    !(format->takes & GIVEN_WHO))
		return o;
	o.command = trace_info(t)->command_tgid;
	if (o.command && !(o.given & GIVEN_ENDED))
		o.ended = false;
	return o;
}

/* What tells a trace apart from others in the output: its host if that is asked for, else its path.
 */
static const char *label(const struct format_input *in, const char *name)
{
	const char *host = trace_info(in->trace)->host;

	return in->options->root == ROOT_HOST && *host ? host : name;
}

/* Writes what the format shows of one trace, together with others if there are several. */
static int write_trace(struct run *r, const struct format *format, struct format_input *in,
		       const char *name)
{
	enum options_root root = in->options->root;
	bool below_root = root == ROOT_HOST || root == ROOT_TRACE;

	if (in->options->against) {
		figures_make(r->n_done ? &r->against.after : &r->against.before, in, name);
		return 0;
	}
	if (r->merging) {
		format->fold(in, below_root ? label(in, name) : NULL, &r->merged);
		return 0;
	}
	if (r->together && (format->several == SEVERAL_KEYED || in->options->json)) {
		in->key = root == ROOT_HOST ? "host" : "trace";
		in->label = label(in, name);
	} else if (r->together && format->several != SEVERAL_ADDED) {
		fputs(r->n_done ? "\n==> " : "==> ", r->out);
		print_clean(r->out, name);
		fputs(" <==\n", r->out);
	}
	return format->write(in, r->out);
}

/* Writes the result and prints the summary. Returns 0 or a negative errno, which is reported. */
static int explain(struct run *r, struct opened *t, const char *name)
{
	const struct format *format = format_find(r->o->format);
	const struct recording *rec = &t->rec;
	const struct options chosen = options_for(r->o, rec->trace, format), *o = &chosen;
	struct format_totals totals = { .known = false };
	struct format_input in = { .trace = rec->trace, .import = rec->import, .options = o };
	bool missing = false;
	int err = checked(opened_link(t, o, format, &r->symbols));

	if (!err && t->timelines) {
		print_range_warning(name, t->timelines, o);
		print_missing(name, t->timelines, o, &missing);
		r->n_missing += missing;
	}
	if (err) {
		fprintf(print_about(stderr, name), "%s\n", strerror(-err));
		goto out;
	}
	/* It is an error only if none of the traces has what was asked for. */
	err = r->n_missing == n_traces(o) ? -ESRCH : open_output(r);
	if (err)
		goto out;
	r->damaged |= trace_damage(rec->trace)->what != NULL;
	if (o->sample_event && (!rec->import || !rec->import->n_sample_events))
		fprintf(print_about(stderr, name),
			"--sample-event has no effect: it is for perf's recordings\n");
	if (rec->import)
		import_report_print(rec->import, name, o->quiet, stderr);
	else if (trace_damage(rec->trace)->what)
		print_damage(name, trace_damage(rec->trace));
	in.timelines = t->timelines;
	in.hosts = r->joined.hosts;
	in.n_hosts = r->joined.hosts ? r->joined.n : 0;
	in.path = r->o->n_traces ? name : NULL;
	in.totals = o->quiet ? NULL : &totals;
	err = checked(write_trace(r, format, &in, name));
	if (err) {
		if (err != -ECANCELED)
			fprintf(print_about(stderr, name), "%s\n", strerror(-err));
		goto out;
	}
	err = flush_output(r);
	if (!err && !o->quiet && !o->against)
		print_summary(name, &in);
out:
	sums_free(&totals.classes);
	word_list_free(&totals.told);
	return err;
}

/* Processes one trace. Returns 0 or a negative errno, which is reported. */
static int walk_trace(struct run *r, size_t i)
{
	const char *path = path_of(r->o, i), *name = name_of(path);
	struct opened alone = { .is_open = false };
	struct opened *t = r->joined.traces ? &r->joined.traces[i] : &alone;
	uint64_t started_ns = now_ns();
	const char *what;
	int err = 0;

	if (!t->is_open)
		err = checked(opened_open(t, path, format_find(r->o->format), r->o));
	if (err) {
		what = err == -EBADMSG || err == -EISDIR ? recording_other(path) : NULL;
		fprintf(print_about(stderr, name), "%s%s%s\n", open_error(err),
			what ? "; it is " : "", what ? what : "");
		return err == -EPIPE ? -EIO : err;
	}
	err = explain(r, t, name);
	if (!err && r->o->verbose && !r->o->quiet)
		print_cost(t->rec.trace, started_ns);
	/* Others may need what is joined. */
	if (!r->joined.hosts)
		opened_close(t);
	r->n_done++;
	return err;
}

/* True if the output is binary and would go to a terminal. */
static bool would_garble(const struct options *o)
{
	return format_find(o->format)->binary && (!o->output || !strcmp(o->output, "-")) &&
	       isatty(STDOUT_FILENO);
}

/* A number from the environment, which overrides what the terminal says. */
static uint32_t size_of_screen(const char *variable, uint32_t told)
{
	const char *value = getenv(variable);
	uint64_t n;

	return value && parse_number(value, UINT32_MAX, &n) ? (uint32_t)n : told;
}

/* Whether the locale's characters are UTF-8: setlocale() would change how numbers are written. */
static bool has_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* See no-color.org: a terminal has colours, unless NO_COLOR has a value or the terminal is dumb. */
static bool wants_color(const struct options *o)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (o->json || o->color_when != WHEN_AUTO)
		return !o->json && o->color_when == WHEN_ALWAYS;
	return !o->output && isatty(STDOUT_FILENO) && !(no_color && *no_color) && terminal &&
	       *terminal && strcmp(terminal, "dumb");
}

/* A table on a terminal fits the first screen. */
static void see_terminal(struct options *o)
{
	struct winsize size = { .ws_col = 0 };

	o->color = wants_color(o);
	if (o->output || o->wide || o->json || !isatty(STDOUT_FILENO))
		return;
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	o->columns = size_of_screen("COLUMNS", size.ws_col);
	o->lines = size_of_screen("LINES", size.ws_row);
	o->utf8 = has_utf8();
}

/* Joins the traces of machines that answer each other. 0 or a negative errno, which is reported. */
static int join_traces(struct run *r)
{
	const struct options *o = r->o;
	int err = checked(joined_open(&r->joined, o->traces, o->n_traces, o, format_find(o->format),
				      &r->symbols));

	if (err)
		fprintf(stderr, "chainwalk: %s\n", strerror(-err));
	for (size_t i = 0; i < r->joined.n_pairs && !err && !o->quiet; i++)
		print_joined(&r->joined.pairs[i], r->joined.hosts);
	return err;
}

/* Writes what changed. 0 or a negative errno, which is reported. *status: an exit code. */
static int compare(struct run *r, int *status)
{
	const struct options *o = r->o;
	int err;

	against_compare(&r->against, o);
	(o->json ? against_put_json : against_put)(r->out, &r->against, o);
	err = flush_output(r);
	if (!err && o->fail_above_ppm && !r->against.n_judged) {
		fputs("chainwalk: --fail-above: there is nothing that both recordings have\n",
		      stderr);
		*status = EXIT_FAILED;
	} else if (r->against.n_above) {
		*status = EXIT_FAILED;
	}
	return err;
}

/* Whether it depends on where the output goes: no option was given that only some formats have. */
static bool chooses_format(const struct options *o)
{
	return !o->format_given && !o->screen_json && !o->output && !o->follow && !o->live &&
	       !(o->given & (~format_causes.takes | GIVEN_ROOT));
}

/* On a terminal the table that is for reading. */
static void choose_format(struct options *o)
{
	if (chooses_format(o) && isatty(STDOUT_FILENO))
		o->format = format_causes.name;
}

/* Who has both on a screen may have wanted that table. */
static void print_choice(const struct options *o)
{
	if (!o->quiet && chooses_format(o) && !isatty(STDOUT_FILENO))
		fputs("folded stacks, for flamegraph; for reading: chainwalk -f causes\n", stderr);
}

static int walk(const struct options *o)
{
	const struct format *format = format_find(o->format);
	struct run r = { .o = o, .together = o->n_traces > 1 || o->root != ROOT_NONE };
	int err = 0, status = EXIT_OK;

	r.merging = r.together && format->several == SEVERAL_MERGED;
	if (r.together)
		err = join_traces(&r);
	for (size_t i = 0; i < n_traces(o) && !err; i++)
		err = walk_trace(&r, i);
	if (!err && o->against)
		err = compare(&r, &status);
	if (!err && r.merging) {
		folded_add_remote(&r.merged, r.joined.hosts, r.joined.n, o);
		folded_write(&r.merged, o, r.out);
		err = flush_output(&r);
	}
	if (r.out && r.out != stdout && output_file_close(r.out) && !err) {
		err = -errno;
		fprintf(stderr, "chainwalk: %s: %s\n", r.out_name, strerror(-err));
	}
	if (r.symbols && !err)
		print_symbols(r.symbols, o->quiet);
	if (!err)
		print_choice(o);
	symbols_free(r.symbols);
	folded_free(&r.merged);
	joined_close(&r.joined);
	against_free(&r.against);
	if (err && err != -EPIPE)
		return EXIT_FAILED;
	if (status)
		return status;
	return r.damaged ? EXIT_DAMAGED : EXIT_OK;
}

/* The trace is mapped: pages past its end are lost if another process truncates the file. */
static void on_sigbus(int sig)
{
	static const char message[] = "chainwalk: the trace was truncated while it was read\n";

	ssize_t written;

	(void)sig;
	written = write(STDERR_FILENO, message, sizeof(message) - 1);
	(void)written; /* an error cannot be reported either */
	output_file_remove();
	_exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	struct options o = { .depth = 0 };
	char why[256];
	int ret;

	/* A write to a closed pipe then fails with EPIPE and does not kill the program. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGBUS, on_sigbus);
	ret = options_parse(&o, argc, argv, why, sizeof(why));
	if (ret) {
		fprintf(stderr, "chainwalk: %s (chainwalk --help tells more)\n", why);
		ret = ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else if (o.help || o.help_all) {
		options_help(stdout, o.help_all);
	} else if (o.version) {
		puts("chainwalk " CHAIN_VERSION LEFT_OUT);
	} else if (o.json_schema) {
		screen_put_schema(stdout);
	} else if (choose_format(&o), see_terminal(&o), would_garble(&o)) {
		fprintf(stderr,
			"chainwalk: --format=%s is not for a terminal: name a file with -o, or "
			"use a pipe\n",
			o.format);
		ret = EXIT_USAGE;
	} else if (o.follow || o.live) {
		ret = follow(&o, walk);
	} else {
		ret = walk(&o);
	}
	options_free(&o);
	return ret;
}
