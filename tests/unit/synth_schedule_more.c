// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be added to a schedule: samples, disks, requests, threads of one name. */
#include "synth_schedule_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples -------------------------------------------------------------------------------- */

/* A line of its own at a time from from_ns to to_ns. */
static char *sample_line(struct schedule *s, const char *running, uint64_t from_ns, uint64_t to_ns)
{
	/* One name in two files; a name that is the begin of another one. */
	static const char *const stacks[] = {
		"copy;read;entry|fetch;main", "|sort;main",	 "|parse;main",	    "",
		"fault;entry|sort;main",      "|sort@liba;main", "|sort@libb;main", "|sort;main2"
	};
	unsigned int cpu = (unsigned int)schedule_random(s, s->cpus);
	uint64_t ns = from_ns + schedule_random(s, to_ns - from_ns + 1);
	char who = running[cpu], *line;

	if (!schedule_random(s, 20))
		who = (char)('A' + schedule_random(s, 4));
	if (asprintf(&line, "%llu.%03llu c%u %c ran %s", (unsigned long long)ns / 1000,
		     (unsigned long long)ns % 1000, cpu, who,
		     stacks[schedule_random(s, sizeof(stacks) / sizeof(stacks[0]))]) < 0)
		abort();
	return line;
}

void schedule_share_name(struct schedule *s)
{
	char *last;

	schedule_put(s, "others-are worker");
	last = s->lines[s->n - 1];
	memmove(s->lines + 1, s->lines, (s->n - 1) * sizeof(*s->lines));
	s->lines[0] = last;
}

void schedule_sample(struct schedule *s)
{
	char running[SCHEDULE_CPUS + 1] = "----";
	struct schedule old = *s;

	s->lines = NULL;
	s->n = 0;
	for (size_t i = 0; i < old.n; i++) {
		const char *line = old.lines[i] + (*old.lines[i] == '!');
		uint64_t ns, next_ns;
		unsigned int cpu;
		char next;

		schedule_put(s, "%s", old.lines[i]);
		if (schedule_is_event(line, &ns, &cpu)) {
			const char *to = strstr(line, " > ");

			next = to ? to[3] : running[cpu];
			running[cpu] = next;
			if (i + 1 == old.n ||
			    !schedule_is_event(old.lines[i + 1] + (*old.lines[i + 1] == '!'),
					       &next_ns, &cpu))
				next_ns = ns;
			if (schedule_random(s, 3)) {
				char *sample = sample_line(s, running, ns, next_ns);

				schedule_put(s, "%s", sample);
				free(sample);
			}
		}
		free(old.lines[i]);
	}
	free(old.lines);
}

/* ---- control groups -------------------------------------------------------------------------- */

void schedule_groups(struct schedule *s, bool lossy)
{
	static const char *const paths[] = { "/", "/a", "/b", "/b/c" };
	struct schedule old = *s;
	bool begun = false;

	s->lines = NULL;
	s->n = 0;
	for (size_t i = 0; i < old.n; i++) {
		const char *line = old.lines[i] + (*old.lines[i] == '!');
		unsigned int cpu;
		uint64_t ns;

		schedule_put(s, "%s", old.lines[i]);
		if (schedule_is_event(line, &ns, &cpu)) {
			if (lossy && !schedule_random(s, 25))
				schedule_put(s, "%llu.%03llu c%u lost-groups %llu.%03llu",
					     (unsigned long long)ns / 1000,
					     (unsigned long long)ns % 1000, cpu,
					     (unsigned long long)ns / 1000 + schedule_random(s, 30),
					     (unsigned long long)ns % 1000);
			/* Most threads at the first event, then one now and then. */
			for (char who = 'A'; who < 'F' && (!begun || who == 'A'); who++)
				if (schedule_random(s, 3))
					schedule_put(s, "%llu.%03llu c%u %c %sin-group %s",
						     (unsigned long long)ns / 1000,
						     (unsigned long long)ns % 1000, cpu,
						     begun ? (char)('A' + schedule_random(s, 6))
							   : who,
						     schedule_random(s, 2) ? "all-" : "",
						     paths[schedule_random(s, 4)]);
			begun = true;
		}
		free(old.lines[i]);
	}
	free(old.lines);
}

