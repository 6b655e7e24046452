// SPDX-License-Identifier: GPL-2.0-only
/*
 * plain.bpf.c - the same programs for kernels that refuse chaincap.bpf.c, as those before 6.1 do:
 * without what takes loops by bpf_loop(), functions with pointers, atomic operations with a result,
 * or calls of kernel functions. Stacks are walked by the kernel each time (plain_stack.h), user
 * stacks by frame pointers; objects, groups, requests, contexts and interpreted code are left out.
 * collector/kernel/bpf.c chooses which of the two is loaded, and which programs of it.
 */
#define PLAIN 1
#include "chaincap.bpf.c"
