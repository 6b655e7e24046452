// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "minidebug.h"
#include "rights.h"
#include "session_private.h"

/* The most that one CPU's events can fill of its ring in a second: four times what was measured. */
#define RING_BYTES_PER_SECOND (80u << 20)

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t session_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static int to_writer(void *ctx, const void *block, size_t len)
{
	return writer_put(ctx, block, len);
}

int session_fail(const struct session *s, const char *what, int err)
{
	fprintf(stderr, "chaincap: %s: %s\n", what, s->why[0] ? s->why : strerror(-err));
	return err;
}

int session_put_info(const struct session *s, struct encoder *enc, uint64_t start_ns)
{
	struct utsname u;
	struct encoder_info info = {
		.options = s->command_line,
		.tool = "chaincap " CHAIN_VERSION,
		.cpus = bpf_session_cpus(s->bpf),
		.start_ns = start_ns,
		.recorder_tgid = (uint32_t)getpid(),
		.parts = (s->options->kernel_stacks ? 1u : 0) | (s->options->user_stacks ? 2u : 0),
	};

	uname(&u);
	info.host = u.nodename;
	info.release = u.release;
	info.arch = u.machine;
	info.wall_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - session_now_ns());
	return encoder_info(enc, &info);
}

void session_warn_about_names(const struct session *s)
{
	int kernel, sideband;

	symbolizer_status(s->sym, &kernel, &sideband);
	if (kernel && s->options->kernel_stacks)
		fprintf(stderr,
			"chaincap: kernel functions will have no names, and interrupts will look "
			"like threads: /proc/kallsyms: %s (%s)\n",
			strerror(-kernel),
			rights_have(CAP_SYSLOG) ? "see sysctl kernel.kptr_restrict"
						: "CAP_SYSLOG is missing");
	if (sideband && s->options->user_stacks)
		fprintf(stderr,
			"chaincap: processes that start and end during the recording will lack "
			"names: perf_event_open: %s\n",
			strerror(-sideband));
	if (s->options->user_stacks && !rights_have(CAP_SYS_PTRACE))
		fputs("chaincap: functions of other users' processes will have no names: "
		      "CAP_SYS_PTRACE is missing\n",
		      stderr);
	if (s->options->verbosity > 0 && s->options->user_stacks && !minidebug_is_supported())
		fputs("chaincap: built without liblzma: names in .gnu_debugdata are not read\n",
		      stderr);
}

static uint32_t learn(void *ctx, const struct wire_sample *sample, uint32_t first)
{
	return bpf_session_learn(ctx, sample, first);
}

unsigned int session_parts(const struct session *s)
{
	return (s->options->kernel_stacks ? SYMBOLIZER_KERNEL : 0) |
	       (s->options->user_stacks ? SYMBOLIZER_USER : 0);
}

int session_load(struct session *s)
{
	const struct options *o = s->options;
	struct bpf_options bpf_options = {
		.buffer_size = o->buffer_size,
		.kernel_stacks = o->kernel_stacks,
		.user_stacks = o->user_stacks,
		.verify = o->verify,
		.verbose = o->verbosity > 0,
	};
	int err = bpf_session_open(&s->bpf, &bpf_options, s->why, sizeof(s->why));

	return err ? session_fail(s, "cannot record", err) : 0;
}

int session_prepare_command(struct session *s)
{
	char **argv = s->options->command;
	int err = argv ? command_prepare(&s->command, argv) : 0;

	return err ? session_fail(s, argv[0], err) : 0;
}

int session_attach(struct session *s, bpf_thread_fn fn, void *ctx, int (*drop)(void))
{
	const struct options *o = s->options;
	int err;

	symbolizer_interrupts(s->sym, bpf_session_interrupt_entry, s->bpf);
	err = bpf_session_attach(s->bpf, s->why, sizeof(s->why));
	if (err)
		return session_fail(s, "cannot record", err);
	err = bpf_session_threads(s->bpf, fn, ctx);
	if (err)
		return session_fail(s, "cannot list the threads", err);
	err = drop();
	if (err)
		return session_fail(s, "cannot give up rights", err);
	if (o->command) {
		err = command_start(&s->command);
		if (err)
			return session_fail(s, o->command[0], err);
	}
	if (o->verbosity > 0)
		fprintf(stderr, "chaincap: %u CPUs, ring buffers of %zu KiB, %s\n",
			bpf_session_cpus(s->bpf), bpf_session_buffer_size(s->bpf) >> 10,
			s->writer ? writer_method(s->writer) : "kept in memory");
	return 0;
}

