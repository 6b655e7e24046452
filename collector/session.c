// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/left_out.h"
#include "helper/call_timeout.h"
#include "helper/helper.h"
#include "kallsyms/kernel_names.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"
#include "kernel/nice.h"
#include "memory.h"
#include "session_private.h"

/* A killed recorder loses at most this much; the progress line moves as often. */
#define FLUSH_NS 500000000u
/* The most that one CPU puts into its ring in a second: four times what was measured. */
#define RING_BYTES_PER_SECOND (80u << 20)
/* Time between two drains for the stacks of threads that were asleep before the recording. */
#define SLEEPING_SLICE_NS 2000000u
/* Between recordings: how soon a clock that is set, or the end of SECONDS, is noticed. */
#define IDLE_MS 500

/* ---- opening ------------------------------------------------------------------------------- */

static int load(struct session *s)
{
	const struct options *o = s->options;
	struct bpf_options bpf_options = {
		.memory = o->memory,
		.buffer_size = o->buffer_size,
		.kernel_stacks = o->kernel_stacks,
		.user_stacks = o->user_stacks,
		.light_ns = o->light_ns,
		.sample_hz = o->sample_hz,
		.objects = !o->no_objects,
		.disk_requests = !o->no_block,
		.requests = !o->no_requests,
		.routes = !o->no_routes,
		.probes = s->probes.at,
		.n_probes = s->probes.n,
		.contexts = o->context,
		.code = process_parts_languages(o) & ~(1u << WIRE_JAVA),
		.interrupts = !o->no_irq,
		.verify = o->verify,
		.verbose = o->verbose,
		.quiet = o->quiet,
	};
	int err = -EINVAL;

	if (o->verify && !host_proc_is_here())
		snprintf(
			s->why, sizeof(s->why),
			"--verify reads processes by their ids: it needs the host's PID namespace");
	else
		err = bpf_session_open(&s->bpf, &bpf_options, s->why, sizeof(s->why));
	if (err)
		return session_fail(s, "cannot record", err);
	session_leave_out(s);
	return 0;
}

/* Without the permission (CAP_SYS_NICE), things just take longer. */
static void set_nice(int nice)
{
	(void)setpriority(PRIO_PROCESS, 0, nice);
}

/*
 * As the recorder's own nice value, that of its session, if that is its own and ends with it: as
 * that of a service. In a session with others, of a terminal, it would raise them, too.
 */
static void raise_session(const struct session *s)
{
	int nice;

	if (!s->nice && !s->options->command && getsid(0) == getpid() && session_nice(&nice) &&
	    !nice)
		(void)session_set_nice(NICE_RECORDING);
}

static int find_tls(struct session *s)
{
	size_t n_found, left_out;
	int err = probe_set_find_tls(&s->probes, s->helpers, &n_found, &left_out, s->why,
				     sizeof(s->why));

	if (err || s->options->quiet)
		return err;
	if (!n_found)
		fputs("chaincap: --tls: no libssl is installed or in use: nothing is probed\n",
		      stderr);
	if (left_out)
		fprintf(stderr, "chaincap: --tls: %zu libssl are not probed: %s\n", left_out,
			"they are damaged, do not answer, or are too many");
	return 0;
}

/* Before an earlier trace is overwritten: names may be mistyped. */
static int find_probes(struct session *s)
{
	int err = probe_set_find(&s->probes, s->options->probed, s->options->n_probed, s->helpers,
				 s->why, sizeof(s->why));

	if (!err && s->options->tls)
		err = find_tls(s);
	return err ? session_fail(s, "cannot record", err) : 0;
}

static int prepare_command(struct session *s)
{
	char **argv = s->options->command;
	int err;

	if (!argv)
		return 0;
	set_nice(s->nice); /* the command gets the usual priority */
	err = command_prepare(&s->command, argv);
	set_nice(NICE_HIGHEST);
	return err ? session_fail(s, argv[0], err) : 0;
}

