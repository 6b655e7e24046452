/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * holder_ranges.h - private to cpu_holders.c: many ranges of what CPUs ran, of which the sums are
 * asked for, by key. All of a key are summed up in one walk over the changes that they cover, so
 * that threads that were ready at the same time, as on an overloaded machine, cost a walk and not
 * one each.
 */
#pragma once

#include "cpu_ran.h"

/* What the ranges of (a, b) have of a holder. */
typedef void (*holder_ranges_fn)(void *arg, uint32_t a, uint32_t b, uint32_t number, uint64_t ns);

struct holder_ranges;

/* ran must outlive it. fn is called by holder_ranges_add() and holder_ranges_sum(). */
void holder_ranges_new(struct holder_ranges **out, const struct cpu_ran *ran, holder_ranges_fn fn,
		       void *arg);
void holder_ranges_free(struct holder_ranges *h);
/* Adds the changes [first, end) of a CPU, `count` times. */
void holder_ranges_add(struct holder_ranges *h, uint32_t a, uint32_t b, uint32_t cpu, size_t first,
		       size_t end, int64_t count);
/* When this returns, fn has been told of everything that was added. */
void holder_ranges_sum(struct holder_ranges *h);
