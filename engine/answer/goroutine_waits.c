// SPDX-License-Identifier: GPL-2.0-or-later
#include "goroutine_waits.h"

#include <string.h>

#include "common/lower_bound.h"
#include "words/code_frames.h"

/* So many sleeps before an answer, samples of a thread, and answers beside one are looked at. */
#define SLEEPS_BACK 64
#define SAMPLES_BACK 256
#define ANSWERS_BESIDE 64
/* So many samples have to show the other goroutine, and so many times those of its own. */
#define OTHERS_LEAST 2
#define OTHERS_PART 3
/* What waited for the same is answered within this part of the time; so many requests that are
 * alike for each question that ended then. */
#define TOGETHER_PART 16
#define TOGETHER_LEAST 3

/*
 * The function in which the goroutine of a stack began, a string; 0: not known, or it is the
 * runtime's own.
 */
static uint32_t began_in(const struct timelines *tl, uint32_t pair)
{
	static const char exits[] = "runtime.goexit", runtime[] = "runtime.";
	const struct trace *t = timelines_trace(tl);
	struct trace_stack s = trace_stack(t, timelines_pair(tl, pair).ustack);
	const struct trace_frame *f;

	for (uint32_t i = s.n; i-- > 1;) {
		f = trace_frame(t, s.frames[i]);
		if (!f || strncmp(trace_string(t, f->symbol), exits, strlen(exits)))
			continue;
		f = trace_frame(t, s.frames[i - 1]);
		return f && !f->unnamed &&
				       strncmp(trace_string(t, f->symbol), runtime, strlen(runtime))
			       ? f->symbol
			       : 0;
	}
	return 0;
}

static uint32_t tgid_of(const struct timelines *tl, uint32_t thread)
{
	return thread == THREAD_NONE || thread == THREAD_IDLE ? 0
							      : timelines_thread(tl, thread)->tgid;
}

/* The requests that were answered before and after one, as many as are looked at. */
struct beside {
	const struct request *at, *end;
};

static struct beside answered_beside(const struct timelines *tl, size_t number)
{
	size_t n, first = number > ANSWERS_BESIDE ? number - ANSWERS_BESIDE : 0;
	const struct request *at = timelines_requests(tl, &n);

	return (struct beside) { at + first,
				 at + (n - number > ANSWERS_BESIDE ? number + ANSWERS_BESIDE : n) };
}

static size_t number_of(const struct timelines *tl, const struct request *q)
{
	size_t n;

	return (size_t)(q - timelines_requests(tl, &n));
}

/* Where goroutines begin that answer such requests: of most answers no stack is known. */
static uint32_t answers_begin_in(const struct timelines *tl, const struct request *q)
{
	struct beside b = answered_beside(tl, number_of(tl, q));
	uint32_t is = began_in(tl, q->pair), tgid = tgid_of(tl, q->writer);

	for (; !is && b.at < b.end; b.at++)
		if (tgid_of(tl, b.at->writer) == tgid)
			is = began_in(tl, b.at->pair);
	return is;
}

/*
 * Whether requests of this kind waited for the same: as many were answered together for each
 * question of their process that was answered then, too.
 */
static bool is_shared(const struct timelines *tl, const struct request *q)
{
	struct beside b = answered_beside(tl, number_of(tl, q));
	uint64_t took_ns = q->answer_ns - q->taken_ns, together_ns = took_ns / TOGETHER_PART;
	uint32_t alike = 0, questions = 0, tgid = tgid_of(tl, q->writer);

	for (; b.at < b.end; b.at++) {
		bool is_own = tgid_of(tl, b.at->writer) == tgid;

		if (b.at->answer_ns + together_ns < q->answer_ns ||
		    b.at->answer_ns > q->answer_ns + together_ns ||
		    b.at->answer_ns - b.at->taken_ns < took_ns / 2)
			continue;
		alike += is_own && b.at->endpoint == q->endpoint && b.at->route == q->route;
		questions += !is_own;
	}
	return alike >= TOGETHER_LEAST * (questions ? questions : 1);
}

