/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups.h - in which control group each thread was, and when: as it was at the start, or as its
 * parent's at its fork, until it, or its whole process, was moved. A group is known by the kernel's
 * id for it, and may be renamed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"
#include "common/intern.h"

struct trace;

/* Who is in which group from when on. */
struct group_move {
	uint64_t at_ns;
	uint32_t who;	/* private: a thread or a process */
	uint32_t group; /* number, from 1; 0: not known */
};

struct group_name {
	uint64_t at_ns; /* the first name of a group: 0 */
	uint32_t group;
	uint32_t path; /* string id */
};

/* Moves were lost from at_ns on; until_ns: up to when at the latest, also of all losses before. */
struct group_loss {
	uint64_t at_ns, until_ns;
};

/* All zero is empty: no group is known. */
struct groups {
	struct group_move *moves; /* once finished, by who, then time */
	size_t n_moves, cap_moves;
	struct group_name *names; /* likewise by group */
	size_t n_names, cap_names;
	struct group_loss *losses; /* by time */
	size_t n_losses, cap_losses;
	struct intern numbers;	/* of groups, by the kernel's ids */
	struct pairs processes; /* (process id, 0) to a number */
	size_t *first;		/* once finished: of a thread's moves, by thread */
	uint32_t n_threads;
	/* While it is built: by thread and by process, 1 + the last move; 0: none. */
	size_t *last[2];
	size_t cap_last[2];
};

/* While it is built, in order of time. */

/* From at_ns on the thread is in the group of that object (0: not known). */
void groups_thread(struct groups *g, const struct trace *t, uint32_t thread, uint64_t at_ns,
		   uint32_t object);
/* The same of all threads of a process. */
void groups_process(struct groups *g, const struct trace *t, uint32_t tgid, uint64_t at_ns,
		    uint32_t object);
/* A child, which was forked at at_ns, is in the group in which its parent, of process tgid, is. */
void groups_inherit(struct groups *g, uint32_t child, uint64_t at_ns, uint32_t parent,
		    uint32_t tgid);
/* The group of that object is called so from at_ns on. */
void groups_rename(struct groups *g, const struct trace *t, uint64_t at_ns, uint32_t object);
/* Moves are missing from at_ns to until_ns: who was moved last before that may be elsewhere. */
void groups_lost(struct groups *g, uint64_t at_ns, uint64_t until_ns);
/* When all is there; threads: how many there are. */
void groups_finish(struct groups *g, uint32_t threads);
void groups_free(struct groups *g);

/*
 * The path (string id) of the group in which a thread, of process tgid, was, which began at
 * begin_ns. 0: not known. *until_ns: so it stays up to then at least, UINT64_MAX being for ever.
 */
uint32_t groups_at(const struct groups *g, uint32_t thread, uint32_t tgid, uint64_t begin_ns,
		   uint64_t at_ns, uint64_t *until_ns);
/* Calls fn for each path that its groups had in its life, up to end_ns, until it returns true. */
bool groups_any(const struct groups *g, uint32_t thread, uint32_t tgid, uint64_t begin_ns,
		uint64_t end_ns, bool (*fn)(void *ctx, uint32_t path), void *ctx);
