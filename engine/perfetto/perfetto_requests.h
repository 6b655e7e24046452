/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto_requests.h - the requests of a trace for Perfetto: each client has a track, below its
 * server's process, with a slice for each request from its arrival to the answer. An arrow leads
 * from the slice to when a thread took the request, and on to when one answered it.
 */
#pragma once

#include "perfetto.h"
#include "select/wait_filter.h"
#include "words/names.h"

struct perfetto_requests {
	struct perfetto *perfetto;
	const struct timelines *timelines;
	struct names *names;
	struct wait_filter *filter; /* of requests */
	uint64_t from_ns, to_ns;    /* the window of time that is shown */
	uint64_t *flows;	    /* the last number of a flow */
	/* The track of a thread, and of its process (0: not known), described before they are used.
	 */
	uint64_t (*thread_track)(void *arg, uint32_t thread);
	uint64_t (*process_track)(void *arg, uint32_t thread);
	void *arg;
};

/* The client's chosen requests, on a track of that number. */
void perfetto_requests_put(struct perfetto_requests *r, uint32_t client, uint64_t track);
