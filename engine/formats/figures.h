/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures.h - what a recording comes down to, in figures that are compared with those of another
 * one (chain-semantics, section 20): how long the command took, the 99th percentile of each
 * endpoint's requests, what each cause made others wait. They outlive the recording.
 */
#pragma once

#include "format.h"

enum figure_kind { FIGURE_COMMAND, FIGURE_ENDPOINT, FIGURE_CAUSE };

/* A step of the chain that explains a figure. Texts are its own; "": there is none. */
struct figure_step {
	char *key; /* tells it from others of the figure: with those above it, without numbers */
	uint64_t ns;
	/* Of those that a screen shows, which are the first ones, in order; else who is NULL. */
	char *who, *at, *words;
	size_t depth;
};

/* A request. */
struct figure_request {
	uint64_t ns;	/* how long it took without others' load; 0: it is below own_ns */
	uint64_t up_to; /* how many it and the quicker ones stand for */
};

struct figure {
	enum figure_kind kind;
	char *key;   /* the same in both recordings: a name without ids of processes */
	char *loose; /* of an endpoint also without its port, which may be chosen by chance */
	char *title;
	/*
	 * Of a command its elapsed time; of an endpoint the 99th percentile; of a cause its time,
	 * for each second of the recording, or if a command was recorded of all of it.
	 */
	uint64_t ns;
	/*
	 * The same without the time in which others had the CPU; of the holder of a lock without
	 * that in which it had none, whoever had it.
	 */
	uint64_t own_ns;
	/* Of an endpoint: its requests, the quickest first. */
	struct figure_request *took;
	size_t n_took;
	uint64_t requests; /* how many they stand for (endpoint_requests.h) */
	bool counts;	   /* it may be judged */
	struct figure_step *steps;
	size_t n_steps;
};

struct figures {
	char *name; /* the trace's */
	uint64_t duration_ns, lost, events;
	bool of_command; /* that ended */
	bool chosen;	 /* only some threads are shown */
	struct figure *at;
	size_t n, cap;
};

/* *f is all zero. To be freed with figures_free(). */
void figures_make(struct figures *f, const struct format_input *in, const char *name);
void figures_free(struct figures *f);
/* What a step of this key has; 0: there is none. */
uint64_t figure_step_ns(const struct figure *of, const char *key);
