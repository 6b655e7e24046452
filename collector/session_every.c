// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sink of a session with --every: the flight recorder's memory (flight/flight.h), of which a
 * trace is written by the clock, into a folder (log/trace_folder.h). So a recording begins with all
 * that was learnt before: kernel stacks known without a walk, rules for user stacks, what processes
 * have mapped. With --for, nothing is recorded between two of them, and the programs of frequent
 * events are detached; each begins with a list of the threads, as the first one does. Without it,
 * the end of one trace is the beginning of the next.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "flight/flight.h"
#include "kernel/caps.h"
#include "kernel/clock.h"
#include "log/trace_folder.h"
#include "schedule.h"
#include "session_private.h"

/* The programs are attached so long before a recording, or after half of the pause. */
#define LEAD_NS 250000000u
/*
 * How long after the end of a recording its last records may come, of programs that were running
 * then; and stacks that wait for rules, or to be read.
 */
#define RECORDS_NS 100000000u
#define STACKS_NS 2000000000u
/* So long before the next recording the last trace has to make way for the one that is kept. */
#define HURRY_NS 3000000000u
/* With --light: so long before the end of a recording those who sleep on tell their stacks. */
#define SLEEPERS_NS 150000000u
/* The clock may be slewed while it is waited for a recording. */
#define SLEWED_NS 100000u

enum every_state {
	EVERY_WAITS,   /* for the next beginning; paused */
	EVERY_READY,   /* attached, begins at begin_ns */
	EVERY_RECORDS, /* since begin_ns */
	EVERY_ENDED,   /* at end_ns: to be written */
};

struct every_sink {
	struct flight *flight;
	struct trace_folder folder;
	struct schedule schedule;
	enum every_state state;
	uint64_t begin_ns, end_ns; /* of the recording (CLOCK_MONOTONIC) */
	uint64_t begin_wall_ns;	   /* as its file is called */
	uint64_t end_wall_ns;	   /* as the next one is called, if there is no pause */
	uint64_t missed;	   /* beginnings that were missed, as it was said */
	unsigned int dumps;	   /* traces begun */
	bool told_sleepers;	   /* of this recording */
	int error;		   /* of a step, which ends the recording */
	struct trace_process writer;
};

static bool pauses(const struct session *s)
{
	return s->options->for_ns;
}

/* ---- writing a trace ----------------------------------------------------------------------- */

/* Creates the file, with rights that are given up again while it is written. */
static int open_trace(struct session *s, struct trace_file *t, char part[TRACE_FOLDER_NAME],
		      const char *path)
{
	struct every_sink *e = s->sink_state;
	int err = caps_create(), dropped;

	if (err)
		return session_fail(s, path, err);
	/* Of a writer that was killed. */
	trace_folder_clean(&e->folder);
	err = trace_folder_create(&e->folder, e->begin_wall_ns, part, s->why, sizeof(s->why));
	err = trace_file_open(t, s, path, err);
	dropped = caps_drop_but_create();
	return !err && dropped ? session_fail(s, path, dropped) : err;
}

static int encode_trace(struct session *s, struct trace_file *t, uint64_t end_ns,
			struct symbolizer_stats *stats)
{
	struct every_sink *e = s->sink_state;
	uint64_t from_ns = flight_from(e->flight, end_ns);
	int err = trace_file_info(t, s, from_ns);

	if (!err)
		err = trace_file_note(t, s);
	if (!err)
		err = flight_dump(e->flight, t->enc, from_ns, end_ns, stats);
	if (!err && from_ns > e->begin_ns && !s->options->quiet)
		fprintf(stderr,
			"chaincap: only the last %.1f s of a trace: --max-size does not hold "
			"more\n",
			(double)(end_ns - from_ns) / 1e9);
	return err;
}

/* Gives the complete trace its name, and makes room. */
static int publish_trace(struct session *s, struct trace_file *t, const char *part,
			 char name[TRACE_FOLDER_NAME])
{
	struct every_sink *e = s->sink_state;
	int err = caps_create();

	if (!err)
		err = trace_folder_publish(&e->folder, t->fd, e->begin_wall_ns, part, name);
	if (err)
		fprintf(stderr, "chaincap: %s/%s: %s\n", s->options->output, name, strerror(-err));
	if (!err && s->options->keep)
		err = trace_folder_keep(&e->folder, s->options->keep, name);
	if (err < 0 && s->options->keep)
		fprintf(stderr, "chaincap: %s: --keep: %s\n", s->options->output, strerror(-err));
	return err < 0 ? err : 0;
}

static void trace_path(const struct session *s, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", s->options->output, name);
}

