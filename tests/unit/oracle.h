/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oracle.h - a second opinion: an engine that is slow and simple on purpose. It shares nothing with
 * the one in engine/ but the reader. Every thread's life is a list of all its stretches, running
 * ones included; a loss is carried to every thread at once; a chain is walked by looking at every
 * stretch of every waker, and each piece becomes a string that is sorted and summed up at the end.
 */
#pragma once

#include <stdbool.h>

#include "trace/trace.h"

struct oracle_asked {
	unsigned int depth;
	bool classic;
	bool own; /* and running time and that of which nothing is known, if there are samples */
	bool who_ran;	   /* with who had the CPU */
	bool plain_ends;   /* all interrupts are [interrupt] */
	bool fold_repeats; /* links that repeat the one before them are one */
	bool no_idle;	   /* without pauses and waits for work */
	bool requests;	   /* of clients, instead of what threads wait for */
};

/* Folded lines in ns of all waits and preempted intervals of all threads. To be freed. */
char *oracle_folded(const struct trace *t, const struct oracle_asked *asked);

/*
 * What interrupts took, in ns: "TID BEGIN ran NS" for each thread with any of its running time, the
 * same of a hypervisor: "TID BEGIN had NS", and
 * "TID BEGIN NAME NS" for who had the CPU while it was ready, with "[interrupts]" among them. Only
 * [from_ns, to_ns) counts. Lines are sorted. To be freed.
 */
char *oracle_interrupts(const struct trace *t, uint64_t from_ns, uint64_t to_ns);

/* The words for a wait: "WHERE\nFOR WHAT\nKIND", to be freed; and what the kinds are. */
struct oracle_words {
	char *(*of)(void *arg, uint32_t kstack, uint32_t ustack, uint32_t object, uint32_t ready);
	void *arg;
	int work, lock, child;
};

/*
 * Of the whole life of each thread: "TID BEGIN A (where, for what, kind); B [end]", a tab and ns,
 * for each way of steps to an end; and "TID BEGIN by TID@BEGIN TID@BEGIN", a tab and ns, for each
 * way of processes that its own started. Lines may come several times. To be freed.
 */
char *oracle_paths(const struct trace *t, const struct oracle_words *words);
