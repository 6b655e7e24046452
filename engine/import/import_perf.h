/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_perf.h - parses the lines that perf script writes. It owns their layouts (perf 5.10 to
 * 6.x, any choice of -F) and those of the scheduler's tracepoints. It keeps no state between two
 * lines. Names point into the line.
 *
 * The first line of an event:
 *
 *     COMM [PID/]TID [CPU] [MISC] [TIME OF DAY] TIME: [PERIOD] EVENT: [FLAGS] TEXT [IP SYM (DSO)]
 *
 * A name may hold spaces, brackets, colons: so the line is parsed from the time outwards, and a
 * place that looks like a time is accepted only if a known event follows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's NR_CPUS is at most this. */
#define IMPORT_CPU_LIMIT 8192u

enum import_kind {
	IMPORT_NO_EVENT,   /* no line that begins an event */
	IMPORT_NO_COLUMNS, /* one of a known event, but without a time, a CPU or a thread */
	IMPORT_BAD_TEXT,   /* one of a known event, whose text cannot be read */
	IMPORT_OTHER,	   /* an event that is not used */
	IMPORT_SWITCH,	   /* a: prev, b: next, state */
	IMPORT_WAKING,	   /* a: the wakee */
	IMPORT_WAKEUP,	   /* likewise; not always in the waker's context */
	IMPORT_WAKEUP_NEW, /* likewise: its first */
	IMPORT_FORK,	   /* a: the parent, b: the child */
	IMPORT_EXEC,	   /* a: the thread, name: the file; b: its tid before */
	IMPORT_RENAME,	   /* a: the thread, under its new name */
	IMPORT_EXIT,	   /* a: the thread */
	IMPORT_SAMPLE,	   /* a: the thread that was running; event */
	IMPORT_OFF_CPU,	   /* the thread of the column was off the CPU for n ns, sometime */
	IMPORT_MIGRATE,	   /* a: the thread, n: the CPU on whose run queue it is put */
	IMPORT_LOST,	   /* n events before this line; without columns if cpu is -1 */
};

struct import_name {
	const char *p; /* NULL: not said */
	size_t len;
};

/* A thread as the text of an event names it. */
struct import_task {
	uint32_t tid, tgid; /* tgid 0: not said */
	struct import_name name;
};

struct import_event {
	enum import_kind kind;
	int32_t cpu; /* -1: not said */
	int32_t tid; /* the column; -1: perf had forgotten it */
	int32_t tgid;
	struct import_name comm;
	uint64_t time_ns;
	bool micro; /* the time was given in microseconds */
	struct import_task a, b;
	char state;
	uint64_t n;		  /* LOST: how many; MIGRATE: a CPU; OFF_CPU: ns */
	struct import_name event; /* SAMPLE: its name */
	bool is_cycles;		  /* SAMPLE: it counts cycles or time */
	bool no_text;		  /* BAD_TEXT: nothing says what happened */
	bool no_name;		  /* NO_EVENT: all that an event's line has, but not its name */
};

/* Parses the line. kind says what else is set. */
void import_perf_event(const char *line, size_t len, struct import_event *ev);

/*
 * Parses the text of an event of ev->kind, all that follows its name in the line, into ev. False if
 * it cannot be parsed; ev->kind may become IMPORT_OTHER for an event without effect.
 */
bool import_perf_text(const char *text, size_t len, struct import_event *ev);

/*
 * A switch's state, from prev_state's text: letters as in "R+", "S", "D|W", "x|Z", or a number. The
 * letter that ps shows; 0: there is none.
 */
char import_perf_state(const char *s, size_t len);
/* Likewise, of prev_state itself. */
char import_perf_state_bits(uint64_t v);

/* Whether an event of this name counts cycles or time, by whatever unit, with any modifiers. */
bool import_perf_is_cycles(struct import_name name);
/* Whether it is that of perf record --off-cpu. */
bool import_perf_is_off_cpu(struct import_name name);

/* How many chunks the line says that perf lost ("... and lost N chunks!"); 0: it is another. */
uint64_t import_perf_chunks(const char *line, size_t len);

/* True for a line of perf's messages on standard error, which may be mixed with its events. */
bool import_perf_message(const char *line, size_t len);
