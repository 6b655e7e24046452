/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - what the user of chainwalk asked for: the command line, checked and turned into
 * one struct of plain values. It owns the option table and the texts of --help; it reads no trace.
 */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum options_mode {
	MODE_EXACT,
	MODE_CLASSIC,
};

enum options_unit {
	UNIT_US,
	UNIT_NS,
};

enum options_view {
	VIEW_CHAIN,
	VIEW_WAKEUP, /* waker stacks only */
};

/* The first frame of all lines of a trace. */
enum options_root {
	ROOT_NONE,
	ROOT_HOST,  /* where it was recorded */
	ROOT_TRACE, /* its path */
};

/* Parts of off-CPU time, for options.parts. */
enum options_part {
	PART_BLOCKED = 1,
	PART_RUNNABLE = 2,
	PART_PREEMPTED = 4,
};

/* Which options were given, whatever their values; those that go together share a bit. */
enum options_given {
	GIVEN_DEPTH = 1 << 0,
	GIVEN_MODE = 1 << 1,
	GIVEN_WHO = 1 << 2,    /* -p -t -c */
	GIVEN_WITHIN = 1 << 3, /* --within --without */
	GIVEN_RANGE = 1 << 4,  /* --from --to */
	GIVEN_WAIT = 1 << 5,   /* --min-wait --max-wait */
	GIVEN_STATE = 1 << 6,
	GIVEN_NO_KTHREADS = 1 << 7,
	GIVEN_BLOCKED_STACKS = 1 << 8,
	GIVEN_ANNOTATE = 1 << 9,
	GIVEN_NO_ENDS = 1 << 10,
	GIVEN_NO_DELIM = 1 << 11,
	GIVEN_STACKS = 1 << 12, /* -K -U */
	GIVEN_UNIT = 1 << 13,
	GIVEN_TOP = 1 << 14,
	GIVEN_VIEW = 1 << 15,
	GIVEN_NO_IDLE = 1 << 16,
	GIVEN_BY_NAME = 1 << 17,
	GIVEN_PARTS = 1 << 18, /* --state with a part, not with letters only */
	GIVEN_ROOT = 1 << 19,
};

#define OPTIONS_DEPTH_DEFAULT 6
#define OPTIONS_DEPTH_MAX 1000

/* A list of process or thread ids. */
struct id_list {
	uint32_t *ids;
	size_t n;
};

/* A list of compiled POSIX extended regular expressions (REG_EXTENDED | REG_NOSUB). */
struct regex_list {
	regex_t *regex;
	size_t n;
	const char **text; /* as they were given, borrowed from argv */
};

struct options {
	uint32_t depth; /* links followed, 0..OPTIONS_DEPTH_MAX */
	enum options_mode mode;
	enum options_view view;
	const char *format; /* the name of one that is in the table (format.h) */

	/*
	 * Whose waits: any entry of a list must fit, of each of the lists that is not empty. So
	 * two -t add up, and a -c narrows a -p down.
	 */
	struct id_list pids, tids;
	struct regex_list names;	   /* -c: the thread's name */
	struct regex_list within, without; /* off-CPU frames: all of within, none of without */
	bool no_kthreads;
	bool no_idle; /* without those that only wait for work (idle.h) */

	/*
	 * Times are counted from the start of the trace. A wait is shown as far as it lies in
	 * [from_ns, to_ns); UINT64_MAX: no end.
	 */
	uint64_t from_ns, to_ns;
	/* The whole wait's length, both ends included. */
	uint64_t min_wait_ns, max_wait_ns;
	unsigned int parts; /* enum options_part, or-ed */
	/*
	 * Letters of the sleep states that are shown, as in "SD"; "": any. Also for the runnable
	 * part that follows such a sleep; preempted parts have no sleep state.
	 */
	char states[8];

	/* What is shown of a chain. */
	bool blocked_stacks, annotate, no_ends, no_delim;
	bool kernel, user; /* which frames: both unless -K or -U */
	enum options_root root;
	bool by_name; /* histograms: one for each thread name */
	enum options_unit unit;
	uint64_t top; /* the N largest of what the format lists; 0: all */

	unsigned int given; /* enum options_given, or-ed */
	const char *output; /* NULL: standard output */
	bool quiet, verbose;
	bool help, version; /* asked for: nothing else is to be done */

	/* The traces' paths; n 0: none was named. They point into argv. */
	char **traces;
	size_t n_traces;
};

/*
 * Fills *o from the command line. Returns 0; or -EINVAL with one line without a newline in
 * err[0..err_size), that says what is wrong; or -ENOMEM, with a line too. argv is reordered as by
 * getopt_long(); strings in *o point into it. To be freed with options_free() in any case.
 */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t err_size);
/* The values that hold when no option is given; a start for tests and for callers without argv. */
void options_init(struct options *o);
void options_free(struct options *o);

/* Writes the text of --help. */
void options_help(FILE *out);

/* True if any of the list fits s; an empty list fits nothing. */
bool regex_list_match(const struct regex_list *l, const char *s);

#endif /* ENGINE_OPTIONS_H */