/* ---- interpreted code ------------------------------------------------------------------------ */

/* Where the word begins that is the stack of an event; NULL: it has none. */
static char *stack_in(char *line)
{
	char *word[8] = { line };
	size_t n = 1, at;

	for (char *p = line; (p = strchr(p, ' ')) && n < 8;) {
		p += strspn(p, " ");
		if (*p)
			word[n++] = p;
	}
	if (n < 5)
		return NULL;
	at = *word[4] == '>' ? 6 : !strncmp(word[3], "ran ", 4) ? 4 : 5;
	if (at == 5 && strncmp(word[3], "wakes", 5) && strncmp(word[3], "new ", 4))
		return NULL;
	return at < n && strncmp(word[at], "for=", 4) ? word[at] : NULL;
}

/* Frames of any kind in any order. To be freed. */
static char *code_stack(struct schedule *s)
{
	static const char *const frames[] = {
		"poll@libc",   "query@_db.so", "work",	   "f%/srv/a.py:1", "f%/srv/a.py:2",
		"g%/opt/a.py", "h%",	       "%",	   "eval@python",   "eval@python",
		"call@python", "[x]@python",   "eval@php", "eval",
	};
	char *text = strdup("|"), *longer;

	for (uint64_t n = 1 + schedule_random(s, 9); n--; text = longer) {
		if (asprintf(&longer, "%s%s%s", text, text[1] ? ";" : "",
			     frames[schedule_random(s, sizeof(frames) / sizeof(*frames))]) < 0)
			abort();
		free(text);
	}
	return text;
}

void schedule_code(struct schedule *s)
{
	for (size_t i = 0; i < s->n; i++) {
		char *line = s->lines[i], *stack = stack_in(line), *code, *rest;
		int kernel;

		if (!stack || !schedule_random(s, 4))
			continue;
		kernel = (int)(stack + strcspn(stack, "| ") - line);
		rest = stack + strcspn(stack, " ");
		code = code_stack(s);
		if (asprintf(&s->lines[i], "%.*s%s%s", kernel, line, code, rest) < 0)
			abort();
		free(code);
		free(line);
	}
}

/* ---- disks ---------------------------------------------------------------------------------- */

/* A time up to most ns before; "-": not known. */
static void put_time_before(struct schedule *s, char text[32], uint64_t ns, uint64_t most)
{
	ns -= schedule_random(s, ns < most ? ns + 1 : most);
	if (!ns || !schedule_random(s, 10))
		snprintf(text, 32, "-");
	else
		snprintf(text, 32, "%llu.%03llu", (unsigned long long)ns / 1000,
			 (unsigned long long)ns % 1000);
}

/* What an I/O limit held back, of which a thread asks a disk now. */
struct let_go {
	char who; /* 0: nothing */
	uint64_t ns;
};

static void let_go(struct schedule *s, uint64_t ns, unsigned int cpu, struct let_go *last)
{
	*last = (struct let_go) { (char)('A' + schedule_random(s, 3)), ns };
	schedule_put(s, "%llu.%03llu c%u %c asks-disk submit;blk_throtl_dispatch_work_fn;kthread|",
		     (unsigned long long)ns / 1000, (unsigned long long)ns % 1000, cpu, last->who);
}

static void put_let_go_done(struct schedule *s, uint64_t ns, unsigned int cpu, struct let_go *last)
{
	uint64_t issued = last->ns + schedule_random(s, ns - last->ns + 1);

	schedule_put(s, "%llu.%03llu c%u %c disk-done vda write 4096 %llu.%03llu %llu.%03llu %s",
		     (unsigned long long)ns / 1000, (unsigned long long)ns % 1000, cpu, last->who,
		     (unsigned long long)last->ns / 1000, (unsigned long long)last->ns % 1000,
		     (unsigned long long)issued / 1000, (unsigned long long)issued % 1000,
		     schedule_random(s, 3) ? "/shop.slice/b.service" : "");
	last->who = 0;
}

