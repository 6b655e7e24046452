// SPDX-License-Identifier: GPL-2.0-or-later
#include "nice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char path[] = "/proc/self/autogroup";

bool session_nice(int *nice)
{
	FILE *f = fopen(path, "re");
	bool known = f && fscanf(f, "/autogroup-%*u nice %d", nice) == 1;

	if (f)
		fclose(f);
	return known;
}

int session_set_nice(int nice)
{
	FILE *f = fopen(path, "we");
	int err = 0;

	if (!f)
		return -errno;
	setvbuf(f, NULL, _IONBF, 0);
	if (fprintf(f, "%d", nice) < 0)
		err = -errno;
	fclose(f);
	return err;
}

void session_restore_nice(int nice)
{
	/* The kernel takes one value in 100 ms of all who may not set any. */
	for (int tries = 0; session_set_nice(nice) == -EAGAIN && tries < 20; tries++)
		nanosleep(&(struct timespec) { .tv_nsec = 50000000 }, NULL);
}
