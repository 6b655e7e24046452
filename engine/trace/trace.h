/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - a trace that has been read: its definitions as flat tables, and its events as one
 * stream in time order. Its users may trust the data: ids are in range or 0, strings end, times
 * never decrease.
 *
 * Reading checks every block (length, CRC32C, contents). A damaged block is skipped, counted in
 * trace_damage and becomes a loss: an EVENT_LOST for the time that it may have covered.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/event.h"

struct trace;

/* All tids and tgids, and all CPUs, are below these. */
#define TRACE_TID_LIMIT CHAINLOG_TID_LIMIT
#define TRACE_CPU_LIMIT CHAINLOG_CPU_LIMIT

/* A thread that existed when the recording began. */
struct trace_thread {
	uint32_t tid, tgid;
	uint64_t start_ns, seen_ns;
	uint32_t flags; /* CHAINLOG_THREAD_* */
	char state;
	uint32_t name; /* string id */
	uint32_t kstack, ustack;
	uint32_t object; /* what it waits for; 0: not known */
	uint32_t group;	 /* its control group, an object; 0: not known */
	uint32_t own_id; /* of a process, in its own PID namespace; 0: as tid, or not known */
};

/* A thread that slept at a lock when the recording began, and the thread that had it (tids). */
struct trace_holder {
	uint32_t tid, holder;
};

/* What the recorder says of the stacks of a process (string ids; cure 0: nothing helps). */
struct trace_note {
	uint32_t tgid;
	uint32_t program, what, cure;
};

/* n events (0: not known how many) may be missing in [first_ns, last_ns]. */
struct trace_loss {
	uint64_t first_ns, last_ns, n;
	uint32_t cpu; /* or EVENT_CPU_UNKNOWN */
};

/* What threads wait for. */
struct trace_object {
	uint32_t class, name; /* string ids; name 0: there is no more to say than the class */
	uint32_t peer;	      /* process at the other end; 0: not known */
	uint32_t own;	      /* string id: of a connection the own end, "tcp 10.0.0.1:40000" */
	uint32_t owner;	      /* its process; 0: not known */
	/* Of a file, or where a lock lies, major << 20 | minor; tell it from others; 0: not known.
	 */
	uint32_t device;
	uint64_t inode;
	uint32_t protocol; /* string id: of a route, "HTTP"; 0: not known */
};

struct trace_frame {
	uint64_t addr;
	uint32_t space;	 /* 0: kernel */
	uint32_t symbol; /* string id; 0: no name found */
	uint32_t module; /* module id; 0: not known */
	uint64_t offset; /* of addr from the symbol's start, bytes; of interpreted code, the line */
	bool code;	 /* of interpreted code: module is its source */
	bool exact;	 /* addr is no return address, but an instruction that was interrupted */
	bool unnamed;	 /* no symbol was found: symbol is 0 or "[FILE+0xSTART]" */
	uint32_t line;	 /* in the source; 0: not known */
	uint32_t file;	 /* string id: its source */
};

struct trace_stack {
	const uint32_t *frames; /* frame ids, leaf first */
	uint32_t n;
	bool cut; /* the real stack went on beyond the root end */
	enum chainlog_stack_end end;
};

#define TRACE_PARTS_KERNEL 1u /* of trace_info.parts: no user stacks were recorded */

struct trace_info {
	const char *host, *release, *arch, *options, *tool; /* "" when not said */
	uint32_t cpus;
	uint64_t start_ns; /* CLOCK_MONOTONIC: recording began, or the first event if not said */
	uint64_t end_ns;   /* recording ended, or the last event where the trace was cut off */
	int64_t wall_ns;   /* add to a time to get CLOCK_REALTIME */
	uint32_t recorder_tgid;
	uint32_t recorder_name; /* string id: the recorder's program, 0: not said */
	uint32_t parts;
	uint32_t command_tgid; /* of the command that the recorder started; 0: none */
	uint32_t aux;	       /* bit k: events of kind k of AUX_EVENTS were recorded */
	uint64_t light_ns;     /* sleeps shorter than this need not have user stacks */
	bool complete;	       /* the END block was there */
	uint64_t events, lost; /* in the blocks read */
	uint64_t kernel_events, sideband_lost; /* as the END block says; 0 if cut off */
	uint64_t events_of[EVENT_KINDS];       /* 0 as long as the trace is not checked */
	/*
	 * AUX_EVENTS: events in the blocks read, those of unknown kinds too; reported as lost by
	 * them (0 as long as the trace is not checked); what the END block says that the kernel
	 * counted.
	 */
	uint64_t aux_events, aux_lost, kernel_aux;
	uint64_t left_out[CHAINLOG_LEFT_OUTS]; /* by the recorder, as the END block says */
	uint64_t bytes;			       /* read */
	/* Above the tids of all events and threads; by just one if the trace is checked. */
	uint32_t tids_end;
};

