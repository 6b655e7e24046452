/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainlog.h - the trace file as bytes: what chaincap writes and chainwalk reads.
 *
 * The two ends share nothing else. docs/trace-format.md specifies the format completely, so that a
 * reader can be written from it alone; where the two differ, this file is wrong.
 *
 * A trace is a sequence of blocks and nothing between them. A block is a 16-byte header and a
 * payload; every multi-byte number in the header is little-endian; numbers in payloads are
 * varints (LEB128, at most 10 bytes), "svarint" being a varint of a zigzag-coded signed number.
 * A block can be decoded on its own, so that a reader can verify, skip and resynchronise.
 * Definitions (strings, frames, stacks...) have dense ids counted from 1 over the whole trace;
 * 0 means "none". A definition may stand after its first use.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chainvalues.h"

/* The version that is written. Version 1, in which wakings have no flags, is read as well. */
#define CHAINLOG_VERSION 2

/* Block header: byte offsets. The CRC32C covers header bytes 0..11 and then the payload. */
#define CHAINLOG_SYNC 0x31424c43u /* "CLB1" as bytes 43 4c 42 31 */
enum {
	CHAINLOG_OFF_SYNC = 0,	  /* u32 */
	CHAINLOG_OFF_TYPE = 4,	  /* u8, enum chainlog_block */
	CHAINLOG_OFF_VERSION = 5, /* u8, CHAINLOG_VERSION */
	CHAINLOG_OFF_ZERO = 6,	  /* u16, 0 */
	CHAINLOG_OFF_LEN = 8,	  /* u32, payload bytes, at most CHAINLOG_PAYLOAD_MAX */
	CHAINLOG_OFF_CRC = 12,	  /* u32 */
	CHAINLOG_HEADER_SIZE = 16,
};
#define CHAINLOG_PAYLOAD_MAX (1u << 20)

/* Block types. A reader skips types that it does not know. */
enum chainlog_block {
	CHAINLOG_BLOCK_INFO = 1,    /* first block: tag, length, bytes; enum chainlog_info_tag */
	CHAINLOG_BLOCK_EVENTS = 2,  /* events of one CPU, times never decreasing */
	CHAINLOG_BLOCK_STRINGS = 3, /* first_id count { len bytes } */
	CHAINLOG_BLOCK_FRAMES = 4,  /* first_id count { space svarint(addr - previous addr) } */
	CHAINLOG_BLOCK_STACKS =
		5, /* first_id count { nframes<<1|cut { svarint(id - previous id) } } */
	CHAINLOG_BLOCK_NAMES = 6,   /* count { svarint(frame - previous) symbol module offset } */
	CHAINLOG_BLOCK_MODULES = 7, /* first_id count { path build_id_len build_id } */
	CHAINLOG_BLOCK_SPACES =
		8, /* first_id count { tgid exe } user address spaces; 0 is the kernel */
	CHAINLOG_BLOCK_THREADS = 9, /* threads alive at the start: see below */
	CHAINLOG_BLOCK_LOST = 10, /* count { cpu+1 (0: not known) n first_ns last_ns - first_ns } */
	CHAINLOG_BLOCK_END = 11,  /* last block: tag, length, bytes; enum chainlog_end_tag */
	CHAINLOG_BLOCK_STACK_ENDS = 12, /* count { svarint(stack - previous) end } */
	CHAINLOG_BLOCK_SEGMENTS = 13,	/* count { module offset bytes address }: its code */
	CHAINLOG_BLOCK_AUX_EVENTS = 14, /* of one CPU, of kinds that may be skipped: see below */
	CHAINLOG_BLOCK_OBJECTS =
		15, /* first_id count { length { class name peer own owner device inode } } */
	CHAINLOG_BLOCK_THREAD_OBJECTS =
		16, /* count { tid object }: of threads asleep at the start */
	CHAINLOG_BLOCK_THREAD_HOLDERS =
		17,		   /* count { tid holder }: likewise, what HOLDER says of others */
	CHAINLOG_BLOCK_NOTES = 18, /* count { length { tgid program what cure } } */
	CHAINLOG_BLOCK_THREAD_GROUPS = 19,  /* count { tid object }: their control groups */
	CHAINLOG_BLOCK_THREAD_OWN_IDS = 20, /* count { tid id }: as in OWN_ID */
	CHAINLOG_BLOCKS,
};

