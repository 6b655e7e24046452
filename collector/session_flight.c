// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sink of a session with --flight: memory (flight/flight.h). Each trace is written by a process
 * forked for it (session_writer.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clean_text.h"
#include "flight/flight.h"
#include "kernel/caps.h"
#include "session_private.h"

struct flight_sink {
	struct flight *flight;
	struct trigger *trigger; /* NULL: none */
	int folder;		 /* of the traces */
	const char *name;	 /* of the first one in it */
	int base;		 /* the file of -o, which keeps other recorders away */
	bool base_is_free;	 /* it is empty, and the first dump's */
	unsigned int dumps;	 /* begun so far */
	int dump_signals;	 /* signals for a dump that have been served */
	struct trace_process writer;
};

/* ---- writing a dump ------------------------------------------------------------------------ */

/* "trace.1.bin", "trace.2.bin"... False if that is too long. */
static bool dump_path(const char *output, unsigned int n, char *path, size_t size)
{
	const char *name = strrchr(output, '/'), *dot;
	int len;

	name = name ? name + 1 : output;
	dot = strrchr(name, '.');
	if (!dot || dot == name)
		dot = output + strlen(output);
	len = snprintf(path, size, "%.*s.%u%s", (int)(dot - output), output, n, dot);
	return len > 0 && (size_t)len < size;
}

/* The highest number in a trace's name. */
#define NUMBERS_MAX 1000000u

/* The file of -o or, if that has been written, one with the next free number: its name is in path.
 */
static int create_dump(struct session *s, char *path, size_t size)
{
	struct flight_sink *f = s->sink_state;
	const char *output = s->options->output;
	int fd = -EEXIST;

	if (f->base_is_free) {
		snprintf(path, size, "%s", output);
		fd = dup(f->base);
		return fd < 0 ? -errno : fd;
	}
	for (unsigned int n = 1; fd == -EEXIST && n < NUMBERS_MAX; n++) {
		if (!dump_path(output, n, path, size))
			return -ENAMETOOLONG;
		fd = writer_create_output(f->folder, path + (f->name - output), s->why,
					  sizeof(s->why));
	}
	return fd;
}

static int open_dump(struct session *s, struct trace_file *t, char *path, size_t size)
{
	int err = caps_create(), dropped;

	*path = '\0';
	if (err)
		return session_fail(s, s->options->output, err);
	err = create_dump(s, path, size);
	err = trace_file_open(t, s, *path ? path : s->options->output, err);
	dropped = caps_drop();
	if (!err && dropped)
		err = session_fail(s, path, dropped);
	return err;
}

/* Writes a trace of the window that ends at end_ns. */
static int write_dump(struct session *s, uint64_t end_ns)
{
	char path[4096];
	struct flight_sink *f = s->sink_state;
	uint64_t from_ns = flight_from(f->flight, end_ns);
	struct symbolizer_stats stats = { 0 };
	struct trace_file t;
	int err = open_dump(s, &t, path, sizeof(path));

	if (err)
		return err;
	err = trace_file_info(&t, s, from_ns);
	if (!err)
		err = trace_file_note(&t, s);
	if (!err)
		err = flight_dump(f->flight, t.enc, from_ns, end_ns, &stats);
	err = trace_file_close(&t, path, true, err);
	if (err || s->options->quiet)
		return err;
	if (end_ns - from_ns < s->options->flight_ns && from_ns > s->start_ns)
		fprintf(stderr,
			"chaincap: %s: only the last %.1f s: --max-size does not hold more\n", path,
			(double)(end_ns - from_ns) / 1e9);
	trace_file_report(&t, s, path, &stats);
	return 0;
}

static void start_dump(struct session *s, uint64_t end_ns)
{
	struct flight_sink *f = s->sink_state;

	f->dumps++;
	trace_process_start(&f->writer, s, write_dump, end_ns);
	f->base_is_free = false;
}

/* Whether --max-dumps allows one more. */
static bool may_dump(const struct session *s)
{
	const struct flight_sink *f = s->sink_state;

	return !s->options->max_dumps || f->dumps < s->options->max_dumps;
}

static void print_trigger(struct session *s, struct trigger_event *e)
{
	double took_ms = (double)e->took_ns / 1e6;

	progress_clear(&s->progress);
	if (s->options->quiet)
		return;
	fputs(e->is_request ? "chaincap: a request to " : "chaincap: ", stderr);
	print_clean(stderr, e->name);
	if (e->route)
		fprintf(stderr, " for %.*s", (int)e->route_len, e->route);
	if (e->is_request)
		fprintf(stderr, " took %.1f ms\n", took_ms);
	else
		fprintf(stderr, "/%u waited %.1f ms\n", e->tid, took_ms);
}

/*
 * Starts a dump if a signal asked for one, or a wait or a request took too long, and none is being
 * written.
 */
static void start_pending_dump(struct session *s, uint64_t now_ns)
{
	struct flight_sink *f = s->sink_state;
	int signals = s->signals->dump;
	struct trigger_event event;

	if (f->writer.pid && may_dump(s) && f->dump_signals != signals)
		trace_process_hurry(&f->writer);
	if (f->writer.pid || !may_dump(s))
		return;
	if (f->dump_signals != signals) {
		f->dump_signals = signals;
		start_dump(s, now_ns);
	} else if (f->trigger && trigger_take(f->trigger, &event)) {
		print_trigger(s, &event);
		start_dump(s, now_ns);
		/* What is slow comes with more of it: one trace shows all. */
		trigger_quiet(f->trigger, now_ns + s->options->flight_ns);
	}
}

/* ---- the sink ------------------------------------------------------------------------------ */

static int flight_sink_open(struct session *s)
{
	const struct options *o = s->options;
	struct flight_sink *f = calloc(1, sizeof(*f));
	struct flight_options options = {
		.window_ns = o->flight_ns,
		.cpus = bpf_session_cpus(s->bpf),
		.max_bytes = o->max_size ? (size_t)o->max_size : KEPT_DEFAULT,
	};
	int err;

	s->sink_state = f;
	if (!f)
		return session_fail(s, o->output, -ENOMEM);
	f->base = -1;
	f->folder = writer_open_folder(o->output, &f->name, s->why, sizeof(s->why));
	if (f->folder < 0)
		return session_fail(s, o->output, f->folder);
	f->base = writer_claim_output(f->folder, f->name, &f->base_is_free, s->why, sizeof(s->why));
	if (f->base < 0)
		return session_fail(s, o->output, f->base);
	err = flight_new(&f->flight, &options);
	if (!err && (o->trigger.wait_ns || o->trigger.n_requests))
		err = trigger_new(&f->trigger, &o->trigger, s->why, sizeof(s->why));
	if (err)
		return session_fail(s, "cannot record", err);
	s->enc = flight_encoder(f->flight);
	return 0;
}

static int flight_sink_begin(struct session *s)
{
	struct flight_sink *f = s->sink_state;
	int err;

	if (s->options->trigger.n_requests && !bpf_session_finds_requests(s->bpf))
		return session_fail(s, "--trigger-request: requests cannot be recorded here",
				    -EOPNOTSUPP);
	err = flight_begin(f->flight, s->start_ns, s->sym, f->trigger, bpf_session_learn, s->bpf);

	user_stacks_to(s->user_stacks, flight_record, flight_thread, flight_holder, f->flight);
	s->method = "kept in memory";
	return err ? session_fail(s, "cannot record", err) : 0;
}

static int flight_sink_lost(struct session *s, uint64_t n, uint64_t now_ns)
{
	struct flight_sink *f = s->sink_state;

	return flight_lost(f->flight, -1, n, s->last_flush_ns, now_ns);
}

static enum sink_wish flight_sink_wish(struct session *s)
{
	struct flight_sink *f = s->sink_state;

	trace_process_reap(&f->writer, s, false);
	if (!may_dump(s) && !f->writer.pid) {
		fprintf(stderr, "chaincap: --max-dumps reached, recording ends\n");
		return SINK_END;
	}
	return f->dump_signals != s->signals->dump && !f->writer.pid ? SINK_FLUSH_NOW
								     : SINK_CONTINUE;
}

static int flight_sink_flush(struct session *s, uint64_t now_ns)
{
	struct flight_sink *f = s->sink_state;
	int err = flight_flush(f->flight, s->drained_ns);

	if (err)
		return err;
	start_pending_dump(s, now_ns);
	err = flight_forget(f->flight, s->drained_ns);
	if (err || !flight_wants_listing(f->flight))
		return err;
	flight_listing(f->flight, now_ns);
	return bpf_session_threads(s->bpf, false, flight_thread, f->flight);
}

static void flight_sink_counts(const struct session *s, struct sink_counts *out)
{
	const struct flight_sink *f = s->sink_state;
	struct flight_counts c;

	flight_counts(f->flight, &c);
	*out = (struct sink_counts) {
		.events = c.total[0].events,
		.lost = c.window[0].lost,
		.bytes = c.bytes,
		.kernel = c.total[0].kernel,
		.kernel_aux = c.total[1].kernel,
		.stacks_once = c.stacks_once,
		.unknown_code = c.unknown_code,
		.unknown_routes = c.unknown_routes,
		.total = c.total[0].events,
		.total_lost = c.total[0].kernel - c.total[0].events,
		.dumps = f->dumps,
	};
}

static void check_window(const struct flight_sink *f)
{
	struct flight_counts c;

	flight_counts(f->flight, &c);
	for (unsigned int i = 0; i < 2; i++)
		if (c.window[i].kernel != c.window[i].events + c.window[i].lost)
			fprintf(stderr,
				"chaincap: accounts%s differ: kernel %llu in the window, log %llu, "
				"lost %llu\n",
				i ? " of samples" : "", (unsigned long long)c.window[i].kernel,
				(unsigned long long)c.window[i].events,
				(unsigned long long)c.window[i].lost);
}

static void start_last(struct session *s)
{
	if (may_dump(s))
		start_dump(s, s->end_ns);
}

static int flight_sink_finish(struct session *s, int err)
{
	struct flight_sink *f = s->sink_state;

	if (!err)
		err = flight_flush(f->flight, s->end_ns);
	if (!err)
		check_window(f);
	return trace_process_finish(&f->writer, s, err, start_last);
}

static void flight_sink_close(struct session *s)
{
	struct flight_sink *f = s->sink_state;

	if (!f)
		return;
	/* Nothing came to be written. */
	if (f->base >= 0 && f->base_is_free)
		writer_remove_output(f->folder, f->name, f->base);
	if (f->base >= 0)
		close(f->base);
	if (f->folder >= 0)
		close(f->folder);
	flight_free(f->flight);
	trigger_free(f->trigger);
	free(f);
}

const struct session_sink session_flight_sink = {
	.open = flight_sink_open,
	.begin = flight_sink_begin,
	.drop_caps = caps_drop_but_create,
	.lost = flight_sink_lost,
	.wish = flight_sink_wish,
	.flush = flight_sink_flush,
	.counts = flight_sink_counts,
	.finish = flight_sink_finish,
	.finish_detaches = true,
	.close = flight_sink_close,
};