static void put_disk_done(struct schedule *s, uint64_t ns, unsigned int cpu)
{
	static const char *const ops[] = { "read", "write", "flush", "other" };
	char asked[32], issued[32];

	ns -= ns ? 1 : 0;
	put_time_before(s, asked, ns, 300000);
	put_time_before(s, issued, ns, 200000);
	schedule_put(s, "%llu.%03llu c%u %c disk-done %s %s 4096 %s %s",
		     (unsigned long long)ns / 1000, (unsigned long long)ns % 1000, cpu,
		     (char)('A' + schedule_random(s, 3)), schedule_random(s, 2) ? "vda" : "vg-root",
		     ops[schedule_random(s, 4)], asked, issued);
}

void schedule_disks(struct schedule *s, bool lossy)
{
	struct schedule old = *s;
	struct let_go last = { 0 };

	s->lines = NULL;
	s->n = 0;
	for (size_t i = 0; i < old.n; i++) {
		uint64_t ns;
		unsigned int cpu;

		if (schedule_is_event(old.lines[i] + (*old.lines[i] == '!'), &ns, &cpu)) {
			if (!schedule_random(s, 10))
				let_go(s, ns, cpu, &last);
			else if (last.who && last.ns < ns && strstr(old.lines[i], "blk_"))
				put_let_go_done(s, ns, cpu, &last);
			else if (lossy && !schedule_random(s, 25))
				schedule_put(s, "%llu.%03llu c%u lost-disk-dones %llu.%03llu",
					     (unsigned long long)ns / 1000,
					     (unsigned long long)ns % 1000, cpu,
					     (unsigned long long)ns / 1000 + schedule_random(s, 30),
					     (unsigned long long)ns % 1000);
			else if (strstr(old.lines[i], "blk_") ? schedule_random(s, 4)
							      : !schedule_random(s, 12))
				put_disk_done(s, ns, cpu);
		}
		schedule_put(s, "%s", old.lines[i]);
		free(old.lines[i]);
	}
	free(old.lines);
}

/* ---- requests ------------------------------------------------------------------------------- */

#define CONNECTIONS 4

/* Who runs where, and the first writes of the connections' last answers. */
struct serving {
	char running[SCHEDULE_CPUS + 1];
	uint64_t wrote_ns[CONNECTIONS];
};

static void put_at(struct schedule *s, const char *what, uint64_t ns)
{
	char *line = s->lines[--s->n];

	schedule_put(s, "%s %s=%llu.%03llu", line, what, (unsigned long long)ns / 1000,
		     (unsigned long long)ns % 1000);
	free(line);
}

static void put_word(struct schedule *s, const char *word)
{
	char *line = s->lines[--s->n];

	schedule_put(s, "%s %s", line, word);
	free(line);
}

/* Whoever runs on the CPU, nearly always. */
static char server(struct schedule *s, const struct serving *v, unsigned int cpu)
{
	char who = v->running[cpu];

	return who == '-' || !schedule_random(s, 6) ? (char)('A' + schedule_random(s, 5)) : who;
}

