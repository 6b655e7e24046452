// SPDX-License-Identifier: GPL-2.0-or-later
#include "synth_schedule_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 12, IDLE = -1, UNHEARD = -2 };

enum state { UNBORN, READY, RUNNING, ASLEEP, PREEMPTED, GONE };

struct making {
	struct schedule *s;
	enum state state[MAX_THREADS];
	bool early[MAX_THREADS];
	bool kernel[MAX_THREADS];
	bool dies[MAX_THREADS]; /* of the signal that woke it */
	int runs[SCHEDULE_CPUS];
	uint64_t idle_ns[SCHEDULE_CPUS]; /* since when it is idle */
	uint64_t quota_ns[MAX_THREADS];	 /* when its quota was used up; 0: it was not */
	unsigned int queue[MAX_THREADS]; /* the CPU on whose run queue it is, or was last */
	int threads;
	bool names_kept, times_differ, lazy;
	uint64_t unsent; /* which wakings are of what was not sent */
	uint64_t ns;
};

uint64_t schedule_random(struct schedule *s, uint64_t below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random * 0x2545f4914f6cdd1du % below;
}

static int chance(struct making *m, unsigned int percent)
{
	return schedule_random(m->s, 100) < percent;
}

void schedule_put(struct schedule *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	s->lines = realloc(s->lines, (s->n + 1) * sizeof(*s->lines));
	if (!s->lines || vasprintf(&s->lines[s->n++], format, args) < 0)
		abort();
	va_end(args);
}

static char letter(int thread)
{
	return thread == IDLE ? '-' : (char)('A' + thread);
}

static const char *off_stack(struct making *m, int thread)
{
	static const char *const kernel[] = { "schedule;worker_thread;kthread",
					      "__schedule;schedule;worker_thread;kthread",
					      "schedule;flush;worker_thread;kthread",
					      ("schedule;wait_for_completion;rcu_barrier;"
					       "worker_thread;kthread") };
	static const char *const stacks[] = { "schedule;futex;entry|lock;main",
					      "schedule;read|main",
					      "schedule;io;fsync",
					      "",
					      "|main",
					      "schedule;sigsuspend.isra.0|main" };
	/* Not in the call whose arguments say what it is for. */
	static const char *const outside[] = { "schedule;seccomp_do_user_notification|main",
					       "schedule;f;asm_exc_page_fault;copy;read|main",
					       "schedule;f;get_signal;asm_exc_page_fault|main" };
	/* In any call. */
	static const char *const rcu[] = {
		"schedule;wait_for_completion;__wait_rcu_gp;synchronize_rcu;unlink|main",
		"schedule;wait_for_completion;__wait_rcu_gp;synchronize_rcu;synchronize_net;close",
		"schedule_timeout;wait_for_completion;rcu_barrier;unlink|main",
		/* For a mutex there. */
		"schedule;__mutex_lock;rcu_barrier;unlink|main",
	};
	uint64_t i = schedule_random(m->s, sizeof(stacks) / sizeof(*stacks));

	if (m->kernel[thread])
		return kernel[m->ns % (sizeof(kernel) / sizeof(*kernel))];
	if (i == 5 && m->ns % 2)
		return rcu[m->ns / 2 % (sizeof(rcu) / sizeof(*rcu))];
	return i == 1 && m->ns % 3 ? outside[m->ns / 3 % 3] : stacks[i];
}

