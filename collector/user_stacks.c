// SPDX-License-Identifier: GPL-2.0-or-later
#include "user_stacks.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "files/process_status.h"
#include "interpreters/jvms.h"
#include "kernel/clock.h"
#include "unwind/pending_stacks.h"
#include "unwind/reference.h"
#include "unwind/rule.h"
#include "unwind/sleeping_threads.h"
#include "unwind/unwind.h"

/*
 * Queued threads are unwound for this long after the list, and for this long at the end of the
 * recording. Each takes 30 us, on a loaded machine 150 us; but with a load of thirty, half a second
 * passes before the processes that read rules get a CPU.
 */
#define SLEEPING_NS 5000000000u
#define SLEEPING_AT_END_NS 2000000000u
/* How long a stack waits for a rule; and the time between two rounds of asking, at the end. */
#define PENDING_MAX_NS 5000000000u
#define PENDING_MS 1
/* Users of so many processes are remembered, for so long: they may change. */
#define USERS 1024u
#define USER_NS 1000000000u
/* How many stacks that differ are printed. */
#define PRINTED_MAX 20u

struct user {
	uint32_t tgid;
	uint64_t key, at_ns;
};

struct user_stacks {
	bpf_record_fn record;
	bpf_thread_fn thread;
	user_stacks_holder_fn holder;
	void *ctx;
	struct bpf_session *bpf;
	struct symbolizer *sym;
	const struct interpreters *interpreters; /* NULL: no interpreted code is recorded */
	struct helpers *helpers;
	struct jvms *jvms;	     /* NULL: none are read */
	struct unwinder *unwinder;   /* NULL: there are no user stacks */
	struct reference *reference; /* NULL: they are not compared */
	struct sleeping_threads *sleeping;
	struct pending_stacks *pending; /* stacks that wait for a rule */
	uint64_t sleeping_until_ns;	/* later, queued threads get their leaf only */
	bool verbose;
	uint64_t ends[CHAINLOG_STACK_ENDS]; /* stacks completed, by how they ended */
	uint64_t verified, mismatches;	    /* stacks compared, and those that differ, */
	uint64_t unverified;		    /* and those that could not be compared */
	uint32_t printed;		    /* of those that differ */
	uint64_t cut;			    /* stacks whose rules came too late */
	struct user users[USERS];	    /* by the low bits of the tgid */
	struct wire_stack completed;
};

int user_stacks_open(struct user_stacks **out, struct bpf_session *bpf, struct symbolizer *sym,
		     struct helpers *helpers, bool verify, bool verbose)
{
	struct user_stacks *u = calloc(1, sizeof(*u));
	int epoll = symbolizer_epoll(sym), err = -ENOMEM;

	*out = u;
	if (!u)
		return err;
	u->verbose = verbose;
	u->helpers = helpers;
	u->bpf = bpf;
	u->sym = sym;
	if (!bpf_session_unwinds(bpf))
		return 0;
	if (verify && reference_new(&u->reference))
		return err;
	if (!unwinder_new(&u->unwinder, sym, helpers, bpf_session_rule, bpf) &&
	    !sleeping_threads_new(&u->sleeping) && !pending_stacks_new(&u->pending)) {
		symbolizer_on_replace(sym, bpf_session_replaced, bpf);
		err = epoll < 0 ? 0 : bpf_session_watch(bpf, epoll);
	}
	return err;
}

void user_stacks_close(struct user_stacks *u)
{
	if (!u)
		return;
	symbolizer_read_java(u->sym, NULL);
	jvms_free(u->jvms);
	unwinder_free(u->unwinder);
	reference_free(u->reference);
	sleeping_threads_free(u->sleeping);
	pending_stacks_free(u->pending);
	free(u);
}

void user_stacks_to(struct user_stacks *u, bpf_record_fn record, bpf_thread_fn thread,
		    user_stacks_holder_fn holder, void *ctx)
{
	u->record = record;
	u->thread = thread;
	u->holder = holder;
	u->ctx = ctx;
}

