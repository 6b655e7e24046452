/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * encoder.h - turns events and definitions into finished blocks of the trace format (chainlog.h),
 * for the recorder, for imports and for tests. It owns the blocks in the making and the ids of
 * strings, frames and stacks (each is defined once, as far as memory allows); it does no I/O:
 * finished blocks go to a sink.
 *
 * Events of one CPU share a block until it is full, until time would run backwards in it, or
 * until encoder_flush(). Memory is bounded: only strings, frames, stacks and objects that occurred
 * recently are recognized; others are defined again.
 */
#pragma once

#include "event_block.h"

/*
 * Takes a finished block (header included) of len bytes; the bytes are the encoder's and are gone
 * after the call. Returns 0 or a negative errno, which the call that produced the block returns.
 */
typedef int (*encoder_sink)(void *ctx, const void *block, size_t len);

struct encoder;

/* Longer strings of INFO are cut. */
#define ENCODER_INFO_TEXT_MAX 4000u
/* No tag of INFO and END takes more bytes than this, without those of a string. */
#define ENCODER_TAG_MAX 24u
/* The INFO block has at most so many bytes. */
#define ENCODER_INFO_SIZE (CHAINLOG_FRONT + 5 * ENCODER_INFO_TEXT_MAX + 12 * ENCODER_TAG_MAX)

/* The INFO block. Strings that are NULL are written as empty ones. */
struct chainlog_info {
	const char *host, *release, *arch, *options, *tool;
	uint32_t cpus;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	int64_t wall_ns;   /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint32_t recorder_tgid;
	uint32_t command_tgid; /* 0: the recorder started none */
	uint32_t parts;	       /* bit 0 kernel stacks, bit 1 user stacks were recorded */
	uint32_t aux;	       /* bit k: kind k of AUX_EVENTS; not written if 0 */
	uint64_t light_ns;     /* sleeps shorter than this need not have user stacks */
};

struct encoder_thread {
	uint32_t tid, tgid;
	uint64_t start_ns, seen_ns; /* CLOCK_MONOTONIC */
	uint32_t flags;		    /* CHAINLOG_THREAD_* */
	char state;		    /* as ps shows it */
	uint32_t name;		    /* string id */
	uint32_t kstack, ustack;    /* stack ids, 0: none */
	uint32_t object;	    /* what it waits for; 0: not known */
	uint32_t group;		    /* its control group, an object; 0: not known */
	uint32_t own_id; /* of a process, in its own PID namespace; 0: as tid, or not known */
};

/* Counts so far, over the whole trace. */
struct encoder_counts {
	uint64_t events;	    /* in EVENTS blocks (also those not yet flushed) */
	uint64_t first_ns, last_ns; /* times of those that have been flushed */
	uint64_t lost;		    /* reported with encoder_lost() */
	uint64_t aux;		    /* auxiliary events, without those that report losses */
	uint64_t aux_lost;
	uint64_t bytes; /* handed to the sink */
	uint32_t stacks, frames, strings;
	uint32_t ends[CHAINLOG_STACK_ENDS]; /* stacks by why they have no more frames */
};

/*
 * All functions that return int give 0 or a negative errno: -ENOMEM, or what the sink returned.
 * Strings are copied. cpu is 0..65535.
 */

/* Makes an encoder that passes its blocks to sink(ctx, ...). */
int encoder_new(struct encoder **out, encoder_sink sink, void *ctx);
/* Frees it; what was not flushed is dropped. NULL is allowed. */
void encoder_free(struct encoder *e);
/*
 * The first error of any function, those included that return an id; 0: none. A recorder goes on
 * without a definition that failed for want of memory; who must not looks here.
 */
int encoder_error(const struct encoder *e);

/*
 * For imports, whose memory is bounded by their input: all that was defined is recognized, and
 * strings have up to ENCODER_LONG_STRING bytes before they are cut. Call before anything else.
 */
#define ENCODER_LONG_STRING (1u << 18)
void encoder_keep_all(struct encoder *e);

/*
 * For the flight recorder, which keeps blocks of events only and has definitions of its own:
 * strings and spaces get their ids from these functions, which return 0 when out of memory. Call
 * before anything else, and call none of the functions that define frames, stacks, modules or
 * names.
 */
struct encoder_elsewhere {
	uint32_t (*string)(void *ctx, const char *s, size_t len);
	uint32_t (*space)(void *ctx, uint32_t tgid, const char *exe);
	void *string_ctx, *space_ctx;
};
void encoder_define_elsewhere(struct encoder *e, const struct encoder_elsewhere *elsewhere);

/* The first block of a trace. */
int encoder_info(struct encoder *e, const struct chainlog_info *info);

/*
 * Definitions. Each returns the id (> 0) of the string, frame, stack, module or space, new or
 * known; 0 when out of memory, or of the frames that one space may have (then the thing is shown as
 * unknown).
 *
 * text: as string, of a C string; 0 for NULL.
 * frame: an address in an address space (0: the kernel), maybe with CHAINLOG_EXACT_TAG.
 * kernel_frame: an address of the kernel; another generation of it is other code, and another frame
 * with the same address.
 * new_frame: as frame, always another one.
 * stack: n frame ids, leaf first, and why there are no more; ENCODER_STACK_CUT: there are more, and
 * nothing is said about why they are not here.
 * module: a file with code, its path a string id; build_id is len bytes, len may be 0. Known ones
 * are not looked up.
 * space: a user address space of process tgid, running exe. Known ones are not looked up.
 */
