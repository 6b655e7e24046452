/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - the progress line of a recording, on a terminal only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	bool on;
	bool shown;
	uint64_t last_ns, last_events;
};

/* Enables the line if standard error is a terminal and quiet is not set. */
void progress_init(struct progress *p, bool quiet);
/* elapsed_ns since the start; events, bytes and lost so far. */
void progress_show(struct progress *p, uint64_t elapsed_ns, uint64_t events, uint64_t bytes,
		   uint64_t lost);
/* Erases the line. */
void progress_clear(struct progress *p);

/* "512 B", "3.2 MB": bytes with a unit (powers of 1000) into buf of size bytes. */
void progress_size(char *buf, size_t size, uint64_t bytes);