int user_stacks_interpreters(struct user_stacks *u, const struct interpreters *i)
{
	int err = 0;

	u->interpreters = i;
	if (u->unwinder && i && interpreters_count_of(i, WIRE_JAVA))
		err = jvms_new(&u->jvms, u->helpers, i, bpf_session_replaced, u->bpf);
	symbolizer_read_java(u->sym, u->jvms);
	return err;
}

/* Compares what is recorded of the stack. */
static void compare(struct user_stacks *u, const struct wire_copy *c, const __u64 *frames,
		    uint32_t n, uint32_t end)
{
	uint32_t space = symbolizer_space(u->sym, c->tgid, c->r.time_ns);
	enum reference_result result;
	const struct wire_interpreter *in =
		u->interpreters ? interpreters_of(u->interpreters, c->tgid) : NULL;
	uint32_t found = n;
	bool in_doubt;

	/* The other unwinder knows nothing of it. */
	if (in && in->language == WIRE_JAVA) {
		u->unverified++;
		return;
	}

	n = symbolizer_trusted_prefix(u->sym, space, frames, n, c->r.time_ns, &in_doubt);
	if (n < found || in_doubt)
		end = CHAINLOG_STACK_NO_RULE;
	result = reference_compare(u->reference, c, space, frames, n, end);
	/* Before the other unwinder looked, other code was mapped, by an exec maybe. */
	if (result == REFERENCE_DIFFERS &&
	    symbolizer_space(u->sym, c->tgid, clock_now_ns()) != space)
		result = REFERENCE_NONE;
	u->verified += result != REFERENCE_NONE;
	u->unverified += result == REFERENCE_NONE;
	u->mismatches += result == REFERENCE_DIFFERS;
	if ((result == REFERENCE_DIFFERS || c->known == WIRE_KNOWN_AS_OTHER) && u->verbose &&
	    u->printed++ < PRINTED_MAX)
		reference_print(u->reference, u->sym, c, frames, n, end);
}

static void cut(struct user_stacks *u, uint32_t tgid)
{
	u->cut++;
	bpf_session_cut_stack(u->bpf, tgid);
}

static int record_completed(struct user_stacks *u)
{
	u->ends[u->completed.end]++;
	return u->record(u->ctx, &u->completed.r, sizeof(u->completed));
}

/* Also compares it with --verify, if what is on the stack is all there. */
static int record_compared(struct user_stacks *u, const struct wire_copy *c)
{
	if (u->reference && c->registers)
		compare(u, c, u->completed.frames, u->completed.n, u->completed.end);
	return record_completed(u);
}

static void note_shared(struct user_stacks *u, const struct wire_record *r)
{
	const struct wire_fork *f = (const void *)r;

	if (f->shares)
		symbolizer_share(u->sym, f->child_tgid, f->shares, r->time_ns);
}

/* process_owner_key(), which takes longer than the rest of what is done for a stack. */
static uint64_t user_of(struct user_stacks *u, uint32_t tgid)
{
	struct user *user = &u->users[tgid % USERS];
	uint64_t now_ns = clock_now_ns();

	if (user->tgid != tgid || now_ns - user->at_ns > USER_NS)
		*user = (struct user) { tgid, process_owner_key(tgid), now_ns };
	return user->key;
}

/*
 * The stack waits for a rule. Room is shared by whose process it is and whose file has the rule:
 * neither do others' processes that wait for the same library take it, nor one's own that wait for
 * files which nobody can read. False: there is none.
 */
static bool wait_for_rule(struct user_stacks *u, const struct wire_copy *c, size_t len)
{
	uint64_t owner = user_of(u, c->tgid) * UINT64_C(0x9e3779b97f4a7c15);

	return pending_stacks_add(u->pending, c, len, owner ^ unwinder_late_key(u->unwinder));
}

int user_stacks_record(void *user_stacks, const struct wire_record *r, size_t len)
{
	const struct wire_copy *c = (const void *)r;
	struct user_stacks *u = user_stacks;
	int err;

	if (r->kind == WIRE_FORK && len >= sizeof(struct wire_fork))
		note_shared(u, r);
	symbolizer_process(u->sym, r);
	if (r->kind != WIRE_COPY)
		return u->record(u->ctx, r, len);
	if (!u->unwinder || !unwinder_takes(c, len))
		return -EBADMSG;
	if (!c->id && u->reference) {
		compare(u, c, c->frames, c->n, c->end);
		return 0;
	}
	err = unwinder_complete(u->unwinder, c, len, &u->completed);
	if (err == -EAGAIN && wait_for_rule(u, c, len))
		return 0;
	if (err == -EAGAIN)
		cut(u, c->tgid);
	return err && err != -EAGAIN ? err : record_compared(u, c);
}

