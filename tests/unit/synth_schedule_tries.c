// SPDX-License-Identifier: GPL-2.0-or-later
/* Timed waits for a lock, added to a schedule: sleeps that are tried again and again. */
#include "synth_schedule_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES_MAX 5

static const char *const stacks[] = { "schedule;futex_wait|cond_wait;main", "schedule;lock",
				      "schedule;futex_wait|__lll_lock_wait;pthread_mutex_lock;main",
				      "schedule;futex_wait|pthread_mutex_timedlock;main", "" };

/*
 * Mostly the two words of one condition variable; its mutex; what has no name, or is no lock; the
 * lock of an interpreter, and that of another one; those of two files.
 */
static const char *const objects[] = {
	"futex:p+0x40c0", "futex:p+0x40c4", "futex:p+0x40c0", "futex:p+0x40c4",
	"futex:p+0x40c0", "futex:p+0x40c4", "futex:p+0x40c0", "futex:p+0x40c4",
	"futex:p+0x40c0", "futex:p+0x40c8", "futex",	      "pipe:p+0x40c0",
};
static const char *const interpreters[] = { "GIL:7", "GIL:7", "GIL:7", "GIL:8", "GIL" };
static const char *const files[] = { "file_lock:/db", "file_lock:/db", "file_lock:/db",
				     "file_lock:/log", "file_lock" };

static const char *const timers[] = {
	"wake;hrtimer_wakeup;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;compute|main",
	"wake;hrtimer_wakeup;hrtimer_interrupt;asm_sysvec_apic_timer_interrupt",
};

struct tries {
	struct schedule *s;
	char who;
	unsigned int cpu; /* on which they are: one that nobody else is on */
	const char *stack;
	bool interpreter, file;
	char **lines; /* of all threads, to be put in by time */
	uint64_t *ns;
	size_t n;
	bool woke[13]; /* by thread: it has woken its helper */
	bool stretched;
};

__attribute__((format(printf, 3, 4))) static void put_at(struct tries *t, uint64_t ns,
							 const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	t->lines = realloc(t->lines, (t->n + 1) * sizeof(*t->lines));
	t->ns = realloc(t->ns, (t->n + 1) * sizeof(*t->ns));
	if (!t->lines || !t->ns ||
	    asprintf(&t->lines[t->n], "%llu.%03llu c%u %s", (unsigned long long)ns / 1000,
		     (unsigned long long)ns % 1000, t->cpu, text) < 0)
		abort();
	t->ns[t->n++] = ns;
}

/* A thread that sleeps from the start, until that thread wakes it. */
static char helper_of(char who)
{
	return (char)(who + 13);
}

/* The object of the n-th try of this thread. */
static const char *object_of(struct tries *t, uint64_t below)
{
	if (t->interpreter || t->file)
		return (t->file ? files
				: interpreters)[schedule_random(t->s, below < 5 ? below : 5)];
	return objects[schedule_random(t->s, below)];
}

/* The thread that has the lock, if the lock tells; 0: it does not. */
static char holder(struct tries *t)
{
	return schedule_random(t->s, 3) ? (char)('A' + schedule_random(t->s, 10)) : 0;
}

