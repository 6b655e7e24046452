/* SPDX-License-Identifier: GPL-2.0-or-later */
/* disk_filter.h - which requests to block devices the options choose: by who asked, and when done.
 */
#pragma once

#include "wait_filter.h"

/*
 * Calls take for each request that was chosen, in the order in which they were done, until it
 * returns other than 0. One that nobody is known to have asked for is chosen if no thread is.
 * Returns what take returned, or -ENOMEM.
 */
int disk_filter_walk(const struct timelines *tl, const struct options *o, struct names *names,
		     int (*take)(void *arg, const struct disk_request *r), void *arg);
