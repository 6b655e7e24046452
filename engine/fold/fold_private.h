/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold_private.h - what fold.c and folder.c share: fold.c gives the waits to folders, one for each
 * CPU, and makes rows of what these have summed up.
 */
#pragma once

#include "attribute/chain_batch.h"
#include "base/cpus.h"
#include "fold.h"
#include "node_sums.h"
#include "slices.h"
#include "select/wait_filter.h"

#define HEADS 4096u /* a power of two */

/* A cache's slot: the node of a head. */
struct head {
	uint32_t group, stack, node; /* node 0: empty */
	uint32_t class;		     /* of what it waits for: wait_class() */
};

/* The node of a thread's name alone that was asked for last. */
struct own {
	uint32_t group, name, node; /* node 0: none was */
};

/* A wait that reaches over several slices, and the part of it that was chosen. */
struct long_wait {
	uint32_t thread;
	const struct wait *wait;
	uint64_t from_ns, to_ns;
	uint32_t span;
};

struct fold;

/* Each works on slices of its own, and then on a share of the long waits' time. */
struct folder {
	struct fold *fold;
	struct names *names; /* the filter's */
	struct wait_filter *filter;
	struct chains chains;	   /* its nodes: see chain_row.node */
	struct chain_batch *batch; /* NULL: one wait at a time */
	struct stack_cache stacks;
	struct head heads[HEADS];
	struct own own;
	struct long_wait *long_waits;
	size_t n_long, cap_long;
	struct node_sums sums;
	struct chain_summary summary;
	struct sums classes;
	uint64_t times; /* how often what is added counts */
};

struct fold {
	const struct timelines *timelines;
	const struct options *options;
	enum fold_by by;
	struct fold_spans spans; /* n 0: there are none */
	bool knows_objects;	 /* the trace says what was waited for */
	struct interned_stacks *stacks;
	struct cpu_holders *cpu_holders; /* NULL: not asked for, or not known */
	uint64_t *median_ns;		 /* request_medians(), of FOLD_BY_ROW; else NULL */
	struct slices slices;
	struct folder folders[CPUS_USED_MAX]; /* at the end the first one has all sums */
	uint32_t n_folders;
	struct chain_summary summary;
	struct sums classes; /* of what was waited for; empty if the trace does not say it */
	struct pairs nodes;  /* of the chains, when they are complete */
	struct chain_rows rows;
	/* fold_new_in_spans(): nodes and rows that are kept apart by span, in the order of that;
	 * those of span i are from first_row[i] on, their samples from first_ran[i]. */
	struct pairs span_nodes;
	struct chain_rows span_rows;
	size_t *first_row, *first_ran; /* n + 1 */
};

static inline bool fold_counts_waits(const struct fold *f)
{
	return f->by == FOLD_BY_LINE || f->by == FOLD_BY_ROW;
}

static inline bool fold_folds_repeats(const struct fold *f)
{
	return f->options->fold_repeats && f->by != FOLD_BY_WAKER;
}

/* Both take a struct folder, and return NULL. Folds slices until there are none left. */
void *folder_run(void *folder);
/*
 * Then: a share of the long waits' time, for all of these waits: together their windows cost one
 * pass over the wakers' time, not one each.
 */
void *folder_run_long(void *folder);
/* In place of both: parts of requests, each with a group of its own, i + 1. */
void folder_run_remote(struct folder *f, const struct fold_remote *at, size_t n);
void folder_clear(struct folder *f);