/* The thread's sleep of [from, to), which began on a CPU, becomes several. */
static void put_tries(struct tries *t, unsigned int cpu, uint64_t from, uint64_t to)
{
	uint64_t n = 1 + schedule_random(t->s, TRIES_MAX), step = (to - from) / (n + 1);
	char holds = t->file ? holder(t) : 0;

	for (uint64_t i = 1; i <= n && step > 60; i++) {
		uint64_t ns = from + i * step;
		const char *stack = schedule_random(t->s, 12) ? t->stack : "schedule;other";
		/* After the last try it may have the lock, and sleep for something else. */
		bool has_it = i == n && schedule_random(t->s, 2);
		const char *object = has_it ? "pipe:p+0x40c0" : object_of(t, 12);
		/* Of a file mostly the same thread has it. */
		char by = t->file && schedule_random(t->s, 4) ? holds : holder(t);

		put_at(t, ns++, "- wakes%s %c %s", schedule_random(t->s, 2) ? "!" : "", t->who,
		       schedule_random(t->s, 15) ? timers[schedule_random(t->s, 2)]
						 : "wake;do_idle");
		put_at(t, ns++, "%c queued! c%u", t->who, t->cpu);
		ns += schedule_random(t->s, schedule_random(t->s, 3) ? 5 : step / 2);
		put_at(t, ns, "- R > %c", t->who);
		if (!schedule_random(t->s, 8)) {
			put_at(t, ns += 1 + schedule_random(t->s, 3), "%c R > - %s", t->who, stack);
			put_at(t, ns += 1 + schedule_random(t->s, 3), "- R > %c", t->who);
		}
		if (!t->woke[t->who - 'A'] && !schedule_random(t->s, 4)) {
			put_at(t, ns += 1 + schedule_random(t->s, 2), "%c wakes %c %s", t->who,
			       helper_of(t->who), schedule_random(t->s, 3) ? stacks[0] : timers[0]);
			t->woke[t->who - 'A'] = true;
		}
		put_at(t, ns += 1 + schedule_random(t->s, 5), "%c S > - %s for=%s", t->who, stack,
		       object);
		if (by && !has_it)
			put_at(t, ns, "%c held-by %c", t->who, by);
		put_at(t, ns + 1, "%c queued c%u", t->who, cpu);
	}
}

/*
 * As other events of the schedule are missing, some of the ticker's are, which begin at first and
 * are in order of time: those of a CPU, or of all, in a short time. If the schedule says so of the
 * others, that is said.
 */
static void lose_of_ticker(struct tries *t, size_t first, size_t end)
{
	size_t from = first + schedule_random(t->s, end - first);
	size_t to = from + 1 + schedule_random(t->s, 8);
	uint64_t victim = schedule_random(t->s, 4), since = 0, last = 0;
	bool missing = false, said = false;
	char where[16] = "?";

	for (size_t i = 0; i < t->s->n; i++) {
		missing |= *t->s->lines[i] == '!';
		said |= strstr(t->s->lines[i], " lost ") != NULL;
	}
	for (size_t i = from; missing && i < to && i < end; i++) {
		unsigned int cpu;
		char *without;

		/* Of 0 and 1 one of the ticker's two CPUs each, of others both. */
		if (*t->lines[i] == '!' || sscanf(t->lines[i], "%*s c%u", &cpu) != 1 ||
		    (victim < 2 && cpu != t->cpu + victim))
			continue;
		if (asprintf(&without, "!%s", t->lines[i]) < 0)
			abort();
		free(t->lines[i]);
		t->lines[i] = without;
		since = since ? since : t->ns[i];
		last = t->ns[i];
	}
	if (!said || !since)
		return;
	if (victim < 2)
		snprintf(where, sizeof(where), "%u", t->cpu + (unsigned int)victim);
	t->lines = realloc(t->lines, (t->n + 1) * sizeof(*t->lines));
	t->ns = realloc(t->ns, (t->n + 1) * sizeof(*t->ns));
	if (!t->lines || !t->ns)
		abort();
	t->ns[t->n] = --since;
	if (asprintf(&t->lines[t->n++], "%llu.%03llu c%s lost %llu.%03llu",
		     (unsigned long long)since / 1000, (unsigned long long)since % 1000, where,
		     (unsigned long long)last / 1000, (unsigned long long)last % 1000) < 0)
		abort();
}

/*
 * A thread that nearly only sleeps for a while at one lock, again and again; now and then, or
 * never, another one, which nearly always runs, wakes it. Times are those before they are
 * stretched.
 */