/* ---- what another one asked for -------------------------------------------------------------- */

/* The stack pair with which who asked woke the reader of a request; 0: it did not sleep for it. */
static uint32_t asked_in(const struct timelines *tl, const struct request *q, uint32_t tgid)
{
	const struct thread *th = q->reader == THREAD_NONE ? NULL : timelines_thread(tl, q->reader);
	uint32_t i = th ? thread_position(th, q->taken_ns) : 0;
	const struct wait *w = i ? &th->waits[i - 1] : NULL;

	return w && w->kind == WAIT_SLEEP && tgid_of(tl, w->waker) == tgid &&
			       w->out_ns < q->arrival_ns
		       ? w->waker_stack
		       : 0;
}

/*
 * The question to the process with that id whose answer ended a sleep: by who gave it, or, where
 * somebody else's interrupt brought it, the last answer before. NULL: none is known.
 */
static const struct request *answered_by(const struct timelines *tl, const struct request *q,
					 const struct wait *w)
{
	size_t n;
	const struct request *at = timelines_requests(tl, &n), *last = NULL;
	uint64_t took_ns = q->answer_ns - q->taken_ns;
	struct beside b = answered_beside(tl, LOWER_BOUND(k, n, at[k].answer_ns < w->wake_ns));

	for (at = b.at; at < b.end; at++) {
		if (tgid_of(tl, at->writer) == tgid_of(tl, q->writer) || at->taken_ns > w->wake_ns)
			continue;
		if (at->answer_ns >= w->wake_ns) {
			if (at->writer == w->waker)
				return at;
		} else if (at->answer_ns + took_ns / TOGETHER_PART >= w->wake_ns &&
			   at->answer_ns - at->taken_ns >= took_ns / 2) {
			last = at;
		}
	}
	return last;
}

/* The last sleep of a thread in Go's scheduler before a time that was ended by somebody; NULL: none
 * after from_ns. */
static const struct wait *ended_sleep(const struct timelines *tl, uint32_t thread, uint64_t from_ns,
				      uint64_t ns)
{
	const struct trace *t = timelines_trace(tl);
	const struct thread *th = timelines_thread(tl, thread);
	struct trace_stack stack;
	const struct wait *w;

	for (uint32_t i = thread_position(th, ns), n = 0; i-- > 0 && n < SLEEPS_BACK; n++) {
		w = &th->waits[i];
		if (w->in_ns <= from_ns)
			break;
		if (w->kind == WAIT_PREEMPTED)
			continue;
		stack = trace_stack(t, timelines_pair(tl, w->stack).ustack);
		if (w->kind != WAIT_SLEEP || (stack.n && !stack_is_of_go_runtime(t, stack)))
			break;
		if (w->waker != THREAD_NONE && w->waker != THREAD_IDLE)
			return w;
	}
	return NULL;
}

/* Back from the answer, along the threads of the process that let each other go on for it: whether
 * that began with an answer to a question of somebody else's. */
static struct goroutine_wait asked_by_another(const struct timelines *tl, const struct request *q)
{
	struct goroutine_wait found = { .to_ns = 0 };
	uint32_t thread = q->writer, tgid = tgid_of(tl, thread);
	uint64_t ns = q->first_answer_ns;
	const struct request *answered;
	const struct wait *w = NULL;

	for (uint32_t n = 0; n < SLEEPS_BACK; n++) {
		w = ended_sleep(tl, thread, q->taken_ns, ns);
		if (!w || tgid_of(tl, w->waker) != tgid)
			break;
		thread = w->waker;
		ns = w->wake_ns;
	}
	answered = w ? answered_by(tl, q, w) : NULL;
	if (!answered || (answered->arrival_ns >= q->taken_ns && !is_shared(tl, q)))
		return found;
	found.to_ns = w->wake_ns;
	found.is_shared = true;
	found.sleep = w->stack;
	found.asked = asked_in(tl, answered, tgid);
	return found;
}

