// SPDX-License-Identifier: GPL-2.0-or-later
#include "wall_time.h"

#include <stdio.h>
#include <time.h>

#define NS_PER_S 1000000000

/* Returns the nanoseconds of the second and sets *tm to the rest; -1: not known. */
static int broken_down(struct tm *tm, const struct trace_info *i, uint64_t ns)
{
	int64_t at;
	time_t s;

	if (!i->wall_ns || __builtin_add_overflow((int64_t)ns, i->wall_ns, &at) || at < 0)
		return -1;
	s = at / NS_PER_S;
	return gmtime_r(&s, tm) ? (int)(at % NS_PER_S) : -1;
}

const char *wall_time_iso(char text[WALL_TIME_SIZE], const struct trace_info *i, uint64_t ns)
{
	struct tm tm;
	int rest = broken_down(&tm, i, ns);
	size_t len = rest < 0 ? 0 : strftime(text, WALL_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);

	if (len)
		snprintf(text + len, WALL_TIME_SIZE - len, ".%09dZ", rest);
	else
		*text = '\0';
	return text;
}

const char *wall_time(char text[WALL_TIME_SIZE], const struct trace_info *i, uint64_t ns)
{
	struct tm tm;

	if (broken_down(&tm, i, ns) < 0 ||
	    !strftime(text, WALL_TIME_SIZE, "%Y-%m-%d %H:%M:%S UTC", &tm))
		*text = '\0';
	return text;
}
