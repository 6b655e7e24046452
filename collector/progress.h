/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - the progress line of a recording, on a terminal only, and for one that never ends a
 * line now and then, wherever standard error goes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Since the start. */
struct progress_log {
	uint64_t events, lost; /* of these, lost ones are not events */
	uint64_t mappings;     /* records of mappings that were lost */
	uint64_t given_up;     /* readers of files, for want of memory */
	uint64_t dumps;	       /* traces of --flight */
	uint64_t cpu_ns;       /* CPU time of the recorder and its programs, of all CPUs together */
};

struct progress {
	bool on;
	bool shown;
	uint64_t last_ns, last_events;
	uint64_t logged_ns; /* when there was a line last; 0: not yet */
	struct progress_log logged;
	uint64_t watched_ns, watched_cpu_ns; /* as of progress_watch()'s last look */
	uint64_t warned_ns;
};

/* Enables the line if standard error is a terminal and quiet is not set. */
void progress_init(struct progress *p, bool quiet);
/* elapsed_ns since the start; events, bytes and lost so far. */
void progress_show(struct progress *p, uint64_t elapsed_ns, uint64_t events, uint64_t bytes,
		   uint64_t lost);
/*
 * Writes a line of what has come since the last one, if that is every_ns ago; every_ns 0: never.
 * The first call only begins. now_ns is CLOCK_MONOTONIC; cpus: of the machine.
 */
void progress_log(struct progress *p, uint64_t every_ns, uint64_t now_ns, uint32_t cpus,
		  const struct progress_log *total);
/*
 * Says, once an hour at most, that the last ten seconds took more CPU time than most_ppm millionths
 * of all CPUs' (0: any is right); cpu_ns as in struct progress_log.
 */
void progress_watch(struct progress *p, uint32_t most_ppm, uint64_t now_ns, uint32_t cpus,
		    uint64_t cpu_ns);
/* Erases the line. */
void progress_clear(struct progress *p);

/* "512 B", "3.2 MB": bytes with a unit (powers of 1000) into buf of size bytes. */
void progress_size(char *buf, size_t size, uint64_t bytes);
