/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - what chainload was told on its command line; the scenarios read it, main() fills it.
 */
#pragma once

#include <stdbool.h>

#include "hop.h"

struct options {
	enum hop_kind hops[3]; /* alpha <- bravo, bravo <- charlie, charlie <- delta */
	uint64_t work_us[3];   /* bravo, charlie, delta; others take the first */
	uint64_t sleep_us, rounds;
	double seconds;
	int threads;
	const char *dir;
	bool sync;
};

static struct options options = {
	.hops = { HOP_FUTEX, HOP_PIPE, HOP_EVENTFD },
	.work_us = { 2000, 2000, 2000 },
	.sleep_us = 20000,
	.seconds = 60,
	.dir = ".",
};
