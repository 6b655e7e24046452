/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_text.h - a wait's chains for reading: each link below the thread that it woke, with what
 * the waker did in the meantime.
 */
#pragma once

#include "wait_tree.h"
#include "words/names.h"

struct chain_text {
	FILE *out;
	const struct timelines *timelines;
	const struct options *options;
	struct names *names;
	struct wait_tree wait; /* the current one */
	bool of_client;	       /* the current one is for a request */
	int left;	       /* columns left of links of level 0 */
	/* The links of level 0 are below a line that says where the thread slept, or for what. */
	bool is_part;
	/*
	 * Puts what another machine did, which is a part (remote_answers.h) of ns of a link's time.
	 * NULL: no traces are joined.
	 */
	void (*put_remote)(void *arg, struct chain_text *t, uint32_t part, uint64_t ns,
			   unsigned int level);
	void *remote_arg;
};

/*
 * o has fold_repeats and blocked_stacks set, and names the same options; all must outlive it. To be
 * ended with chain_text_free().
 */
void chain_text_init(struct chain_text *t, FILE *out, const struct timelines *tl,
		     const struct options *o, struct names *names);
void chain_text_free(struct chain_text *t);

/* "2.000 ms" */
void chain_text_time(const struct chain_text *t, uint64_t ns);
/* name: the id of a text. times: of a waker, how many in a row are meant; the first is thread. */
void chain_text_who(struct chain_text *t, uint32_t thread, uint32_t name, uint32_t times);
/* A stack on one line, which it ends. */
void chain_text_stack(struct chain_text *t, uint32_t pair, uint32_t kernel_frames, bool with_user);
/* One clause of a list, unless ns is 0: "ran 2.000 ms". n: how many there are so far. */
void chain_text_clause(const struct chain_text *t, int *n, const char *before, uint64_t ns,
		       const char *after);
/* Ends a clause with those who had the CPU. */
void chain_text_holders(struct chain_text *t, uint32_t item);
void chain_text_indent(const struct chain_text *t, unsigned int level);

/* Who, or what, ended a sleep, of which the item is the link; and what it did meanwhile. */
void chain_text_waker(struct chain_text *t, const struct tree_item *i);
/* What an item's thread ran, by samples. */
void chain_text_ran(struct chain_text *t, const struct tree_item *item, unsigned int level);
/* The links below an item of t->wait. */
void chain_text_links(struct chain_text *t, const struct tree_item *above, unsigned int level);
