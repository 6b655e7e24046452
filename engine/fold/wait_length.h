/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_length.h - the lengths of waits as FOLD_BY_ROW keeps them apart: rounded up to the next of
 * eight steps between powers of two, so that a length is too long by less than an eighth.
 */
#pragma once

#include <stdint.h>

uint32_t wait_length(uint64_t ns); /* a number from 1 on: see struct thread_group */
uint64_t wait_length_ns(uint32_t length);

/* One number of a request's length and of how much of that is beyond the median of its route. */
uint32_t wait_length_and_over(uint32_t length, uint64_t over_ns);
uint64_t wait_length_over_ns(uint32_t length); /* 0: it has no such part */
