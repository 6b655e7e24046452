/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - what the arguments of a system call say of what a thread waits for in it: WIRE_CALL()
 * by the call's number, for the machine's own calls and for those of 32-bit programs (on x86-64).
 */
#pragma once

#include <linux/types.h>

#include "chainwire.h"

extern const __u8 calls_of_64[WIRE_CALLS], calls_of_32[WIRE_CALLS];