/* Tries the first stack that waits for a rule. If it may not wait any longer, it is cut. */
static int try_again(struct user_stacks *u, uint64_t wait_ns)
{
	size_t len;
	const struct wire_copy *c = pending_stacks_first(u->pending, &len);
	int err = unwinder_complete(u->unwinder, c, len, &u->completed);

	if (err == -EAGAIN && clock_now_ns() - c->r.time_ns < wait_ns) {
		pending_stacks_rotate(u->pending);
		return 0;
	}
	/* It is not compared, because the reference unwinder would use the present mappings. */
	if (err == -EAGAIN)
		cut(u, c->tgid);
	err = record_completed(u);
	pending_stacks_drop(u->pending);
	return err;
}

/* ---- threads that were asleep before the recording ----------------------------------------- */

/* A stack of one frame, from the thread's registers: the rest could not be read in time. */
static void complete_leaf(struct user_stacks *u, uint32_t id, uint32_t tgid, uint64_t seen_ns,
			  uint64_t pc)
{
	cut(u, tgid);
	u->completed = (struct wire_stack) {
		.r = { .time_ns = seen_ns, .kind = WIRE_STACK },
		.id = id,
		.tgid = tgid,
		.n = 1,
		.end = CHAINLOG_STACK_UNREADABLE,
		.frames = { pc },
	};
}

int user_stacks_thread(void *user_stacks, const struct wire_thread *t)
{
	struct user_stacks *u = user_stacks;
	int err = u->thread(u->ctx, t);

	if (t->shares)
		symbolizer_share(u->sym, t->tgid, t->shares, t->seen_ns);
	if (u->sleeping)
		sleeping_threads_note(u->sleeping, t);
	if (err || !t->ustack || !u->sleeping)
		return err;
	u->sleeping_until_ns = clock_now_ns() + SLEEPING_NS;
	if (sleeping_threads_add(u->sleeping, t))
		return 0;
	complete_leaf(u, t->ustack, t->tgid, t->seen_ns, t->regs[UNWIND_PC]);
	return record_completed(u);
}

bool user_stacks_left(const struct user_stacks *u)
{
	return u->sleeping &&
	       (sleeping_threads_left(u->sleeping) || pending_stacks_left(u->pending));
}

static int tell_holder(struct user_stacks *u, uint32_t tid)
{
	uint32_t holder = sleeping_threads_holder(u->sleeping);

	return holder ? u->holder(u->ctx, tid, holder) : 0;
}

static int record_code(void *user_stacks, const struct wire_code *code, size_t len)
{
	struct user_stacks *u = user_stacks;

	return u->record(u->ctx, &code->r, len);
}

/* Adds the frames of interpreted code to the copy of the thread that was taken. */
static int find_code(struct user_stacks *u, const struct wire_copy *c)
{
	const struct wire_interpreter *in =
		u->interpreters ? interpreters_of(u->interpreters, c->tgid) : NULL;

	/* V8 and Java have no list of frames. */
	return in && in->language < WIRE_V8 ? sleeping_threads_code(u->sleeping, in, record_code, u)
					    : 0;
}

/* Unwinds the next queued thread. */
static int unwind_sleeping(struct user_stacks *u)
{
	bool in_time = clock_now_ns() < u->sleeping_until_ns;
	const struct wire_copy *c = sleeping_threads_next(u->sleeping, in_time);
	int err = -ETIME;

	if (!c)
		return 0;
	if (in_time) {
		err = find_code(u, c);
		if (err == -EAGAIN && sleeping_threads_put_back(u->sleeping))
			return 0;
		if (err && err != -EAGAIN)
			return err;
		err = unwinder_complete(u->unwinder, c, sizeof(*c), &u->completed);
	}
	if (err && err != -EAGAIN) {
		complete_leaf(u, c->id, c->tgid, c->r.time_ns, c->frames[0]);
		return record_completed(u);
	}
	if (err && sleeping_threads_put_back(u->sleeping))
		return 0;
	if (err)
		cut(u, c->tgid);
	err = record_compared(u, c);
	return err ? err : tell_holder(u, c->tid);
}

