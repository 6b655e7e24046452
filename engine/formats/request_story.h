/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request_story.h - one request in the order of time, as the thread that answered saw it. */
#pragma once

#include "chain_text.h"

/*
 * Writes a line for each thing that took a fiftieth of what is shown of the request, or longer, and
 * when it began; with_chains: and below it what the chains say of that time, as t->is_part asks.
 * Replaces t->wait.
 */
void request_story_put(struct chain_text *t, const struct chosen_wait *p, bool with_chains);

/* A line of a request's story. */
struct story_line {
	uint64_t at_ns; /* since its arrival; of what began before that 0 */
	uint64_t ns;	/* how long it took; 0: a moment */
	size_t text;	/* where it begins in the list's text */
};

/* All zero is empty. */
struct story_list {
	struct story_line *at;
	size_t n, cap;
	char *text; /* each line's ends in a 0 */
};

/*
 * The same in few words, without chains and without other requests of its trace, for what took
 * shortest_ns or longer. To be freed.
 */
void request_story_list(struct story_list *list, struct chain_text *t, const struct chosen_wait *p,
			uint64_t shortest_ns);
void story_list_free(struct story_list *list);
