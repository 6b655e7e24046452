/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_calls.h - what a thread is in the kernel for, by its stack there. */
#pragma once

#include "names.h"

/* "execve" of "__x64_sys_execve", "page faults"; NULL: the kernel does not begin there. */
const char *kernel_call_begins(const char *symbol);
/*
 * The call in which a thread with this stack pair is in the kernel, or what it does for a signal on
 * its way back from any: "execve", "core dumps". NULL: it is not, or none is known. *kernel: it is
 * in the kernel.
 */
const char *kernel_call_of(struct names *n, const struct trace *t, uint32_t pair, bool *kernel);
