// SPDX-License-Identifier: GPL-2.0-or-later
#include "synth_interrupts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "123.456 c1 A S > B": the time and the CPU. */
static bool is_switch(const char *line, char at[32], unsigned int *cpu)
{
	return strstr(line, " > ") && sscanf(line, "%31s c%u ", at, cpu) == 2;
}

static char *taken_line(const char *at, unsigned int cpu, const char *what, uint64_t ns)
{
	char *line;

	if (asprintf(&line, "%s c%u %s %llu.%03llu", at, cpu, what, (unsigned long long)ns / 1000,
		     (unsigned long long)ns % 1000) < 0)
		abort();
	return line;
}

void schedule_interrupts(struct schedule *s)
{
	char **lines = malloc(3 * s->n * sizeof(*lines)), at[32];
	size_t n = 0;

	if (!lines)
		abort();
	for (size_t i = 0; i < s->n; i++) {
		const char *line = s->lines[i] + (*s->lines[i] == '!');
		uint64_t took = 1 + schedule_random(s, schedule_random(s, 3) ? 2000 : 60000);
		unsigned int cpu;

		lines[n++] = s->lines[i];
		if (!strcmp(line, "queues")) {
			free(lines[n - 1]);
			lines[n - 1] = strdup("queues interrupts");
			continue;
		}
		if (!is_switch(line, at, &cpu))
			continue;
		if (schedule_random(s, 5))
			lines[n++] = taken_line(at, cpu, "interrupts", took);
		if (!schedule_random(s, 3))
			lines[n++] = taken_line(at, cpu, "steal", schedule_random(s, 3) * took + 1);
	}
	free(s->lines);
	s->lines = lines;
	s->n = n;
}
