/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attributed_time.h - what attribution gives: pieces of time, each with the chain that leads to it
 * and the reason why that ends there. What else is known of a piece (who had the CPU, at which
 * stage a disk was, for which socket packets came, what the thread ran) is found out here, for all
 * who attribute time. Everything goes into one sink, as amounts with a key.
 */
#pragma once

#include "base/options.h"
#include "timeline/timeline.h"
#include "cpu_holders.h"

/* Why a chain ends: see ends.def. */
enum chain_end {
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) \
	CHAIN_##NAME = number,
#include "ends.def"
	CHAIN_ENDS = 0
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) +1
#include "ends.def"
};

/* "running" and so on, as in ends.def; and as a frame: "[running]". */
const char *chain_end_word(enum chain_end end);
const char *chain_end_name(enum chain_end end);
/* The ends that have any time, the largest first; returns how many. */
size_t chain_ends_by_size(const uint64_t ns[CHAIN_ENDS], enum chain_end order[CHAIN_ENDS]);

/* Those whose last link is an interrupt: a bit each. */
enum {
	CHAIN_INTERRUPTS = 0
#define END_BY_INTERRUPT(NAME, number, name, csv, above, colour, spread, sentence, heading) \
	| 1 << number
#include "ends.def"
};

static inline bool chain_end_is_interrupt(enum chain_end end)
{
	return CHAIN_INTERRUPTS >> end & 1;
}

/* Of time that ended when a block device was done with something (chain-semantics, section 11). */
enum disk_stage {
	DISK_WHOLE,  /* it is not known when the device got the request */
	DISK_QUEUED, /* before the device got it */
	DISK_DEVICE,
	DISK_HELD, /* an I/O limit held it back */
	DISK_STAGES,
};

/*
 * In place of a disk's stage, of time that ended when packets came: another machine had the
 * request; or what came had been put off by a timer of TCP, which: NETWORK_TIMER + enum
 * chainlog_tcp_timer.
 */
#define NETWORK_REMOTE 1u
#define NETWORK_TIMER 1u

/* "tcp delayed ack" and so on, of a stage; NULL: it is not that of a timer. */
const char *network_stage_name(uint64_t stage);

/* "[queued]", "[device]", "[throttled]"; NULL of DISK_WHOLE. */
const char *disk_stage_name(enum disk_stage stage);
/* Until when an I/O limit held the request back; 0: none did. */
uint64_t disk_request_held_ns(const struct timelines *tl, const struct disk_request *r);
/* A cpu_holders.h HOLDER_* for whose I/O limit held back requests of the kind, which is held. */
uint32_t disk_limit_holder(struct disk_request_kind held);
/* The request that ended w, whose chain ends in CHAIN_DISK. */
const struct disk_request *disk_request_of(const struct timelines *tl, const struct wait *w);
/* The socket (an object) for which w, which packets ended, was; 0: not known, or not shown. */
uint32_t socket_of_wait(const struct timelines *tl, const struct options *o, const struct wait *w);

/* ---- the sink ------------------------------------------------------------------------------- */

enum amount_kind {
	/*
	 * ns. value: of CHAIN_DISK what was asked of which disk (timelines_disk_request_kind()), at
	 * a stage; of CHAIN_NETWORK the socket, an object, 0 if it is not known; or, with the stage
	 * NETWORK_REMOTE, a remote_part.
	 */
	AMOUNT_TIME,
	/* ns of AMOUNT_TIME in which value had the CPU (cpu_holders.h): CHAIN_RUNNABLE, _PREEMPTED.
	 */
	AMOUNT_CPU_HOLDER,
	/* How many samples in CHAIN_RUNNING have the stacks value (a pair). */
	AMOUNT_SAMPLES,
	/* ns of CHAIN_RUNNING that went to interrupts. */
	AMOUNT_INTERRUPTED,
};

