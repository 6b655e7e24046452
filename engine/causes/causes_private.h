/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causes_private.h - what causes.c sums up, and causes_words.c describes. */
#pragma once

#include <string.h>

#include "causes.h"
#include "common/intern.h"
#include "attribute/chain_batch.h"
#include "attribute/woken_meanwhile.h"

/* Flags that are added to a chain's enum chain_end: a quota was used up; it is a pause. */
#define THROTTLED 0x100u
#define PAUSE 0x200u
/* Of CHAIN_NETWORK: enum chainlog_tcp_timer, multiplied by this. */
#define TCP_TIMER 0x400u
/* In keys of sums numbers of disks are multiplied by this. */
#define DISK 0x1000u
/* And this is added to the stack pair of a sleep that was never woken. */
#define NEVER_WOKEN 0x80000000u

static inline enum chain_end causes_end(uint32_t with_flags)
{
	return (enum chain_end)(with_flags & (THROTTLED - 1));
}

/* How many lengths of waits are told apart. */
#define CAUSES_LENGTHS 1024

/* What counts of a head or a link. Texts; 0: there is none. */
struct label {
	uint32_t who;	  /* 0: an interrupt */
	uint32_t woke;	  /* what it did when it woke: "woke the waiter in unlock" */
	uint32_t slept;	  /* where the thread above, or the head's, slept */
	uint32_t what;	  /* what it slept for */
	uint32_t lock;	  /* if it was at a lock, which one */
	uint32_t by;	  /* an interrupt's handler */
	uint32_t idle;	  /* a kernel's thread slept where it has nothing to do */
	uint32_t is_text; /* no link and no head, but what stands between: "[queued]" */
	uint32_t pause;	  /* of a head: the wait is a pause, or for lack of work */
	uint32_t cell;	  /* likewise: see causes_cells(); 0: there are none */
};

/* What distinguishes causes. */
struct cause_key {
	uint32_t end, disk, who, where, by, lock, itself;
};

/* What the current wait has of a cause. */
struct part_of_wait {
	uint64_t ns;
	uint64_t longest_ns; /* of sleeps that end the chain: the longest one; else all */
	uint64_t piece_ns;   /* the longest piece of its time */
	uint64_t others_ns;  /* of chains with a waker: what others made it wait */
};

/* What the causes need to know of the wait that is explained. */
struct current_wait {
	struct chosen_wait wait;
	uint32_t name;	/* of its thread then: a text */
	uint32_t life;	/* 1 + whether it is nearly all of the thread's; 0: not known yet */
	uint32_t avoid; /* likewise: whether the examples are to avoid it most */
};

/* A wait that has a part of a cause. */
struct cause_example {
	struct chosen_wait wait; /* .wait NULL: there is none */
	uint64_t ns;		 /* its part */
	uint64_t piece_ns;	 /* the longest piece of that */
	uint32_t avoid;		 /* it shows it worse than any with less of this */
};

/* Those that show it best, at most EXAMPLES, the best one first. */
#define EXAMPLES 16u
struct cause_examples {
	struct cause_example *at;
	size_t n, cap;
};

/* A chain and its end, with THROTTLED, PAUSE and TCP_TIMER. */
struct chain_sum {
	uint64_t ns;
	uint32_t node, end;
	uint32_t disk;	/* of CHAIN_DISK: its kind */
	uint32_t cause; /* 1 + its number; 0: not looked up yet */
	/* When waits are explained in a batch: */
	struct window_sum windows;
	uint64_t serial; /* of what the sink was told of last */
	/* With .is_own: what is pending of a thread's time, the last one's; see causes_add_own().
	 */
	uint32_t thread;
	uint64_t thread_ns;
	bool thread_pending;
	bool single;	/* of the cause the longest single sleep counts */
	bool has_waker; /* a thread's waking is in the chain */
	bool is_own;	/* its time is that of threads with the name of the cause */
};

/* In keys of sums by node. */
#define ENDS_OF_NODE (CHAIN_ENDS + 1u)

/* A window of a waker's time, of the current wait. */
struct window {
	uint32_t node, waker;
	uint64_t from_ns, to_ns;
};

/* What a cause has of the waits of the threads of one name. */
struct cause_of_name {
	struct cause_example best;
	uint64_t others_ns; /* what others made them wait */
};

/* What is found out of the waits that are explained. */
enum causes_mode {
	CAUSES_EACH,  /* all of it, wait by wait */
	CAUSES_BATCH, /* sums of many at once */
	CAUSES_OWN,   /* sums, of what is known of a wait without its chain */
	CAUSES_SHOW,  /* which wait shows a cause: the sums have it already */
};

/* The node of a head, and that of those that pause; 0: not made yet. */
struct head_nodes {
	uint32_t others, pause;
};

