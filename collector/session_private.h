/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_private.h - one recording (session.c drives it) and its sinks: a trace file that is
 * written at once (session_file.c), the flight recorder's memory, of which traces are written when
 * something asks for it (session_flight.c) or by the clock (session_every.c), and nothing
 * (session_test.c).
 */
#pragma once

#include "command.h"
#include "events/cpu_threads.h"
#include "kernel/bpf.h"
#include "common/encoder.h"
#include "log/writer.h"
#include "names/symbolize.h"
#include "probes/probe_set.h"
#include "progress.h"
#include "process_parts.h"
#include "session.h"
#include "user_stacks.h"

/*
 * Bytes of memory for what is kept until a trace is written, without --max-size: enough for 30
 * seconds of a quarter of a million events each, with their stacks.
 */
#define KEPT_DEFAULT (128u << 20)

struct session;

struct sink_counts {
	uint64_t events, lost, bytes; /* to be shown to the user */
	uint64_t kernel;	      /* events kept or reported lost since the start */
	uint64_t kernel_aux;	      /* the same of AUX_EVENTS */
	uint64_t stacks_once;	      /* WIRE_STACK_ONCE stacks since the start */
	uint64_t unknown_code;	      /* see id_map_unknown_code() */
	uint64_t unknown_routes;      /* see id_map_unknown_routes() */
	uint64_t total, total_lost; /* events since the start, and lost ones, which are not in it */
	uint64_t dumps;		    /* traces begun; 0 without --flight */
};

enum sink_wish { SINK_CONTINUE, SINK_FLUSH_NOW, SINK_END };

/*
 * Where a recording goes. Functions that return int return 0 or a negative errno. If open() or
 * begin() fail they have printed why; the others have not.
 */
struct session_sink {
	/* Opens or checks the output; sets s->sink_state and s->enc. Called before any event. */
	int (*open)(struct session *s);
	/*
	 * Becomes the sink of s->user_stacks, and sets s->method, and s->ids if several threads may
	 * drain. s->sym exists, events come from s->start_ns on.
	 */
	int (*begin)(struct session *s);
	/* Gives up the capabilities that are not needed after attaching. */
	int (*drop_caps)(void);
	/* n events on an unknown CPU between the last flush and now_ns were not seen. */
	int (*lost)(struct session *s, uint64_t n, uint64_t now_ns);
	/* What the session is to do next; called in each turn of its loop. */
	enum sink_wish (*wish)(struct session *s);
	/* At least every FLUSH_NS: everything drained so far is to survive the recorder's death. */
	int (*flush)(struct session *s, uint64_t now_ns);
	void (*counts)(const struct session *s, struct sink_counts *out);
	/*
	 * Completes the recording, and prints its figures, or the error. err: 0, or the negative
	 * errno with which the recording failed. Returns err, or if that is 0, its own error.
	 */
	int (*finish)(struct session *s, int err);
	/*
	 * Until when (CLOCK_MONOTONIC) nothing is recorded and nothing is to be done; 0: something
	 * is. NULL: there are no such times.
	 */
	uint64_t (*idle_until)(const struct session *s);
	/* It lets events begin and end by itself, and lists the threads. */
	bool schedules;
	/* finish() forks, and detaches the programs itself when it has. */
	bool finish_detaches;
	/* Frees s->sink_state, which may be NULL. Called after s->sym was freed. */
	void (*close)(struct session *s);
};

struct session {
	const struct options *options; /* as given; or own, once the kernel has refused some */
	struct options own;
	struct session_signals *signals;
	const char *command_line;
	const struct session_sink *sink;
	void *sink_state;
	const char *method;  /* of writing, as -v shows it; set by begin() */
	struct encoder *enc; /* the sink's, for the symbolizer's definitions */
	struct symbolizer *sym;
	struct helpers *jvm_helpers; /* of JVMs for their perf maps; NULL: they are not asked */
	struct helpers *helpers;     /* NULL: user functions get no names */
	int no_helpers; /* why there are none, a negative errno; 0: there are, or need not be */
	uint64_t helpers_ns;	     /* the CPU time that they took, once they have ended */
	struct process_parts *parts; /* NULL: neither interpreted code nor contexts are recorded */
	struct bpf_session *bpf;
	struct probe_set probes;	 /* of --request, until they are attached */
	struct id_map *ids;		 /* the sink's, if several threads may drain; else NULL */
	struct cpu_threads *cpu_threads; /* NULL: this thread drains by itself */
	struct command command;
	struct progress progress;
	uint64_t start_ns, end_ns;
	/*
	 * CLOCK_REALTIME less CLOCK_MONOTONIC when a trace begins; 0: as they are when its INFO
	 * block is written.
	 */
	int64_t wall_ns;
	uint64_t drained_ns; /* all CPUs are drained up to then */
	uint64_t last_flush_ns;
	uint64_t given_back_ns;		       /* see memory_give_back() */
	bool group_is_short;		       /* see memory_group_is_short() */
	uint64_t memory_most;		       /* that the recorder itself took at once, bytes */
	uint64_t missed;		       /* events reported as lost on an unknown CPU */
	uint64_t left_out[CHAINLOG_LEFT_OUTS]; /* when the last trace was begun to be written */
	struct bpf_counts final;	       /* after the last drain */
	struct user_stacks *user_stacks;
	int nice;	/* the nice value that the recorder was started with */
	char why[2048]; /* why something failed, if errno does not say it; else empty */
};

