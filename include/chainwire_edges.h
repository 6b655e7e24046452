/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainwire_edges.h - --light: switches and wakings without stacks, in words of 8 bytes in an array
 * of each CPU, which goes round. The BPF side writes on whether anybody has read or not; the
 * collector reads where it wants to, and finds out what was overwritten. Part of chainwire.h.
 *
 * An edge is a word, from the lowest bit on: what (enum wire_edge, 6 bits), 1 if its object is in
 * the next word (<< WIRE_EDGE_BITS, with WIRE_EDGE_REST), the tid of the thread that comes or is
 * woken (22), and the lowest bits of its time (35). Who acts, and the rest of the time, follow from
 * what is before it: from a mark.
 */
#pragma once

enum wire_edge {
	WIRE_EDGE_RUNNABLE, /* a switch; the thread that goes is the idle one, or the recorder's */
	WIRE_EDGE_SLEEPS,   /* it sleeps, and signals may wake it, */
	WIRE_EDGE_BLOCKED,  /* or may not */
	WIRE_EDGE_WAKES,    /* a waking; the target was */
	WIRE_EDGE_WAKES_OFF_QUEUE, /* and was off its run queue */
	WIRE_EDGE_MARK,
	WIRE_EDGE_REST, /* belongs to the word before it */
};
#define WIRE_EDGE_BITS 6
#define WIRE_EDGE_OBJECT (1u << WIRE_EDGE_BITS)
#define WIRE_EDGE_TID 7
#define WIRE_EDGE_TIME 29
#define WIRE_EDGE_TIME_BITS 35

/*
 * A mark: the time, whole (<< WIRE_EDGE_BITS, with WIRE_EDGE_MARK), and three such words: who runs,
 * how many edges were before it, and how many of these had objects. One is written where it is
 * needed, and every so many words.
 */
#define WIRE_EDGE_MARK_WORDS 4
#define WIRE_EDGE_MARK_EVERY 1024u
/* The most words that are written at once. */
#define WIRE_EDGE_WORDS_MAX (WIRE_EDGE_MARK_WORDS + 2)

/* Of a CPU; the collector sets base and mask. */
struct wire_edges {
	__u64 words;	      /* written so far, this one the next */
	__u64 edges, objects; /* of these words */
	__u64 at_ns;	      /* the last edge */
	__u64 marked;	      /* words before the last mark */
	__u64 missed;	      /* edges of interrupts while another one was being written */
	__u64 cost_ns;	      /* as of struct wire_kind_state */
	__u32 running;	      /* who runs, by the last edge */
	__u32 base, mask;     /* the CPU's part of the array: its first word, and its words - 1 */
	__u32 busy;
} __attribute__((aligned(64)));
