// SPDX-License-Identifier: GPL-2.0-only
/*
 * older.bpf.c - the same programs for kernels that refuse chaincap.bpf.c, as 5.15 does: without
 * bpf_loop(), and without calls of kernel functions. There a map's value has at most 4 MiB, so that
 * the tables by which stacks are known again have no room: the kernel walks each kernel stack, and
 * each user stack is unwound. All else is recorded alike, as far as the kernel has the tracepoints
 * and helpers for it. collector/kernel/bpf.c chooses which of the objects is loaded.
 */
#define OLDER 1
#include "chaincap.bpf.c"