static const char *wake_stack(struct making *m)
{
	static const char *const stacks[] = {
		"wake;futex|unlock;main",
		"wake;pipe_write|main",
		"wake;bio_done;blk_update_request;common_interrupt;asm_common_interrupt;compute|"
		"main",
		"wake;timer;__hrtimer_run_queues;sysvec_apic_timer_interrupt;"
		"asm_sysvec_apic_timer_interrupt|main",
		"wake;tcp_rcv;do_softirq.part.0;__local_bh_enable_ip;sendmsg|main",
		"wake;ready;process_backlog;net_rx_action;run_ksoftirqd;kthread",
		"wake;ready;process_backlog;__napi_poll;net_rx_action;__local_bh_enable_ip;"
		"__dev_queue_xmit|main",
		"wake;ready;process_backlog;net_rx_action;__local_bh_enable_ip;tcp_close;"
		"task_work_run",
		"wake;ready;napi_gro_receive;virtnet_poll;__napi_poll;net_rx_action;"
		"do_softirq.part.0;__local_bh_enable_ip;ip_finish_output2|main",
		"wake;timeout;run_timer_softirq;do_softirq.part.0;__local_bh_enable_ip;sendmsg|"
		"main",
		"wake;ready;process_backlog;do_softirq.part.0;__local_bh_enable_ip;__skb_recv_udp",
		"wake;ready;net_rx_action;asm_common_interrupt;compute|main",
		"wake;timeout;call_timer_fn;net_rx_action;run_ksoftirqd;kthread",
		"wake;timer;asm_sysvec_apic_timer_interrupt;tcp;do_softirq;__local_bh_enable_ip",
		"|main",
		"",
	};

	return stacks[schedule_random(m->s, sizeof(stacks) / sizeof(*stacks))];
}

/* In which a thread leaves its last CPU, or sleeps once more before: of a signal, or not. */
static const char *end_stack(struct making *m)
{
	static const char *const stacks[] = {
		"schedule;do_task_dead;do_exit;do_group_exit;get_signal;exit_to_user_mode_loop",
		"schedule;do_task_dead;do_exit;do_group_exit;get_signal;exit_to_user_mode_loop",
		"schedule;do_task_dead;do_exit;do_group_exit;exit_group",
		"schedule;exit_mm;do_exit;do_group_exit;get_signal.part.0;exit_to_user_mode_loop",
	};

	return stacks[m->ns % (sizeof(stacks) / sizeof(*stacks))];
}

/* Of who sends a signal; the last one is of an interrupt that hit somebody who does. */
static const char *signal_stack(struct making *m)
{
	static const char *const stacks[] = {
		"wake;complete_signal;__send_signal_locked;do_send_sig_info;kill|kill;main",
		"wake;zap_other_threads;do_group_exit;exit_group|exit;main",
		("wake;complete_signal;it_real_fn;__hrtimer_run_queues;"
		 "asm_sysvec_apic_timer_interrupt;compute|main"),
		"wake;bio_done;asm_common_interrupt;complete_signal;kill|main",
	};

	return stacks[m->ns % (sizeof(stacks) / sizeof(*stacks))];
}

/* Of a thread that dies of a signal: who wakes others does so because it ends, or just before. */
static const char *end_wake_stack(struct making *m)
{
	return m->ns % 5 ? "wake;do_notify_parent;exit_notify;do_exit;do_group_exit;get_signal"
			 : wake_stack(m);
}

static const char *idle_wake_stack(struct making *m)
{
	static const char *const stacks[] = {
		"wake;bio_done;blk_mq_end_request.part.0;asm_common_interrupt;mwait;do_idle",
		"wake;ready;__netif_receive_skb_core.constprop.0;net_rx_action;asm_common_"
		"interrupt;"
		"mwait;do_idle;cpu_startup_entry",
		"wake;flush_smp_call_function_queue;do_idle;cpu_startup_entry",
		"",
	};

	return stacks[schedule_random(m->s, sizeof(stacks) / sizeof(*stacks))];
}

__attribute__((format(printf, 3, 4))) static void event(struct making *m, int cpu,
							const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	schedule_put(m->s, "%llu.%03llu c%d %s", (unsigned long long)(m->ns / 1000),
		     (unsigned long long)(m->ns % 1000), cpu, text);
}

/* A thread in that state, or IDLE if there is none. */
static int some(struct making *m, enum state state)
{
	int from = (int)schedule_random(m->s, (uint64_t)m->threads);

	for (int i = 0; i < m->threads; i++) {
		int thread = (from + i) % m->threads;
		bool lazy = m->lazy && state == ASLEEP && thread % 2 && !chance(m, 3);

		if (m->state[thread] == state && !lazy)
			return thread;
	}
	return IDLE;
}

