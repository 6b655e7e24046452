// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf.h"

/* arm64 has no header with the numbers of 32-bit programs. */
#if defined(__x86_64__)
#include <asm/unistd_32.h>
#endif

const __u8 calls_of_32[WIRE_CALLS] = {
#include "call_list.h" /* made of calls.list */
#if defined(__x86_64__)
	/* Times of 32 bits. */
	[__NR_nanosleep] = WIRE_CALL(SLEEP32, 0),
	[__NR_clock_nanosleep] = WIRE_CALL(SLEEP32, 2),
#endif
};
