// SPDX-License-Identifier: GPL-2.0-or-later
/* Light recordings of random schedules: which stacks are told when. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_schedule_private.h"

#define STACK_SIZE 512

/* What the switch-out of a thread, by letter, has lost; "": nothing. */
struct lost_stacks {
	char of[26][STACK_SIZE];
};

/* A switch-out into a sleep; rest: where what follows the next thread begins. */
static bool is_sleep(const char *line, char *who, int *rest)
{
	char state;

	return sscanf(line, "%*u.%*u c%*u %c %c > %*c %n", who, &state, rest) == 2 &&
	       (state == 'S' || state == 'D') && *who >= 'A' && *who <= 'Z';
}

/* A waking by a thread; rest: where its stack begins. */
static bool is_waking(const char *line, char *target, int *rest)
{
	char waker;

	return (sscanf(line, "%*u.%*u c%*u %c wakes %c %n", &waker, target, rest) == 2 ||
		sscanf(line, "%*u.%*u c%*u %c wakes! %c %n", &waker, target, rest) == 2) &&
	       *target >= 'A' && *target <= 'Z';
}

/* Puts the line without its stack, which the thread's place gets; an object stays. */
static void put_bare(struct schedule *s, const char *line, int rest, char *stack)
{
	const char *object = strstr(line + rest, "for=");
	size_t len = strcspn(line + rest, " ");

	*stack = 0;
	if (object != line + rest)
		snprintf(stack, STACK_SIZE, "%.*s", (int)len, line + rest);
	schedule_put(s, "%.*s%s", rest, line, object ? object : "");
}

/* Says with which stacks the thread sleeps, or slept, at the time of the line; now and then with
 * none. */
static void tell(struct schedule *s, const char *line, char who, const char *stack)
{
	if (*stack || !schedule_random(s, 4))
		schedule_put(s, "%.*s %c slept-at %s", (int)(strstr(line, " c") + 3 - line), line,
			     who, stack);
}

void schedule_light(struct schedule *s)
{
	struct lost_stacks *lost = calloc(1, sizeof(*lost));
	struct schedule old = *s;

	if (!lost)
		abort();
	s->lines = NULL;
	s->n = 0;
	schedule_put(s, "light %u", (unsigned int)schedule_random(s, 60) + 1);
	for (size_t i = 0; i < old.n; i++) {
		const char *line = old.lines[i];
		char who = '-', *its, none[STACK_SIZE];
		int rest = 0;

		if (is_sleep(line, &who, &rest) && schedule_random(s, 5)) {
			put_bare(s, line, rest, lost->of[who - 'A']);
		} else if (is_waking(line, &who, &rest)) {
			its = lost->of[who - 'A'];
			if (schedule_random(s, 2))
				put_bare(s, line, rest, none);
			else
				schedule_put(s, "%s", line);
			if (schedule_random(s, 3))
				tell(s, line, who, its);
			/* Now and then it is told once more, of another sleep. */
			if (schedule_random(s, 10))
				*its = 0;
		} else {
			schedule_put(s, "%s", line);
		}
		/* Of somebody who may sleep on. */
		who = (char)('A' + schedule_random(s, 26));
		if (*line >= '0' && *line <= '9' && !schedule_random(s, 4))
			tell(s, line, who, lost->of[who - 'A']);
	}
	for (size_t i = 0; i < old.n; i++)
		free(old.lines[i]);
	free(old.lines);
	free(lost);
}