static int next_thread(struct making *m)
{
	int a = some(m, READY), b = some(m, PREEMPTED);

	return a == IDLE || (b != IDLE && chance(m, 40)) ? b : a;
}

/*
 * The kernel puts a thread on another queue. Where it does is no matter of a random number, so that
 * schedules are what they were without queues. Of two at the same time the order would matter.
 */
static void queue_on(struct making *m, int cpu, int thread, unsigned int on, bool woken)
{
	if (m->queue[thread] == on)
		return;
	event(m, cpu, "%c queued%s c%u ", letter(thread), woken ? "!" : "", on);
	m->queue[thread] = on;
	m->ns++;
}

/* What a thread waits for is known of some sleeps. */
static const char *object(struct making *m)
{
	static const char *const objects[] = {
		"for=tcp:peer:80", "for=tcp:peer:81", "for=file:/a;b", "for=sleep", "", "", "",
	};

	return objects[schedule_random(m->s, sizeof(objects) / sizeof(*objects))];
}

/*
 * Of the time for which the CPU was idle, as it counts, the recorder had the last part; now and
 * then the trace says longer, which cannot be.
 */
static void recorder_had(struct making *m, int cpu)
{
	uint64_t had_us = m->ns % 50, idle_us = (m->ns - m->idle_ns[cpu]) / 1000;

	had_us = had_us < idle_us || m->ns % 7 == 0 ? had_us : idle_us;
	if (had_us)
		event(m, cpu, "recorder %llu", (unsigned long long)had_us);
}

static void uses_up_quota(struct making *m, int cpu, int thread)
{
	event(m, cpu, "%c throttled", letter(thread));
	m->quota_ns[thread] = m->ns;
}

/*
 * The thread comes on a CPU: mostly it is told until when it could not run, sometimes without that
 * it was throttled.
 */
static void gets_quota(struct making *m, int cpu, int thread)
{
	static const char *const whose[] = { "/b.service", "/a/c.scope", "deadline", "realtime",
					     "" };
	uint64_t since = m->quota_ns[thread], until;

	m->quota_ns[thread] = 0;
	if (!since && !m->times_differ && m->ns % 16 == 0)
		since = m->ns - m->ns % 300;
	if (!since || m->ns % 7 == 0)
		return;
	until = m->ns - (m->ns - since) * (m->ns % 5) / 5;
	event(m, cpu, "%c unthrottled %llu.%03llu %llu.%03llu %s", letter(thread),
	      (unsigned long long)since / 1000, (unsigned long long)since % 1000,
	      (unsigned long long)until / 1000, (unsigned long long)until % 1000,
	      whose[m->ns / 5 % (sizeof(whose) / sizeof(*whose))]);
}

static void switch_to(struct making *m, int cpu, char prev_state)
{
	int prev = m->runs[cpu], next = chance(m, 85) ? next_thread(m) : IDLE;

	if (prev == next)
		return;
	if (next != IDLE)
		queue_on(m, cpu, next, (unsigned int)cpu, false);
	event(m, cpu, "%c %c > %c %s %s", letter(prev), prev == IDLE ? 'R' : prev_state,
	      letter(next),
	      prev == IDLE			   ? ""
	      : m->dies[prev] || prev_state == 'X' ? end_stack(m)
						   : off_stack(m, m->runs[cpu]),
	      prev == IDLE || !strchr("SD", prev_state) ? "" : object(m));
	if (prev != IDLE) {
		bool early = m->early[prev] && chance(m, 50);

		m->early[prev] = false;
		m->state[prev] = prev_state == 'R'   ? PREEMPTED
				 : prev_state == 'X' ? GONE
				 : early	     ? READY
						     : ASLEEP;
	}
	if (prev == IDLE && m->ns % 4 == 0)
		recorder_had(m, cpu);
	if (next == IDLE)
		m->idle_ns[cpu] = m->ns;
	if (prev != IDLE && m->state[prev] == PREEMPTED && m->ns % 5 == 0)
		uses_up_quota(m, cpu, prev);
	if (next != IDLE) {
		m->state[next] = RUNNING;
		gets_quota(m, cpu, next);
	}
	m->runs[cpu] = next;
}

