/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synth.h - traces made in memory by the collector's own encoder, for tests that state events and
 * look at what the engine makes of them. Anything that goes wrong in here aborts the test.
 *
 * Times are ns. The trace begins at 0 unless synth_info() says something else.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/encoder.h"
#include "trace/trace.h"

struct synth;

/* An empty trace, its INFO block (2 CPUs, start 0) still to be written with the first call. */
struct synth *synth_new(void);
void synth_free(struct synth *m);
/* Says what the INFO block holds; to be called before anything else. */
void synth_info(struct synth *m, const struct chainlog_info *info);

/*
 * Stacks as text, LEAF first, frames joined by ';': "wake;send;work". Equal names are one frame.
 * "" is no stack. A stack that begins with '+' is marked as cut at its root's end. A frame
 * "copy@liba" is of the file /lib/liba; a user frame "mirror%/srv/feed.py:31" is one of interpreted
 * code, whose line, file and name may be missing.
 */
uint32_t synth_kstack(struct synth *m, const char *frames);
uint32_t synth_ustack(struct synth *m, const char *frames);

/* A thread that was there at the start: tgid is its own tid unless synth_thread_full() says more.
 */
void synth_thread(struct synth *m, uint32_t tid, const char *name);
void synth_thread_full(struct synth *m, const struct encoder_thread *t);

/* Events; stacks as above, kernel only (synth_kstack) unless the _full forms are used. */
void synth_switch(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t prev, char state,
		  uint32_t next, const char *kstack);
void synth_switch_full(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t prev, char state,
		       uint32_t next, const char *kstack, const char *ustack);
void synth_waking(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t waker, uint32_t target,
		  const char *kstack);
void synth_waking_full(struct synth *m, uint32_t cpu, uint64_t ns, unsigned int kind,
		       uint32_t waker, uint32_t target, const char *kstack, const char *ustack);
/* The thread was running, and is sampled. */
void synth_ran(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *kstack,
	       const char *ustack);
/* The thread is put on the queue of a CPU; woken: by the waking before. */
void synth_queued(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t queue,
		  bool woken);
/* Interrupts, or a hypervisor (steal), took so much of what the last switch of this CPU ended. */
/* Sleeps that end on this CPU have stacks from least_ns on. */
void synth_stacks_from(struct synth *m, uint32_t cpu, uint64_t ns, bool timers, uint64_t least_ns);
void synth_taken(struct synth *m, uint32_t cpu, uint64_t ns, bool steal, uint64_t took_ns);
/* The lock at which the thread has just gone to sleep says that another one has it. */
void synth_holder(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t holder);
/* The thread, or its whole process, is in the control group of that path from now on. */
void synth_group(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *path,
		 bool process);
/* The object of a group; id 0: only its path tells it from others. */
uint32_t synth_group_object(struct synth *m, const char *path, uint64_t id);
/* The recorder had the CPU up to now. */
void synth_recorder(struct synth *m, uint32_t cpu, uint64_t ns, uint64_t had_ns);
void synth_throttled(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid);
/* whose: a group's path, "deadline", "realtime", or "": not known. */
void synth_unthrottled(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint64_t since_ns,
		       uint64_t until_ns, const char *whose);
/* With these stacks the thread slept, or sleeps, whose switch-out has none. */
void synth_slept_at(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *kstack,
		    const char *ustack);
void synth_not_sent(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid);
/* which: enum chainlog_tcp_timer; since_ns <= at_ns <= ns */
void synth_tcp_timer(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint64_t which,
		     uint64_t since_ns, uint64_t at_ns);
/* The thread that this CPU has just switched out waits for an object. */
void synth_waits_for(struct synth *m, uint32_t cpu, uint64_t ns, const char *class,
		     const char *name);
/* The thread asks a device; a device is done with what it, or nobody known, asked for then. */
/* A worker's item, which was queued, or begun, since_ns before; what: see CHAINLOG_WORK. */
void synth_work(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, unsigned int what,
		uint32_t queuer, uint64_t since_ns, const char *kernel, const char *user);