/* In a process of its own. */
static int write_trace(struct session *s, uint64_t end_ns)
{
	char name[TRACE_FOLDER_NAME], part[TRACE_FOLDER_NAME] = "", path[4096];
	struct symbolizer_stats stats = { 0 };
	struct every_sink *e = s->sink_state;
	struct trace_file t;
	int err;

	trace_folder_name(e->folder.host, e->begin_wall_ns, 0, name);
	trace_path(s, name, path, sizeof(path));
	err = open_trace(s, &t, part, path);
	if (err)
		return err;
	err = encode_trace(s, &t, end_ns, &stats);
	err = trace_file_close(&t, path, false, err);
	if (!err)
		err = publish_trace(s, &t, part, name);
	if (err) {
		(void)caps_create();
		trace_folder_abandon(&e->folder, part);
		return err;
	}
	trace_path(s, name, path, sizeof(path));
	/* Every minute for ever: who looks for lines in a journal looks for others. */
	if (s->options->verbose)
		trace_file_report(&t, s, path, &stats);
	return 0;
}

/* ---- beginning and end of a recording ------------------------------------------------------ */

static bool may_record(const struct session *s)
{
	const struct every_sink *e = s->sink_state;

	return !s->options->max_dumps || e->dumps < s->options->max_dumps;
}

static uint64_t wall_now_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* Looks at the clock. True: it was set, or the beginning missed, and there is another one. */
static bool look_at_clock(struct session *s)
{
	struct every_sink *e = s->sink_state;
	bool other = schedule_look(&e->schedule, wall_now_ns(), clock_now_ns());

	if (e->schedule.missed > e->missed && pauses(s) && !s->options->quiet) {
		progress_clear(&s->progress);
		fprintf(stderr,
			"chaincap: recordings not made: %llu: the last one was still being "
			"written, "
			"the clock was put forward, or the machine slept or was busy\n",
			(unsigned long long)(e->schedule.missed - e->missed));
	}
	e->missed = e->schedule.missed;
	return other;
}

static uint64_t lead_ns(const struct session *s)
{
	uint64_t pause_ns = s->options->every_ns - s->options->for_ns;

	return pauses(s) && pause_ns / 2 < LEAD_NS ? pause_ns / 2 : LEAD_NS;
}

/* Sets when the recording begins; later once more, if the clock was slewed or set. */
static void set_beginning(struct session *s)
{
	struct every_sink *e = s->sink_state;

	e->begin_ns = bpf_session_begin_at(s->bpf, e->schedule.at_ns, s->options->for_ns);
	e->begin_wall_ns = e->schedule.at_wall_ns;
	s->wall_ns = (int64_t)(e->schedule.at_wall_ns - e->schedule.at_ns);
}

static int get_ready(struct session *s)
{
	struct every_sink *e = s->sink_state;
	int err = bpf_session_resume(s->bpf);

	if (err)
		return session_fail(s, "cannot record again", err);
	look_at_clock(s);
	set_beginning(s);
	e->state = EVERY_READY;
	return 0;
}

static bool is_off(uint64_t a, uint64_t b)
{
	return a > b ? a - b > SLEWED_NS : b - a > SLEWED_NS;
}

/* Events flow: lists the threads, as session.c does once for other sinks. */
static int begin_recording(struct session *s)
{
	struct every_sink *e = s->sink_state;
	int err = flight_flush(e->flight, e->begin_ns);

	if (!err)
		err = flight_restart(e->flight, e->begin_ns);
	if (!err)
		err = bpf_session_threads(s->bpf, true, user_stacks_thread, s->user_stacks);
	if (err)
		return session_fail(s, "cannot record again", err);
	s->last_flush_ns = e->begin_ns;
	e->end_ns = pauses(s) ? e->begin_ns + s->options->for_ns : 0;
	e->told_sleepers = false;
	e->state = EVERY_RECORDS;
	schedule_next(&e->schedule, wall_now_ns(), clock_now_ns());
	return 0;
}

/* The end of a recording, by its length or by the clock, has passed. */
static int end_recording(struct session *s, uint64_t end_ns, uint64_t end_wall_ns)
{
	struct every_sink *e = s->sink_state;

	e->end_ns = end_ns;
	e->end_wall_ns = end_wall_ns;
	e->state = EVERY_ENDED;
	if (!pauses(s))
		return 0;
	return bpf_session_pause(s->bpf, user_stacks_record, s->user_stacks);
}

/* Whether all records of the recording are there. */
static bool is_drained(struct session *s, uint64_t now_ns)
{
	struct every_sink *e = s->sink_state;
	struct sink_counts counts;
	struct bpf_counts c;

	if (s->drained_ns < e->end_ns)
		return false;
	if (user_stacks_left(s->user_stacks) && now_ns < e->end_ns + STACKS_NS)
		return false;
	if (!pauses(s) || now_ns > e->end_ns + RECORDS_NS || bpf_session_counts(s->bpf, &c))
		return true;
	s->sink->counts(s, &counts);
	return counts.kernel - s->missed == c.seen && counts.kernel_aux == c.aux_seen;
}