static void prepare_helpers(struct session *s)
{
	bool wanted = session_reads_files(s->options) || s->options->n_probed || s->options->tls;
	int err;

	s->no_helpers = wanted ? helpers_start(&s->helpers, HELPERS_NO_RIGHTS) : 0;
	(void)memory_share(s->helpers, s->options->memory, 0);
	if (!s->options->java_maps)
		return;
	err = host_proc_is_here() ? helpers_start(&s->jvm_helpers, HELPERS_BECOME_USERS) : -EXDEV;
	if (err)
		fprintf(stderr, "chaincap: JVMs will not write perf maps: %s\n",
			err == -EXDEV ? "that needs the host's PID namespace" : strerror(-err));
}

static void prepare_opener(void)
{
	int err = call_timeout_start();

	if (err)
		fprintf(stderr, "chaincap: a file system that hangs will stop the recorder: %s\n",
			strerror(-err));
}

static int make_symbolizer(struct session *s)
{
	const struct options *o = s->options;
	int err;

	err = symbolizer_new(&s->sym, s->enc,
			     (o->kernel_stacks ? SYMBOLIZER_KERNEL : 0) |
				     (session_reads_files(o) ? SYMBOLIZER_USER : 0));
	if (err)
		return session_fail(s, "cannot record", err);
	symbolizer_read_by(s->sym, s->helpers);
	symbolizer_limit(s->sym, o->names_later, o->names_ns);
	session_say_lacking(s);
	kernel_names_interrupts(symbolizer_kernel(s->sym), bpf_session_interrupt_entry, s->bpf);
	kernel_names_on_change(symbolizer_kernel(s->sym), bpf_session_code_gone, s->bpf);
	symbolizer_java_maps(s->sym, s->jvm_helpers);
	err = user_stacks_open(&s->user_stacks, s->bpf, s->sym, s->helpers, o->verify, o->verbose);
	if (!err)
		err = process_parts_open(&s->parts, o, s->sym, s->helpers, s->bpf);
	if (!err)
		err = user_stacks_interpreters(s->user_stacks,
					       process_parts_interpreters(s->parts));
	return err ? session_fail(s, "cannot record", err) : 0;
}

/* As add_helper(); id is that of the host's PID namespace, or with is_own of this one. */
static void add_process(struct session *s, uint32_t id, bool is_own)
{
	char path[64];
	FILE *children;
	uint32_t child;

	bpf_session_helper(s->bpf, is_own ? bpf_session_id(s->bpf, (pid_t)id) : id);
	if (is_own)
		snprintf(path, sizeof(path), "/proc/%u/task/%u/children", id, id);
	else
		snprintf(path, sizeof(path), "task/%u/children", id);
	if (is_own && !host_proc_has_own_ids())
		return;
	children = fopen(is_own ? path : host_proc_name(id, path).text, "re");
	if (!children)
		return;
	while (fscanf(children, "%u", &child) == 1)
		add_process(s, child, is_own);
	fclose(children);
}

/* Tells the BPF side that pid, and all that it has forked, are processes of the recorder. */
static void add_helper(struct session *s, pid_t pid)
{
	if (host_proc_dir())
		add_process(s, bpf_session_id(s->bpf, pid), false);
	else
		add_process(s, (uint32_t)pid, true);
}

static int attach(struct session *s)
{
	int err;

	if (s->command.pid > 0)
		bpf_session_command(s->bpf, s->command.pid);
	err = bpf_session_attach(s->bpf, s->why, sizeof(s->why));
	probe_set_free(&s->probes);
	if (err)
		return session_fail(s, "cannot record", err);
	/* From here on the programs see what these processes fork; nothing is recorded yet. */
	if (s->helpers)
		add_helper(s, helpers_pid(s->helpers));
	if (s->jvm_helpers)
		add_helper(s, helpers_pid(s->jvm_helpers));
	if (call_timeout_pid())
		add_helper(s, call_timeout_pid());
	err = bpf_session_sampling(s->bpf);
	if (err)
		session_say_perf("running threads will not be sampled", err);
	return 0;
}