/* The damage of the input; all 0 for a sound trace. */
struct trace_damage {
	uint64_t blocks;       /* damaged blocks skipped */
	uint64_t bytes;	       /* bytes skipped, damaged blocks included */
	bool cut;	       /* it ends in the middle of a block, or without an END block */
	uint64_t first_offset; /* of the first damage, bytes from the start */
	const char *what;      /* the first damage, in words; NULL: none */
};

/* The bytes of a trace, and the memory to release with them. */
struct trace_bytes {
	const uint8_t *base;
	size_t len;
	void *map;	    /* of len bytes, to be unmapped; or NULL */
	void *heap;	    /* to be freed, or NULL */
	const char *damage; /* of the text that was imported, in words; NULL: none */
	uint64_t damage_offset;
};

void trace_bytes_free(const struct trace_bytes *b);

/*
 * Opens a trace; recording_open() in recording.h does so by its path. The trace takes over
 * map and heap, also when opening fails; *out is to be closed with trace_close(). Returns 0 also
 * for a damaged or cut-off trace (see trace_damage); -ENOMEM, -ENODATA if it is empty, -EBADMSG if
 * it is not a trace at all, -EPROTONOSUPPORT if it is one of another version of the format.
 *
 * Unless checked, only the checksum and the head of a block of events are verified, so that events
 * are decoded once instead of twice. A cursor that meets a malformed event ends with -EBADMSG. (Its
 * block's checksum is right: another program wrote it.) Then call trace_check().
 */
int trace_open_bytes(struct trace **out, const struct trace_bytes *bytes, bool checked);
/* A checked trace from memory that must live until trace_close(). */
int trace_open_memory(struct trace **out, const void *p, size_t len);
/*
 * Checks a trace that was opened unchecked; everything obtained from it before becomes invalid.
 * Returns 0, also if it was checked already, or -ENOMEM; then the trace can only be closed.
 */
int trace_check(struct trace *t);
void trace_close(struct trace *t);

const struct trace_info *trace_info(const struct trace *t);
const struct trace_damage *trace_damage(const struct trace *t);

/* Definitions. An id that was never defined gives "" / NULL / an empty stack with n 0. */
const char *trace_string(const struct trace *t, uint32_t id);
const struct trace_frame *trace_frame(const struct trace *t, uint32_t id);
struct trace_stack trace_stack(const struct trace *t, uint32_t id);
/* NULL for an object that was never defined. */
const struct trace_object *trace_object(const struct trace *t, uint32_t id);
const char *trace_module_path(const struct trace *t, uint32_t id);
/* Build ID as lower-case hex, "" when not known. */
const char *trace_module_build_id(const struct trace *t, uint32_t id);
/* Whether addresses in this space are offsets in a file, which all processes share. */
bool trace_space_is_file(const struct trace *t, uint32_t space);
/* The address in its file, as linked, of a frame; false: not known. */
bool trace_frame_vaddr(const struct trace *t, uint32_t id, uint64_t *vaddr);
/* The offset in its file, of a frame whose address as linked the trace does not say; false: none.
 */
bool trace_frame_file_offset(const struct trace *t, uint32_t id, uint64_t *offset);
/*
 * The line in the source where a frame is, and the file without its folder, but of interpreted code
 * "json/__init__.py"; 0: not known.
 */
uint32_t trace_frame_line(const struct trace *t, uint32_t id, const char **file);
uint32_t trace_stacks_end(const struct trace *t); /* one more than the highest stack id */
uint32_t trace_frames_end(const struct trace *t);
uint32_t trace_strings_end(const struct trace *t);
uint32_t trace_modules_end(const struct trace *t);
uint32_t trace_objects_end(const struct trace *t); /* 1: it has none */

/*
 * Which frames stacks have from then on. Without native, frames of interpreted code take the place
 * of the interpreter's own: a native frame that follows them towards the root ran them and is left
 * out, and with it all native frames of its file from there on, which only say how the interpreter
 * calls itself. What the code called, and other files' frames, stay. With native, frames of
 * interpreted code are left out. Until it is called, and again after trace_check(), stacks are as
 * they were recorded; a second call changes nothing. To be called before trace_inline_frame().
 */
void trace_choose_frames(struct trace *t, bool native);

/*
 * A string id for a text that a reader of the trace makes up; it is the same for equal texts. Not
 * while another thread reads strings. trace_check() forgets such texts.
 */
uint32_t trace_make_string(const struct trace *t, const char *text);

/*
 * Names that are found after the recording (symbols/): they take the place of the trace's own, for
 * all that reads it. To be given before anything else is taken from the trace or made for it, and
 * again after trace_check(). Texts are copied.
 */