/* ---- what another one ran -------------------------------------------------------------------- */

/* Samples of a process in the time of a request, by whose goroutine they are. */
struct seen {
	uint32_t own, others;
	uint64_t last_other_ns, own_after_ns; /* that of its own after all others; 0: none */
	bool by_writer;			      /* which ran others, too */
};

static void add_samples(const struct timelines *tl, const struct request *q, uint32_t thread,
			uint32_t own, struct seen *seen)
{
	const struct sample *end, *at = timelines_samples(tl, thread, &end);
	size_t n = (size_t)(end - at), i = LOWER_BOUND(k, n, at[k].ns < q->taken_ns);

	for (size_t looked = 0; i < n && at[i].ns < q->answer_ns && looked < SAMPLES_BACK;
	     i++, looked++) {
		uint32_t is = began_in(tl, at[i].pair);

		seen->own += is == own;
		if (is == own && (!seen->own_after_ns || at[i].ns < seen->own_after_ns))
			seen->own_after_ns = at[i].ns;
		if (!is || is == own)
			continue;
		seen->others++;
		seen->by_writer |= thread == q->writer;
		if (at[i].ns > seen->last_other_ns)
			seen->last_other_ns = at[i].ns;
	}
}

/* For how long the thread that answered a request had no CPU meanwhile. */
static uint64_t without_cpu_ns(const struct timelines *tl, const struct request *q)
{
	const struct thread *th = timelines_thread(tl, q->writer);
	uint64_t ns = 0, from_ns, to_ns;

	for (uint32_t i = thread_position(th, q->taken_ns);
	     i < th->n_waits && th->waits[i].out_ns < q->answer_ns; i++) {
		const struct wait *w = &th->waits[i];

		from_ns = w->kind == WAIT_SLEEP ? w->wake_ns : w->out_ns;
		from_ns = clip_ns(from_ns, q->taken_ns, q->answer_ns);
		to_ns = clip_ns(w->in_ns, from_ns, q->answer_ns);
		ns += to_ns - from_ns;
	}
	return ns;
}

static struct goroutine_wait ran_another(const struct timelines *tl, const struct request *q,
					 uint32_t own)
{
	struct goroutine_wait found = { .to_ns = 0 };
	struct seen seen = { .own = 0 };
	uint32_t tgid = tgid_of(tl, q->writer);

	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		if (timelines_thread(tl, i)->tgid == tgid)
			add_samples(tl, q, i, own, &seen);
	if (seen.others < OTHERS_LEAST || seen.others < OTHERS_PART * seen.own ||
	    (!seen.by_writer && without_cpu_ns(tl, q) >= (q->answer_ns - q->taken_ns) / 2))
		return found;
	found.to_ns =
		seen.own_after_ns > seen.last_other_ns ? seen.own_after_ns : q->first_answer_ns;
	found.is_shared = is_shared(tl, q);
	return found;
}

struct goroutine_wait goroutine_waits_of(const struct timelines *tl, const struct request *q,
					 uint32_t *searches)
{
	const struct goroutine_wait none = { .to_ns = 0 };
	struct goroutine_wait found;
	uint32_t own;

	/* Streams are answered by another goroutine than that which works for them. */
	if (q->flags & (REQUEST_UNEXPLAINED | REQUEST_PROBED | REQUEST_STREAM) || !q->connection ||
	    q->writer == THREAD_NONE)
		return none;
	own = answers_begin_in(tl, q);
	if (!own)
		return none;
	found = asked_by_another(tl, q);
	if (!found.to_ns) {
		++*searches;
		found = ran_another(tl, q, own);
	}
	return found.to_ns > q->taken_ns &&
			       found.to_ns - q->taken_ns >= (q->answer_ns - q->taken_ns) / 2
		       ? found
		       : none;
}
