/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * joint.h - what a thread waits for, as a person would say it: "a metadata lock", "a reply of
 * postgres (tcp :5432)", "its child cc1". It is the joint of a chain: the thing that others queue
 * for, and that one would change.
 */
#pragma once

#include "chain_known.h"
#include "words/names.h"

enum joint_kind {
	JOINT_OTHER,
	JOINT_LOCK,  /* somebody holds it */
	JOINT_CHILD, /* the end of a process or thread */
	JOINT_SLEEP, /* only its own timer */
	JOINT_WORK,  /* the thread had nothing to do */
	JOINT_QUEUE, /* a request that nobody has taken yet */
	JOINT_BUSY,  /* likewise, while its reader works for others */
	JOINT_EVENT, /* an event loop or a poll, whatever was ready */
};

struct joint {
	enum joint_kind kind;
	uint32_t text; /* in names; "": not known. 0: out of memory */
};

/* Of a process's child. */
#define JOINT_ITS_CHILD "its child"

/* Of a sleep with the stack pair. k, names and known are those of the timelines. */
struct joint joint_of(const struct timelines *tl, struct kernel_stacks *k, struct names *names,
		      const struct chain_known *known, uint32_t pair);

/*
 * Of a sleep in an event loop, j being joint_of() it: if it went on as what was ready was not what
 * it waited for, j becomes the waker, a thread, which answers others at its socket.
 */
void joint_take_answer(const struct timelines *tl, struct names *names, uint32_t pair,
		       uint32_t waker, struct joint *j);

/*
 * Whether a sleep with that stack pair was for a signal, and who ended it, with the stack pair by,
 * was a child that told its end.
 */
bool joint_ended_by_child(const struct timelines *tl, uint32_t pair, uint32_t by);

/* The words for one of n connections to a server, as "postgres :5432"; a text. */
uint32_t joint_of_connections(struct names *names, uint32_t n, const char *server);

/* Whether a text of a joint is that of a lock of a table, for which statements of all kinds wait.
 */
bool joint_is_of_table(const char *text);
