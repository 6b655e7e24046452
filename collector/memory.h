/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - the recorder's memory, and that of its helpers. What it has freed does not stay with
 * it: it runs for hours, and bursts take tens of MiB (stacks that wait for a rule, mappings of
 * programs that begin). What it does not take itself of --memory is its helpers'.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct helpers;

/*
 * Call it first: from now on large arrays lie outside of the heap, and are given back as soon as
 * they are freed.
 */
void memory_begin(void);

/*
 * To be called now and then: gives back what is free in the heap, every 10 s. now_ns is
 * CLOCK_MONOTONIC; *last_ns is when it did so last, at first 0. Takes some ms.
 */
void memory_give_back(uint64_t *last_ns, uint64_t now_ns);

/*
 * Whether of the memory that this process's control group may take, or one around it, less than an
 * eighth is left, not counting what it holds of files, which the kernel gives up first; once it
 * was, less than a quarter. False if there is no limit, or none that is known.
 */
bool memory_group_is_short(bool was_short);

/*
 * To be called now and then: the helpers may take what this process and writer do not, of budget
 * bytes in all. Those that take more than that are ended: see helpers_memory(). helpers may be
 * NULL; writer is a fork of this process, or 0. Returns how much these two take, in bytes, without
 * the rings, which are the kernel's.
 */
uint64_t memory_share(struct helpers *helpers, uint64_t budget, pid_t writer);