/* Opens everything, in an order in which nothing of the command or of the machine is missed. */
static int open_all(struct session *s)
{
	const struct options *o = s->options;
	/* Rights first: a trace of an earlier day is not emptied by someone who may not record. */
	int err = session_load(s);

	if (err)
		return err;
	s->fd = writer_open_output(o->output, s->why, sizeof(s->why));
	if (s->fd < 0)
		return session_fail(s, o->output, s->fd);
	err = writer_new(&s->writer, s->fd);
	if (err)
		return session_fail(s, "cannot write", err);
	/* Before the symbolizer raises the limit of open files: the command keeps its own. */
	err = session_prepare_command(s);
	if (err)
		return err;
	err = -ENOMEM;
	s->enc = encoder_new(to_writer, s->writer);
	if (s->enc)
		s->sym = symbolizer_new(s->enc, session_parts(s));
	if (s->sym)
		s->translator = translator_new(s->enc, s->sym, learn, s->bpf);
	if (!s->translator)
		return session_fail(s, "cannot record", err);
	session_warn_about_names(s);
	s->start_ns = s->last_flush_ns = session_now_ns();
	err = session_put_info(s, s->enc, s->start_ns);
	if (err)
		return session_fail(s, o->output, err);
	return session_attach(s, translator_thread, s->translator, rights_drop);
}

/* Events that the kernel skipped when a program was already running: which and where is unknown. */
static int tell_missed(struct session *s, const struct bpf_counts *c, uint64_t now)
{
	uint64_t n = c->missed - s->missed;

	s->missed = c->missed;
	return n ? encoder_lost(s->enc, -1, n, s->last_flush_ns, now) : 0;
}

static int flush(struct session *s)
{
	struct bpf_counts c;
	int err = bpf_session_counts(s->bpf, &c);
	/* After the counters: what they say was missed lies before it. */
	uint64_t now = session_now_ns();

	if (!err)
		err = tell_missed(s, &c, now);
	if (!err)
		err = encoder_flush(s->enc);
	if (!err)
		err = writer_flush(s->writer);
	s->last_flush_ns = now;
	return err;
}

static void show_progress(struct session *s, uint64_t now)
{
	struct encoder_counts c;

	encoder_counts(s->enc, &c);
	progress_show(&s->progress, now - s->start_ns, c.events, c.bytes, c.lost);
}

/* In it they fill to a quarter at most, and the recording does not outlast its time. */
int session_wait_ms(const struct session *s, uint64_t now)
{
	uint64_t ms = bpf_session_buffer_size(s->bpf) / 4 * 1000 / RING_BYTES_PER_SECOND;
	uint64_t duration = s->options->duration_ns;

	if (ms > 100)
		ms = 100;
	/* Until a stack is learnt it is walked each time, which costs ten times as much. */
	if (bpf_session_learning(s->bpf) && ms > 5)
		ms = 5;
	if (duration && (s->start_ns + duration - now) / 1000000 < ms)
		ms = (s->start_ns + duration - now) / 1000000;
	return ms ? (int)ms : 1;
}

bool session_over(struct session *s, uint64_t now)
{
	uint64_t duration = s->options->duration_ns;

	return s->signals->stop || (duration && now - s->start_ns >= duration) ||
	       command_ended(&s->command, false);
}

static int record(struct session *s)
{
	const struct options *o = s->options;
	long n;
	int err;

	for (;;) {
		uint64_t now = session_now_ns();
		struct encoder_counts counts;

		if (session_over(s, now))
			break;
		if (now - s->last_flush_ns >= FLUSH_NS) {
			err = flush(s);
			if (err)
				return err;
			show_progress(s, now);
		}
		encoder_counts(s->enc, &counts);
		if (o->max_size && counts.bytes >= o->max_size) {
			fprintf(stderr, "chaincap: --max-size reached, recording ends\n");
			break;
		}
		symbolizer_wait(s->sym, session_wait_ms(s, now));
		symbolizer_poll(s->sym);
		n = bpf_session_drain(s->bpf, translator_record, s->translator);
		if (n < 0)
			return (int)n;
		symbolizer_forget_ended(s->sym);
		err = bpf_session_recycle(s->bpf);
		if (err)
			return err;
	}
	return 0;
}