static void put_ticker(struct tries *t, uint64_t end)
{
	static const char *const others[] = { "futex:p+0x60c0", "GIL:7", "pipe:p+0x40c0", "futex" };
	const char *stack = stacks[schedule_random(t->s, 4)];
	/* The lock of a process, whose name begins with that; or one in shared memory. */
	const char *lock = schedule_random(t->s, 3) ? "futex:101:p+0x50c0" : "futex:/p+0x50c0";
	uint64_t told = 2 + schedule_random(t->s, 12), ns = 1, rarely = 12, by_chance;
	uint64_t n = 3 + schedule_random(t->s, 20), longer = 1 + schedule_random(t->s, 30);
	size_t first = t->n;

	if (!schedule_random(t->s, 6)) { /* It hardly ever does something else. */
		n += 60;
		told = 90;
		rarely = 400;
		longer = 3 + schedule_random(t->s, 8);
	}
	t->who = 'M';
	t->cpu = t->s->cpus + 13;
	put_at(t, ns, "- R > Z");
	t->cpu--;
	put_at(t, ns++, "- wakes M %s", timers[1]);
	put_at(t, ns, "- R > M");
	for (; n && ns + 600 * longer < end; n--) {
		by_chance = schedule_random(t->s, rarely);
		ns += 1 + schedule_random(t->s, by_chance ? 10 : 60);
		put_at(t, ns, "M S > - %s for=%s", stack,
		       by_chance == 1 ? others[schedule_random(t->s, 4)] : lock);
		if (by_chance == 2)
			put_at(t, ns, "M held-by Z");
		t->cpu++;
		if (!schedule_random(t->s, 3)) {
			put_at(t, ns + 10, "Z S > - %s for=pipe:z", stacks[1]);
			put_at(t, ns + 30, "- wakes Z %s", timers[1]);
			put_at(t, ns + 31, "- R > Z");
		}
		ns += (60 + schedule_random(t->s, 400)) * longer;
		if (!schedule_random(t->s, told))
			put_at(t, ns, "Z wakes M wake;unlock");
		t->cpu--;
		if (t->ns[t->n - 1] != ns)
			put_at(t, ns, "- wakes M %s", timers[1]);
		put_at(t, ns += 1 + schedule_random(t->s, 3), "- R > M");
	}
	n = t->n;
	for (uint64_t holes = schedule_random(t->s, 4); holes; holes--)
		lose_of_ticker(t, first, n);
}

static bool is_waking(const char *line, char who)
{
	char verbs[][12] = { " wakes X", " wakes! X", " woken X" };

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		verbs[i][strlen(verbs[i]) - 1] = who;
		if (strstr(line, verbs[i]))
			return true;
	}
	return false;
}

/*
 * When a thread is woken that goes to sleep in line i; 0: it is not, or it was woken early, and
 * does not sleep.
 */
static uint64_t woken_ns(const struct schedule *s, size_t i, char who)
{
	char comes_in[] = "> X";
	unsigned int cpu;
	uint64_t ns;

	comes_in[2] = who;
	for (size_t k = i; k-- > 0 && !strstr(s->lines[k], comes_in);)
		if (is_waking(s->lines[k], who))
			return 0;
	while (++i < s->n) {
		const char *line = s->lines[i] + (*s->lines[i] == '!');

		if (schedule_is_event(line, &ns, &cpu) && is_waking(line, who))
			return ns;
	}
	return 0;
}

static void put_all_until(struct schedule *s, struct tries *t, uint64_t ns)
{
	for (;;) {
		size_t first = t->n;

		for (size_t i = t->n; i-- > 0;)
			if (t->lines[i] && t->ns[i] < ns &&
			    (first == t->n || t->ns[i] <= t->ns[first]))
				first = i;
		if (first == t->n)
			return;
		schedule_put(s, "%s", t->lines[first]);
		free(t->lines[first]);
		t->lines[first] = NULL;
	}
}