/* What an amount is. Has no padding: equal keys are equal bytes. */
struct amount_key {
	uint8_t kind;	/* enum amount_kind */
	uint8_t end;	/* enum chain_end: of the time to which it belongs */
	uint16_t stage; /* enum disk_stage; of CHAIN_NETWORK NETWORK_REMOTE, _TIMER + or 0 */
	uint32_t value;
};

struct chain_piece;

/*
 * What a window of a waker's time that ends at to_ns has of something. origin: of a wait that it
 * explains the length and the number, so that there is an order in which of equal ones the first is
 * meant. See chain_batch_origin(). ns 0: there is none.
 */
struct window_part {
	uint64_t ns, to_ns, origin;
};

/* How many windows have a part of something, the longest one, and the next that ends elsewhere. */
struct window_sum {
	uint64_t n;
	struct window_part longest, next;
};

static inline struct window_sum window_sum_of(uint64_t n, uint64_t ns, uint64_t to_ns,
					      uint64_t origin)
{
	return (struct window_sum) { .n = n, .longest = { ns, to_ns, origin } };
}

static inline bool window_is_longer(const struct window_part *a, const struct window_part *b)
{
	return a->ns > b->ns || (a->ns == b->ns && a->ns && a->origin < b->origin);
}

/* What it keeps does not depend on the order, nor on which windows were added up before. */
static inline void window_sum_keep(struct window_sum *s, struct window_part w)
{
	if (window_is_longer(&w, &s->longest)) {
		if (w.to_ns != s->longest.to_ns)
			s->next = s->longest;
		s->longest = w;
	} else if (w.to_ns != s->longest.to_ns && window_is_longer(&w, &s->next)) {
		s->next = w;
	}
}

static inline void window_sum_add(struct window_sum *s, const struct window_sum *other)
{
	s->n += other->n;
	window_sum_keep(s, other->longest);
	window_sum_keep(s, other->next);
}

/* Windows that have a part of what a chain has, see chain_batch.h. */
struct chain_windows {
	uint32_t node; /* of the chain */
	enum chain_end end;
	uint32_t waker;		 /* whose time it is; THREAD_NONE: not known */
	const struct wait *wait; /* the sleep that ends the chain; NULL: it ends otherwise */
	struct window_sum sum;
	bool alike; /* all are of the same time, and so is what each has of an amount */
};

struct chain_sink {
	void *arg;
	/*
	 * Adds to what the chain that leads to node has. Amounts may be below 0, as 2^64 less:
	 * these take back what was added.
	 */
	void (*add)(void *arg, uint32_t node, struct amount_key key, uint64_t amount);
	/*
	 * [from_ns, to_ns) of the timeline of waker, the waker of node's last link, is explained;
	 * the waking was at to_ns. Not called where running totals are used, nor for the sums of
	 * chain_batch.h. NULL: not asked for.
	 */
	void (*window)(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns, uint64_t to_ns);
	/*
	 * The amounts up to the next call are those of this piece; or, where running totals are
	 * used, of many: then p->thread is THREAD_NONE, and only how long the longest is is known.
	 * The sums of chain_batch.h do not call it. NULL: not asked for.
	 */
	void (*piece)(void *arg, const struct chain_piece *p);
	/*
	 * Only of chain_batch.h: the amounts up to the next call are those of these windows; or
	 * they are who had the CPU in these, of which the time comes later. Not called for the
	 * waits of clients. NULL: not asked for.
	 */
	void (*windows)(void *arg, const struct chain_windows *of);
};

/* ---- pieces --------------------------------------------------------------------------------- */

/* A number, the same for chains and ends for which who had the CPU goes into one sum. */
typedef uint32_t (*attribution_key_fn)(void *arg, uint32_t node, enum chain_end end);

/* Where pieces go, and what is found out of them beside their time. */
struct attribution {
	struct chain_sink to;
	const struct timelines *timelines;
	const struct options *options;
	/* NULL: not asked for, or not known. */
	const struct cpu_holders *cpu_holders;
	struct cpu_holders_sums *holders_later; /* NULL: AMOUNT_CPU_HOLDER comes at once */
	attribution_key_fn holders_key;		/* by which they are added up */
	bool only_quotas; /* of AMOUNT_CPU_HOLDER only those of waits for which there was a quota */
	const struct stolen_time *interrupts;
	uint32_t *sample_hints; /* by thread: where its samples were looked for last */
};

