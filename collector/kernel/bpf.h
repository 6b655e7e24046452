/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf.h - the BPF side: loading, attaching, ring buffers, the list of threads, counters. It owns
 * the skeleton, knows the differences between kernel versions, and passes records on without
 * reading them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "chainwire.h"

struct bpf_session;

/* Which programs record: the first ones of these that the kernel takes. */
enum bpf_programs {
	BPF_USUAL,
	/* Stacks are walked and unwound each time; without requests at sockets. */
	BPF_OLDER,
	/*
	 * Also without objects, requests, contexts, control groups and interpreted code; user
	 * stacks are walked by frame pointers.
	 */
	BPF_PLAIN,
};

/* A place at which requests that probes mark begin or end. */
struct bpf_probe {
	int fd;		 /* of the file; the caller's, and open until all is attached */
	uint64_t offset; /* in the file, where an instruction begins */
	/* In the file: a counter that tells the program that the probe is in use; 0: there is none
	 */
	uint64_t semaphore;
	struct wire_probe_site site;
};

struct bpf_options {
	uint64_t memory;    /* bytes that the recorder may take; a part may be for sockets */
	size_t buffer_size; /* bytes of each CPU's ring, rounded up to a power of 2; 0: default */
	bool kernel_stacks, user_stacks;
	bool objects;	    /* what sleeping threads wait for */
	bool disk_requests; /* what block devices are asked for */
	bool requests;	    /* requests at sockets; left out where the kernel cannot do it */
	bool routes;	    /* and their first bytes with them */
	/* Requests that probes mark; borrowed until all is attached, at most WIRE_PROBE_SITES. */
	const struct bpf_probe *probes;
	size_t n_probes;
	bool contexts;	    /* which traces and spans processes say they work for */
	uint32_t code;	    /* frames of interpreted code: a bit for each enum wire_language */
	bool interrupts;    /* how long CPUs handle interrupts */
	uint64_t light_ns;  /* sleeps shorter than this have no stacks; 0: all have */
	uint32_t sample_hz; /* samples a second of each CPU; 0: none */
	bool verify;	    /* compare stacks known without a walk with a walk */
	bool verbose;	    /* print libbpf's messages on standard error */
	bool quiet;	    /* say nothing of what this kernel cannot do */
};

struct bpf_counts {
	uint64_t seen;		/* events, kept or lost */
	uint64_t aux_seen;	/* the same of AUX_EVENTS */
	uint64_t walked, known; /* kernel stacks walked, and known without a walk */
	/* Stacks compared with a plain walk, and those that differed. */
	uint64_t verified, mismatches, verified_user, mismatches_user;
	uint64_t unverified_user; /* those that could not be compared */
	/* Compared ones of --light: with those at the switch-out. */
	uint64_t slept_kernel, slept_user;
	uint64_t
		ends[CHAINLOG_STACK_ENDS]; /* user stacks by their end, without WIRE_COPY records */
	uint64_t known_user;		   /* of these, known again without being unwound */
	uint64_t no_room;		   /* cut, as there was no room to send a copy */
	uint64_t programs_ns;		   /* the programs of switches and wakings, about */
	uint64_t missed; /* events whose program was skipped: neither seen nor lost */
};

/* BPF programs take a record's time before they submit it; at most this much passes between. */
#define BPF_SESSION_SUBMIT_NS 1000000u

/* Takes one record of len bytes. A negative result ends bpf_session_drain(), which returns it. */
typedef int (*bpf_record_fn)(void *ctx, const struct wire_record *r, size_t len);
/* Takes one thread of the list. A negative result ends the listing. */
typedef int (*bpf_thread_fn)(void *ctx, const struct wire_thread *t);

/*
 * Loads the programs and makes the rings. A kernel that refuses the usual programs gets others, see
 * bpf_session_programs(). Returns 0, or a negative errno with the reason, and what the user can do
 * about it, in why. Free with bpf_session_close().
 */
int bpf_session_open(struct bpf_session **out, const struct bpf_options *o, char *why,
		     size_t why_size);
void bpf_session_close(struct bpf_session *s);

/*
 * The id of a process in the initial PID namespace, which has the id pid in this one; 0: there is
 * none. After loading.
 */