/* A timer of TCP had put off what the thread got, mostly while it slept. */
static void puts_off(struct making *m, int cpu, int thread)
{
	uint64_t since = m->ns - m->ns / 6 % 4 * (m->ns / 24), at = m->ns - (m->ns - since) / 3;

	event(m, cpu, "%c tcp-timer %u %llu.%03llu %llu.%03llu", letter(thread),
	      (unsigned int)(1 + m->ns / 6 % 3), (unsigned long long)since / 1000,
	      (unsigned long long)since % 1000, (unsigned long long)at / 1000,
	      (unsigned long long)at % 1000);
}

/* Wakes a thread that is off its run queue, if that is sure. */
static void wake(struct making *m, int cpu, int target)
{
	bool sure = m->state[target] == ASLEEP && chance(m, 40);
	int waker = m->runs[cpu];

	if (chance(m, 4)) {
		event(m, cpu, "- woken %c", letter(target));
		return;
	}
	m->dies[target] =
		waker != IDLE && !m->names_kept && m->state[target] == ASLEEP && m->ns % 7 == 0;
	event(m, cpu, "%c wakes%s %c %s", letter(waker), sure ? "!" : "", letter(target),
	      m->dies[target]  ? signal_stack(m)
	      : waker == IDLE  ? idle_wake_stack(m)
	      : m->dies[waker] ? end_wake_stack(m)
			       : wake_stack(m));
	if (m->ns % 6 == m->unsent)
		event(m, cpu, "%c not-sent", letter(target));
	if (m->ns % 6 == 3)
		puts_off(m, cpu, target);
	if (m->ns % 4 == 0)
		event(m, cpu, "%c ready tcp:peer:%u", letter(target),
		      (unsigned int)(m->ns / 4 % 2));
	if (m->state[target] == ASLEEP && m->ns % 3)
		queue_on(m, cpu, target, (unsigned int)(m->ns / 3 % m->s->cpus), true);
}

/* As another thread on its way to sleep is still on its CPU, but off its queue. */
static void wake_early(struct making *m, int cpu)
{
	int target = some(m, RUNNING), on = 0;

	wake(m, cpu, target);
	m->early[target] = true;
	while (on < SCHEDULE_CPUS && m->runs[on] != target)
		on++;
	if (on == cpu || on == SCHEDULE_CPUS || chance(m, 50))
		return;
	event(m, cpu, "%c wakes! %c %s", letter(m->runs[cpu]), letter(target), wake_stack(m));
	m->ns += schedule_random(m->s, 3);
	switch_to(m, on, 'S');
	if (m->state[target] == ASLEEP)
		m->state[target] = READY;
}

static void fork_one(struct making *m, int cpu)
{
	int child = some(m, chance(m, 50) ? UNBORN : GONE);

	if (child == IDLE)
		return;
	event(m, cpu, "%c forks %c", letter(m->runs[cpu]), letter(child));
	m->ns += schedule_random(m->s, 3);
	event(m, cpu, "%c new %c %s", letter(m->runs[cpu]), letter(child), wake_stack(m));
	queue_on(m, cpu, child, (unsigned int)(m->ns % m->s->cpus), true);
	m->state[child] = READY;
	m->early[child] = m->dies[child] = false;
}

static void exit_one(struct making *m, int cpu)
{
	int target;

	event(m, cpu, "%c exits", letter(m->runs[cpu]));
	m->ns += schedule_random(m->s, 2000);
	target = some(m, ASLEEP);
	if (target != IDLE) {
		wake(m, cpu, target);
		m->state[target] = READY;
	}
	m->ns += schedule_random(m->s, 2000);
	switch_to(m, cpu, 'X');
}

