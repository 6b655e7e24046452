// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf.h"

#include <asm/unistd.h>

const __u8 calls_of_64[WIRE_CALLS] = {
#include "call_list.h" /* made of calls.list */
	[__NR_nanosleep] = WIRE_CALL(SLEEP, 0),
	[__NR_clock_nanosleep] = WIRE_CALL(SLEEP_UNTIL, 0),
};
