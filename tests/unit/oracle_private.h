/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_private.h - what the lives (oracle.c) and the chains (oracle_chain.c) are made of. */
#pragma once

#include <stdlib.h>

#include "oracle.h"

#define NOBODY (-1)
#define IDLE (-2)
#define CORES 256

enum what { RUNS, SLEEPS, WOKEN, PREEMPTED, UNKNOWN, DEAD };

/* What a disk did; all zero: nothing is known. */
struct done {
	bool known;
	uint64_t issued;
	uint32_t disk, op;
	uint64_t held;	/* an I/O limit held it back until then; 0: none */
	uint32_t group; /* of the group with that path */
};

/* A thread asked a disk for something. */
struct asking {
	uint64_t at;
	uint32_t tid, kstack;
};

/* Why somebody slept, and who ended it. */
/* By a timer of TCP; which 0: by none. */
struct put_off {
	uint64_t since, at, which;
};

struct sleep {
	uint32_t kstack, ustack; /* the sleeper's */
	uint32_t pair;		 /* these, as the reader numbers them */
	uint32_t object;	 /* what it slept for; 0: not known */
	char state;		 /* as ps shows it; 0: not known */
	uint32_t ready;		 /* of several: which of them woke it */
	uint32_t told_ready;	 /* the same, also if it is not known to have slept for any */
	int waker;		 /* thread, IDLE or NOBODY */
	uint32_t waker_kstack, waker_ustack;
	uint64_t out_ns, woken_ns;
	uint64_t early;	   /* 1 + when it was woken, if it had not slept yet; 0: it had */
	bool maybe_woken;  /* what woke it a little early may be lost */
	bool never;	   /* asleep at the end of the trace, or of its life */
	bool is_birth;	   /* no sleep: the thread's first waking */
	bool throttled;	   /* while it was ready */
	bool of_client;	   /* of no thread: its waker is a task, wherever it was */
	bool passed_on;	   /* the waker is who answered what the sleeper had passed on */
	size_t answers;	   /* of these: the request that it answered; SIZE_MAX: it read it */
	uint64_t acted_ns; /* when the waker woke, if that was later than woken_ns; 0: it was not */
	struct done done;  /* what the waker's CPU was done with last before it woke */
	bool then_woke;	   /* the sleeper was current in a waking before it slept again */
	/* The sleep in which it goes on at last, whose waker it has got; NULL: it does not. */
	const struct sleep *ended_by;
	bool not_sent;		/* what its waker received and woke for it had not sent */
	struct put_off put_off; /* what its waker received then */
	/* A light recording has no user stack of it, or of its waker, as it was too short. */
	bool is_short, waker_short, left_out;
	int held_by; /* 1 + the life that had the lock, as that itself said; 0: not known */
};

struct piece {
	uint64_t from, to;
	enum what what;
	int sleep;	   /* SLEEPS, WOKEN: index in sleeps; PREEMPTED too, for the stack */
	int cpu;	   /* RUNS; NOBODY: on one not known */
	bool after_waking; /* UNKNOWN: that it was woken then is known */
	bool ran_on;	   /* UNKNOWN: that it ran then */
};

/* From at on the thread is on a CPU's queue; NOBODY: which is not known. Later notes count more. */
struct placed {
	uint64_t at;
	int cpu;
};

/* A life could not run, as a quota was used up. */
struct forbidden {
	uint64_t from, to;
	uint32_t path; /* of the group whose it is */
	uint64_t why;  /* enum chainlog_quota */
};

/* Where somebody was who ran. */
struct spot {
	uint64_t at;
	uint32_t kstack, ustack;
};

struct life {
	uint32_t tid, tgid;
	int parent; /* the life that started it; or NOBODY */
	uint64_t begin, end;
	struct piece *pieces;
	int n_pieces;
	struct sleep *sleeps;
	int n_sleeps;
	struct sleep *as_slept; /* the same before any went on: oracle_keep_sleeps() */
	struct spot *spots;
	int n_spots;
	struct forbidden *forbidden;
	int n_forbidden;
	struct {
		uint64_t at;
		uint32_t name;
	} * names;
	int n_names;
	/* In which control group, from when on; own: it was moved alone, or is who was moved. */
	struct {
		uint64_t at;
		uint32_t path;
		bool own;
	} * groups;
	int n_groups;
	struct placed *placed;
	int n_placed;

