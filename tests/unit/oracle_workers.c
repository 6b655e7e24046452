// SPDX-License-Identifier: GPL-2.0-or-later
/* Who asked a worker for what it did when it woke somebody (chain-semantics, section 18). */
#include <string.h>

#include "oracle_private.h"

/* Whether a thread with this kernel stack waits for work in its loop. */
static bool is_idle(struct world *w, uint32_t kstack)
{
	static const char *const loops[] = { "kthreadd",
					     "kthread_worker_fn",
					     "smpboot_thread_fn",
					     "worker_thread",
					     "rescuer_thread",
					     "irq_thread",
					     "irq_wait_for_interrupt",
					     "kswapd",
					     "kswapd_try_to_sleep",
					     "kcompactd",
					     "oom_reaper",
					     "devtmpfsd",
					     "devtmpfs_work_loop",
					     "kjournald2",
					     "dmcrypt_write",
					     "md_thread",
					     "scsi_error_handler",
					     "mmc_queue_thread",
					     "svc_recv",
					     "vhost_worker",
					     "vhost_task_fn",
					     "vhost_run_work_list",
					     "io_wq_worker",
					     "io_sq_thread" };
	static const char *const inner[] = { "__schedule", "usleep_range",     "msleep",
					     "wait_woken", "__kthread_parkme", "kthread_parkme" };
	struct trace_stack s = trace_stack(w->t, kstack);
	bool is_path = true;
	uint32_t i;

	for (i = 0; i < s.n && is_path; i++) {
		const struct trace_frame *f = trace_frame(w->t, s.frames[i]);
		const char *name = f ? trace_string(w->t, f->symbol) : "";

		is_path = !strncmp(name, "schedule", 8) || !strncmp(name, "io_schedule", 11) ||
			  strstr(name, "skb_recv_datagram") || strstr(name, "skb_wait_for_more");
		for (size_t k = 0; k < sizeof(inner) / sizeof(*inner); k++)
			is_path |= !strncmp(name, inner[k], strlen(inner[k]));
		for (size_t k = 0; !is_path && k < sizeof(loops) / sizeof(*loops); k++)
			if (strlen(loops[k]) == strcspn(name, ".") &&
			    !strncmp(name, loops[k], strlen(loops[k])))
				return true;
	}
	return false;
}

static bool is_sleep(const struct piece *p)
{
	return p->what == SLEEPS || p->what == WOKEN;
}

/* ---- what was recorded ------------------------------------------------------------------------
 */

void work_noted(struct world *w, const struct event *ev)
{
	bool lost = ev->kind == EVENT_AUX_LOST && ev->other == CHAINLOG_WORK;
	struct executed x = { .what = LOST_ITEMS,
			      .at = ev->time_ns,
			      .since = lost ? ev->lost.last_ns : ev->work.queued_ns };

	if (!lost && ev->kind != EVENT_WORK)
		return;
	if (!lost) {
		x.what = ev->work.what > 1 ? SOME_ITEM : ev->work.what ? QUEUED_ITEM : NO_ITEM;
		x.worker = world_find(w, ev->tid);
		x.queuer = ev->other ? world_find(w, ev->other) : IDLE;
		x.kstack = ev->kstack;
		x.ustack = ev->ustack;
		if (x.worker == NOBODY)
			return;
	}
	w->executed = more(w->executed, w->n_executed, sizeof(*w->executed));
	w->executed[w->n_executed++] = x;
}

/* Whether a life was on a CPU at that time. */
static bool was_running(const struct life *l, uint64_t at)
{
	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		bool came_back = i && p[-1].what == RUNS;

		if (p->what != RUNS &&
		    ((p->from < at && at < p->to) || (p->from == at && !came_back)))
			return false;
	}
	return l->begin <= at && at <= l->end;
}

/* Whether it is not known if a life was woken at that time. */
static bool was_unheard(const struct life *l, uint64_t at)
{
	for (int i = 0; i < l->n_pieces; i++)
		if (l->pieces[i].what == UNKNOWN && l->pieces[i].from <= at &&
		    at <= l->pieces[i].to)
			return true;
	return false;
}

static bool lost_in(struct world *w, uint64_t from, uint64_t to)
{
	size_t n;
	const struct trace_loss *at = trace_losses(w->t, &n);

	for (size_t i = 0; i < n; i++)
		if (at[i].last_ns >= from && at[i].first_ns <= to)
			return true;
	for (size_t i = 0; i < w->n_executed; i++)
		if (w->executed[i].what == LOST_ITEMS && w->executed[i].since >= from &&
		    w->executed[i].at <= to)
			return true;
	return false;
}

/* Who queued that, if it is known. */
static void queued_by(struct world *w, const struct executed *x, struct sleep *asked)
{
	const struct life *l = &w->lives[x->worker];

	asked->woken_ns = x->since;
	if (x->what != QUEUED_ITEM || was_unheard(l, x->since) ||
	    (x->queuer >= 0 && !was_running(&w->lives[x->queuer], x->since)))
		return;
	asked->waker = x->queuer;
	asked->waker_kstack = x->kstack;
	asked->waker_ustack = x->ustack;
	for (int i = 0; i + 1 < l->n_pieces && x->queuer != NOBODY; i++) {
		const struct piece *p = &l->pieces[i];
		const struct sleep *s = &l->as_slept[p->sleep];

		if (p->what != SLEEPS || p->to != x->since || p[1].what != WOKEN ||
		    p[1].sleep != p->sleep || s->waker != x->queuer)
			continue;
		asked->waker_kstack = s->waker_kstack;
		asked->waker_short = s->waker_short;
		asked->waker_ustack = s->waker_ustack;
		asked->done = s->done;
		asked->not_sent = s->not_sent;
		asked->put_off = s->put_off;
	}
}

