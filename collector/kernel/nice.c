// SPDX-License-Identifier: GPL-2.0-or-later
#include "nice.h"

#include <errno.h>
#include <stdio.h>

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
