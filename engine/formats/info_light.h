/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_light.h - what --format=info says of a light recording. */
#pragma once

#include <stdio.h>

#include "trace/trace.h"

/* How long sleeps must have lasted to have stacks on a CPU, of one of the two kinds. */
struct info_light_cpu {
	uint64_t ns, since_ns; /* ns 0: nothing was told yet */
};

/* By whether timers of the sleepers' own ended them. All zero is none. */
struct info_light {
	struct info_light_cpu *cpus[2];
	size_t n_cpus[2]; /* for which there is room */
	uint64_t most_ns[2];
	uint64_t raised_ns[2]; /* times of all CPUs in which it was more than asked for */
};

/* Counts an event, of whatever kind; those of a CPU come in the order of time. */
void info_light_event(struct info_light *l, const struct trace *t, const struct event *ev);
/* Writes lines of "key: value", and frees: nothing if the trace is of no light recording. */
void info_light_write(struct info_light *l, const struct trace *t, FILE *out);