void schedule_loops(struct schedule *s)
{
	static const char *const loops[] = { "epoll:A:4", "epoll:A:4", "poll:of:3", "select:of:2",
					     "io_uring:A:5" };

	for (size_t i = 0; i < s->n; i++) {
		const char *line = s->lines[i] + (*s->lines[i] == '!');
		const char *to = strstr(line, " > "), *known = strstr(line, " for=");
		unsigned int cpu;
		uint64_t ns;
		char *with;

		if (!to || !schedule_is_event(line, &ns, &cpu) || !strchr("SD", to[-1]) ||
		    !schedule_random(s, 3))
			continue;
		if (asprintf(&with, "%.*s for=%s",
			     (int)((known ? (size_t)(known - s->lines[i]) : strlen(s->lines[i]))),
			     s->lines[i], loops[schedule_random(s, 5)]) < 0)
			abort();
		free(s->lines[i]);
		s->lines[i] = with;
	}
}

void schedule_naps(struct schedule *s)
{
	static const char *const places[] = {
		"schedule;do_epoll_wait for=epoll:A:4",
		"schedule;do_epoll_wait for=epoll:A:4",
		"schedule;schedule_timeout;inet_csk_accept|accept for=tcp::80",
		"do_nanosleep|nap for=sleep:1ms",
		"do_nanosleep|nap for=sleep:1ms",
		"schedule;futex_wait|take;main for=futex:7",
		"schedule;futex_wait|take;main for=futex:7",
		"schedule;futex_wait|pthread_mutex_lock;main for=futex:8",
		"schedule;futex_wait|pthread_cond_wait;with_lock for=futex:9",
		"schedule;futex_wait|sem_wait;lock",
		"schedule;anon_pipe_write|write for=pipe:12",
		"schedule;anon_pipe_read|read for=pipe:12",
		"schedule;do_wait|wait4 for=child:7",
		"schedule;do_sys_poll|poll for=poll:udp~10.0.0.5:53",
		"schedule;do_sys_poll|poll for=poll:tcp~:80",
		"schedule;wait|recv for=unix:x",
		"schedule;io|fsync for=file:/j",
		"schedule;down_read;f|g",
		"schedule;locks_lock_inode_wait|",
		"rt_mutex_schedule;rt_mutex_slowlock_block;futex_lock_pi|take;main for=futex:13",
		"schedule;worker_thread;kthread",
		"schedule;futex_wait|take for=GIL:A",
	};

	for (size_t i = 0; i < s->n; i++) {
		const char *line = s->lines[i] + (*s->lines[i] == '!');
		const char *to = strstr(line, " > ");
		unsigned int cpu;
		uint64_t ns;
		char *with;

		if (strstr(line, " wakes") && !schedule_random(s, 6)) {
			const char *words = strchr(strstr(line, " wakes") + 1, ' ');

			if (asprintf(&with, "%.*s %s", (int)(words + 2 - s->lines[i]), s->lines[i],
				     schedule_random(s, 2)
					     ? "wake;unix_stream_connect|connect;main"
					     : "wake;tcp_child_process;asm_common_interrupt") < 0)
				abort();
			free(s->lines[i]);
			s->lines[i] = with;
			continue;
		}
		if (!to || !schedule_is_event(line, &ns, &cpu) || !strchr("SD", to[-1]) ||
		    !schedule_random(s, 4))
			continue;
		if (asprintf(&with, "%.*s %s", (int)(to + 4 - s->lines[i]), s->lines[i],
			     places[schedule_random(s, sizeof(places) / sizeof(*places))]) < 0)
			abort();
		free(s->lines[i]);
		s->lines[i] = with;
	}
}

