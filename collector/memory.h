/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - that what the recorder has freed does not stay with it: it runs for hours, and bursts
 * take tens of MiB (stacks that wait for a rule, mappings of programs that begin).
 */
#pragma once

#include <stdint.h>

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
