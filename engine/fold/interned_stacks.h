/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interned_stacks.h - numbers for what chains consist of: groups (whose waits), and lists of frames
 * for heads and links. Several threads ask at the same time; equal ones have equal numbers for all
 * of them. Each thread has a cache, so that it needs the lock only for what it meets for the first
 * time.
 */
#pragma once

#include "common/intern.h"
#include "attribute/chain.h"
#include "words/frame_list.h"

/* What is kept apart. */
enum group_by {
	GROUP_BY_NAME,	  /* threads by their names, and by their roots */
	GROUP_BY_PROCESS, /* also by process; clients by endpoint and by trace id */
	GROUP_BY_ROW,	  /* by the process's name, clients by endpoint; waits by their lengths */
};

/* Threads of one process, while they had one name; clients, by what they asked for. */
struct thread_group {
	uint32_t name;	  /* string id: the threads' */
	uint32_t pid;	  /* 0: not known, or not asked for */
	uint32_t leader;  /* thread; THREAD_NONE: not known */
	uint32_t process; /* string id: the process's name; 0: not known */
	uint32_t root;	  /* as given to intern_group() */
	/* Clients that are kept apart, from 1: the endpoint's number; the trace id, as the number
	 * of its first request; 0: none. */
	uint32_t endpoint, trace;
	uint32_t length, span; /* as given to intern_group() */
};

struct interned_stacks;

/* The group of a thread's waits with this name, and so on; group 0: not asked for yet. */
struct known_group {
	uint32_t name, root, length, span, group;
};

/* One thread's. */
struct stack_cache {
	struct interned_stacks *stacks;
	struct intern keys; /* what lists are made of */
	uint32_t *lists;    /* by the key's id */
	size_t cap_lists;
	struct known_group *groups; /* by thread */
};

/* GROUP_BY_PROCESS keeps source lines apart as well, see frame_lists_new(). */
void interned_stacks_new(struct interned_stacks **out, const struct timelines *tl,
			 const struct options *o, enum group_by by);
void interned_stacks_free(struct interned_stacks *p);
/* To be ended with stack_cache_free(). */
void stack_cache_init(struct stack_cache *c, struct interned_stacks *p);
void stack_cache_free(struct stack_cache *c);

/*
 * ---- from any thread: each function returns a number from 1 on ---------------------------------
 */

/*
 * The group of a thread's waits while it has this name (string id), and below this root: the path
 * of a control group or the name of a process (string id), or 0 where the options ask for none.
 * span: the span of time of which they are, 0 if there are no spans. length, of GROUP_BY_ROW: a
 * number that stands for how long they are; else 0.
 */
uint32_t intern_new_group(struct stack_cache *c, uint32_t thread, uint32_t name, uint32_t root,
			  uint32_t length, uint32_t span);
static inline uint32_t intern_group(struct stack_cache *c, uint32_t thread, uint32_t name,
				    uint32_t root, uint32_t length, uint32_t span)
{
	const struct known_group *g = &c->groups[thread];

	return g->group && g->name == name && g->root == root && g->length == length &&
			       g->span == span
		       ? g->group
		       : intern_new_group(c, thread, name, root, length, span);
}

/*
 * The group of a client that waits for the request: apart from those of other endpoints, and as
 * enum group_by says of other traces or lengths.
 */
uint32_t intern_request_group(struct stack_cache *c, uint32_t client, uint32_t name,
			      const struct request *q, uint32_t length, uint32_t span);

/* The root of the waits of a thread that begin at at_ns, as the options ask for one. */
uint32_t interned_stacks_root(const struct interned_stacks *p, uint32_t thread, uint64_t at_ns);
/* Whether roots are told beside the lines, and are no frames: ROOT_BESIDE. */
bool interned_stacks_beside(const struct interned_stacks *p);

/* Lists of frames: see words/frame_list.h. */
uint32_t intern_head(struct stack_cache *c, uint32_t name, uint32_t stack);
/* Where a thread ran (a stack pair); a thread's name alone. */
uint32_t intern_ran(struct stack_cache *c, uint32_t stack);
uint32_t intern_name(struct stack_cache *c, uint32_t name);
uint32_t intern_link(struct stack_cache *c, const struct link *l);
/*
 * A link with where it joins the one before it: equal for links of one text whose wakees slept in
 * one place, for one object. intern_identity_list() is its list of frames, the thread's name being
 * followed by "x 6" if it came 6 times in a row.
 */
uint32_t intern_link_identity(struct stack_cache *c, const struct link *l);
uint32_t intern_identity_list(struct stack_cache *c, uint32_t identity, uint32_t times);
/* The list for who had the CPU: see cpu_holders.h. */
uint32_t intern_holder(struct stack_cache *c, uint32_t who);
/* The list for what was asked of a disk (timelines_disk_request_kind()), and a stage of that. */
uint32_t intern_disk(struct stack_cache *c, uint32_t kind, enum disk_stage stage);
/*
 * What stands above [network]: the timer of TCP, if the stage is one's, and the socket (an object
 * of the trace; 0: not known), as its class or in full as the options say.
 */
uint32_t intern_packets(struct stack_cache *c, uint32_t object, uint32_t stage);
/* l NULL: there is no waker, end is why. */
uint32_t intern_wakeup(struct stack_cache *c, const struct link *l, enum chain_end end,
		       uint32_t wakee);

/* ---- when no other thread asks any more ------------------------------------------------------ */

struct thread_group interned_stacks_thread_group(const struct interned_stacks *p, uint32_t group);
/*
 * The group that is the same but for its span, which is 0; what is no group (what running totals
 * are relative to) as it is.
 */
uint32_t interned_stacks_first_span(struct interned_stacks *p, uint32_t group);
struct frame_lists *interned_stacks_lists(const struct interned_stacks *p);
struct names *interned_stacks_names(const struct interned_stacks *p);
/* The list of "[read of 8:0]", what was asked of a disk, and of a text unless that is NULL. */
uint32_t interned_stacks_disk(struct interned_stacks *p, uint32_t request, const char *above);
