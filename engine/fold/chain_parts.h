/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_parts.h - numbers for the parts of chains: groups (whose waits), and lists of frames for
 * heads and links. Several threads ask at the same time; equal parts have equal numbers for all of
 * them. Each thread has a cache, so that it needs the lock only for what it meets for the first
 * time.
 */
#ifndef ENGINE_CHAIN_PARTS_H
#define ENGINE_CHAIN_PARTS_H

#include "common/intern.h"
#include "attribute/chain.h"
#include "words/frame_list.h"

/* Threads of one process, while they had one name. */
struct thread_group {
	uint32_t name;	  /* string id: the threads' */
	uint32_t pid;	  /* 0: not known, or not asked for */
	uint32_t leader;  /* thread; THREAD_NONE: not known */
	uint32_t process; /* string id: the process's name; 0: not known */
};

struct chain_parts;

/* The group of a thread while it has this name; group 0: not asked for yet. */
struct known_group {
	uint32_t name, group;
};

/* One thread's. */
struct part_cache {
	struct chain_parts *parts;
	struct intern keys; /* what lists are made of */
	uint32_t *lists;    /* by the key's id */
	size_t cap_lists;
	struct known_group *groups; /* by thread */
};

/*
 * by_line: threads of different processes are in different groups, and source lines are kept apart
 * as by frame_lists_new(). NULL: out of memory.
 */
struct chain_parts *chain_parts_new(const struct timelines *tl, const struct options *o,
				    bool by_line);
void chain_parts_free(struct chain_parts *p);
/* 0 or -ENOMEM. To be ended with part_cache_free(), also after an error. */
int part_cache_init(struct part_cache *c, struct chain_parts *p);
void part_cache_free(struct part_cache *c);

/* ---- from any thread: each function returns a number from 1 on, or 0 when out of memory ------ */

/* The group of a thread's waits while it has this name (string id). */
uint32_t part_new_group(struct part_cache *c, uint32_t thread, uint32_t name);
static inline uint32_t part_group(struct part_cache *c, uint32_t thread, uint32_t name)
{
	const struct known_group *g = &c->groups[thread];

	return g->group && g->name == name ? g->group : part_new_group(c, thread, name);
}

/* Lists of frames: see words/frame_list.h. */
uint32_t part_head(struct part_cache *c, uint32_t name, uint32_t stack);
/* Where a thread ran (a stack pair); a thread's name alone. */
uint32_t part_ran(struct part_cache *c, uint32_t stack);
uint32_t part_name(struct part_cache *c, uint32_t name);
uint32_t part_link(struct part_cache *c, const struct link *l);
/*
 * A link with where it joins the one before it: equal for links of one text whose wakees slept in
 * one place, for one object. part_identity_list() is its list of frames, the thread's name being
 * followed by "x 6" if it came 6 times in a row.
 */
uint32_t part_link_identity(struct part_cache *c, const struct link *l);
uint32_t part_identity_list(struct part_cache *c, uint32_t identity, uint32_t times);
/* The list for who had the CPU: see cpu_holders.h. */
uint32_t part_who(struct part_cache *c, uint32_t who);
/* The list for what was asked of a disk (timelines_disk_request_kind()), and a stage of that. */
uint32_t part_disk(struct part_cache *c, uint32_t kind, enum disk_stage stage);
/* What was waited for (an object of the trace), as classes or in full as the options say. */
uint32_t part_object(struct part_cache *c, uint32_t object);
/* l NULL: there is no waker, end is why. */
uint32_t part_wakeup(struct part_cache *c, const struct link *l, enum chain_end end,
		     uint32_t wakee);

/* ---- when no other thread asks any more ------------------------------------------------------ */

struct thread_group chain_parts_thread_group(const struct chain_parts *p, uint32_t group);
struct frame_lists *chain_parts_lists(const struct chain_parts *p);
struct names *chain_parts_names(const struct chain_parts *p);

#endif /* ENGINE_CHAIN_PARTS_H */