bool oracle_queued(struct world *w, size_t executed, struct sleep *asked)
{
	*asked = (struct sleep) { .waker = NOBODY };
	if (w->executed[executed].what != QUEUED_ITEM)
		return false;
	queued_by(w, &w->executed[executed], asked);
	return asked->waker != NOBODY;
}

static bool has_events(struct world *w, int worker)
{
	for (size_t i = 0; i < w->n_executed; i++)
		if (w->executed[i].what != LOST_ITEMS && w->executed[i].worker == worker)
			return true;
	return false;
}

/* What the events say. False: nothing. */
static bool recorded(struct world *w, int worker, uint64_t at, struct sleep *asked)
{
	const struct executed *last = NULL;

	for (size_t i = 0; i < w->n_executed; i++)
		if (w->executed[i].what != LOST_ITEMS && w->executed[i].worker == worker &&
		    w->executed[i].at <= at)
			last = &w->executed[i];
	*asked = (struct sleep) { .waker = NOBODY, .is_birth = true };
	if (lost_in(w, last ? last->at : 0, at)) {
		asked->woken_ns = UINT64_MAX;
		return true;
	}
	if (!last || last->what == NO_ITEM)
		return false;
	queued_by(w, last, asked);
	return true;
}

void oracle_keep_sleeps(struct world *w)
{
	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];

		l->as_slept = malloc((size_t)l->n_sleeps * sizeof(*l->sleeps) + 1);
		if (!l->as_slept)
			abort();
		if (l->n_sleeps)
			memcpy(l->as_slept, l->sleeps, (size_t)l->n_sleeps * sizeof(*l->sleeps));
	}
	/* Who queues something acts, and not who is interrupted by that. */
	for (size_t i = 0; i < w->n_executed; i++) {
		const struct executed *x = &w->executed[i];
		struct life *l = &w->lives[x->queuer < 0 ? 0 : x->queuer];
		struct sleep asked;

		if (x->what != QUEUED_ITEM || x->queuer < 0 || !was_running(l, x->since) ||
		    (oracle_queued(w, i, &asked) && oracle_interrupt_frames(w, &asked)))
			continue;
		for (int k = l->n_sleeps - 1; k >= 0; k--)
			if (l->sleeps[k].out_ns < x->since) {
				l->sleeps[k].then_woke = true;
				break;
			}
	}
}

/* ---- what its sleeps say ----------------------------------------------------------------------
 */

/* Whether the worker woke anybody in [from, before). */
static bool woke_in(struct world *w, int worker, uint64_t from, uint64_t before)
{
	for (int i = 0; i < w->n_lives; i++)
		for (int k = 0; k < w->lives[i].n_pieces; k++) {
			const struct piece *p = &w->lives[i].pieces[k];
			const struct sleep *s = &w->lives[i].as_slept[p->sleep];

			if (p->what == SLEEPS && s->waker == worker && s->woken_ns >= from &&
			    s->woken_ns < before && !oracle_interrupt_frames(w, s))
				return true;
		}
	return false;
}

bool oracle_asked(struct world *w, int worker, uint64_t at, struct sleep *asked)
{
	const struct life *l = &w->lives[worker];
	const struct sleep *idle = NULL;
	bool ever = false, known = false;
	bool kworker = trace_info(w->t)->aux >> CHAINLOG_WORK & 1 &&
		       !strncmp(trace_string(w->t, l->names[0].name), "kworker/", 8);
	uint64_t from = 0, back = 0;
	size_t losses;

	for (int i = 0; i < l->n_pieces && !l->kernel; i++)
		ever |= is_sleep(&l->pieces[i]) &&
			is_idle(w, l->as_slept[l->pieces[i].sleep].kstack);
	if ((has_events(w, worker) || (kworker && (l->kernel || ever))) &&
	    recorded(w, worker, at, asked))
		return true;

	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		bool goes_on = is_sleep(p) && i + 1 < l->n_pieces && is_sleep(p + 1) &&
			       p[1].sleep == p->sleep;

		if (p->what == UNKNOWN && p->to <= at) {
			known = false;
			from = p->to;
			idle = NULL;
		}
		if (!is_sleep(p) || !is_idle(w, l->as_slept[p->sleep].kstack))
			continue;
		ever = true;
		if ((goes_on ? p[1].to : p->to) > at)
			continue;
		if (p->what == SLEEPS) {
			idle = &l->as_slept[p->sleep];
			known = true;
			from = p->to;
		} else if (!i || !is_sleep(p - 1) || p[-1].sleep != p->sleep) {
			idle = &l->as_slept[p->sleep];
			known = false; /* when it was woken early is not known */
			from = p->from;
		}
		back = goes_on ? p[1].to : p->to;
	}
	if (!(ever || l->kernel) || !(idle || from))
		return false;
	*asked = (struct sleep) { .waker = NOBODY };
	trace_losses(w->t, &losses);
	if (idle && known && !losses && !woke_in(w, worker, back, at))
		*asked = *idle;
	asked->woken_ns = from;
	asked->is_birth = true; /* it ended no sleep, but made somebody begin */
	asked->kstack = asked->ustack = asked->object = asked->ready = 0;
	return true;
}
