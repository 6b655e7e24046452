/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_length.h - the lengths of waits as FOLD_BY_ROW keeps them apart: rounded up to the next of
 * eight steps between powers of two, so that a length is too long by less than an eighth.
 */
#pragma once

#include <stdint.h>

uint32_t wait_length(uint64_t ns); /* a number from 1 on: see struct thread_group */
uint64_t wait_length_ns(uint32_t length);