int user_stacks_complete(struct user_stacks *u, uint64_t slice_ns)
{
	uint64_t end_ns = clock_now_ns() + slice_ns;
	size_t n;
	int err = 0;

	if (u->jvms)
		jvms_step(u->jvms);
	if (!u->sleeping)
		return 0;
	n = pending_stacks_left(u->pending);
	while (!err && n-- && clock_now_ns() < end_ns)
		err = try_again(u, PENDING_MAX_NS);
	n = sleeping_threads_left(u->sleeping);
	while (!err && n-- && clock_now_ns() < end_ns)
		err = unwind_sleeping(u);
	return err;
}

int user_stacks_complete_rest(struct user_stacks *u)
{
	uint64_t now_ns = clock_now_ns(), until_ns = now_ns + SLEEPING_AT_END_NS;
	int err = 0;

	if (u->sleeping_until_ns > until_ns)
		u->sleeping_until_ns = until_ns;
	while (!err && user_stacks_left(u) && now_ns < until_ns) {
		err = user_stacks_complete(u, until_ns - now_ns);
		if (user_stacks_left(u))
			poll(NULL, 0, PENDING_MS);
		now_ns = clock_now_ns();
	}
	/* What is left gets what is known of it. */
	while (!err && u->sleeping && sleeping_threads_left(u->sleeping))
		err = unwind_sleeping(u);
	while (!err && u->sleeping && pending_stacks_left(u->pending))
		err = try_again(u, 0);
	return err;
}

void user_stacks_forget_idle(struct user_stacks *u)
{
	if (u->unwinder)
		unwinder_forget_idle(u->unwinder, clock_now_ns());
}

/* ---- figures ------------------------------------------------------------------------------- */

void user_stacks_count(const struct user_stacks *u, struct bpf_counts *counts)
{
	for (int i = 0; i < CHAINLOG_STACK_ENDS; i++)
		counts->ends[i] += u->ends[i];
	counts->verified_user += u->verified;
	counts->mismatches_user += u->mismatches;
	counts->unverified_user += u->unverified;
}

uint64_t user_stacks_cut(const struct user_stacks *u)
{
	return u ? u->cut : 0;
}

void user_stacks_report(const struct user_stacks *u, const struct bpf_counts *counts)
{
	static const char *const names[CHAINLOG_STACK_ENDS] = {
		[CHAINLOG_STACK_UNKNOWN] = "of unknown end",
		[CHAINLOG_STACK_WHOLE] = "whole",
		[CHAINLOG_STACK_DEPTH] = "too deep",
		[CHAINLOG_STACK_UNREADABLE] = "in unreadable memory",
		[CHAINLOG_STACK_NO_RULE] = "without a rule",
		[CHAINLOG_STACK_GUESSED] = "guessed",
	};
	uint64_t unwound = 0; /* in the kernel */
	struct unwinder_stats s;

	if (!u->unwinder)
		return;
	fputs("chaincap: user stacks:", stderr);
	for (int i = 0; i < CHAINLOG_STACK_ENDS; i++) {
		fprintf(stderr, "%s %llu %s", i ? "," : "", (unsigned long long)counts->ends[i],
			names[i]);
		unwound += counts->ends[i] - u->ends[i];
	}
	unwinder_stats(u->unwinder, &s);
	fprintf(stderr,
		"\nchaincap: unwinding: %llu stacks known again, %llu unwound, %llu completed by "
		"the recorder, %llu addresses looked up in %u files (%zu KiB)\n",
		(unsigned long long)counts->known_user,
		(unsigned long long)(unwound - counts->known_user), (unsigned long long)s.stacks,
		(unsigned long long)s.looked_up, s.files, s.bytes >> 10);
	if (s.restarts || s.late)
		fprintf(stderr,
			"chaincap: unwinding: readers of rules died %llu times, and were late %llu "
			"times\n",
			(unsigned long long)s.restarts, (unsigned long long)s.late);
}