/* Call it after capabilities were dropped, so that the threads do not inherit them. */
static int make_cpu_threads(struct session *s)
{
	struct cpu_threads_shared shared = {
		.bpf = s->bpf,
		.enc = s->enc,
		.ids = s->ids,
		.sym = s->sym,
		.record = user_stacks_record,
		.ctx = s->user_stacks,
	};

	if (!s->ids)
		return 0;
	return cpu_threads_new(&s->cpu_threads, &shared, s->options->threads);
}

/* Events flow from here on, the command runs. */
static int begin(struct session *s)
{
	const struct options *o = s->options;
	int err;

	s->start_ns =
		s->sink->schedules ? clock_now_ns() : bpf_session_begin(s->bpf, o->duration_ns);
	s->last_flush_ns = s->drained_ns = s->start_ns;
	err = s->sink->begin(s);
	if (err)
		return err;
	if (!s->sink->schedules)
		err = bpf_session_threads(s->bpf, true, user_stacks_thread, s->user_stacks);
	if (err)
		return session_fail(s, "cannot list the threads", err);
	err = s->sink->drop_caps();
	if (err)
		return session_fail(s, "cannot drop capabilities", err);
	/*
	 * While events are recorded: above ordinary threads, as one that gets a CPU too late finds
	 * its rings full; unless the recorder was started with a nice value of its own. The threads
	 * of make_cpu_threads() inherit it.
	 */
	set_nice(s->nice ? s->nice : NICE_RECORDING);
	err = make_cpu_threads(s);
	if (err)
		return session_fail(s, "cannot record", err);
	if (o->command) {
		err = command_start(&s->command);
		if (err)
			return session_fail(s, o->command[0], err);
	}
	if (o->verbose)
		fprintf(stderr,
			"chaincap: %u CPUs, ring buffers of %zu KiB, read by %u threads, %s\n",
			bpf_session_cpus(s->bpf), bpf_session_buffer_size(s->bpf) >> 10,
			s->cpu_threads ? cpu_threads_count(s->cpu_threads) : 1, s->method);
	return 0;
}

/* The order ensures that nothing that the command or the machine does is missed. */
static int open_in_order(struct session *s)
{
	/* First, as it fails without permission: then an earlier trace is not overwritten. */
	int err = find_probes(s);

	if (!err)
		err = load(s);
	if (!err && s->no_helpers)
		fprintf(stderr,
			"chaincap: user functions will have no names, user stacks will be cut: "
			"%s\n",
			helpers_refusal(s->no_helpers));
	if (!err)
		err = s->sink->open(s);
	/* Before the symbolizer raises the limit of open files, which the command must keep. */
	if (!err)
		err = prepare_command(s);
	if (!err)
		err = make_symbolizer(s);
	if (!err)
		err = attach(s);
	return err ? err : begin(s);
}

static int open_all(struct session *s)
{
	/*
	 * These fork: before capabilities are dropped and anything is mapped that they could see.
	 */
	host_proc_find();
	prepare_opener();
	prepare_helpers(s);
	/* The start takes 0.3 s of CPU time, which would be seconds in a fair share. */
	s->nice = getpriority(PRIO_PROCESS, 0);
	set_nice(NICE_HIGHEST);
	raise_session(s);
	return open_in_order(s);
}

/* ---- recording ----------------------------------------------------------------------------- */

static int drain(struct session *s)
{
	uint64_t now = clock_now_ns();
	long n;

	symbolizer_poll(s->sym);
	process_parts_step(s->parts);
	if (s->cpu_threads)
		n = cpu_threads_drain(s->cpu_threads);
	else
		n = bpf_session_drain(s->bpf, 0, bpf_session_cpus(s->bpf), user_stacks_record,
				      s->user_stacks);
	if (n < 0)
		return (int)n;
	s->drained_ns = now - BPF_SESSION_SUBMIT_NS;
	n = user_stacks_complete(s->user_stacks, SLEEPING_SLICE_NS);
	return n ? (int)n : bpf_session_recycle(s->bpf);
}