/* After a flush: writes the recording that has ended, and forgets it. */
static int take_recording(struct session *s)
{
	struct every_sink *e = s->sink_state;
	int err = pauses(s) ? user_stacks_complete_rest(s->user_stacks) : 0;

	if (!err)
		err = flight_flush(e->flight, e->end_ns);
	if (err)
		return err;
	e->dumps++;
	trace_process_start(&e->writer, s, write_trace, e->end_ns);
	err = flight_cut(e->flight, e->end_ns);
	if (pauses(s)) {
		e->state = EVERY_WAITS;
		return err;
	}
	e->begin_ns = e->end_ns;
	e->begin_wall_ns = e->end_wall_ns;
	s->wall_ns = (int64_t)(e->end_wall_ns - e->end_ns);
	e->told_sleepers = false;
	e->state = EVERY_RECORDS;
	return err;
}

/* ---- the sink ------------------------------------------------------------------------------ */

static int every_open(struct session *s)
{
	const struct options *o = s->options;
	struct every_sink *e = calloc(1, sizeof(*e));
	struct flight_options options = {
		.window_ns = UINT64_MAX, /* it is cut by the clock */
		.cpus = bpf_session_cpus(s->bpf),
		.max_bytes = o->max_size ? (size_t)o->max_size : KEPT_DEFAULT,
	};
	struct utsname u;
	int err;

	s->sink_state = e;
	if (!e)
		return session_fail(s, o->output, -ENOMEM);
	e->folder.fd = e->folder.lock = -1;
	uname(&u);
	err = trace_folder_open(&e->folder, o->output, u.nodename, s->why, sizeof(s->why));
	if (err < 0)
		return session_fail(s, o->output, err);
	err = flight_new(&e->flight, &options);
	if (err)
		return session_fail(s, "cannot record", err);
	s->enc = flight_encoder(e->flight);
	return 0;
}

static int every_begin(struct session *s)
{
	struct every_sink *e = s->sink_state;
	int err = flight_begin(e->flight, s->start_ns, s->sym, NULL, bpf_session_learn, s->bpf);

	user_stacks_to(s->user_stacks, flight_record, flight_thread, flight_holder, e->flight);
	s->method = "kept in memory";
	if (!err)
		err = bpf_session_pause(s->bpf, NULL, NULL);
	schedule_begin(&e->schedule, s->options->every_ns, wall_now_ns(), clock_now_ns());
	return err ? session_fail(s, "cannot record", err) : 0;
}

static int every_lost(struct session *s, uint64_t n, uint64_t now_ns)
{
	struct every_sink *e = s->sink_state;

	return flight_lost(e->flight, -1, n, s->last_flush_ns, now_ns);
}

/* Of a recording that ends where the next one begins. */
static int look_at_end(struct session *s, uint64_t now_ns)
{
	struct every_sink *e = s->sink_state;
	uint64_t at_ns = e->schedule.at_ns, at_wall_ns = e->schedule.at_wall_ns;

	if (now_ns >= at_ns) {
		schedule_next(&e->schedule, wall_now_ns(), now_ns);
		/* The clock was put forward beyond that since the beginning. */
		if (at_ns <= e->begin_ns)
			return end_recording(s, now_ns, wall_now_ns());
		return end_recording(s, at_ns, at_wall_ns);
	}
	/* The clock was set. */
	return look_at_clock(s) ? end_recording(s, now_ns, wall_now_ns()) : 0;
}

/* While it records, as the programs tell nothing of what is after its end. */
static int tell_sleepers(struct session *s, uint64_t now_ns)
{
	struct every_sink *e = s->sink_state;
	uint64_t end_ns = pauses(s) ? e->end_ns : e->schedule.at_ns;

	if (e->told_sleepers || now_ns + SLEEPERS_NS < end_ns)
		return 0;
	e->told_sleepers = true;
	return bpf_session_sleepers(s->bpf);
}

