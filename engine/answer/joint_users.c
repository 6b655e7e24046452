// SPDX-License-Identifier: GPL-2.0-or-later
#include "joint_users.h"

#include "common/lower_bound.h"
#include "crowd.h"
#include "words/request_words.h"

/* The request for which alone a thread worked at a time; NULL: not known. */
static const struct request *worked_for(const struct timelines *tl, uint32_t thread, uint64_t at_ns)
{
	size_t n, i;
	const struct request_span *s = timelines_spans_written(tl, thread, &n);

	i = n ? LOWER_BOUND(k, n, s[k].to_ns < at_ns) : 0;
	return i < n && s[i].from_ns < at_ns ? timelines_request(tl, s[i].request) : NULL;
}

/* So many threads that had what another one then had are followed. */
#define HANDED_ON 16

/* Before the i-th interval of a thread, after from_ns: the last sleep that is alike; NULL: none. */
static const struct wait *slept_alike(const struct thread *th, uint32_t i, const struct wait *like,
				      const struct joint_alike *alike)
{
	while (i && th->waits[i - 1].wake_ns > like->out_ns) {
		const struct wait *w = &th->waits[--i];

		if (w->kind == WAIT_SLEEP && alike->is(alike->arg, w->stack, like->stack))
			return w;
	}
	return NULL;
}

/*
 * The thread that ended a sleep; but if it had itself waited meanwhile as the sleeper did, who
 * ended that, and so on: who had what they waited for before all of them. *at_ns: when it let go.
 */
static uint32_t first_holder(const struct timelines *tl, const struct wait *w,
			     const struct joint_alike *alike, uint64_t *at_ns)
{
	uint32_t holder = w->waker, followed = 0;
	const struct wait *before = w;

	*at_ns = w->wake_ns;
	while (followed++ < HANDED_ON) {
		const struct thread *th = timelines_thread(tl, holder);

		before = slept_alike(th, thread_position(th, *at_ns), w, alike);
		if (!before || before->waker >= THREAD_IDLE || before->waker == holder)
			break;
		*at_ns = before->wake_ns;
		holder = before->waker;
	}
	return holder;
}

void joint_users_add_routes(struct sums *to, const struct timelines *tl, struct names *names,
			    const struct request *q, const struct joint_alike *alike)
{
	const struct thread *th;

	if (q->writer == THREAD_NONE)
		return;
	th = timelines_thread(tl, q->writer);
	for (uint32_t i = thread_position(th, q->taken_ns); i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		const struct request *other;
		const char *route;
		uint64_t let_go_ns;
		uint32_t holder;

		if (w->out_ns >= q->answer_ns)
			break;
		if (w->kind != WAIT_SLEEP || w->waker >= THREAD_IDLE || w->waker == q->writer ||
		    !alike->is(alike->arg, w->stack, w->stack))
			continue;
		holder = first_holder(tl, w, alike, &let_go_ns);
		other = worked_for(tl, holder, let_go_ns);
		route = other ? request_route(tl, other) : "";
		sums_add(to, w->stack, names_clean(names, route), w->wake_ns - w->out_ns);
	}
}

/* So many requests in a row that were read before are looked at for those that were not. */
#define READ_BEFORE 64

uint32_t joint_users_queued(const struct timelines *tl, const struct request *q)
{
	uint32_t queued = 0, before = 0;
	const uint32_t *read;
	size_t n, i;

	if (q->reader == THREAD_NONE)
		return 0;
	read = timelines_requests_read(tl, q->reader, &n);
	i = LOWER_BOUND(k, n, timelines_request(tl, read[k])->arrival_ns < q->taken_ns);
	while (i-- > 0 && before < READ_BEFORE) {
		bool waits = timelines_request(tl, read[i])->taken_ns >= q->taken_ns;

		queued += waits;
		before = waits ? 0 : before + 1;
	}
	return queued;
}

static void set_waiting(void *arg, uint32_t number, uint32_t most)
{
	uint32_t *waiting = arg;

	waiting[number] = most;
}

void joint_users_count(const struct timelines *tl, const uint32_t *of, uint32_t *waiting,
		       bool (*is_meant)(void *arg, uint32_t number, uint32_t name), void *arg)
{
	struct crowd c = { .n = 0 };

	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];
			uint32_t number = of[timelines_pair(tl, w->stack).ustack];

			if (number && w->kind == WAIT_SLEEP &&
			    is_meant(arg, number, timelines_name(tl, i, w->out_ns)))
				crowd_add(&c, number, w->out_ns, w->wake_ns);
		}
	}
	crowd_end(&c, set_waiting, waiting);
}