static void step_running(struct making *m, int cpu, uint64_t dice)
{
	int self = m->runs[cpu], target;

	/* It may sleep, or be preempted, before it is dead. */
	if (m->dies[self] && m->ns % 4) {
		exit_one(m, cpu);
		return;
	}

	/* Where some are hardly ever woken, the others must wake each other more often. */
	if (m->lazy && dice < 40 && chance(m, 30))
		dice = 60;
	if (dice < 40) {
		switch_to(m, cpu, "SSSDI"[schedule_random(m->s, 5)]);
	} else if (dice < 50) {
		if (next_thread(m) != IDLE)
			switch_to(m, cpu, 'R');
	} else if (dice < 80) {
		target = some(m, ASLEEP);
		if (target != IDLE) {
			wake(m, cpu, target);
			m->state[target] = READY;
		}
	} else if (dice < 86) {
		wake_early(m, cpu);
	} else if (dice < 89) {
		target = some(m, PREEMPTED);
		if (target != IDLE)
			wake(m, cpu, target);
	} else if (m->names_kept) {
		return;
	} else if (dice < 93) {
		fork_one(m, cpu);
	} else if (dice < 95) {
		exit_one(m, cpu);
	} else if (dice < 98) {
		event(m, cpu, "%c renames-to %c%llu", letter(self), "xyz"[dice - 95],
		      (unsigned long long)schedule_random(m->s, 3));
	} else {
		event(m, cpu, "%c execs", letter(self));
	}
}

static void step(struct making *m)
{
	int cpu = (int)schedule_random(m->s, m->s->cpus);
	int target;

	/*
	 * Often several things happen at the same time. But then they can be read in another order,
	 * in which a thread is on two CPUs for no time, so not where each change has to be a
	 * loss's.
	 */
	m->ns += m->times_differ;
	if (chance(m, 75))
		m->ns += chance(m, 50) ? schedule_random(m->s, 50000) : schedule_random(m->s, 3);
	if (m->runs[cpu] != IDLE) {
		step_running(m, cpu, schedule_random(m->s, 100));
		return;
	}
	if (chance(m, 70)) {
		switch_to(m, cpu, 'R');
		return;
	}
	target = m->lazy && !chance(m, 10) ? IDLE : some(m, ASLEEP);
	if (target != IDLE) {
		wake(m, cpu, target);
		m->state[target] = READY;
	}
}

/* Who is where when the recording begins, and what the recorder knows of it. */
static void set_the_stage(struct making *m)
{
	for (unsigned int c = 0; c < m->s->cpus; c++)
		m->runs[c] = IDLE;
	for (int i = 0; i < m->threads; i++) {
		int cpu = (int)schedule_random(m->s, m->s->cpus);
		uint64_t seen = chance(m, 30) ? schedule_random(m->s, 60) : 0;
		char declared = 'R';

		m->state[i] = !m->names_kept && chance(m, 15) ? UNBORN
			      : chance(m, 50)		      ? ASLEEP
							      : READY;
		if (m->state[i] != UNBORN && m->runs[cpu] == IDLE && chance(m, 40)) {
			m->state[i] = RUNNING;
			m->runs[cpu] = i;
			m->queue[i] = (unsigned int)cpu;
		}
		if (m->state[i] == UNBORN || (!m->names_kept && chance(m, 15))) {
			schedule_put(m->s, "born %c", letter(i));
			continue;
		}
		if (m->state[i] == ASLEEP)
			declared = 'S';
		else if (m->state[i] == RUNNING)
			declared = '*';
		/*
		 * What was seen later than at the start has to be true then. It is not known yet
		 * what will happen until then, so that only "runnable" is safe to say.
		 */
		m->kernel[i] = i % 3 == 2;
		if (seen)
			schedule_put(m->s, "thread %c R%s@%llu", letter(i), m->kernel[i] ? "+" : "",
				     (unsigned long long)seen);
		else
			schedule_put(m->s, "thread %c %c%s %s", letter(i), declared,
				     m->kernel[i] ? "+" : "",
				     declared == 'S' ? off_stack(m, i) : "");
	}
}

/* ---- taking events out ---------------------------------------------------------------------- */

bool schedule_is_event(const char *line, uint64_t *ns, unsigned int *cpu)
{
	unsigned long long us, frac;

	if (sscanf(line, "%llu.%llu c%u", &us, &frac, cpu) != 3)
		return false;
	*ns = us * 1000 + frac;
	return !strstr(line, " lost ") && !strstr(line, " lost-");
}