/* Reports events whose program the kernel skipped. On which CPU, and when exactly, is unknown. */
static int report_missed(struct session *s, const struct bpf_counts *c, uint64_t now_ns)
{
	uint64_t n = c->missed - s->missed;

	s->missed = c->missed;
	return n ? s->sink->lost(s, n, now_ns) : 0;
}

/* For a recorder that runs for ever: nobody sees its last lines. */
static void log_sums(struct session *s, const struct sink_counts *c, const struct bpf_counts *b,
		     uint64_t now_ns)
{
	struct timespec own = { 0 };
	uint32_t cpus = bpf_session_cpus(s->bpf);
	struct progress_log sums = {
		.events = c->total,
		.lost = c->total_lost,
		.mappings = symbolizer_sideband_lost(s->sym),
		.given_up = helpers_given_up(s->helpers),
		.dumps = c->dumps,
	};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
	sums.cpu_ns = b->programs_ns + (uint64_t)own.tv_sec * 1000000000u + (uint64_t)own.tv_nsec;
	progress_log(&s->progress, s->options->log_ns, now_ns, cpus, &sums);
	progress_watch(&s->progress, s->options->cpu_budget_ppm, now_ns, cpus, sums.cpu_ns);
}

/* A flight recorder has what it has in memory: it is written before the kernel may kill it. */
static void watch_group(struct session *s)
{
	bool is_short = memory_group_is_short(s->group_is_short);

	if (is_short && !s->group_is_short) {
		fputs("chaincap: little memory is left in its control group: a trace is written, "
		      "as the recorder may be killed\n",
		      stderr);
		s->signals->dump++;
	}
	s->group_is_short = is_short;
}

static int flush(struct session *s)
{
	uint64_t duration_ns = s->options->duration_ns, own;
	struct sink_counts shown;
	struct bpf_counts c;
	int err = bpf_session_counts(s->bpf, &c);
	/* Read after the counters, so that all events that these count as missed are earlier. */
	uint64_t now = clock_now_ns();

	if (duration_ns && now - s->start_ns > duration_ns)
		now = s->start_ns + duration_ns; /* nothing is recorded after that */

	if (!err)
		err = report_missed(s, &c, now);
	if (!err)
		err = s->sink->flush(s, now);
	user_stacks_forget_idle(s->user_stacks);
	memory_give_back(&s->given_back_ns, now);
	own = bpf_session_socket_bytes(s->bpf);
	own += memory_share(s->helpers, s->options->memory - own, s->signals->writer);
	if (s->options->flight_ns)
		watch_group(s);
	s->memory_most = own > s->memory_most ? own : s->memory_most;
	s->last_flush_ns = now;
	bpf_session_poll(s->bpf);
	if (s->options->verbose)
		process_parts_report(s->parts);
	s->sink->counts(s, &shown);
	log_sums(s, &shown, &c, now);
	progress_show(&s->progress, now - s->start_ns, shown.events, shown.bytes, shown.lost);
	return err;
}

/* How long to sleep, in ms, when nothing is recorded until until_ns. */
static int idle_ms(const struct session *s, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t ms = until_ns > now_ns ? (until_ns - now_ns + 999999) / 1000000 : 1;

	if ((symbolizer_is_naming(s->sym) || process_parts_is_busy(s->parts)) && ms > 2)
		ms = 2;
	return ms < IDLE_MS ? (int)ms : IDLE_MS;
}

/* How long to sleep, in ms: the rings fill to a quarter at most, and the recording ends in time. */
static int wait_ms(const struct session *s, uint64_t now_ns)
{
	uint64_t ms = bpf_session_buffer_size(s->bpf) / 4 * 1000 / RING_BYTES_PER_SECOND;
	uint64_t duration_ns = s->options->duration_ns, end_ns = s->start_ns + duration_ns;
	uint64_t idle_until_ns = s->sink->idle_until ? s->sink->idle_until(s) : 0;

	if (idle_until_ns)
		return idle_ms(s, now_ns, idle_until_ns);
	if (ms > 100)
		ms = 100;
	/* Until a stack is learnt it is walked each time, which costs ten times as much. */
	if (bpf_session_learning(s->bpf) && ms > 5)
		ms = 5;
	if ((symbolizer_is_naming(s->sym) || process_parts_is_busy(s->parts)) && ms > 2)
		ms = 2;
	if (user_stacks_left(s->user_stacks))
		ms = 1;
	if (duration_ns && end_ns < now_ns + ms * 1000000)
		ms = end_ns > now_ns ? (end_ns - now_ns) / 1000000 : 0;
	return ms ? (int)ms : 1;
}

