// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be added to a schedule: samples, disks, threads of one name. */
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

	s->lines = NULL;
	s->n = 0;
	for (size_t i = 0; i < old.n; i++) {
		uint64_t ns;
		unsigned int cpu;

		if (schedule_is_event(old.lines[i] + (*old.lines[i] == '!'), &ns, &cpu)) {
			if (lossy && !schedule_random(s, 25))
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