uint32_t bpf_session_id(struct bpf_session *s, pid_t pid);
/* Whether bpf_session_threads() lists all threads, and not only those of this PID namespace. */
bool bpf_session_lists_all(const struct bpf_session *s);
/*
 * Before the end of a recording, or of a window, with light_ns: the stacks of the threads that
 * are asleep without one get into the rings. Returns 0 or a negative errno.
 */
int bpf_session_sleepers(struct bpf_session *s);

/*
 * Before attaching: registers code by which the kernel enters interrupts, from start up to end.
 * Stacks in interrupts end there. A callback for kernel_names_interrupts(); session is the
 * bpf_session.
 */
void bpf_session_interrupt_entry(void *session, uint64_t start, uint64_t end);

/*
 * After attaching, before recording: process id, which the recorder started for itself, and all
 * that it forks from then on, are not recorded, like the recorder itself. At most ten or so.
 */
void bpf_session_helper(struct bpf_session *s, uint32_t id);
/*
 * Likewise the process that becomes the command, until its exec; pid is its id in this PID
 * namespace. Before attaching.
 */
void bpf_session_command(struct bpf_session *s, pid_t pid);
/*
 * Attaches the programs, which record nothing yet. Returns 0 or a negative errno with the reason in
 * why.
 */
int bpf_session_attach(struct bpf_session *s, char *why, size_t why_size);
enum bpf_programs bpf_session_programs(const struct bpf_session *s);
/* Whether requests are recorded, at sockets or by probes. */
bool bpf_session_finds_requests(const struct bpf_session *s);
/* Whether it is recorded until when a quota was used up. */
bool bpf_session_tells_quotas(const struct bpf_session *s);
/* Whether work items of workers are recorded. */
bool bpf_session_finds_work(const struct bpf_session *s);
/* How much memory the kernel has for the recorder with sockets, in bytes, at most. */
uint64_t bpf_session_socket_bytes(const struct bpf_session *s);
/* What was left out so far, of each enum chainlog_left_out. */
void bpf_session_left_out(const struct bpf_session *s, uint64_t n[CHAINLOG_LEFT_OUTS]);
/*
 * Process tgid publishes the contexts of its threads there; NULL: it does not any more. A
 * publishers_fn; session is the bpf_session.
 */
void bpf_session_publisher(void *session, uint32_t tgid, const struct wire_publisher *p);
/* Likewise: it runs interpreted code, as `in` says; NULL: it does not any more. */
void bpf_session_interpreter(void *session, uint32_t tgid, const struct wire_interpreter *in);
/* Why running threads are not sampled, as a negative errno; 0: they are, or shall not be. */
int bpf_session_sampling(const struct bpf_session *s);
/*
 * To be called some times a second: see sampler_poll(). Sockets that have something of the
 * recorder's are counted when they may be too many.
 */
void bpf_session_poll(struct bpf_session *s);
/*
 * Events of all kinds on all CPUs are recorded from the returned time (CLOCK_MONOTONIC) on, for
 * duration_ns if that is not 0, or until bpf_session_end().
 */
uint64_t bpf_session_begin(struct bpf_session *s, uint64_t duration_ns);
/*
 * Ends the events, and returns when they ended, which has passed. Records in the rings stay;
 * requests that are not answered by then are added to them.
 */
uint64_t bpf_session_end(struct bpf_session *s);

/*
 * For several recordings by the same programs, instead of bpf_session_begin(): nothing is recorded
 * until bpf_session_begin_at() and from its end on.
 *
 * Ends the events' reporting: detaches the programs of frequent events, so that they cost nothing;
 * adds to the rings the requests that are not answered; passes losses that are not reported yet to
 * fn (may be NULL); and forgets what would not be true later. Call it when the last recording, if
 * there was one, has ended. Returns 0 or a negative errno.
 */
int bpf_session_pause(struct bpf_session *s, bpf_record_fn fn, void *ctx);
/*
 * Attaches them again, which still record nothing. It takes no rights but those kept after
 * attaching. Returns 0 or a negative errno.
 */
int bpf_session_resume(struct bpf_session *s);
/*
 * Events are recorded from at_ns on (CLOCK_MONOTONIC), but not before the present, for duration_ns
 * or, if that is 0, until bpf_session_end(). Until then it may be called again with another time.
 * Returns when they begin.
 */
uint64_t bpf_session_begin_at(struct bpf_session *s, uint64_t at_ns, uint64_t duration_ns);