/* Tags of the INFO block. Values are strings without a terminator, or one varint (marked v). */
enum chainlog_info_tag {
	CHAINLOG_INFO_HOST = 1,
	CHAINLOG_INFO_RELEASE = 2,  /* uname -r */
	CHAINLOG_INFO_ARCH = 3,	    /* uname -m */
	CHAINLOG_INFO_CPUS = 4,	    /* v: CPUs that can come online */
	CHAINLOG_INFO_START = 5,    /* v: CLOCK_MONOTONIC ns at which recording began */
	CHAINLOG_INFO_WALL = 6,	    /* v: CLOCK_REALTIME - CLOCK_MONOTONIC at the start, ns */
	CHAINLOG_INFO_OPTIONS = 7,  /* the command line */
	CHAINLOG_INFO_TOOL = 8,	    /* "chaincap 0.1.0" */
	CHAINLOG_INFO_TGID = 9,	    /* v: the recorder's own process, which is not recorded */
	CHAINLOG_INFO_PARTS = 10,   /* v: bit 0 kernel stacks, bit 1 user stacks were recorded */
	CHAINLOG_INFO_COMMAND = 11, /* v: process of the command that the recorder started */
	CHAINLOG_INFO_AUX = 12,	    /* v: bit k: events of kind k of AUX_EVENTS are recorded */
	CHAINLOG_INFO_LIGHT = 13,   /* v: sleeps shorter than this, ns, need not have user stacks */
};

/* Tags of the END block; all values are one varint. Without this block the trace was cut off. */
enum chainlog_end_tag {
	CHAINLOG_END_TIME = 1,		/* CLOCK_MONOTONIC ns at which recording ended */
	CHAINLOG_END_EVENTS = 2,	/* events in the EVENTS blocks */
	CHAINLOG_END_LOST = 3,		/* sum of n in the LOST blocks */
	CHAINLOG_END_KERNEL = 4,	/* events counted in the kernel, by a separate counter */
	CHAINLOG_END_STACKS = 5,	/* stacks defined */
	CHAINLOG_END_FRAMES = 6,	/* frames defined */
	CHAINLOG_END_STRINGS = 7,	/* strings defined */
	CHAINLOG_END_THREADS = 8,	/* distinct threads seen: a hint for sizing tables */
	CHAINLOG_END_SIDEBAND_LOST = 9, /* mapping records lost: some user frames may lack names */
	CHAINLOG_END_AUX_EVENTS = 10,	/* events in the AUX_EVENTS blocks */
	CHAINLOG_END_AUX_LOST = 11,	/* sum of n in their events AUX_LOST */
	CHAINLOG_END_AUX_KERNEL = 12,	/* such events counted in the kernel */
	CHAINLOG_END_UNTOLD = 13,	/* and on: enum chainlog_left_out */
};

/* After the END block: its file offset (u64) and these 8 bytes. Only saves time; may be absent. */
#define CHAINLOG_FOOTER_MAGIC "CHAINEND"
#define CHAINLOG_FOOTER_SIZE 16

/*
 * EVENTS payload: cpu, first_ns, last_ns - first_ns, count, then count events.
 * An event: one tag byte (low 3 bits: kind; the rest: flags), varint ns since the previous
 * event of the block (the first: since first_ns), then its fields, in the order given below.
 *
 * A *thread reference* is a varint: 0 = a thread not yet seen in this block, its tid follows as a
 * varint and it gets the block's next index (from 0); n = the thread with index n-1. Tid 0 (the
 * idle threads) is a thread like any other here.
 * A *stack pair* is a varint: 0 = a pair not yet seen in this block, kernel stack id and user
 * stack id follow as varints and it gets the next index; n = the pair with index n-1.
 */
