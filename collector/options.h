/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - chaincap's command line.
 */
#ifndef COLLECTOR_OPTIONS_H
#define COLLECTOR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
	const char *output;   /* "-": standard output */
	uint64_t duration_ns; /* 0: until it is told to end */
	char **command;	      /* NULL-terminated, part of argv; NULL: none */
	bool kernel_stacks, user_stacks;
	size_t buffer_size;  /* of each CPU's ring buffer, bytes; 0: default */
	uint64_t max_size;   /* of the trace, or what is kept for it, bytes; 0: default, no limit */
	bool verify;	     /* walk also what was known without a walk, and compare */
	uint64_t flight_ns;  /* keep this much and write it when told to; 0: write everything */
	uint64_t trigger_ns; /* also when a wait was longer than this; 0: no */
	const char *comm;    /* of threads whose name matches this; NULL: of all */
	int verbosity;	     /* -1 quiet, 0, 1 verbose */
};

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_USAGE };

/*
 * Fills *o from the command line. OPTIONS_RUN: go on; OPTIONS_DONE: help or version was printed
 * on standard output; OPTIONS_USAGE: it was wrong, and one line on standard error says what.
 */
enum options_result options_parse(struct options *o, int argc, char **argv);

/* A size with an optional unit K, M or G (powers of 1024) into *bytes; false: it is none. */
bool options_size(const char *s, uint64_t *bytes);
/* "30s", "1.5ms" (ns, us, ms, s, min) into *ns; false: it is no positive time below 2^33 seconds.
 */
bool options_duration(const char *s, uint64_t *ns);
/* Seconds, decimals allowed, into *ns; false: it is no positive number below 2^33 seconds. */
bool options_seconds(const char *s, uint64_t *ns);

#endif /* COLLECTOR_OPTIONS_H */
