// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording that is kept in memory (flight.h) and written when somebody wants it. Each trace is
 * written by a process of its own, forked for it: that has what was kept as it was at this moment,
 * for as long as the disk and the names take, while this one goes on recording.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flight_dump.h"
#include "rights.h"
#include "session_private.h"
#include "trigger.h"

/* Enough for 30 seconds of a quarter of a million events each, with their stacks. */
#define MEMORY_DEFAULT (128u << 20)
/* A BPF program puts a time on its record first, and submits it then: this much later at most. */
#define SUBMIT_NS 1000000u

struct recorder {
	struct session *s;
	struct flight *flight;
	struct trigger *trigger; /* NULL: none */
	uint64_t drained_ns;	 /* all CPUs have been drained up to then */
	unsigned int dumps;	 /* begun */
	int dumps_wanted;	 /* by signals: how many have been heeded */
	pid_t writer;		 /* who is writing one; 0: nobody */
	bool failed;		 /* one was not written */
};

/* ---- writing ------------------------------------------------------------------------------- */

/* "trace.bin", "trace.1.bin", "trace.2.bin"... Returns false if that is too long. */
static bool dump_path(const char *output, unsigned int n, char *path, size_t size)
{
	const char *name = strrchr(output, '/'), *dot;
	int len;

	name = name ? name + 1 : output;
	dot = strrchr(name, '.');
	if (!dot || dot == name)
		dot = output + strlen(output);
	if (n)
		len = snprintf(path, size, "%.*s.%u%s", (int)(dot - output), output, n, dot);
	else
		len = snprintf(path, size, "%s", output);
	return len > 0 && (size_t)len < size;
}

static int to_writer(void *ctx, const void *block, size_t len)
{
	return writer_put(ctx, block, len);
}

static int open_dump(struct session *s, const char *path)
{
	int err = rights_create();

	if (err)
		return session_fail(s, path, err);
	s->fd = writer_open_output(path, s->why, sizeof(s->why));
	err = rights_drop();
	if (s->fd < 0 || err)
		return session_fail(s, path, s->fd < 0 ? s->fd : err);
	err = writer_new(&s->writer, s->fd);
	s->enc = err ? NULL : encoder_new(to_writer, s->writer);
	if (!s->enc)
		return session_fail(s, path, err ? err : -ENOMEM);
	return 0;
}

/* Writes a trace of what there is at end_ns. */
static int write_dump(struct recorder *r, const char *path, uint64_t end_ns)
{
	uint64_t from_ns = flight_from(r->flight, end_ns), wanted = r->s->options->flight_ns;
	struct symbolizer_stats stats = { 0 };
	struct session *s = r->s;
	int err = open_dump(s, path), closed;

	if (err)
		return err;
	err = session_put_info(s, s->enc, from_ns);
	if (!err)
		err = flight_dump(r->flight, s->enc, from_ns, end_ns, &stats);
	closed = writer_close(s->writer);
	if (!err)
		err = closed;
	if (err) {
		fprintf(stderr, "chaincap: %s: %s; what was written before is readable\n", path,
			strerror(-err));
		return err;
	}
	if (s->options->verbosity < 0)
		return 0;
	if (end_ns - from_ns < wanted && from_ns > s->start_ns)
		fprintf(stderr,
			"chaincap: %s: only the last %.1f s: --max-size does not hold more\n", path,
			(double)(end_ns - from_ns) / 1e9);
	session_say_trace(s, path, s->enc, &stats);
	return 0;
}

/* In the process that writes: never returns. */
static _Noreturn void become_writer(struct recorder *r, const char *path, uint64_t end_ns)
{
	/* Its copies of the attachments, which would outlive those of the recorder. */
	bpf_session_detach(r->s->bpf);
	/* In later traces it can be told from other programs; it is recorded like them. */
	prctl(PR_SET_NAME, "chaincap-writer");
	_exit(write_dump(r, path, end_ns) ? 1 : 0);
}

