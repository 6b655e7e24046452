/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_numbers.h - what stands in place of a thread's number where there is no thread. */
#pragma once

#include <stdint.h>

/* There are fewer threads than THREAD_IDLE; a trace with more cannot be read (-ENOMEM). */
#define THREAD_BITS 25
#define THREAD_NONE \
	((UINT32_C(1) << THREAD_BITS) - 1) /* not known; of a waker: no waking is known */
#define THREAD_IDLE (THREAD_NONE - 1)	   /* the idle loop's context: an interrupt woke */