/*
 * Detaches the programs. In the recorder after bpf_session_end(), in the background: it can take
 * long. In a process that was forked, gives up its copies of the attachments.
 */
void bpf_session_detach(struct bpf_session *s);

/* Lists the threads that exist now, with or without stacks. Returns 0 or a negative errno. */
int bpf_session_threads(struct bpf_session *s, bool stacks, bpf_thread_fn fn, void *ctx);

/*
 * Takes a sample of a stack (WIRE_STACK_LAYOUT_SAMPLE), whose first `first` frames are the tracer's
 * own, and adds the stack's layout to the tree of the BPF side once it is certain. Returns the
 * number of the layout if it is the stack's first one, else 0; from then on the stack's id is
 * WIRE_STACK_LAYOUT | number. A translator_sample_fn; session is the bpf_session.
 */
uint32_t bpf_session_learn(void *session, const struct wire_layout_sample *sample, uint32_t first);

/* Adds a rule for unwinding user stacks. An unwinder_teach_fn; session is the bpf_session. */
void bpf_session_rule(void *session, uint64_t key, uint64_t rule);
/* Other code took the place of some in process tgid: invalidates the rules of the process. */
void bpf_session_replaced(void *session, uint32_t tgid);
/* A stack of process tgid was cut here, too. Only if bpf_session_unwinds(). */
void bpf_session_cut_stack(struct bpf_session *s, uint32_t tgid);
/* Calls fn for each process of which stacks were cut since the last call, with how many: almost all
 * of them, see wire_copier. */
void bpf_session_take_cut(struct bpf_session *s,
			  void (*fn)(void *ctx, uint32_t tgid, uint32_t stacks), void *ctx);
/* Whether user stacks are recorded, and unwound by rules. */
bool bpf_session_unwinds(const struct bpf_session *s);
/* Adds to epoll what wakes when the BPF side needs rules. Returns 0 or a negative errno. */
int bpf_session_watch(const struct bpf_session *s, int epoll);

/*
 * Kernel code from start up to end has been replaced: layouts with return addresses in it are
 * forgotten at the next bpf_session_recycle().
 */
void bpf_session_code_gone(void *session, uint64_t start, uint64_t end);

/*
 * After each drain: makes room on the BPF side for new stacks. Those without a layout whose id is
 * more than BPF_SESSION_IDS ids old are removed, and get a new id when they are seen again. If
 * there is no room for new layouts, the half of them that was used least recently is forgotten.
 * Takes a few milliseconds every 32 thousand new stacks, and at most every 5 s for layouts,
 * otherwise nothing. Returns 0 or a negative errno.
 */
#define BPF_SESSION_IDS (1u << 16)
int bpf_session_recycle(struct bpf_session *s);

/*
 * Passes on the records in the rings of the CPUs from first up to end; of each ring at most as many
 * as it can hold, so that it ends under load, too. Several threads may do so at once, for different
 * CPUs. Returns the number of records or a negative errno.
 */
long bpf_session_drain(struct bpf_session *s, uint32_t first, uint32_t end, bpf_record_fn fn,
		       void *ctx);

/* Counters as they are now. Returns 0 or a negative errno. */
int bpf_session_counts(struct bpf_session *s, struct bpf_counts *out);

/*
 * After the end: makes WIRE_LOST records of the losses that the BPF side has not reported yet.
 * Returns 0 or a negative errno.
 */
int bpf_session_pending(struct bpf_session *s, bpf_record_fn fn, void *ctx);

bool bpf_session_learning(struct bpf_session *s); /* there were some samples since the last call */
uint32_t bpf_session_layouts(const struct bpf_session *s);   /* in the tree */
uint64_t bpf_session_forgotten(const struct bpf_session *s); /* layouts that were in it */
uint32_t bpf_session_cpus(const struct bpf_session *s);	     /* that can come online */
/* Frames of a kernel stack at most; WIRE_STACK_MAX, unless the machine is set up for less. */
uint32_t bpf_session_max_stack(const struct bpf_session *s);
size_t bpf_session_buffer_size(const struct bpf_session *s); /* of one ring, bytes */

/*
 * What the arguments of a system call say of what a thread waits for in it: WIRE_CALL() by the
 * call's number, for the machine's own calls and for those of 32-bit programs (on x86-64).
 */
extern const __u8 calls_of_64[WIRE_CALLS], calls_of_32[WIRE_CALLS];