enum chainlog_event {
	CHAINLOG_SWITCH = 0,	 /* [prev] [state] [next] [pair] */
	CHAINLOG_WAKING = 1,	 /* [waker] wakee [pair] */
	CHAINLOG_WAKING_NEW = 2, /* as WAKING: a thread's first */
	CHAINLOG_FORK = 3,	 /* [parent] child tgid_of_child name */
	/*
	 * thread old_tid text: old_tid: before it took the leader's tid; text: the file's name,
	 * then perhaps the arguments, each after a CHAINLOG_ARGUMENT
	 */
	CHAINLOG_EXEC = 4,
	CHAINLOG_RENAME = 5, /* thread name */
	CHAINLOG_EXIT = 6,   /* thread */
	CHAINLOG_EVENT_KINDS = 7,
};
#define CHAINLOG_KIND_MASK 0x07
/* In the text of an EXEC, before each argument. */
#define CHAINLOG_ARGUMENT '\x1f'
/* The acting thread (prev, waker, parent) is `next` of the block's last switch, and left out. */
#define CHAINLOG_F_CURRENT 0x08
/*
 * The pair is left out: it is the acting thread's last one in this block that was not (0, 0). For a
 * SWITCH, its last one in a SWITCH; for a WAKING or WAKING_NEW, in one of these.
 */
#define CHAINLOG_F_SAME_STACK 0x10
/* The pair is left out: both stack ids are 0. */
#define CHAINLOG_F_NO_STACK 0x20
/* SWITCH only: state is 'S'; state is 'R' (still runnable). With neither: one state byte. */
#define CHAINLOG_F_SLEEP 0x40
#define CHAINLOG_F_RUNNABLE 0x80
/* WAKING, WAKING_NEW: the wakee was off its run queue, so this ends a sleep, even before SWITCH. */
#define CHAINLOG_F_OFF_QUEUE 0x40
/* WAKING: the waker is not known; its reference is left out, and NO_STACK is set. */
#define CHAINLOG_F_NO_WAKER 0x80

/*
 * AUX_EVENTS payload: begins as that of EVENTS. An event: kind, ns since the previous one (the
 * first: since first_ns), length of its fields in bytes, fields; all numbers are varints. A reader
 * skips kinds that it does not know, and bytes after the fields that it knows. To make that
 * possible, no event refers to one of another kind: a thread is its tid, stacks are their two ids.
 * The kinds and their fields are in events.def.
 */
enum chainlog_aux {
#define EVENT(NAME, number, record, slices, shown, key, fields) CHAINLOG_##NAME = number,
#define UNRECORDED(NAME, number, shown, key, fields) EVENT(NAME, number, , , , , )
#include "events.def"
	CHAINLOG_AUX_KINDS, /* the last row has the highest number */
};

/* The class of objects that are endpoints of requests which probes mark: the name says it all. */
#define CHAINLOG_CLASS_REQUEST "request"
/* That of labels of requests. */
#define CHAINLOG_CLASS_LABEL "label"
/* That of routes of requests. */
#define CHAINLOG_CLASS_ROUTE "route"

/*
 * That of control groups: the name is the path from the root of the hierarchy, inode the kernel's
 * id of the group, device the hierarchy's number (0: version 2).
 */
#define CHAINLOG_CLASS_GROUP "cgroup"

/*
 * Kinds from here on are short forms of the most frequent kinds, without fields. Kind
 * CHAINLOG_AUX_SHORT + n means: WAITS_FOR if n is even, WOKEN_READY if n is odd, of object n / 2.
 */
#define CHAINLOG_AUX_SHORT 32u
/* The short form of REQUEST (common/request_short.h): only events of this kind refer to it. */
#define CHAINLOG_REQUEST_SHORT 30u
#define CHAINLOG_REQUEST_MASKED 31u /* that of earlier recorders */

/* The field `what` of a DISK_DONE: an operation and a size in bytes. */
static inline uint64_t chainlog_disk_what(unsigned int op, uint32_t bytes)
{
	return (uint64_t)bytes << 3 | (op < CHAINLOG_DISK_OPS ? op : CHAINLOG_DISK_OTHER);
}

/* In memory, a kind of AUX_EVENTS is its number plus this, so that it follows those of EVENTS. */
#define CHAINLOG_AUX 8u
#define CHAINLOG_KINDS (CHAINLOG_AUX + CHAINLOG_AUX_KINDS)