/* Of a cause and a thread. */
struct cause_thread {
	uint64_t ns;	/* of its time, if it has the cause's name */
	bool has_time;	/* there was any, if it was not taken back */
	uint32_t name;	/* of a thread that had to wait for the cause: a text; 0: it had not */
	uint64_t at_ns; /* when it had that name, the first of those under which it waited */
};

struct causes {
	const struct timelines *timelines;
	const struct trace *trace;
	struct names *names;
	struct wait_filter *filter;
	struct chains chains;
	struct intern links; /* struct link; */
	uint32_t *label_of;  /* by its id: the label, 0 not made yet */
	size_t cap_label_of;
	struct intern labels; /* struct label */
	/* struct head_nodes by (name of a thread, stack of its wait), of the trace. */
	struct pair_table heads;
	struct pair_table cell_heads; /* uint32_t: the node by (that of no cell, cell) */
	struct intern keys;	      /* struct cause_key; */
	struct cause *at;	      /* by its id - 1, until they are sorted */
	size_t n, cap;
	struct pair_table sums; /* struct chain_sum, by (node, end or disk) */
	uint32_t *sum_of;	/* those by ends, by node * ENDS_OF_NODE + end; 0: none yet */
	size_t n_sum_of;
	const struct cpu_holders *cpu_holders; /* NULL: not known */
	/* By cause: who had the CPU (see cpu_holders.h), and texts. */
	struct sums had, wheres, whats, wakee_whats;
	struct sums threads, samples; /* by cause: texts; stacks */
	/*
	 * Waits that are longer, and are explained, are kept for one thread to explain in their
	 * order: what running totals are built for depends on what was explained before.
	 */
	uint64_t long_ns;
	struct chosen_wait *long_waits;
	size_t n_long, cap_long;
	struct woken_meanwhile *wakings;
	struct sums woken; /* by cause: see woken_meanwhile_add() */
	struct window *windows;
	size_t n_windows, cap_windows;
	/* By cause: texts of names of those that it made wait, and how many of these there are. */
	struct sums victims;
	struct pair_table of_names;	  /* struct cause_of_name, by (cause, text of a name) */
	struct pair_table of_threads;	  /* struct cause_thread, by (cause, thread) */
	struct pair_table examples;	  /* struct cause_examples, by (cause, avoid) */
	struct sums operations;		  /* by cause: texts of what a disk did */
	struct sums lock_parts;		  /* by cause: texts of what its holder did meanwhile */
	uint64_t lengths[CAUSES_LENGTHS]; /* waits by their length, without pauses */
	struct sums by_length;		  /* by cause: its time in waits of each length */
	enum causes_mode mode;
	/* NULL: waits are explained one by one; else many at once, and of few it is found out what
	 * each of them has. */
	struct chain_batch *batch;
	/* The windows whose amounts come next, and how often there were any. */
	struct window_sum windows_now;
	bool windows_alike;
	uint64_t serial;
	/* uint64_t, how many, by (node of a first link, thread that waited so). */
	struct pair_table waited;
	bool is_slow; /* the current wait is one of the slowest */
	/* The current piece: how long it is, whose time it is. */
	uint64_t piece_ns;
	const struct wait *piece_wait; /* NULL: none, or not known */
	uint32_t thread;
	/* The current wait: parts by cause, and which causes have one. */
	struct part_of_wait *part;
	uint32_t *touched;
	size_t cap_parts, cap_touched, n_touched;
	struct causes_cells cells;  /* .of NULL: there are none */
	struct pair_table in_cells; /* struct cause_cell, by (cause, cell) */
};

static inline struct label causes_label(const struct causes *c, uint32_t id)
{
	struct label l;
	size_t len;

	memcpy(&l, intern_bytes(&c->labels, id, &len), sizeof(l));
	return l;
}

/* causes_label.c: a chain_user's. */
uint32_t causes_label_link(void *arg, const struct link *l);
/* The node with which the chains of a wait begin; pause: of what is a pause, or for lack of work.
 */
uint32_t causes_head_of(struct causes *c, const struct chosen_wait *p, bool pause);
/* Whether a node is of the chain of a pause. */
bool causes_node_pauses(const struct causes *c, uint32_t node);
/* The text for where a stack was (see place_text()); "NAME/ID". */
uint32_t causes_place(struct causes *c, uint32_t pair, uint32_t kernel_frames, bool user,
		      bool kernel);
uint32_t causes_numbered(struct causes *c, const char *name, uint32_t id);
/*
 * Of a chain that an interrupt ends, node being that of the interrupt: the node of the thread that
 * slept until then. *link: the link below that, which says where it slept. A worker of the kernel's
 * that had nothing to do was only told first: then it is who waited for the worker.
 */