	enum what now;
	uint64_t since;	     /* of now */
	uint64_t heard_from; /* guessed: what it did before was known up to then */
	uint64_t woken_at;   /* WOKEN */
	uint64_t last_seen;  /* RUNS */
	int cpu;	     /* RUNS; NOBODY: on one not known */
	bool guessed;	     /* not from a switch */
	uint32_t end_kstack; /* where it left its last CPU */
	/* Another thread ended its process in this sleep, by its number; or NOBODY. */
	int process_ended;
	bool new_born, touched, astir, leaving, recorder, kernel;
	bool has_early, early_is_it, loss_while_on;
	bool woken_again; /* since it was woken, by somebody not known */
	bool sure; /* WOKEN: off its queue when it was woken; so the early waking that it has */
	bool early_sure;
	struct sleep early;
	const struct trace_thread *snap;
};

/* What interrupts, or a hypervisor, took of a stretch of a core. */
enum taker {
	INTERRUPTS,
	HYPERVISOR,
	TAKERS,
};

struct taken {
	uint64_t from, to, ns;
	int life;
};

struct core {
	int runs;    /* thread, IDLE, NOBODY: not known */
	bool missed; /* NOBODY because a switch was missed */
	uint64_t good_from;
	uint64_t idle_since;
	struct {
		uint64_t from, to;
	} * idle;
	int n_idle;
	/* When the recorder had it. */
	struct {
		uint64_t from, to;
	} * recorder;
	int n_recorder;
	uint64_t *switches; /* when there were any */
	int n_switches;
	struct done done;
	uint64_t dones_bad_until;
	/* The stretch that the last switch ended, and who was in it; told: of which all is known.
	 */
	struct taken last;
	bool told[TAKERS];
	struct taken *taken[TAKERS];
	int n_taken[TAKERS];
};

/* What the events say of one request. */
struct asked_for {
	uint64_t arrival, taken, answer;
	int reader, writer; /* lives, or NOBODY */
	bool answered, known;
	bool probed; /* marked by probes: what a thread works for is said by sockets alone */
};

/* An event of requests, or of parts of them that are missing, and whose it is. */
struct told {
	struct event ev;
	int life, other;
	bool lost;
	uint32_t route; /* of the writer's context: object; 0: none */
	/* What request_asked() found out, if it was asked. */
	bool was_asked, is_request;
	struct asked_for asked;
};

/* What a thread published when it was looked at; it runs another program; or some of it is lost. */
struct published {
	enum { PUBLISHED, OTHER_PROGRAM, PUBLISHED_LOST } what;
	int life;
	uint64_t at; /* PUBLISHED_LOST: up to when */
	uint32_t route;
};

/* What a worker executes; or, with LOST, that such events are missing in [at, since]. */
struct executed {
	enum { NO_ITEM, QUEUED_ITEM, SOME_ITEM, LOST_ITEMS } what;
	uint64_t at, since;
	int worker, queuer; /* lives; queuer: or IDLE, or NOBODY */
	uint32_t kstack, ustack;
};

/* With which stacks a life slept then. */
struct slept {
	uint64_t at;
	int life;
	uint32_t kstack, ustack;
};

struct world {
	const struct trace *t;
	uint64_t start, end, bad_until;
	uint64_t first_loss,
		bad_ns; /* where the first begins; how long all of them are, each time once */
	bool lossy;
	struct life *lives;
	int n_lives;
	struct core cores[CORES];
	unsigned int depth;
	bool who_ran, plain_ends, fold_repeats, no_idle;
	/* Stretches of at least 100 ms without an event, and up to when there were any. */
	struct {
		uint64_t from, to;
	} * still;
	int n_still;
	uint64_t heard;
	struct asking *askings;
	int n_askings;
	bool interrupts;	   /* they have the CPU, and not the thread that they interrupt */
	uint64_t placed_bad_until; /* changes of queues are missing before */
	uint64_t groups_bad_until; /* likewise of groups */
	char **lines;
	uint64_t *ns;
	size_t n_lines;
	/* For each line: its base, if it is a sample of that line's time; else NULL. */
	char **bases;
	struct told *told;
	size_t n_told;
	struct published *published;
	size_t n_published;
	struct executed *executed;
	size_t n_executed;
	struct slept *slept;
	size_t n_slept;
	uint64_t requests_bad_until; /* some that were answered before are missing */
	bool own;		     /* running time, too */
	bool path;		     /* chains are numbers of links, see oracle_paths.c */
	struct way *ways;
	size_t n_ways;
	bool sampled;
	struct sleep **made; /* ends of sleeps that nobody saw */
	size_t n_made;
};

