// SPDX-License-Identifier: GPL-2.0-or-later
/* Light recordings: stacks that are told after the switch-out, and sleeps too short for any. */
#include "oracle_private.h"

void light_told(struct world *w, const struct event *ev)
{
	int i = world_find(w, ev->tid);

	if (i == NOBODY)
		return;
	w->slept = more(w->slept, w->n_slept, sizeof(*w->slept));
	w->slept[w->n_slept++] = (struct slept) { ev->time_ns, i, ev->kstack, ev->ustack };
}

/* They are of the sleep that lasts then, or ends then. */
static void apply(struct world *w, const struct slept *told)
{
	struct life *l = &w->lives[told->life];

	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		struct sleep *s = &l->sleeps[p->sleep];
		uint32_t rcu;

		if (p->what != SLEEPS || told->at <= p->from || told->at > p->to)
			continue;
		if (!told->kstack && !told->ustack) {
			s->left_out = true;
			return;
		}
		s->ustack = s->ustack ? s->ustack : told->ustack;
		if (s->kstack)
			return;
		s->kstack = told->kstack;
		rcu = object_by_stack(w, s->kstack);
		if (rcu || !object_is_of_call(w, s->kstack))
			s->object = rcu;
		s->ready = s->object ? s->told_ready : 0;
		return;
	}
}

void light_apply(struct world *w)
{
	uint64_t least = trace_info(w->t)->light_ns;

	for (size_t i = 0; i < w->n_slept; i++)
		apply(w, &w->slept[i]);
	for (int i = 0; i < w->n_lives && least; i++) {
		struct life *l = &w->lives[i];

		for (int k = 0; k < l->n_pieces; k++) {
			const struct piece *p = &l->pieces[k];
			struct sleep *s = &l->sleeps[p->sleep];
			bool slept = k && p[-1].what == SLEEPS && p[-1].sleep == p->sleep;

			if (!(p->what == SLEEPS && (p->to - p->from < least || s->left_out)) &&
			    !(p->what == WOKEN && !slept))
				continue;
			/* How long it was is known from a switch-out on. */
			if (!s->state || (s == l->sleeps && l->snap && s->state == l->snap->state &&
					  l->snap->state != 'R' && s->out_ns == w->start))
				continue;
			s->is_short = !l->kernel && !s->ustack;
			s->waker_short =
				s->waker >= 0 && !w->lives[s->waker].kernel && !s->waker_ustack;
		}
	}
}