uint32_t causes_sleeper(const struct causes *c, uint32_t node, struct label *link);
/* The node of the last link of a chain that ended a wait at a lock; 0: there is none. */
uint32_t causes_lock_link(const struct causes *c, uint32_t node);
/* 1 + the index of the cause with this key, which is made if it is new. */
uint32_t causes_of_key(struct causes *c, const struct cause_key *key);
/* Takes w for the one that nobody woke, if it began before that of the cause. */
void causes_keep_never_woken(struct cause *cause, const struct wait *w);
/* 1 + the index of the cause of a chain. */
uint32_t causes_find(struct causes *c, uint32_t node, uint32_t end, uint32_t disk);

/* causes_parts.c: adds ns of the current wait to a cause's part of it. */
void causes_add_part(struct causes *c, const struct chain_sum *s, uint64_t ns);
/* What of a chain's sum counts in the parts of its cause. */
void causes_classify(const struct causes *c, struct chain_sum *s);
/* Adds up the parts of the current wait, which is over; name: its thread's, a text. */
void causes_count_wait(struct causes *c, const struct chosen_wait *p, uint32_t name);
/* Keeps it where it belongs among those of the cause with the same .avoid. */
void causes_keep_example(struct causes *c, uint32_t cause, const struct cause_example *e);
/* The same for those of the threads of a name; others_ns: what others made them wait. */
void causes_keep_of_name(struct causes *c, uint32_t cause, uint32_t name,
			 const struct cause_example *e, uint64_t others_ns);
/* Notes that a thread, which had this name at_ns, had to wait for the cause. */
void causes_keep_victim(struct causes *c, uint32_t cause, uint32_t thread, uint32_t name,
			uint64_t at_ns);
/* Adds to what a cell has of a cause. */
void causes_add_to_cell(struct causes *c, uint32_t cause, uint32_t cell, struct cause_cell more);
/* Notes that ns of what a cause has was a thread's. */
void causes_add_thread(struct causes *c, uint32_t cause, uint32_t thread, uint64_t ns);
/* The same of a chain's sum, whose time is mostly that of one thread after the other: it is pending
 * until causes_end_own(). */
void causes_add_own(struct causes *c, struct chain_sum *s, uint32_t thread, uint64_t ns);
void causes_end_own(struct causes *c);
/* Puts into sums, to be sorted, what is known of names and threads. */
void causes_sum_names(struct causes *c);
/* The example of each cause, once they are sorted: of two the one with more time chooses first. */
void causes_choose_examples(struct causes *c);
/* How much of the slowest waits each cause has; when all of by_length is sorted. */
void causes_find_slowest(struct causes *c);
/* Counts a wait that has so much time that is no pause. */
void causes_count_length(struct causes *c, uint64_t ns);
/* How many waits are slowest, and the least time that one of them has. */
uint64_t causes_slowest_waits(const struct causes *c, uint64_t *least_ns);

/* causes_batch.c: what a chain_sink's windows() is told. */
void causes_note_windows(void *arg, const struct chain_windows *of);
/* Adds up what is known of the causes by chains: time, waits, victims. */
void causes_sum_chains(struct causes *c);
/* Explains the slowest waits, and some that show the causes that are shown, each by itself. */
void causes_explain_some(struct causes *c, const struct options *o);

/* causes_explain.c: explains a wait by itself. */
void causes_explain_wait(struct causes *c, const struct chosen_wait *p);
/* What a chain_sink of a wait, or of a batch, is told. */
void causes_add_amount(void *arg, uint32_t node, struct amount_key key, uint64_t amount);
/* For attribution_sum_up(): who had the CPU is known by cause. */
uint32_t causes_key_of_holders(void *arg, uint32_t node, enum chain_end end);
void causes_add_holder(void *arg, uint32_t cause, uint32_t who, uint64_t ns);
void causes_add_window(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns, uint64_t to_ns);
void causes_begin_piece(void *arg, const struct chain_piece *p);
/* The time of a wait in which its thread was ready; all of one that is for lack of work. */
void causes_explain_own(struct causes *c, uint32_t head, const struct chosen_wait *p);
void causes_explain_no_work(struct causes *c, uint32_t head, const struct chosen_wait *p);
/* The sum of a node with this end, from 1; 0: there is none. */
uint32_t causes_known_sum(const struct causes *c, uint32_t node, uint32_t end);

/*
 * causes_join.c: adds all that was found of other waits. Texts and numbers of causes and nodes are
 * not the same in both.
 */
void causes_join(struct causes *to, const struct causes *from);

/* causes_words.c: sets what is said of the causes: where, who had the CPU, the path. */
void causes_describe(struct causes *c);
/* causes_samples.c: sets what threads ran. */
void causes_say_what_ran(struct causes *c);
