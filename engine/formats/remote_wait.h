/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote_wait.h - the client's wait on another machine that explains a part of one on this machine
 * (chain-semantics, section 16).
 */
#pragma once

#include "select/top_waits.h"
#include "timeline/remote_answers.h"

/* A chain goes on at this many other machines at most. */
#define REMOTE_HOPS_MAX 8u

struct remote_wait {
	uint32_t host;		 /* its place among the hosts */
	struct chosen_wait wait; /* in its timelines: the part that is meant is chosen */
};

/* Finds that of a remote_part of `above`, by its number; false: there is none. */
bool remote_wait_find(struct remote_wait *w, const struct joined_host *hosts, uint32_t n,
		      const struct timelines *above, uint32_t part);
