/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - chaincap's command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "flight/trigger.h"
#include "probes/request_spec.h"

struct options {
	const char *output;   /* "-": standard output; with every_ns, a folder */
	uint64_t duration_ns; /* 0: until a signal */
	char **command;	      /* NULL-terminated, part of argv; NULL: none */
	bool kernel_stacks, user_stacks;
	unsigned int threads;	/* that read the ring buffers; 0: by the number of CPUs */
	size_t buffer_size;	/* of each CPU's ring buffer, bytes; 0: default */
	uint64_t max_size;	/* of the trace, or with --flight of memory, bytes; 0: not set */
	uint64_t light_ns;	/* user stacks only of sleeps of at least this */
	unsigned int sample_hz; /* samples of running threads a second on each CPU; 0: none */
	bool no_objects;	/* not what threads wait for */
	bool no_block;		/* not what block devices are asked for */
	bool no_requests;	/* not when servers get and answer requests */
	bool no_routes;		/* not what is asked of them */
	bool tls;		/* also what is asked of them on connections of TLS */
	struct request_spec probed[WIRE_PROBES]; /* requests that probes mark */
	unsigned int n_probed;
	const char *labels[WIRE_PROBES]; /* what is to be kept of them, as given */
	unsigned int n_labels;
	bool context; /* which traces and spans processes say they work for */
	bool no_python, no_php, no_ruby, no_node, no_java; /* not the functions of their programs */
	bool no_irq;			/* do not record how long CPUs handle interrupts */
	bool java_maps;			/* have JVMs write their perf maps */
	bool names_later;		/* no names of user functions */
	uint64_t names_ns;		/* how long to look them up at the end; 0: as by default */
	bool verify;			/* walk stacks known without a walk, too, and compare */
	uint64_t flight_ns;		/* window to keep in memory; 0: write everything at once */
	struct trigger_options trigger; /* after which waits and requests to write the window */
	/* One trace after the other: time between their beginnings; 0: one trace, or --flight. */
	uint64_t every_ns;
	uint64_t for_ns;	 /* how long each is; 0: all the time is recorded */
	uint64_t keep;		 /* of these traces, bytes; 0: all */
	uint64_t log_ns;	 /* between two lines of what was lost; 0: none */
	uint32_t cpu_budget_ppm; /* of all CPUs: to take more is said; 0: it is not */
	unsigned int max_dumps;	 /* end after so many traces; 0: no limit */
	uint64_t memory;	 /* that the recorder and its processes may take, bytes */
	bool quiet, verbose;
	bool self_test;		      /* record for a second, print what works */
	bool help, help_all, version; /* print that, record nothing */
};

/*
 * Fills *o from the command line. Returns 0, or -EINVAL with one line in why[0..why_size) that says
 * what is wrong. Strings in *o point into argv.
 */
int options_parse(struct options *o, int argc, char **argv, char *why, size_t why_size);
/* Writes the help: all options (--help), or the most used ones (-h). */
void options_help(FILE *out, bool all);

/* A size with an optional unit K, M or G (powers of 1024) into *bytes; false: it is none. */
bool options_size(const char *s, uint64_t *bytes);
/* A positive duration (duration.h) with a unit, into *ns; false: it is none. */
bool options_duration(const char *s, uint64_t *ns);
