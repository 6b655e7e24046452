// SPDX-License-Identifier: GPL-2.0-or-later
/* innocent LOG: sleeps in innocent_naps() for ever, and writes when: "BEGIN END", in ns since 1970.
 */
#include <stdio.h>
#include <time.h>

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

__attribute__((noinline, visibility("default"))) void innocent_naps(FILE *log)
{
	static const struct timespec nap = { 0, 10000000 };
	unsigned long long begin = now_ns();

	nanosleep(&nap, NULL);
	fprintf(log, "%llu %llu\n", begin, now_ns());
}

int main(int argc, char **argv)
{
	FILE *log = argc > 1 ? fopen(argv[1], "w") : NULL;

	if (!log)
		return 1;
	setvbuf(log, NULL, _IOLBF, 0);
	for (;;)
		innocent_naps(log);
}