/* Room for one more item in an array of n, which has grown by this function only. */
static inline void *more(void *p, size_t n, size_t size)
{
	if (n & (n - 1))
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		abort();
	return p;
}

/* oracle.c: all that happens in a trace; to be freed by world_free(). */
struct world *world_of(const struct trace *t);
void world_free(struct world *w);

/* oracle_life.c */
/* A stretch of a life; none if it has no length. */
void life_note(struct life *l, uint64_t from, uint64_t to, enum what what, int sleep);
void life_is(struct life *l, enum what what, uint64_t at);
/* Whatever was going on since then is not known. */
void life_forget(struct life *l, uint64_t at);
/* What was going on went on until then. */
void life_conclude(struct life *l, uint64_t at);
struct sleep *life_sleep(struct life *l, uint64_t out, uint32_t kstack, uint32_t ustack);
/* The youngest life with that tid, or NOBODY. */
int world_find(struct world *w, uint32_t tid);
const struct trace_thread *world_snapshot(struct world *w, uint32_t tid);
int world_born(struct world *w, uint32_t tid, uint64_t begin, const struct trace_thread *snap);
int world_get(struct world *w, uint32_t tid, uint64_t at);
void world_first_lives(struct world *w);

/* oracle_objects.c: the events that say what sleepers waited for, and what ended it. */
void object_awaited(struct world *w, const struct event *ev);
/* Whether a thread with this kernel stack is in the call that it made, or its page fault. */
bool object_is_of_call(struct world *w, uint32_t kstack);
void object_done(struct world *w, const struct event *ev);
/* What a sleeper with this stack waits for, whatever call it is in: RCU; 0: the stack does not say.
 */
uint32_t object_by_stack(struct world *w, uint32_t kstack);
void object_ready(struct world *w, const struct event *ev);
/* A thread asked a disk for something. */
void object_asked(struct world *w, const struct event *ev);
void object_not_sent(struct world *w, const struct event *ev);
void object_put_off(struct world *w, const struct event *ev);
void object_held(struct world *w, uint32_t tid, uint32_t holder, uint64_t at);

/* oracle_light.c: stacks that are told after the switch-out; at the end, whose they are. */
void light_told(struct world *w, const struct event *ev);
void light_apply(struct world *w);

/* oracle_who.c: which CPU ran what, and on whose queue threads were. */
void who_place(struct world *w, int life, uint64_t at, int cpu);
/* The thread, ready since ready, comes on the CPU. */
void who_arrives(struct world *w, int life, uint64_t ready, uint64_t at, int cpu);
/* An event of another kind than those of EVENTS. */
void who_more(struct world *w, const struct event *ev);
/* The core was idle until then; or, what was taken for idle was not. */
/* Life is in the control group of that object from then on. */
void who_is_grouped(struct world *w, int life, uint64_t at, uint32_t object);
/* A child begins in its parent's group, if that is known. */
void who_inherits(struct world *w, int child, uint64_t at, int parent);
void who_idle_until(struct world *w, int core, uint64_t at);
/* Every event, of whatever kind. */
void who_hears(struct world *w, const struct event *ev);
void who_was_not_idle(struct world *w, int core);
/* Events of the core are missing from then on: perhaps that it was the recorder that had it. */
void who_missed(struct world *w, int core, uint64_t at);
/*
 * Calls put for each part of [from, to) of a piece in which life was ready: who is NULL, not known,
 * "[idle CPU]", "[recorder]", "[throttled]", "[no events]", or a name.
 */
void who_ran(struct world *w, int life, const struct piece *p, uint64_t from, uint64_t to,
	     void (*put)(void *arg, const char *who, uint64_t ns), void *arg);
const char *life_name(struct world *w, int life, uint64_t at);