extern const struct session_sink session_file_sink, session_flight_sink, session_every_sink,
	session_test_sink;

/* Whether files of processes are read. */
static inline bool session_reads_files(const struct options *o)
{
	return o->user_stacks || o->context;
}

/* What programs for older kernels lack, as is said when a recording begins, and in the trace. */
#define SESSION_OLDER_LACKS                                                                     \
	"stacks are walked and unwound each time, which costs more; not recorded: requests at " \
	"sockets"
/* The same of plain programs. */
#define SESSION_PLAIN_LACKS                                                                      \
	"user stacks are found by frame pointers only, and not for threads that sleep already; " \
	"not recorded: what threads wait for, lock holders, requests, disks, control groups, "   \
	"contexts, interpreted code"
/* NULL: the usual programs are loaded. */
const char *session_lacks(const struct session *s);
/* Takes out of the options what the programs do not record that are loaded. */
void session_leave_out(struct session *s);
/* Says what the recording will lack, and what helps. */
void session_say_lacking(const struct session *s);
/* Says what is lacking because perf_event_open() failed with err, and what helps. */
void session_say_perf(const char *lacking, int err);

/* Prints on standard error what failed, and why; returns err. */
int session_fail(const struct session *s, const char *what, int err);

/* What was left out so far, of each enum chainlog_left_out. */
void session_left_out(const struct session *s, uint64_t n[CHAINLOG_LEFT_OUTS]);

/* Hands those whose stacks were cut since the last call to the symbolizer, for the next trace. */
void session_tell_cut(struct session *s);

/* A trace file being written. */
struct trace_file {
	int fd; /* -1: not open */
	struct writer *writer;
	struct encoder *enc;
};

/*
 * Begins a trace in fd, which it takes over. fd may be the negative errno with which opening
 * failed: it is printed, with s->why, and returned. path is for messages. Returns 0, or a negative
 * errno that has been printed. Call trace_file_free() in both cases.
 */
int trace_file_open(struct trace_file *t, struct session *s, const char *path, int fd);
/* The INFO block of a trace that begins at start_ns. Returns 0 or the encoder's negative errno. */
int trace_file_info(struct trace_file *t, const struct session *s, uint64_t start_ns);
/*
 * What went wrong with the helpers so far, as a note in the trace; and for its end, what was left
 * out since the last trace was begun to be written. Returns 0 or a negative errno.
 */
int trace_file_note(struct trace_file *t, const struct session *s);
/*
 * Writes out everything that was encoded, also before an error. err: 0 or a negative errno so far.
 * Prints err, or if that is 0, the error of writing; returns what it printed, or 0. is_kept: what
 * was written before an error stays.
 */
int trace_file_close(struct trace_file *t, const char *path, bool is_kept, int err);
/* Prints a line about a finished trace, and with -v more. */
void trace_file_report(const struct trace_file *t, const struct session *s, const char *path,
		       const struct symbolizer_stats *stats);
void trace_file_free(struct trace_file *t);

/*
 * A process forked to write a trace of what is in memory at that moment, for as long as the disk
 * and the look-up of names take, while the recorder continues: one at a time.
 */
struct trace_process {
	pid_t pid;	 /* 0: there is none */
	bool is_hurried; /* it has been told to end soon */
	bool failed;	 /* one could not write its trace */
};

/* Starts one that runs write(s, end_ns), which returns 0 or an error that it has printed. */
void trace_process_start(struct trace_process *p, struct session *s,
			 int (*write)(struct session *s, uint64_t end_ns), uint64_t end_ns);
/* Another trace is to be written: names take this one a moment more at most. */
void trace_process_hurry(struct trace_process *p);
/* Reaps it if it has ended; waits for that if wait is set. */
void trace_process_reap(struct trace_process *p, struct session *s, bool wait);
/*
 * The end of a recording whose traces such processes write, with err so far: start_last begins the
 * last one. Detaches the programs. 0 or a negative errno, also of a trace that was not written.
 */
int trace_process_finish(struct trace_process *p, struct session *s, int err,
			 void (*start_last)(struct session *s));