/*
 * wants: the kinds of amounts to be found out, 1u << enum amount_kind or-ed, of which those are
 * that the trace has. cpu_holders may be NULL, and must outlive it. To be freed with
 * attribution_free().
 */
void attribution_init(struct attribution *a, const struct timelines *tl, const struct options *o,
		      struct chain_sink to, unsigned int wants,
		      const struct cpu_holders *cpu_holders);
void attribution_free(struct attribution *a);
/*
 * From now on amounts of AMOUNT_CPU_HOLDER that are no quota's are added up by key, which is much
 * faster; attribution_end() tells add of them, if not sooner. Both get the sink's arg.
 */
void attribution_sum_up(struct attribution *a, attribution_key_fn key, cpu_holders_sums_fn add);
void attribution_end(struct attribution *a);

/* A part of a wait's time, or of that of `count` waits at once. */
struct chain_piece {
	uint32_t node; /* of the chain that leads to it */
	enum chain_end end;
	uint32_t thread; /* whose time it is: the last waker's, or that of the thread that waits */
	/*
	 * CHAIN_RUNNABLE, _PREEMPTED: the thread's interval in which it lies; an interrupt's end:
	 * the wait that the interrupt ended.
	 */
	const struct wait *wait;
	uint64_t from_ns, to_ns;
	uint64_t gaps_ns; /* of CHAIN_RUNNING: what of it is in other pieces */
	int64_t count;
};

/* Whether there is more to be found out of time in which the thread ran, or had no CPU. */
static inline bool attribution_has_details(const struct attribution *a)
{
	return a->cpu_holders || a->interrupts || a->sample_hints;
}

/* All that is known of a piece goes into the sink; of one without time nothing. */
void attribute_piece(const struct attribution *a, const struct chain_piece *p);

/* ---- sums of pieces ------------------------------------------------------------------------- */

static inline void attribute_time(const struct attribution *a, uint32_t node, enum chain_end end,
				  uint64_t ns)
{
	if (ns)
		a->to.add(a->to.arg, node, (struct amount_key) { .end = (uint8_t)end }, ns);
}

/* Private to attribute_interrupt(). */
void attribute_to_device(const struct attribution *a, uint32_t node, enum chain_end end,
			 const struct wait *w, unsigned int stage, uint64_t ns);

/* Whether time with an interrupt's end, which ended w, may have several stages. */
static inline bool chain_end_has_stages(enum chain_end end)
{
	return end == CHAIN_DISK || end == CHAIN_NETWORK;
}

/* Time with an interrupt's end, which ended w, at a stage if it may have several. */
static inline void attribute_interrupt(const struct attribution *a, uint32_t node,
				       enum chain_end end, const struct wait *w, unsigned int stage,
				       uint64_t ns)
{
	if (chain_end_has_stages(end))
		attribute_to_device(a, node, end, w, stage, ns);
	else
		attribute_time(a, node, end, ns);
}

/*
 * Of a piece, CHAIN_RUNNABLE or _PREEMPTED: who had the CPU. Of one that is CHAIN_RUNNING: its
 * samples; fast if consecutive pieces of a thread are near each other in time.
 */
void attribute_cpu_holders(const struct attribution *a, const struct chain_piece *p);
void attribute_samples(const struct attribution *a, const struct chain_piece *p);
/* Of one that is CHAIN_RUNNING all but its time. */
void attribute_run(const struct attribution *a, const struct chain_piece *p);

static inline void attribute_sample(const struct attribution *a, uint32_t node, uint32_t pair,
				    int64_t count)
{
	a->to.add(
		a->to.arg, node,
		(struct amount_key) { .kind = AMOUNT_SAMPLES, .end = CHAIN_RUNNING, .value = pair },
		(uint64_t)count);
}