/* oracle_lines.c: the lines of the result. */
/* How a frame is called; buf has room for a name that has to be made. */
const char *frame_name(struct world *w, uint32_t frame, char *buf, size_t size);
/* Append frames to a text, which moves. */
void text_append(char **s, const char *raw);
void text_append_frames(struct world *w, char **s, uint32_t id, uint32_t first_n, bool leaf_first);
void text_append_class(struct world *w, char **s, const struct trace_object *o);
void text_append_name(struct world *w, char **s, int thread, uint64_t at);
/* A line "chain;[end]". */
void line_put(struct world *w, const char *chain, const char *end, uint64_t ns);
/* The same for a part of a piece in which a thread was ready. */
void line_put_ready(struct world *w, const char *chain, const char *end, int life,
		    const struct piece *p, uint64_t from, uint64_t to);
/* Where a life was in [from, to), all of which it ran: a line of no time for each sample. */
void line_put_spots(struct world *w, const char *chain, const char *end, const struct life *l,
		    uint64_t from, uint64_t to);
/* oracle_interrupts.c: a core switched; something was taken up to that; events are missing. */
void core_switches(struct world *w, int core, int life, uint64_t at);
void core_was_taken(struct world *w, const struct event *ev);
void core_missed(struct core *c, uint64_t until);
/* What one of them took of a core's time. */
uint64_t core_taken(const struct core *c, enum taker by, uint64_t from, uint64_t to);

/* The lines, sorted and summed up. To be freed. */
char *oracle_sum_up(struct world *w);

/* Explains [from, to) of a sleep of the life; oracle_chain.c. */
void oracle_explain_own(struct world *w, const char *head, int life, const struct sleep *s,
			uint64_t from, uint64_t to);
/* oracle_paths.c: a chain and one more link. To be freed. */
char *path_linked(struct world *w, const char *chain, const struct sleep *s, bool irq);

/* oracle_idle.c: whether a piece of a life is a pause, or a wait for work. */
bool oracle_is_idle(struct world *w, int life, int piece);

/* oracle_killed.c: sleeps that a signal ended together with their lives have not ended. */
void oracle_find_killed(struct world *w);
/* Whether a waker woke as it ended. */
bool oracle_was_ending(struct world *w, const struct sleep *s);

/* oracle_workers.c: every event of another kind than those of EVENTS. */
void work_noted(struct world *w, const struct event *ev);
/* Who queued what is executed, by its number; false: that is not known. */
bool oracle_queued(struct world *w, size_t executed, struct sleep *asked);
/* To be called before any sleep goes on. */
void oracle_keep_sleeps(struct world *w);
/* Who had asked a worker for what it did when it woke somebody at that time. False: it is none. */
bool oracle_asked(struct world *w, int worker, uint64_t at, struct sleep *asked);

/* oracle_tries.c: tries get the waker of the last one. */
void oracle_join_tries(struct world *w);

/* oracle_chain.c */
/* 0: a task; else 1 + how many frames of the waker's kernel stack are the interrupt's. */
uint32_t oracle_interrupt_frames(struct world *w, const struct sleep *s);
/* What n frames have to say: of all that they name, what is nearest to the leaf. */
/* Whether the sleeper's own timer ended it. */
bool oracle_by_own_timer(struct world *w, const struct sleep *s);
const char *oracle_said_by(struct world *w, const struct sleep *s, uint32_t n);
/* Explains every wait of every life. */
void oracle_explain_all(struct world *w, bool classic);
/* [from, to) of the wait of a client. */
void oracle_explain_by(struct world *w, const char *head, const struct sleep *s, uint64_t from,
		       uint64_t to, bool classic);
/* After the last one. */
void oracle_finish(struct world *w);

/* oracle_requests.c: every event, of whatever kind; explains every request. */
void context_noted(struct world *w, const struct event *ev);
void request_noted(struct world *w, const struct event *ev);
void oracle_explain_requests(struct world *w, bool classic);
/* Whether the event begins a request; then of is what is known of it in the end. */
bool request_asked(struct world *w, size_t at, struct asked_for *of);

/*
 * oracle_loops.c: the sleep whose end explains the one that begins with this piece of life, which
 * ended `woke`.
 */
int oracle_wakes_any(struct world *w, const struct life *l, int sleep, int next, uint64_t from,
		     uint64_t to, bool hands_on);
struct sleep oracle_goes_on_in(struct world *w, int life, const struct sleep *woke, int piece);
