/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_private.h - the inside of a trace, for trace.c (opening, accessors, names found later),
 * trace_load.c (walking the blocks), trace_define.c (definitions), trace_loss.c (losses by damage)
 * and cursor.c (events in order). No other file includes it.
 */
#pragma once

#include "common/grow.h"
#include "common/intern.h"
#include "trace.h"

/* Where the payload of a block of definitions stands in the input. */
struct payload_ref {
	const uint8_t *p;
	uint64_t offset; /* of the block */
	uint32_t len;
};

struct payload_list {
	struct payload_ref *refs;
	size_t n, cap;
	uint64_t bytes; /* all payloads together: bounds what they can define */
};

/* A sound EVENTS or AUX_EVENTS block. */
struct event_block_ref {
	const uint8_t *payload;
	uint64_t offset; /* of the block: tells the order in the file */
	uint64_t first_ns, last_ns;
	uint32_t len, cpu, count;
	bool aux; /* AUX_EVENTS */
};

/* Strings that a reader of the trace has made up. */
struct made_strings {
	struct intern ids;
	char **at; /* by id; these do not move */
	size_t cap;
};

/* A place in the input where blocks are missing or had to be skipped. */
struct skipped {
	uint64_t offset;
	bool at_end; /* the recording was cut off here */
};

struct stack_ref {
	uint64_t first; /* in stack_frames */
	uint16_t n;
	bool cut;
	uint8_t end; /* enum chainlog_stack_end */
};

/* Frames of functions that were inlined where another frame is. */
struct inlined {
	uint32_t first, n;
};

struct trace_module {
	uint32_t path;	/* string id */
	char *build_id; /* hex, in the text arena; NULL: not known */
	uint32_t first_segment, n_segments;
};

/* bytes bytes of a module's file, from offset on, are linked for address. */
struct segment {
	uint64_t offset, bytes, address;
};

/* Above those of INFO and END. */
#define TRACE_TAGS ((unsigned int)CHAINLOG_END_UNTOLD + CHAINLOG_LEFT_OUTS)

struct trace {
	struct trace_bytes bytes;
	bool checked; /* loading decodes every event */
	struct trace_info info;
	struct trace_damage damage;
	char *info_text[TRACE_TAGS]; /* by tag of INFO */
	bool has_start;		     /* the INFO block said info.start_ns */
	uint64_t end_events;	     /* what the END block counted, if info.complete */
	uint64_t bad_events;	     /* what malformed EVENTS blocks claimed to hold */
	uint64_t end_aux; /* as end_events, of AUX_EVENTS blocks; UINT64_MAX: it does not say */

	struct payload_list defs[CHAINLOG_BLOCKS]; /* by block type */
	struct event_block_ref *blocks;		   /* in file order */
	size_t n_blocks, cap_blocks;
	struct skipped *skips; /* in file order */
	size_t n_skips, cap_skips;
	struct trace_loss *losses; /* once open: by first_ns, then the rest */
	size_t n_losses, cap_losses;

	/* Tables by id; entry 0 is "none". The ends are one more than the highest id. */
	const char **strings;
	struct trace_frame *frames;
	struct stack_ref *stacks;
	struct trace_module *modules;
	struct segment *segments;
	/* By space id: addresses in it are offsets in a file; it is that of a process. */
	bool *in_file, *of_process;
	bool has_code; /* any frame is of interpreted code, and stacks have all frames */
	uint32_t strings_end, frames_end, stacks_end, modules_end, spaces_end, n_segments;
	struct trace_object *objects;
	uint32_t objects_end;
	uint32_t first_rcu; /* from this object on: those of trace_rcu_object() */
	/* While they are read: the thread of the last one. */
	size_t thread_objects, thread_groups, thread_own_ids;
	struct trace_thread *threads;
	size_t n_threads, cap_threads;
	struct trace_holder *holders;
	size_t n_holders;
	struct trace_note *notes;
	size_t n_notes;
	char *text; /* the strings' bytes and the build IDs */
	uint64_t text_len;
	uint32_t *stack_frames; /* the stacks' frame ids */
	uint64_t n_stack_frames;

	/* What was added after loading. */
	char **added; /* the strings' bytes */
	size_t n_added, cap_added;
	struct made_strings *made;	/* their ids follow those of strings */
	size_t cap_strings, cap_frames; /* of the tables */
	struct inlined *inlined;	/* by frame id below n_inlined; NULL: none */
	uint32_t n_inlined;
};

/* The object of waits in a function of the kernel that waits for RCU; 0: this is none. */
uint32_t trace_rcu_object(const struct trace *t, const char *name);
/* Notes damaged bytes at offset. blocks: the number of blocks that they held at least. */
void trace_note_damage(struct trace *t, uint64_t offset, uint64_t bytes, uint64_t blocks,
		       const char *what);
/*
 * Note that events may be missing at a place of the file (see trace_loss.c), and that n are missing
 * in [first_ns, last_ns] of cpu.
 */
void trace_note_skip(struct trace *t, uint64_t offset, bool at_end);
void trace_note_loss(struct trace *t, uint32_t cpu, uint64_t n, uint64_t first_ns,
		     uint64_t last_ns);

/*
 * The steps of opening, in this order; each returns 0 or a negative errno.
 * trace_load: walks the blocks, decodes every event if t->checked, notes where the payloads are.
 * trace_define: turns the definition blocks into tables.
 * trace_find_losses: turns skipped places into losses, and sorts all losses.
 */
int trace_load(struct trace *t);
void trace_define(struct trace *t);
void trace_find_losses(struct trace *t);

/* The id of a copy of s, which the trace did not define. */
uint32_t trace_add_string(struct trace *t, const char *s);
void trace_free_made(struct made_strings *made);
