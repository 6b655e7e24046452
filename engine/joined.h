/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * joined.h - several traces at once, if they are of machines that answer each other
 * (chain-semantics, section 16).
 */
#pragma once

#include "hosts/hosts.h"
#include "opened.h"

/* All zero: no traces are joined. */
struct joined {
	struct opened *traces;	   /* NULL, or n that may be open */
	struct joined_host *hosts; /* NULL: no two of them share a connection */
	uint32_t n;
	struct host_pair *pairs;
	size_t n_pairs;
};

/*
 * Opens n traces, if the format shows what one machine did for another one, and joins those that
 * share connections. What cannot be opened is left closed. 0 or a negative errno.
 */
int joined_open(struct joined *j, char *const *paths, size_t n, const struct options *o,
		const struct format *format, struct symbols **symbols);
void joined_close(struct joined *j);