/* What is due of the steps from one state to the next. */
static int take_steps(struct session *s, uint64_t now_ns)
{
	struct every_sink *e = s->sink_state;
	int err = e->state == EVERY_RECORDS ? tell_sleepers(s, now_ns) : 0;

	if (err)
		return err;
	if (e->state == EVERY_WAITS) {
		look_at_clock(s);
		if (now_ns + lead_ns(s) < e->schedule.at_ns)
			return 0;
		err = get_ready(s);
	} else if (e->state == EVERY_READY && now_ns < e->begin_ns) {
		if (look_at_clock(s) || is_off(e->schedule.at_ns, e->begin_ns))
			set_beginning(s);
	} else if (e->state == EVERY_READY) {
		err = begin_recording(s);
	} else if (e->state == EVERY_RECORDS && pauses(s)) {
		if (now_ns >= e->end_ns)
			err = end_recording(s, e->end_ns, 0);
	} else if (e->state == EVERY_RECORDS) {
		err = look_at_end(s, now_ns);
	} else if (pauses(s)) {
		look_at_clock(s);
	}
	return err;
}

static enum sink_wish every_wish(struct session *s)
{
	struct every_sink *e = s->sink_state;
	uint64_t now_ns = clock_now_ns();

	trace_process_reap(&e->writer, s, false);
	if (!may_record(s) && !e->writer.pid) {
		fprintf(stderr, "chaincap: --max-dumps reached, recording ends\n");
		return SINK_END;
	}
	if (!may_record(s))
		return SINK_CONTINUE;
	e->error = take_steps(s, now_ns);
	if (e->error)
		return SINK_FLUSH_NOW; /* which returns it */
	if (e->state != EVERY_ENDED || !is_drained(s, now_ns))
		return SINK_CONTINUE;
	if (!pauses(s) || now_ns + HURRY_NS > e->schedule.at_ns)
		trace_process_hurry(&e->writer);
	return e->writer.pid ? SINK_CONTINUE : SINK_FLUSH_NOW;
}

static uint64_t every_idle_until(const struct session *s)
{
	const struct every_sink *e = s->sink_state;

	if (e->state == EVERY_WAITS)
		return e->schedule.at_ns - lead_ns(s);
	return e->state == EVERY_READY ? e->begin_ns : 0;
}

static int every_flush(struct session *s, uint64_t now_ns)
{
	struct every_sink *e = s->sink_state;
	int err = e->error;

	if (err || e->state == EVERY_WAITS || e->state == EVERY_READY)
		return err;
	if (e->state == EVERY_ENDED && !e->writer.pid && is_drained(s, now_ns))
		return take_recording(s);
	err = flight_flush(e->flight, s->drained_ns);
	if (!err)
		err = flight_forget(e->flight, s->drained_ns);
	if (err || e->state == EVERY_ENDED || !flight_wants_listing(e->flight))
		return err;
	flight_listing(e->flight, now_ns);
	return bpf_session_threads(s->bpf, false, flight_thread, e->flight);
}

static void every_counts(const struct session *s, struct sink_counts *out)
{
	const struct every_sink *e = s->sink_state;
	struct flight_counts c;

	flight_counts(e->flight, &c);
	*out = (struct sink_counts) {
		.events = c.total[0].events,
		.lost = c.total[0].kernel - c.total[0].events,
		.bytes = c.bytes,
		.kernel = c.total[0].kernel,
		.kernel_aux = c.total[1].kernel,
		.stacks_once = c.stacks_once,
		.unknown_code = c.unknown_code,
		.unknown_routes = c.unknown_routes,
		.total = c.total[0].events,
		.total_lost = c.total[0].kernel - c.total[0].events,
		.dumps = e->dumps,
	};
}

/* Whether there is a recording that is not written yet. */
static bool is_left(const struct every_sink *e)
{
	return e->state == EVERY_RECORDS || e->state == EVERY_ENDED;
}

static void start_last(struct session *s)
{
	struct every_sink *e = s->sink_state;
	uint64_t end_ns = e->state == EVERY_ENDED ? e->end_ns : s->end_ns;

	if (!is_left(e) || !may_record(s) || end_ns <= e->begin_ns)
		return;
	e->dumps++;
	trace_process_start(&e->writer, s, write_trace, end_ns);
}

static int every_finish(struct session *s, int err)
{
	struct every_sink *e = s->sink_state;

	if (!err)
		err = flight_flush(e->flight, s->end_ns);
	err = trace_process_finish(&e->writer, s, err, start_last);
	if (!is_left(e))
		s->end_ns = clock_now_ns();
	return err;
}

static void every_close(struct session *s)
{
	struct every_sink *e = s->sink_state;

	if (!e)
		return;
	trace_folder_close(&e->folder);
	flight_free(e->flight);
	free(e);
}

const struct session_sink session_every_sink = {
	.open = every_open,
	.begin = every_begin,
	.drop_caps = caps_drop_but_create,
	.lost = every_lost,
	.wish = every_wish,
	.flush = every_flush,
	.counts = every_counts,
	.finish = every_finish,
	.idle_until = every_idle_until,
	.schedules = true,
	.finish_detaches = true,
	.close = every_close,
};