/* All times become this many times as long: so some sleeps last 20 ms or longer. */
static void stretch(struct schedule *s, uint64_t by)
{
	for (size_t i = 0; i < s->n; i++) {
		char *text, *copy = strdup(s->lines[i]), *rest = copy;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		for (char *word; (word = strsep(&rest, " "));) {
			unsigned long long us, frac;
			int end = 0;
			bool missing = *word == '!';

			if (sscanf(word + missing, "%llu.%3llu%n", &us, &frac, &end) == 2 &&
			    !word[missing + end]) {
				us = (us * 1000 + frac) * by;
				fprintf(out, "%s%llu.%03llu", missing ? "!" : "", us / 1000,
					us % 1000);
			} else {
				fputs(word, out);
			}
			if (rest)
				fputc(' ', out);
		}
		fclose(out);
		free(copy);
		free(s->lines[i]);
		s->lines[i] = text;
	}
}

void schedule_tries(struct schedule *s)
{
	struct tries t = { .s = s, .stretched = !schedule_random(s, 3) };
	struct schedule old;
	unsigned int last_cpu;
	uint64_t last_ns;

	for (size_t i = 0; i < s->n; i++) {
		const char *line = s->lines[i] + (*s->lines[i] == '!');
		unsigned int cpu;
		uint64_t ns, to;
		char *sleep, *to_whom, *with, by;

		if (!schedule_is_event(line, &ns, &cpu) || !(to_whom = strstr(line, " > ")) ||
		    to_whom - line < 4 || !strchr("SD", to_whom[-1]) || !schedule_random(s, 4))
			continue;
		t.who = to_whom[-3];
		t.cpu = s->cpus + (unsigned int)(t.who - 'A');
		t.stack = stacks[schedule_random(s, sizeof(stacks) / sizeof(*stacks))];
		t.interpreter = !schedule_random(s, 4);
		to = woken_ns(s, i, t.who);
		if (to < ns + 100)
			continue;
		t.file = s->file_locks && !t.interpreter && to % 4 == 0;
		sleep = strndup(s->lines[i], (size_t)(to_whom + 4 - s->lines[i]));
		if (!sleep || asprintf(&with, "%s %s for=%s", sleep, t.stack, object_of(&t, 2)) < 0)
			abort();
		by = holder(&t);
		if (by) {
			char *told;

			if (asprintf(&told, "%s\n%.*s %c held-by %c", with,
				     (int)(strstr(line, " c") + 3 - line), line, t.who, by) < 0)
				abort();
			free(with);
			with = told;
		}
		free(sleep);
		free(s->lines[i]);
		s->lines[i] = with;
		put_tries(&t, cpu, ns, to);
	}
	for (size_t i = s->n; t.stretched && i-- > 0;)
		if (schedule_is_event(s->lines[i] + (*s->lines[i] == '!'), &last_ns, &last_cpu)) {
			put_ticker(&t, last_ns);
			break;
		}
	old = *s;
	s->lines = NULL;
	s->n = 0;
	for (size_t i = 0; i < old.n; i++) {
		unsigned int cpu;
		uint64_t ns;

		if (schedule_is_event(old.lines[i] + (*old.lines[i] == '!'), &ns, &cpu))
			put_all_until(s, &t, ns);
		schedule_put(s, "%s", old.lines[i]);
		free(old.lines[i]);
		/* The first line says what is recorded. */
		if (t.stretched && !i)
			schedule_put(s, "thread Z R%s\nthread M S%s schedule;nap",
				     schedule_random(s, 2) ? "/A" : "",
				     schedule_random(s, 3) ? "/A" : "");
		for (char who = 'A'; who < 'A' + 13 && !i; who++)
			if (t.woke[who - 'A'])
				schedule_put(s, "thread %c S", helper_of(who));
	}
	free(old.lines);
	for (size_t i = 0; i < t.n; i++)
		free(t.lines[i]);
	free(t.lines);
	free(t.ns);
	if (t.stretched)
		stretch(s, 10000 * (1 + schedule_random(s, 20)));
}

void schedule_file_tries(struct schedule *s)
{
	s->file_locks = true;
	schedule_tries(s);
}