/* Takes what is left in the rings and makes the accounts come out: kernel = log + lost. */
static int drain_rest(struct session *s)
{
	struct bpf_counts *c = &s->final;
	struct encoder_counts counts;
	int err;

	bpf_session_detach(s->bpf);
	s->end_ns = session_now_ns();
	err = bpf_session_pending(s->bpf, translator_record, s->translator);
	/* A program that was running on another CPU just now may still be about to submit. */
	for (int tries = 0; !err && tries < 50; tries++) {
		long n;

		symbolizer_poll(s->sym);
		n = bpf_session_drain(s->bpf, translator_record, s->translator);
		err = n < 0 ? (int)n : bpf_session_counts(s->bpf, c);
		encoder_counts(s->enc, &counts);
		if (err || counts.events + counts.lost - s->missed == c->seen)
			break;
		poll(NULL, 0, 2);
	}
	return err ? err : tell_missed(s, c, s->end_ns);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void session_say_trace(const struct session *s, const char *output, const struct encoder *enc,
		       const struct symbolizer_stats *stats)
{
	struct encoder_counts c;
	char size[32];

	encoder_counts(enc, &c);
	progress_size(size, sizeof(size), c.bytes);
	fprintf(stderr,
		"chaincap: %llu events, %s, %.1f bytes/event, %u stacks, %llu lost, "
		"symbols in %.2f s%s%s\n",
		(unsigned long long)c.events, size,
		c.events ? (double)c.bytes / (double)c.events : 0.0, c.stacks,
		(unsigned long long)c.lost, (double)stats->lookup_us / 1e6,
		strcmp(output, "-") ? " -> " : "", strcmp(output, "-") ? output : "");
	if (s->options->verbosity > 0)
		fprintf(stderr,
			"chaincap: names: kernel %llu of %llu, user %llu of %llu (outside any "
			"mapping %llu, file not readable %llu, no symbol %llu, no perf map %llu)\n",
			(unsigned long long)stats->kernel_named,
			(unsigned long long)stats->kernel_frames,
			(unsigned long long)stats->user_named,
			(unsigned long long)stats->user_frames, (unsigned long long)stats->unmapped,
			(unsigned long long)stats->no_file, (unsigned long long)stats->no_symbol,
			(unsigned long long)stats->no_perf_map);
}

void session_say_recorder(const struct session *s)
{
	struct rusage ru;

	if (s->translator && translator_stacks_once(s->translator))
		fprintf(stderr,
			"chaincap: too many different stacks at once: %llu were sent again for a "
			"single event, which costs more\n",
			(unsigned long long)translator_stacks_once(s->translator));
	if (s->options->verbosity > 0)
		fprintf(stderr,
			"chaincap: kernel stacks: %llu known without a walk, %llu walked; %u "
			"layouts\n",
			(unsigned long long)s->final.known, (unsigned long long)s->final.walked,
			bpf_session_layouts(s->bpf));
	if (s->options->verbosity > 0 && !getrusage(RUSAGE_SELF, &ru))
		fprintf(stderr,
			"chaincap: recorder: %.2f s CPU, %ld MiB, finished %.2f s after the end\n",
			seconds(ru.ru_utime) + seconds(ru.ru_stime), ru.ru_maxrss >> 10,
			(double)(session_now_ns() - s->end_ns) / 1e9);
	if (s->options->verify)
		fprintf(stderr,
			"chaincap: verified: %llu kernel stacks, %llu mismatches; %llu user "
			"stacks, "
			"%llu mismatches\n",
			(unsigned long long)s->final.verified,
			(unsigned long long)s->final.mismatches,
			(unsigned long long)s->final.verified_user,
			(unsigned long long)s->final.mismatches_user);
}

static int finish(struct session *s, int err)
{
	struct symbolizer_stats stats = { 0 };
	struct encoder_counts counts;
	const struct bpf_counts *c = &s->final;
	int closed;

	if (!err)
		err = drain_rest(s);
	if (!err)
		err = symbolizer_finish(s->sym, &stats);
	if (!err)
		err = encoder_end(s->enc, s->end_ns, c->seen + c->missed, stats.sideband_lost);
	progress_clear(&s->progress);
	encoder_counts(s->enc, &counts);
	if (!err && counts.events + counts.lost != c->seen + c->missed)
		fprintf(stderr, "chaincap: accounts differ: kernel %llu, log %llu, lost %llu\n",
			(unsigned long long)(c->seen + c->missed),
			(unsigned long long)counts.events, (unsigned long long)counts.lost);
	/* What has been gathered is written also after an error: it is good up to there. */
	if (s->options->verbosity > 0)
		fprintf(stderr, "chaincap: written with %s\n", writer_method(s->writer));
	closed = writer_close(s->writer);
	s->writer = NULL;
	if (!err)
		err = closed;
	if (!err && s->options->verbosity >= 0) {
		session_say_trace(s, s->options->output, s->enc, &stats);
		session_say_recorder(s);
	}
	if (err)
		fprintf(stderr, "chaincap: %s: %s; what was written before is readable\n",
			s->options->output, strerror(-err));
	return err;
}

void session_close(struct session *s)
{
	bpf_session_close(s->bpf);
	translator_free(s->translator);
	symbolizer_free(s->sym);
	encoder_free(s->enc);
	if (s->writer)
		writer_close(s->writer);
	if (s->fd >= 0)
		close(s->fd);
}

/* Returns 0 or a negative errno, all told. */
static int record_to_file(struct session *s)
{
	int err = open_all(s);

	return err ? err : finish(s, record(s));
}

int session_run(const struct options *o, const char *command_line,
		const struct session_signals *signals, struct session_result *result)
{
	struct session s = {
		.options = o,
		.signals = signals,
		.command_line = command_line,
		.fd = -1,
	};
	int err;

	s.command.gate = s.command.report = -1;
	progress_init(&s.progress, o->verbosity < 0);
	err = o->flight_ns ? session_fly(&s) : record_to_file(&s);
	/* If it has not been let go it never will be. */
	command_abandon(&s.command);
	/* Told to end, it ends the command too; a full disk is not the command's fault. */
	if (signals->stop)
		command_stop(&s.command);
	command_ended(&s.command, true);
	result->command_status = s.command.status;
	result->command_failed = s.command.failed;
	session_close(&s);
	return err;
}