static void take_out(struct schedule *s, size_t i)
{
	char *line;

	if (asprintf(&line, "!%s", s->lines[i]) < 0)
		abort();
	free(s->lines[i]);
	s->lines[i] = line;
}

/* Takes some of a CPU's (or of all CPUs') events out of a stretch of time, and says so. */
static void lose_some(struct schedule *s)
{
	size_t from = schedule_random(s, s->n), span = 1 + schedule_random(s, 12);
	unsigned int victim = (unsigned int)schedule_random(s, s->cpus + 1), percent;
	uint64_t first = 0, last = 0;
	bool any = false, queues[SCHEDULE_CPUS] = { false };

	percent = schedule_random(s, 2) ? 100 : 50;
	for (size_t i = from; i < s->n && i < from + span; i++) {
		unsigned int cpu;
		uint64_t ns;

		if (!schedule_is_event(s->lines[i], &ns, &cpu) ||
		    (victim < s->cpus && cpu != victim) || schedule_random(s, 100) >= percent)
			continue;
		first = any ? first : ns;
		last = ns;
		any = true;
		if (strstr(s->lines[i], " queued"))
			queues[cpu] = true;
		take_out(s, i);
	}
	if (!any)
		return;
	/* Of what happens at one time, the loss is read last: begin it before what else did. */
	first -= first > 0;
	for (unsigned int c = 0; c < SCHEDULE_CPUS; c++)
		if (queues[c])
			schedule_put(s, "%llu.%03llu c%u lost-queues %llu.%03llu",
				     (unsigned long long)first / 1000,
				     (unsigned long long)first % 1000, c,
				     (unsigned long long)last / 1000,
				     (unsigned long long)last % 1000);
	if (victim < s->cpus)
		schedule_put(s, "%llu.%03llu c%u lost %llu.%03llu",
			     (unsigned long long)first / 1000, (unsigned long long)first % 1000,
			     victim, (unsigned long long)last / 1000,
			     (unsigned long long)last % 1000);
	else
		schedule_put(s, "%llu.%03llu c? lost %llu.%03llu", (unsigned long long)first / 1000,
			     (unsigned long long)first % 1000, (unsigned long long)last / 1000,
			     (unsigned long long)last % 1000);
}

/* The stack with which a thread woke the worker at that time; NULL: it did not. */
static const char *queueing_stack(const struct schedule *s, size_t n, unsigned long long at_us,
				  unsigned long long at_frac, char by, char worker)
{
	for (size_t i = 0; i < n; i++) {
		unsigned long long us, frac;
		char waker, target;
		int stack;

		if ((sscanf(s->lines[i], "%llu.%llu c%*u %c wakes %c %n", &us, &frac, &waker,
			    &target, &stack) == 4 ||
		     sscanf(s->lines[i], "%llu.%llu c%*u %c wakes! %c %n", &us, &frac, &waker,
			    &target, &stack) == 4) &&
		    us == at_us && frac == at_frac && waker == by && target == worker)
			return s->lines[i] + stack;
	}
	return NULL;
}