void synth_asks_disk(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *kernel,
		     const char *user);
struct synth_disk_done {
	const char *disk;
	uint32_t op, bytes;
	uint64_t asked_ns, issued_ns; /* 0: not known */
	const char *group;	      /* the path of that for which a worker asked, or NULL */
};
void synth_disk_done(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid,
		     const struct synth_disk_done *d);
/* A request at a socket, its connection numbered from 1; reader 0: not known. */
struct synth_request {
	const char *class, *name; /* the endpoint: "tcp", ":80" */
	uint64_t connection;
	uint32_t flags; /* CHAINLOG_REQUEST_* */
	uint32_t reader;
	uint64_t arrival_ns, taken_ns;
	uint64_t first_ns, answer_ns; /* the first write, of synth_request_more(); the last one */
	uint64_t bytes_read, bytes_written;
	const char *kstack, *ustack; /* NULL: none */
	const char *label;	     /* NULL: none */
	const char *route;	     /* of one that is not probed; NULL: none, */
	const char *protocol;	     /* and its protocol; NULL: not known */
};
/* The writer answers it; writes more of its answer; or nobody does, and the reader is said. */
void synth_request(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t writer,
		   const struct synth_request *r);
void synth_request_more(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t writer,
			const struct synth_request *r);
void synth_request_open(struct synth *m, uint32_t cpu, uint64_t ns, const struct synth_request *r);
/* A thread works for a span of a trace, on a route ("": none); all of it none: for nothing. */
void synth_context(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid,
		   const uint64_t trace[2], uint64_t span, const char *route);
/*
 * How far the connection is for which the thread was just woken (socket ""), or where the request
 * begins that it has just answered, at a socket "PEER<OWN".
 */
void synth_stream(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t written,
		  uint32_t received, const char *socket);
/* What the thread waited for, which has just been woken: this one of several. */
void synth_ready(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *class,
		 const char *name);
void synth_lost(struct synth *m, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns);
/* For everything else: the encoder itself. */
struct encoder *synth_encoder(struct synth *m);
/* Ends all blocks that are open, so that the next event begins a new one. */
void synth_flush(struct synth *m);
/* Ends the trace at ns; without it the trace is one that was cut off after its last flush. */
void synth_end(struct synth *m, uint64_t ns);

/* What has been made so far, for looking at or for damaging. */
uint8_t *synth_bytes(struct synth *m, size_t *len);
/* Offset of the i-th block of a type, from 0, and its length with the header; aborts if none. */
size_t synth_block(struct synth *m, enum chainlog_block type, size_t i, size_t *len);
/* Cuts len bytes out at offset. */
void synth_cut_out(struct synth *m, size_t offset, size_t len);
/* Adds a block of a type with any payload, CRC right. */
void synth_add_block(struct synth *m, unsigned int type, const void *payload, size_t len);

/* Reads it as chainwalk would; m has to outlive the trace. To be closed with trace_close(). */
struct trace *synth_open(struct synth *m);

/*
 * Two CPUs with two blocks of events each, all kinds of events, definitions between them, ended at
 * 600; and what synth_events_text() gives for it.
 */
struct synth *synth_sample(void);
extern const char synth_sample_events[];

/*
 * All events in the cursor's order, a line each: "200 waking 7>8 wake;write" is time, kind, acting
 * thread, state of a switch, other thread, kernel stack, user stack. To be freed with free().
 */
char *synth_events_text(const struct trace *t);
/* Opens what was made, fails unless its events are the lines expected, and closes it. */
#define synth_expect_events(m, expected)              \
	do {                                          \
		struct trace *t_ = synth_open(m);     \
		char *text_ = synth_events_text(t_);  \
		assert_string_equal(text_, expected); \
		free(text_);                          \
		trace_close(t_);                      \
	} while (0)

/* Ends the test program where what is made goes wrong. */
#define MUST(x)                                                                 \
	do {                                                                    \
		if (!(x)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			abort();                                                \
		}                                                               \
	} while (0)
