/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causes_private.h - what causes.c sums up, and causes_words.c describes. */
#pragma once

#include <string.h>

#include "causes.h"
#include "common/intern.h"
#include "attribute/woken_meanwhile.h"
#include "timeline/processes.h"

/* A flag that is added to a chain's enum chain_end: a quota was used up. */
#define THROTTLED 0x100u

/* What counts of a head or a link. Texts; 0: there is none. */
struct label {
	uint32_t who;	/* 0: an interrupt */
	uint32_t woke;	/* from where it woke */
	uint32_t slept; /* where the thread above, or the head's, slept */
	uint32_t what;	/* what it slept for */
	uint32_t by;	/* an interrupt's handler */
	/* Only of requests: its process's name; that and the thread as "NAME/ID". */
	uint32_t process_name, process, thread;
	uint32_t is_text; /* no link and no head, but what stands between: "[queued]" */
};

/* What distinguishes causes. */
struct cause_key {
	uint32_t end, disk, who, where, by, itself, answers;
};

/* What a wait has of a cause. */
struct cause_part {
	uint32_t cause;
	uint64_t ns;
	struct chosen_wait wait;
};

/* A chain and its end, with THROTTLED. */
struct chain_sum {
	uint64_t ns;
	uint32_t node, end;
	uint32_t disk;	/* of CHAIN_DISK: its kind */
	uint32_t cause; /* 1 + its number; 0: not looked up yet */
};

/* A window of a waker's time, of the current wait. */
struct window {
	uint32_t node, waker;
	uint64_t from_ns, to_ns;
};

struct causes {
	const struct timelines *timelines;
	const struct trace *trace;
	struct names *names;
	struct wait_filter *filter;
	struct chains chains;
	struct intern links; /* struct link; */
	uint32_t *label_of;  /* by its id: the label, 0 not made yet */
	size_t cap_label_of;
	struct intern labels; /* struct label */
	struct intern keys;   /* struct cause_key; */
	struct cause *at;     /* by its id - 1, until they are sorted */
	size_t n, cap;
	struct pair_table sums;		 /* struct chain_sum, by (node, end or disk) */
	struct cpu_holders *cpu_holders; /* NULL: not known */
	/* By cause: who had the CPU (see cpu_holders.h), and texts. */
	struct sums had, wheres, whats, wakee_whats;
	struct processes *processes; /* NULL: the waits are not those of requests */
	/* Only of requests, by cause: threads, stacks of samples, texts. */
	struct sums processes_of, threads, samples, wakee_sleeps;
	struct cause_part *parts;
	size_t n_parts, cap_parts_of_waits;
	struct woken_meanwhile *wakings;
	struct sums woken; /* by cause: see woken_meanwhile_add() */
	struct window *windows;
	size_t n_windows, cap_windows;
	/* The current wait: parts by cause, and which causes have one. */
	uint64_t *part_ns;
	uint32_t *touched;
	size_t cap_parts, cap_touched, n_touched;
	bool out_of_memory;
};

static inline bool causes_of_requests(const struct causes *c)
{
	return c->processes;
}

static inline struct label causes_label(const struct causes *c, uint32_t id)
{
	struct label l;
	size_t len;

	memcpy(&l, intern_bytes(&c->labels, id, &len), sizeof(l));
	return l;
}

/* Sets what is said of the causes: where, who had the CPU, the path. 0 or -ENOMEM. */
int causes_describe(struct causes *c);
/* causes_samples.c: sets what threads ran. 0 or -ENOMEM. */
int causes_say_what_ran(struct causes *c);
