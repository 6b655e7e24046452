/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.h - how far the TCP connection was for which a thread waited, when its data woke the
 * thread (chain-semantics, section 16).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stream_point {
	uint64_t wake_ns;
	uint32_t thread;	    /* that was woken */
	uint32_t written, received; /* sequence numbers of the next bytes, in either direction */
};

/* All zero is empty. */
struct streams {
	struct stream_point *at; /* in order of time */
	size_t n, cap;
};

/* To be called in order of time. */
void streams_add(struct streams *s, const struct stream_point *p);
void streams_free(struct streams *s);
