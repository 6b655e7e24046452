/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - what the formats for profilers (pprof, OTLP) share: chains with the waits and the
 * time of each, the labels of each, and when it was recorded. Running time is there, too, unless
 * the options say which parts of time are wanted. Rows are kept apart by process and control group.
 */
#pragma once

#include "format.h"

struct profile {
	const struct trace *trace;
	const struct timelines *timelines;
	struct options options; /* of the input, as profiles need them */
	struct fold *fold;
	struct chain_rows *rows; /* of the fold */
	struct names *names;	 /* likewise */
	bool cpu;		 /* rows with end CHAIN_ON_CPU are a value of their own */
};

/* Fills p. To be freed with profile_free(). */
void profile_make(struct profile *p, const struct format_input *in);
void profile_free(struct profile *p);

/*
 * Wall clock time of the first moment that the options choose, ns since 1970 (0: the trace does not
 * say), and how many ns from it to the last one.
 */
uint64_t profile_begin_ns(const struct profile *p);
uint64_t profile_length_ns(const struct profile *p);

/* What is said of a row beside its chain. */
enum profile_label {
	LABEL_THREAD,	   /* its name */
	LABEL_PROCESS,	   /* likewise */
	LABEL_PID,	   /* a number */
	LABEL_CGROUP,	   /* the path of its control group, */
	LABEL_CGROUP_NAME, /* and what that is called */
	LABEL_HOST,
	LABEL_STATE,	/* blocked, runnable, ...: of enum options_part */
	LABEL_END,	/* why the chain ends, as the frame says it */
	LABEL_LINKS,	/* how many wakers the chain has: a number */
	LABEL_OBJECT,	/* what was waited for, as the frame says it */
	LABEL_ENDPOINT, /* of a request, with its route, */
	LABEL_ROUTE,	/* and that alone */
	LABEL_TRACE_ID, /* likewise, 32 hexadecimal digits */
	PROFILE_LABELS,
};

/*
 * Calls put for each label of the row that is known, in the order of enum profile_label. text is
 * NULL if the label is the number n; it is valid until put returns.
 */
void profile_labels(struct profile *p, const struct chain_row *row,
		    void (*put)(void *arg, enum profile_label label, const char *text, uint64_t n),
		    void *arg);
/* The protocol of the route of a row's requests, "HTTP"; "": not known. */
const char *profile_protocol(const struct profile *p, const struct chain_row *row);
/* For which trace the program published that a row's requests were; NULL: not known. */
const struct context *profile_context(const struct profile *p, const struct chain_row *row);
/* Of which span they were; 0: of several, or not known. */
uint64_t profile_span(const struct profile *p, const struct chain_row *row);