static void put_request(struct schedule *s, struct serving *v, uint64_t ns, unsigned int cpu)
{
	static const char *const endpoints[] = { "tcp::80",	  "tcp::80", "tcp::81",
						 "unix:/run/s;x", "udp:",    "request:f" };
	static const char *const stacks[] = {
		"", "stack=send;write|reply;main", "stack=|reply;main",
		/* That somebody was interrupted says nothing: it is where the answer was given. */
		"stack=send;tcp;asm_common_interrupt;compute|main"
	};
	bool open = !schedule_random(s, 12), late = !schedule_random(s, 3);
	const char *endpoint = endpoints[schedule_random(s, 6)];
	bool probed = !strncmp(endpoint, "request:", 8);
	uint64_t connection = probed ? 0 : schedule_random(s, CONNECTIONS);
	uint64_t arrival = ns - schedule_random(s, ns < 400000 ? ns + 1 : 400000), taken, answer;
	char by[8];

	taken = schedule_random(s, 3) && !probed ? arrival + schedule_random(s, ns - arrival + 1)
						 : arrival;
	answer = late ? taken + schedule_random(s, ns - taken + 1) : ns;
	schedule_put(s, "%llu.%03llu c%u %c %s %s", (unsigned long long)ns / 1000,
		     (unsigned long long)ns % 1000, cpu, server(s, v, cpu),
		     open ? "request-open" : "request", endpoint);
	put_at(s, "arrived", arrival);
	put_at(s, "taken", taken);
	if (connection) {
		snprintf(by, sizeof(by), "conn=%u", (unsigned int)connection);
		put_word(s, by);
	}
	if (probed)
		put_word(s, "probed");
	else if (!schedule_random(s, 4))
		put_word(s, "first");
	if (!probed && !schedule_random(s, 3))
		put_word(s, schedule_random(s, 2) ? "route=GET+/cart" : "route=SELECT+orders");
	if (open)
		return;
	put_at(s, "answered", answer);
	put_word(s, stacks[schedule_random(s, 4)]);
	if (!schedule_random(s, 3)) {
		snprintf(by, sizeof(by), "by=%c", (char)('A' + schedule_random(s, 5)));
		put_word(s, by);
	}
	v->wrote_ns[connection] = answer;
}

static void put_more(struct schedule *s, const struct serving *v, uint64_t ns, unsigned int cpu)
{
	uint64_t connection = 1 + schedule_random(s, CONNECTIONS - 1);
	uint64_t began = v->wrote_ns[connection];

	if (!began || began > ns)
		return;
	schedule_put(s, "%llu.%03llu c%u %c request-more conn=%u", (unsigned long long)ns / 1000,
		     (unsigned long long)ns % 1000, cpu, server(s, v, cpu),
		     (unsigned int)connection);
	put_at(s, "began", began - (schedule_random(s, 8) || !began ? 0 : 1));
	put_at(s, "answered", ns - schedule_random(s, ns - began + 1));
}

static void put_context(struct schedule *s, const struct serving *v, uint64_t ns, unsigned int cpu)
{
	static const char *const contexts[] = { "-", "c0ffee0000000000000001 1 /cart",
						"c0ffee0000000000000001 2 /stock", "2 1 -" };

	schedule_put(s, "%llu.%03llu c%u %c context %s", (unsigned long long)ns / 1000,
		     (unsigned long long)ns % 1000, cpu, server(s, v, cpu),
		     contexts[schedule_random(s, 4)]);
}

void schedule_requests(struct schedule *s, bool lossy)
{
	static const char *const lost[] = { "requests", "more", "contexts" };
	struct serving v = { .running = "----" };
	struct schedule old = *s;

	s->lines = NULL;
	s->n = 0;
	for (size_t i = 0; i < old.n; i++) {
		const char *line = old.lines[i] + (*old.lines[i] == '!');
		const char *to = strstr(line, " > ");
		unsigned int cpu;
		uint64_t ns;

		schedule_put(s, "%s", old.lines[i]);
		if (schedule_is_event(line, &ns, &cpu)) {
			v.running[cpu] = to ? to[3] : v.running[cpu];
			for (uint64_t n = schedule_random(s, 3); n; n--) {
				if (!schedule_random(s, 6))
					put_context(s, &v, ns, cpu);
				if (schedule_random(s, 4))
					put_request(s, &v, ns, cpu);
				else
					put_more(s, &v, ns, cpu);
			}
			if (lossy && !schedule_random(s, 20))
				schedule_put(s, "%llu.%03llu c%u lost-%s %llu.%03llu",
					     (unsigned long long)ns / 1000,
					     (unsigned long long)ns % 1000, cpu,
					     lost[schedule_random(s, 3)],
					     (unsigned long long)ns / 1000 + schedule_random(s, 30),
					     (unsigned long long)ns % 1000);
		}
		free(old.lines[i]);
	}
	free(old.lines);
}