/*
 * What writer and reader of an EVENTS block remember of the threads and stack pairs that it has
 * referred to. The reference to index n is n + 1.
 */
struct chainlog_thread {
	uint32_t tid;
	uint32_t last[2]; /* reference of its last pair as prev [0], as waker [1]; 0: none yet */
};

struct chainlog_pair {
	uint32_t kstack, ustack;
	uint32_t user; /* for the reader's caller to use as it likes; 0 when the pair is new */
};

/*
 * The state of a thread is the letter that ps shows, also in a SWITCH. R: runnable (preempted, or
 * it yielded); S D I T t P: sleeping; X Z: it has exited.
 *
 * THREADS payload: count, then for each: tid, tgid, start_ns (CLOCK_MONOTONIC), seen_ns (when it
 * was looked at), flags, state byte, name (string id), kernel stack id, user stack id.
 */
#define CHAINLOG_THREAD_KTHREAD 0x01
#define CHAINLOG_THREAD_RUNNING 0x02 /* was on a CPU when it was looked at */

#define CHAINLOG_STACK_MAX 127 /* frames of one stack; a longer one is cut at the root's end */
/*
 * A frame with this bit in its address is one of interpreted code: its NAMES item has the function,
 * as module the path of its source file, and as offset the line (0: not known). In a stack all
 * frames that one call of the interpreter's evaluator runs stand together, and the next one towards
 * the root is the evaluator's own, native one.
 */
#define CHAINLOG_CODE_TAG (1ull << 63)
/*
 * Any other address is a return address, unless this bit is another one than bit 63 (which is the
 * kernel's): then it is, with the bit inverted, that of an instruction that was interrupted.
 */
#define CHAINLOG_EXACT_TAG (1ull << 62)
#define CHAINLOG_TID_LIMIT (1u << 22) /* tids and tgids are below: the kernel's PID_MAX_LIMIT */
#define CHAINLOG_CPU_LIMIT (1u << 16) /* CPU numbers are below */

/* ---- varints ------------------------------------------------------------------------------- */

#define CHAINLOG_VARINT_MAX 10

/* Writes v at p (room for CHAINLOG_VARINT_MAX bytes), returns the byte after it. */
static inline uint8_t *chainlog_put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Reads a varint of any length. Callers use chainlog_get_varint(). */
static inline const uint8_t *chainlog_get_long_varint(const uint8_t *p, const uint8_t *end,
						      uint64_t *v)
{
	uint64_t r = 0;

	for (unsigned int shift = 0; p < end && shift < 64; shift += 7) {
		uint8_t b = *p++;

		if (shift == 63 && b > 1)
			return NULL;
		r |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*v = r;
			return p;
		}
	}
	return NULL;
}

/*
 * Reads a varint from [p, end) into *v. Returns the byte after it, or NULL if it is cut off by
 * end or does not fit 64 bits. Nearly all have one or two bytes: these are read without a loop.
 */
static inline const uint8_t *chainlog_get_varint(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	if (end - p >= 2) {
		if (p[0] < 0x80) {
			*v = p[0];
			return p + 1;
		}
		if (p[1] < 0x80) {
			*v = (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
			return p + 2;
		}
	}
	return chainlog_get_long_varint(p, end, v);
}

/* Reads a varint below limit, which is at most 2^32, into *v; NULL if it is not. */
static inline const uint8_t *chainlog_get_below(const uint8_t *p, const uint8_t *end,
						uint64_t limit, uint32_t *v)
{
	uint64_t wide;

	p = chainlog_get_varint(p, end, &wide);
	if (!p || wide >= limit)
		return NULL;
	*v = (uint32_t)wide;
	return p;
}

static inline uint64_t chainlog_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t chainlog_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static inline uint32_t chainlog_get_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t chainlog_get_le64(const uint8_t *p)
{
	return (uint64_t)chainlog_get_le32(p) | (uint64_t)chainlog_get_le32(p + 4) << 32;
}

static inline void chainlog_put_le32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline void chainlog_put_le64(uint8_t *p, uint64_t v)
{
	chainlog_put_le32(p, (uint32_t)v);
	chainlog_put_le32(p + 4, (uint32_t)(v >> 32));
}