/* What workers execute when they wake somebody. */
static void queue_items(struct making *m)
{
	struct schedule *s = m->s, old = *s;

	/* All else stays as it is without them. */
	s->lines = NULL;
	s->n = 0;
	for (size_t i = 0; i < old.n; i++) {
		char who = 0, verb[8] = "";
		unsigned long long us, frac, at_us, at_frac;
		unsigned int cpu;

		if (sscanf(old.lines[i], "%llu.%llu c%u %c %7s", &us, &frac, &cpu, &who, verb) ==
			    5 &&
		    !strncmp(verb, "wakes", 5) && who >= 'A' && who < 'A' + MAX_THREADS &&
		    m->kernel[who - 'A'] && schedule_random(s, 5)) {
			/* Somebody who acted before. */
			const char *then = old.lines[schedule_random(s, i)], *stack;
			char by = '-';
			uint64_t kind = schedule_random(s, 10);

			at_us = at_frac = 0;
			sscanf(then, "%llu.%llu c%*u %c", &at_us, &at_frac, &by);
			if (by != '-' && (by < 'A' || by > 'Z'))
				by = '-';
			if (kind < 2) {
				schedule_put(s, "%llu.%03llu c%u %c works-on nothing", us, frac,
					     cpu, who);
			} else {
				/* Now and then the trace says what cannot be. */
				by = kind == 2 ? '?' : kind > 3 ? by : (char)('A' + kind);
				stack = queueing_stack(&old, i, at_us, at_frac, by, who);
				if (!stack)
					stack = by == '-' ? idle_wake_stack(m) : wake_stack(m);
				schedule_put(s, "%llu.%03llu c%u %c works-on %c %llu.%03llu %s", us,
					     frac, cpu, who, by, at_us, at_frac, stack);
			}
		}
		schedule_put(s, "%s", old.lines[i]);
	}
	for (size_t i = 0; i < old.n; i++)
		free(old.lines[i]);
	free(old.lines);
	s->random = old.random;
}

static void damage(struct schedule *s)
{
	for (uint64_t n = 1 + schedule_random(s, 6); n; n--) {
		size_t i = schedule_random(s, s->n);
		unsigned int cpu;
		uint64_t ns;

		if (schedule_is_event(s->lines[i], &ns, &cpu))
			take_out(s, i);
	}
}

struct schedule *schedule_new(uint64_t seed, enum schedule_kind kind)
{
	struct schedule *s = calloc(1, sizeof(*s));
	struct making m = { .s = s };
	char *end;

	if (!s)
		abort();
	s->random = seed * 0x9e3779b97f4a7c15u + 0x1234567;
	s->cpus = 1 + (unsigned int)schedule_random(s, SCHEDULE_CPUS);
	m.lazy = kind == SCHEDULE_LONG;
	/* By turns, whatever else of the seed decides. */
	m.unsent = seed / 7 % 6;
	m.times_differ = kind == SCHEDULE_LOSSY_EXACTLY;
	m.names_kept = m.lazy || m.times_differ;
	m.threads = 2 + (int)schedule_random(s, MAX_THREADS - 1);
	schedule_put(s, "queues");
	schedule_put(s, "quotas");
	set_the_stage(&m);
	for (uint64_t n = m.lazy ? 1500 : 5 + schedule_random(s, 90); n; n--)
		step(&m);
	if (seed / 42 % 3 == 2)
		queue_items(&m);
	if ((m.lazy && schedule_random(s, 2)) || kind == SCHEDULE_LOSSY ||
	    kind == SCHEDULE_LOSSY_EXACTLY)
		for (uint64_t n = 1 + schedule_random(s, 3); n; n--)
			lose_some(s);
	if (kind == SCHEDULE_DAMAGED)
		damage(s);
	m.ns += schedule_random(s, 20000);
	if (asprintf(&end, "end %llu.%03llu", (unsigned long long)m.ns / 1000,
		     (unsigned long long)m.ns % 1000) < 0)
		abort();
	schedule_put(s, "%s", end);
	free(end);
	return s;
}

void schedule_free(struct schedule *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->lines[i]);
	free(s->lines);
	free(s);
}

/* ---- as text -------------------------------------------------------------------------------- */

char *schedule_script(const struct schedule *s)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < s->n; i++)
		if (*s->lines[i] != '!')
			fprintf(out, "%s\n", s->lines[i]);
	fclose(out);
	return text;
}

char *schedule_whole_script(const struct schedule *s)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < s->n; i++)
		if (!strstr(s->lines[i], " lost"))
			fprintf(out, "%s\n", s->lines[i] + (*s->lines[i] == '!'));
	fclose(out);
	return text;
}

char *schedule_rotated(const struct schedule *s, unsigned int by)
{
	char *text = schedule_script(s);

	for (char *c = strstr(text, " c"); c; c = strstr(c + 1, " c"))
		if (c[2] >= '0' && c[2] <= '9' && c[3] == ' ')
			c[2] = (char)('0' + ((unsigned int)(c[2] - '0') + by) % s->cpus);
	return text;
}