static bool is_over(struct session *s, uint64_t now_ns)
{
	uint64_t duration_ns = s->options->duration_ns;

	return s->signals->stop || (duration_ns && now_ns - s->start_ns >= duration_ns) ||
	       command_ended(&s->command, false);
}

static int record(struct session *s)
{
	uint64_t now = clock_now_ns();
	/*
	 * The first flush comes as soon as the threads that exist have their stacks, so that also
	 * the file of a recorder that is killed early has their names.
	 */
	bool first = true;
	int err = 0;

	while (!err && !is_over(s, now)) {
		enum sink_wish wish = s->sink->wish(s);
		bool due = now - s->last_flush_ns >= FLUSH_NS ||
			   (first && !user_stacks_left(s->user_stacks));

		if (wish == SINK_END)
			break;
		/* Events from before the wish are still in the rings; and who is asleep gets in. */
		if (wish == SINK_FLUSH_NOW)
			err = bpf_session_sleepers(s->bpf);
		if (!err && wish == SINK_FLUSH_NOW)
			err = drain(s);
		if (!err && (wish == SINK_FLUSH_NOW || due)) {
			err = flush(s);
			first = false;
		}
		symbolizer_wait(s->sym, wait_ms(s, clock_now_ns()));
		if (!err)
			err = drain(s);
		now = clock_now_ns();
	}
	return err;
}

/* ---- end ----------------------------------------------------------------------------------- */

/* Reads the rest of the rings, until the accounts balance: kernel = log + lost. */
static int drain_rest(struct session *s)
{
	struct bpf_counts *c = &s->final;
	struct sink_counts counts;
	int err = bpf_session_sleepers(s->bpf);

	if (err)
		return err;
	s->end_ns = bpf_session_end(s->bpf);
	if (!s->sink->finish_detaches)
		bpf_session_detach(s->bpf);
	err = bpf_session_pending(s->bpf, user_stacks_record, s->user_stacks);
	/* A program that just ran on another CPU may still be about to submit its record. */
	for (int tries = 0; !err && tries < 50; tries++) {
		err = drain(s);
		if (!err)
			err = bpf_session_counts(s->bpf, c);
		s->sink->counts(s, &counts);
		if (err ||
		    (counts.kernel - s->missed == c->seen && counts.kernel_aux == c->aux_seen))
			break;
		poll(NULL, 0, 2);
	}
	/* After the rings, whose last stacks may wait for a rule, too. */
	if (!err)
		err = user_stacks_complete_rest(s->user_stacks);
	return err ? err : report_missed(s, c, s->end_ns);
}