#define ENCODER_STACK_CUT CHAINLOG_STACK_ENDS
uint32_t encoder_string(struct encoder *e, const char *s, size_t len);
uint32_t encoder_text(struct encoder *e, const char *s);
uint32_t encoder_frame(struct encoder *e, uint32_t space, uint64_t addr);
uint32_t encoder_kernel_frame(struct encoder *e, uint64_t addr, uint32_t generation);
uint32_t encoder_new_frame(struct encoder *e, uint32_t space, uint64_t addr);
uint32_t encoder_stack(struct encoder *e, const uint32_t *frames, size_t n,
		       enum chainlog_stack_end end);
/*
 * For a stack to which an event refers before its frames are known: encoder_stack_reserve() returns
 * an id for the event, encoder_stack_define() defines it later, at most once. Frame ids are dense
 * and ascending: a frame id above all earlier ones is new.
 */
uint32_t encoder_stack_reserve(struct encoder *e);
int encoder_stack_define(struct encoder *e, uint32_t id, const uint32_t *frames, size_t n,
			 enum chainlog_stack_end end);
uint32_t encoder_module(struct encoder *e, uint32_t path, const uint8_t *build_id, size_t len);
uint32_t encoder_space(struct encoder *e, uint32_t tgid, const char *exe);

/*
 * Code of a module: the bytes of its file from offset on are linked for address. All segments of a
 * module follow each other.
 */
int encoder_segment(struct encoder *e, uint32_t module, uint64_t offset, uint64_t bytes,
		    uint64_t address);

/*
 * Names a frame: symbol (string id, 0: none found), module (0: not known), offset of the address
 * from the symbol's start in bytes.
 */
int encoder_name(struct encoder *e, uint32_t frame, uint32_t symbol, uint32_t module,
		 uint64_t offset);

/*
 * Names a frame of interpreted code (CHAINLOG_CODE_TAG): its function, the path of its source file
 * and the line, 0: not known. One module stands for each file.
 */
int encoder_code_name(struct encoder *e, uint32_t frame, const char *function, const char *file,
		      uint32_t line);

/*
 * An object that threads wait for: a class ("tcp"), its name in that class ("": none), for a
 * connection its own end ("tcp 10.0.0.1:40000"), the processes at the other end and at its own end
 * (0: not known), and for a file its device and inode, which tell it from others of that name (0:
 * none); for a route its protocol ("HTTP"; NULL: not known). Returns the id of an equal object that
 * was defined before, or a new id; if there are too many, that of one without a name. Ids can be
 * reserved as for stacks.
 */
struct encoder_object {
	const char *class, *name, *own, *protocol;
	uint32_t peer, owner;
	uint32_t device; /* major << 20 | minor */
	uint64_t inode;
};
uint32_t encoder_object(struct encoder *e, const struct encoder_object *o);
uint32_t encoder_object_reserve(struct encoder *e);
int encoder_object_define(struct encoder *e, uint32_t id, const struct encoder_object *o);

/* A thread that was there when the recording began. */
int encoder_thread(struct encoder *e, const struct encoder_thread *t);

/* One that is asleep then, at a lock that says that the thread holder has it. */
int encoder_thread_holder(struct encoder *e, uint32_t tid, uint32_t holder);

/*
 * What the recorded stacks of a process lack, in words: "java", "compiled Java frames are missing",
 * and what helps, "-XX:+PreserveFramePointer" (NULL: nothing).
 */
int encoder_process_note(struct encoder *e, uint32_t tgid, const char *program, const char *what,
			 const char *cure);

/* An event, also an auxiliary one. -EINVAL: there is no such kind. */
int encoder_event(struct encoder *e, const struct event *ev);
/* n events of an auxiliary kind (with CHAINLOG_AUX added) on cpu could not be kept. */
int encoder_aux_lost(struct encoder *e, uint32_t cpu, uint32_t kind, uint64_t n, uint64_t first_ns,
		     uint64_t last_ns);
/* n events of cpu (-1: not known which) between first_ns and last_ns could not be kept. */
int encoder_lost(struct encoder *e, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns);

/*
 * For several threads that write events, each for CPUs of its own. The block of cpu is theirs to
 * write switches and wakings into (event_block.h) while it is not full, without a lock; NULL: there
 * is none yet. It exists from its first event on, which encoder_event() makes, and which takes it
 * when it is full; that needs a lock. All events written directly are counted afterwards.
 */
struct chainlog_writer *encoder_block(struct encoder *e, uint32_t cpu);
void encoder_count_events(struct encoder *e, uint64_t n);

/* Finishes all blocks that hold anything: the sink then has everything up to this call. */
int encoder_flush(struct encoder *e);

/* Before encoder_end(): the auxiliary events that the kernel side counted, and their losses. */
void encoder_aux_counted(struct encoder *e, uint64_t kernel_aux);
/* Likewise what was left out; 0: nothing of that kind. */
void encoder_left_out(struct encoder *e, const uint64_t n[CHAINLOG_LEFT_OUTS]);
/*
 * The last call: flushes, then writes the END block and the footer. kernel_events is what the
 * kernel side counted, sideband_lost the number of mapping records that were lost.
 */
int encoder_end(struct encoder *e, uint64_t end_ns, uint64_t kernel_events, uint64_t sideband_lost);

void encoder_counts(const struct encoder *e, struct encoder_counts *out);
