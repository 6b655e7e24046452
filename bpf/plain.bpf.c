// SPDX-License-Identifier: GPL-2.0-only
/*
 * plain.bpf.c - the same programs for kernels that refuse older.bpf.c, too, as 5.10 does: without
 * what takes loops by helpers, functions with pointers, atomic operations with a result, or calls
 * of kernel functions. Stacks are walked by the kernel each time (plain_stack.h), user stacks by
 * frame pointers; objects, groups, requests, contexts and interpreted code are left out.
 * collector/kernel/bpf.c chooses which of the objects is loaded, and which programs of it.
 */
#define PLAIN 1
#include "chaincap.bpf.c"
