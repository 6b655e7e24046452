/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_chain.h - a wait's chain as JSON, as the manual page describes it: its pieces, also those on
 * other machines (chain-semantics, section 16).
 */
#pragma once

#include "json_words.h"
#include "wait_amounts.h"

struct json_chain {
	struct wait_amounts wait; /* the current one, by node; comes first: it is a sink's arg */
	struct json_words words;
	struct intern links;	    /* struct link; their ids are the labels */
	struct json_remote *remote; /* NULL: no other machines */
};

/* to, tl and o must outlive it. To be ended with json_chain_free(). */
void json_chain_init(struct json_chain *j, struct json_object *to, const struct timelines *tl,
		     const struct options *o);
/* Has it go on at other machines; the n hosts must outlive it. */
void json_chain_join(struct json_chain *j, const struct joined_host *hosts, uint32_t n);
void json_chain_free(struct json_chain *j);
/* Finds the pieces of a wait; then json_chain_put() writes them, a member. */
void json_chain_make(struct json_chain *j, const struct chosen_wait *p);
void json_chain_put(struct json_chain *j);
