/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link.h - one link of a chain: the waker of a wait, and the stack from which it woke. */
#pragma once

#include "base/options.h"
#include "kernel_stacks.h"
#include "timeline/timeline.h"

enum link_flags {
	LINK_SHOWS_BLOCKED = 1, /* blocked is to be shown */
	LINK_STARTED = 2,	/* the waker did not wake the wakee, but started it */
	LINK_IDLE = 4,		/* an interrupt of the idle loop */
	LINK_ASKED = 16,	/* with LINK_STARTED: but asked it, a worker, for work */
	LINK_LABEL = 8,		/* no link: name says what the time below it was, "[queued]" */
};

/* Has no padding, so that equal links are equal bytes, and can be a key. */
struct link {
	uint32_t waker;		/* thread; THREAD_NONE: an interrupt */
	uint32_t name;		/* string id: the waker's name when it woke; 0 for an interrupt */
	uint32_t stack;		/* stack pair: the waker's */
	uint32_t kernel_frames; /* of its kernel stack, from the leaf on, that are the waker's */
	uint32_t blocked;	/* stack pair: where the wakee slept; 0 if not asked for */
	uint32_t flags;		/* enum link_flags, or-ed */
};

/* What stands between a client and the first link, string ids: see requests.h. */
static inline struct link link_label(uint32_t text)
{
	return (struct link) { .waker = THREAD_NONE, .name = text, .flags = LINK_LABEL };
}

/*
 * The link to the thread that read, or answered, the request of a client, w being the client's
 * wait.
 */
static inline struct link link_of_client(const struct timelines *tl, const struct options *o,
					 const struct wait *w, uint32_t waker, uint32_t pair,
					 uint64_t at_ns)
{
	return (struct link) { .waker = waker,
			       .name = timelines_name(tl, waker, at_ns),
			       .stack = timelines_plain_pair(tl, pair),
			       .kernel_frames = UINT32_MAX,
			       .blocked = o->fold_repeats ? w->stack : 0 };
}

/*
 * The link that ended w, a wait with a waker, whose context is given. first: w is the wait that is
 * explained, whose own stack stands at the head of the chain; so its link does not show it.
 */
static inline struct link link_of(const struct timelines *tl, const struct options *o,
				  const struct wait *w, struct waker_context context, bool first)
{
	struct link l = { .waker = w->waker,
			  .stack = timelines_plain_pair(tl, w->waker_stack),
			  .kernel_frames = context.frames };
	bool started = !first && w->flags & WAIT_NEW;

	if (context.interrupt) {
		l.flags |= w->waker == THREAD_IDLE ? LINK_IDLE : 0;
		l.waker = THREAD_NONE;
	} else {
		l.name = timelines_name(tl, w->waker, w->wake_ns);
	}
	if (started)
		l.flags |= LINK_STARTED | (wait_is_asked(w) ? LINK_ASKED : 0);
	/* A thread that was not started yet slept nowhere. */
	if (started)
		return l;
	if (o->blocked_stacks && !first)
		l.flags |= LINK_SHOWS_BLOCKED;
	if (o->fold_repeats || l.flags & LINK_SHOWS_BLOCKED)
		l.blocked = w->stack;
	return l;
}