static void check_accounts(const struct session *s)
{
	const struct bpf_counts *c = &s->final;
	struct sink_counts counts;

	s->sink->counts(s, &counts);
	if (counts.kernel != c->seen + c->missed)
		fprintf(stderr, "chaincap: event counts differ: kernel %llu, log and lost %llu\n",
			(unsigned long long)(c->seen + c->missed),
			(unsigned long long)counts.kernel);
	if (counts.kernel_aux != c->aux_seen)
		fprintf(stderr, "chaincap: sample counts differ: kernel %llu, log and lost %llu\n",
			(unsigned long long)c->aux_seen, (unsigned long long)counts.kernel_aux);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Prints a line for anything unusual, and with -v the recorder's own figures. */
static void report_recorder(struct session *s)
{
	const struct bpf_counts *c = &s->final;
	struct sink_counts counts;
	struct rusage ru;
	uint64_t left_out[CHAINLOG_LEFT_OUTS];

	session_left_out(s, left_out);
	for (unsigned int i = 0; i < CHAINLOG_LEFT_OUTS; i++)
		if (left_out[i] && i != CHAINLOG_LEFT_QUICK)
			fprintf(stderr, "chaincap: %llu %s\n", (unsigned long long)left_out[i],
				left_out_words(i));
	s->sink->counts(s, &counts);
	if (counts.stacks_once)
		fprintf(stderr,
			"chaincap: too many different stacks at once: %llu were sent again for a "
			"single event, which costs more\n",
			(unsigned long long)counts.stacks_once);
	if (s->options->verbose)
		fprintf(stderr,
			"chaincap: kernel stacks: %llu known without a walk, %llu walked; %u "
			"layouts, %llu forgotten\n",
			(unsigned long long)c->known, (unsigned long long)c->walked,
			bpf_session_layouts(s->bpf),
			(unsigned long long)bpf_session_forgotten(s->bpf));
	if (s->options->verbose) {
		process_parts_report(s->parts);
		user_stacks_report(s->user_stacks, c);
	}
	if (s->options->verbose && !getrusage(RUSAGE_SELF, &ru))
		fprintf(stderr,
			"chaincap: recorder: %.2f s CPU, %ld MiB, finished %.2f s after the end\n",
			seconds(ru.ru_utime) + seconds(ru.ru_stime) + (double)s->helpers_ns / 1e9,
			ru.ru_maxrss >> 10, (double)(clock_now_ns() - s->end_ns) / 1e9);
	if (s->options->verify)
		fprintf(stderr,
			"chaincap: verified: %llu kernel stacks, %llu mismatches; %llu user "
			"stacks, %llu mismatches; %llu user stacks could not be compared\n",
			(unsigned long long)c->verified, (unsigned long long)c->mismatches,
			(unsigned long long)c->verified_user,
			(unsigned long long)c->mismatches_user,
			(unsigned long long)c->unverified_user);
	if (s->options->verify && s->options->light_ns)
		fprintf(stderr,
			"chaincap: of these %llu kernel and %llu user stacks were those of threads "
			"asleep\n",
			(unsigned long long)c->slept_kernel, (unsigned long long)c->slept_user);
}

static int finish(struct session *s, int err)
{
	if (!err)
		err = drain_rest(s);
	set_nice(s->nice);
	if (!s->end_ns)
		s->end_ns = clock_now_ns();
	progress_clear(&s->progress);
	if (!err)
		user_stacks_count(s->user_stacks, &s->final);
	if (!err)
		check_accounts(s);
	err = s->sink->finish(s, err);
	helpers_begin_stop(s->helpers);
	helpers_begin_stop(s->jvm_helpers);
	call_timeout_begin_end();
	s->helpers_ns = helpers_stop(s->helpers);
	if (!err && !s->options->quiet)
		report_recorder(s);
	return err;
}

int session_run(const struct options *o, const char *command_line, struct session_signals *signals,
		struct session_result *result)
{
	struct session s = {
		.options = o,
		.signals = signals,
		.command_line = command_line,
		.sink = o->self_test   ? &session_test_sink
			: o->every_ns  ? &session_every_sink
			: o->flight_ns ? &session_flight_sink
				       : &session_file_sink,
	};
	int err;

	s.command.gate = s.command.report = -1;
	progress_init(&s.progress, o->quiet);
	err = open_all(&s);
	if (!err)
		err = finish(&s, record(&s));
	/* A command that has not been started by now is not started at all. */
	command_abandon(&s.command);
	/* A signal to the recorder ends the command, too; a full disk does not. */
	if (signals->stop)
		command_stop(&s.command);
	command_ended(&s.command, true);
	result->command_status = s.command.status;
	result->command_failed = s.command.failed;
	cpu_threads_free(s.cpu_threads);
	user_stacks_close(s.user_stacks);
	process_parts_close(s.parts);
	symbolizer_free(s.sym);
	helpers_free(s.helpers);
	helpers_free(s.jvm_helpers);
	call_timeout_end();
	s.sink->close(&s);
	bpf_session_close(s.bpf);
	probe_set_free(&s.probes);
	return err;
}