void trace_name_frame(struct trace *t, uint32_t frame, const char *symbol, uint64_t offset);
/* Where in the source the frame is; file NULL: not known. */
void trace_locate_frame(struct trace *t, uint32_t frame, const char *file, uint32_t line);
/*
 * Another function whose code is at the frame, because the compiler inlined it: a frame of its own,
 * *id, towards the leaf. The ones of a frame are given one after another, the innermost first;
 * trace_inline_stacks() then puts them into all stacks. At most TRACE_INLINE_MAX for a frame.
 */
#define TRACE_INLINE_MAX 64u
void trace_inline_frame(struct trace *t, uint32_t frame, const char *symbol, uint32_t *id);
void trace_inline_stacks(struct trace *t);

const struct trace_thread *trace_threads(const struct trace *t, size_t *n);
const struct trace_holder *trace_holders(const struct trace *t, size_t *n);
const struct trace_note *trace_notes(const struct trace *t, size_t *n);
/* The losses that the cursor returns as EVENT_LOST, in order of time. */
const struct trace_loss *trace_losses(const struct trace *t, size_t *n);

/*
 * The events in time order. Events of one CPU keep their order; with equal times on different
 * CPUs the order does not depend on how CPUs are numbered or on where blocks stand in the file
 * (it goes by kind, WAKING before SWITCH, those of AUX_EVENTS last, then by thread ids).
 */
struct pairs;
struct trace_cursor;
/* 0 or -ENOMEM. */
int trace_cursor_new(struct trace_cursor **out, const struct trace *t);
/* Fills *ev and returns true, or false at the end. */
bool trace_cursor_next(struct trace_cursor *c, struct event *ev);
/* The next event, valid until the next call; NULL at the end. */
const struct event *trace_cursor_take(struct trace_cursor *c);
/* Why trace_cursor_next() ended: 0, the trace's end; -ENOMEM; -EBADMSG, see trace_open_bytes(). */
int trace_cursor_error(const struct trace_cursor *c);
/*
 * The pairs of a kernel and a user stack in events so far, and in trace_threads(), by id; they
 * belong to the cursor. The pair of an EVENT_WAITS_FOR is that of the thread's stacks, with what it
 * waits for: (TRACE_PAIR_OBJECT | object, id of the pair of stacks or 0).
 */
#define TRACE_PAIR_OBJECT (1u << 31)
/* That of a waking by what the waker had not sent (EVENT_NOT_SENT): likewise, without an object. */
#define TRACE_PAIR_NOT_SENT TRACE_PAIR_OBJECT
/*
 * That of a waking that was made when a block request was done: (TRACE_PAIR_REQUEST | number of the
 * EVENT_DISK_DONE, from 1, id of the pair of stacks or 0).
 */
#define TRACE_PAIR_REQUEST (3u << 30)
#define TRACE_PAIR_IDS (1u << 30) /* objects and requests with pairs have smaller numbers */
struct pairs *trace_cursor_pairs(struct trace_cursor *c);
/*
 * The pair with the object that was found for it, 0: none: by the arguments of a call, or as the
 * file of a page fault. By its stack the thread may not sleep in that (chain-semantics, section
 * 10), but for RCU, or for what is not known: then the pair itself.
 */
uint32_t trace_cursor_pair_for(struct trace_cursor *c, uint32_t object, uint32_t pair);
/* The pair id of the i-th of trace_threads(); 0 none. */
uint32_t trace_cursor_thread_pair(const struct trace_cursor *c, size_t i);
void trace_cursor_free(struct trace_cursor *c);

/*
 * Several threads read one trace by parts: cursors that each return the events of a window of time
 * after the other. A part has pairs of its own, and numbers of EVENT_DISK_DONE of its own, in each
 * window. It ends with -EAGAIN if it cannot know what an event is joined to, because that was
 * before its window.
 */
/* A part, without a window yet. To be freed before the whole one. */
void trace_cursor_new_part(struct trace_cursor **out, const struct trace_cursor *whole);
/*
 * The next events are those from from_ns up to to_ns, without it; of the whole cursor too, which
 * goes on with its pairs and what it knows of each CPU. Not for a trace with losses.
 */
void trace_cursor_window(struct trace_cursor *c, uint64_t from_ns, uint64_t to_ns);
/*
 * The whole cursor goes on after the window of a part, as if it had returned these events itself.
 * pair_of has room for all pairs of the part and 0: gets their ids in the whole. 0; -ENOMEM; or
 * -EAGAIN if these are too many.
 */
int trace_cursor_take_over(struct trace_cursor *whole, const struct trace_cursor *part,
			   uint32_t *pair_of);
/*
 * Windows of about so many events, if cheap of more where that costs too much: *n of them, the i-th
 * from (*from_ns)[i] to (*from_ns)[i + 1]. The caller frees *from_ns in any case.
 */
void trace_cursor_slices(const struct trace_cursor *c, uint64_t events, bool cheap,
			 uint64_t **from_ns, size_t *n);
