// SPDX-License-Identifier: GPL-2.0-or-later
#include "haste.h"

#include <sys/resource.h>

#include "kernel/nice.h"

int haste_begin(void)
{
	int nice = getpriority(PRIO_PROCESS, 0);

	/* Without the permission, the start just takes longer. */
	(void)setpriority(PRIO_PROCESS, 0, NICE_HIGHEST);
	return nice;
}

void haste_record(int nice)
{
	(void)setpriority(PRIO_PROCESS, 0, nice ? nice : NICE_RECORDING);
}

void haste_end(int nice)
{
	(void)setpriority(PRIO_PROCESS, 0, nice);
}
