/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples.h - where threads were while they ran (chain-semantics, section 8): samples by thread, in
 * the order of time. They do not determine when a thread ran: a sample at a time at which its
 * thread does not run by its timeline is dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample {
	uint64_t ns;   /* CLOCK_MONOTONIC */
	uint32_t pair; /* its stacks, see timelines_pair(); 0: none */
	uint32_t thread;
	uint32_t cpu;
};

/* All zero is empty, ready for samples_add(). */
struct samples {
	bool any;	   /* the trace has some, kept or not */
	struct sample *at; /* once sorted, by thread, then time */
	size_t n, cap;
	size_t *first; /* by thread, and one more: where its samples begin */
};

/* Appends a sample; times never decrease. */
void samples_add(struct samples *s, const struct sample *sample);
/* When all of them are there: sorts them. */
void samples_sort(struct samples *s, uint32_t n_threads);
void samples_free(struct samples *s);

/* The first of [from, end) at ns or later. */
const struct sample *sample_at(const struct sample *from, const struct sample *end, uint64_t ns);