static void begin_dump(struct recorder *r, uint64_t end_ns)
{
	char path[4096];
	pid_t pid;

	progress_clear(&r->s->progress);
	if (!dump_path(r->s->options->output, r->dumps++, path, sizeof(path))) {
		fprintf(stderr, "chaincap: %s: %s\n", r->s->options->output,
			strerror(ENAMETOOLONG));
		r->failed = true;
		return;
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		become_writer(r, path, end_ns);
	if (pid < 0) {
		fprintf(stderr, "chaincap: %s: cannot be written: fork: %s\n", path,
			strerror(errno));
		r->failed = true;
		return;
	}
	r->writer = pid;
}

/* Takes note of the end of the process that writes, waiting for it if wait is set. */
static void end_dump(struct recorder *r, bool wait)
{
	int status;
	pid_t pid;

	if (!r->writer)
		return;
	do {
		pid = waitpid(r->writer, &status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR && wait);
	if (!pid)
		return;
	if (pid > 0 && WIFSIGNALED(status))
		fprintf(stderr, "chaincap: writing was ended by signal %d\n", WTERMSIG(status));
	r->failed |= pid < 0 || status;
	r->writer = 0;
}

/* ---- recording ----------------------------------------------------------------------------- */

static uint32_t learn(void *ctx, const struct wire_sample *sample, uint32_t first)
{
	return bpf_session_learn(ctx, sample, first);
}

static int open_all(struct recorder *r)
{
	struct session *s = r->s;
	const struct options *o = s->options;
	struct flight_options options = { .window_ns = o->flight_ns };
	int err = session_load(s);

	if (!err)
		err = session_prepare_command(s);
	if (err)
		return err;
	err = writer_check_output(o->output, s->why, sizeof(s->why));
	if (err)
		return session_fail(s, o->output, err);
	options.cpus = bpf_session_cpus(s->bpf);
	options.max_bytes = o->max_size ? (size_t)o->max_size : MEMORY_DEFAULT;
	r->flight = flight_new(&options);
	err = r->flight ? 0 : -ENOMEM;
	if (!err && o->trigger_ns)
		err = trigger_new(&r->trigger, o->trigger_ns, o->comm, s->why, sizeof(s->why));
	if (!err)
		s->sym = symbolizer_new(flight_encoder(r->flight), session_parts(s));
	if (!s->sym)
		return session_fail(s, "cannot record", err ? err : -ENOMEM);
	session_warn_about_names(s);
	s->start_ns = s->last_flush_ns = r->drained_ns = session_now_ns();
	err = flight_begin(r->flight, s->start_ns, s->sym, r->trigger, learn, s->bpf);
	if (err)
		return session_fail(s, "cannot record", err);
	return session_attach(s, flight_thread, r->flight, rights_drop_but_create);
}

static int drain(struct recorder *r)
{
	uint64_t now = session_now_ns();
	long n;

	symbolizer_poll(r->s->sym);
	n = bpf_session_drain(r->s->bpf, flight_record, r->flight);
	if (n < 0)
		return (int)n;
	r->drained_ns = now - SUBMIT_NS;
	return bpf_session_recycle(r->s->bpf);
}

/* Events that the kernel skipped when a program was already running: which and where is unknown. */
static int tell_missed(struct recorder *r, const struct bpf_counts *c, uint64_t now)
{
	struct session *s = r->s;
	uint64_t n = c->missed - s->missed;

	s->missed = c->missed;
	return n ? flight_lost(r->flight, -1, n, s->last_flush_ns, now) : 0;
}

static int list_again(struct recorder *r, uint64_t now)
{
	if (!flight_wants_listing(r->flight))
		return 0;
	flight_listing(r->flight, now);
	return bpf_session_threads(r->s->bpf, flight_thread, r->flight);
}

static int flush(struct recorder *r, uint64_t now)
{
	struct bpf_counts c;
	int err = bpf_session_counts(r->s->bpf, &c);

	if (!err)
		err = tell_missed(r, &c, now);
	if (!err)
		err = flight_flush(r->flight, r->drained_ns);
	r->s->last_flush_ns = now;
	return err;
}

/* Begins to write if that is wanted, and nobody is writing already. */
static void heed(struct recorder *r, uint64_t now)
{
	struct trigger_wait wait;
	int wanted = r->s->signals->dump;

	if (r->writer)
		return;
	if (r->dumps_wanted != wanted) {
		r->dumps_wanted = wanted;
		begin_dump(r, now);
		return;
	}
	if (!r->trigger || !trigger_take(r->trigger, &wait))
		return;
	for (char *c = wait.name; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	progress_clear(&r->s->progress);
	if (r->s->options->verbosity >= 0)
		fprintf(stderr, "chaincap: %s/%u waited %.1f ms\n", wait.name, wait.tid,
			(double)wait.wait_ns / 1e6);
	begin_dump(r, now);
	/* Where one wait is too long others are: one trace shows them all. */
	trigger_quiet(r->trigger, now + r->s->options->flight_ns);
}

static void show_progress(struct recorder *r, uint64_t now)
{
	struct flight_counts c;

	flight_counts(r->flight, &c);
	progress_show(&r->s->progress, now - r->s->start_ns, c.total, c.bytes, c.lost);
}

static int record(struct recorder *r)
{
	struct session *s = r->s;
	uint64_t now = session_now_ns();
	int err = 0;

	while (!err && !session_over(s, now)) {
		bool wanted = r->dumps_wanted != s->signals->dump && !r->writer;

		end_dump(r, false);
		if (wanted)
			err = drain(r);
		now = session_now_ns();
		if (!err && (wanted || now - s->last_flush_ns >= FLUSH_NS)) {
			err = flush(r, now);
			if (!err)
				heed(r, now);
			if (!err)
				err = flight_forget(r->flight, r->drained_ns);
			if (!err)
				err = list_again(r, now);
			show_progress(r, now);
		}
		symbolizer_wait(s->sym, session_wait_ms(s, now));
		if (!err)
			err = drain(r);
		now = session_now_ns();
	}
	return err;
}

/* Takes what is left in the rings and compares the accounts: kernel = log + lost. */
static int drain_rest(struct recorder *r)
{
	struct session *s = r->s;
	struct bpf_counts *c = &s->final;
	struct flight_counts counts;
	int err;

	bpf_session_detach(s->bpf);
	s->end_ns = session_now_ns();
	err = bpf_session_pending(s->bpf, flight_record, r->flight);
	/* A program that was running on another CPU just now may still be about to submit. */
	for (int tries = 0; !err && tries < 50; tries++) {
		err = drain(r);
		if (!err)
			err = bpf_session_counts(s->bpf, c);
		flight_counts(r->flight, &counts);
		if (err || counts.total_kernel - s->missed == c->seen)
			break;
		poll(NULL, 0, 2);
	}
	if (!err)
		err = tell_missed(r, c, s->end_ns);
	if (!err)
		err = flight_flush(r->flight, s->end_ns);
	return err;
}

static void compare_accounts(struct recorder *r)
{
	const struct bpf_counts *c = &r->s->final;
	struct flight_counts counts;

	flight_counts(r->flight, &counts);
	if (counts.total_kernel != c->seen + c->missed ||
	    counts.kernel != counts.events + counts.lost)
		fprintf(stderr,
			"chaincap: accounts differ: kernel %llu, numbered %llu; kept %llu, log "
			"%llu, lost %llu\n",
			(unsigned long long)(c->seen + c->missed),
			(unsigned long long)counts.total_kernel, (unsigned long long)counts.kernel,
			(unsigned long long)counts.events, (unsigned long long)counts.lost);
}

static int finish(struct recorder *r, int err)
{
	if (err)
		fprintf(stderr, "chaincap: recording ended: %s\n", strerror(-err));
	else
		err = drain_rest(r);
	end_dump(r, true);
	progress_clear(&r->s->progress);
	if (!err)
		compare_accounts(r);
	if (!r->s->end_ns)
		r->s->end_ns = session_now_ns();
	/* What has been kept is written also after an error: it is good up to there. */
	begin_dump(r, r->s->end_ns);
	end_dump(r, true);
	if (r->s->options->verbosity >= 0)
		session_say_recorder(r->s);
	return err ? err : r->failed ? -EIO : 0;
}

int session_fly(struct session *s)
{
	struct recorder r = { .s = s };
	int err = open_all(&r);

	if (!err)
		err = finish(&r, record(&r));
	/* Before what they borrow. */
	symbolizer_free(s->sym);
	s->sym = NULL;
	flight_free(r.flight);
	trigger_free(r.trigger);
	return err;
}
