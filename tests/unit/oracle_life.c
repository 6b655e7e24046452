// SPDX-License-Identifier: GPL-2.0-or-later
/* One life after another: its stretches as they are written down, and who has which tid. */
#include "oracle_private.h"

void life_note(struct life *l, uint64_t from, uint64_t to, enum what what, int sleep)
{
	if (from >= to)
		return;
	l->pieces = more(l->pieces, (size_t)l->n_pieces, sizeof(*l->pieces));
	l->pieces[l->n_pieces++] = (struct piece) { from,
						    to,
						    what,
						    sleep,
						    what == RUNS ? l->cpu : NOBODY,
						    what == UNKNOWN && l->now == WOKEN,
						    what == UNKNOWN && l->now == RUNS };
}

void life_is(struct life *l, enum what what, uint64_t at)
{
	l->now = what;
	l->since = at;
}

/* Whatever was going on since then is not known. */
void life_forget(struct life *l, uint64_t at)
{
	switch (l->now) {
	case RUNS:
		life_note(l, l->since, l->last_seen, RUNS, 0);
		life_note(l, l->last_seen, at, UNKNOWN, 0);
		break;
	case WOKEN:
		if (!l->guessed) {
			life_note(l, l->since, l->woken_at, SLEEPS, l->n_sleeps - 1);
			life_note(l, l->woken_at, at, UNKNOWN, 0);
			break;
		}
		/* fall through */
	case SLEEPS:
	case PREEMPTED:
	case UNKNOWN:
		life_note(l, l->since, at, UNKNOWN, 0);
		break;
	case DEAD:
		break;
	}
}

/* What was going on went on until then. */
void life_conclude(struct life *l, uint64_t at)
{
	switch (l->now) {
	case RUNS:
		life_note(l, l->since, at, RUNS, 0);
		break;
	case SLEEPS:
		l->sleeps[l->n_sleeps - 1].woken_ns = at;
		life_note(l, l->since, at, SLEEPS, l->n_sleeps - 1);
		break;
	case WOKEN:
		life_note(l, l->since, l->woken_at, SLEEPS, l->n_sleeps - 1);
		life_note(l, l->woken_at, at, WOKEN, l->n_sleeps - 1);
		break;
	case PREEMPTED:
		life_note(l, l->since, at, PREEMPTED, l->n_sleeps - 1);
		break;
	case UNKNOWN:
		life_note(l, l->since, at, UNKNOWN, 0);
		break;
	case DEAD:
		break;
	}
}

struct sleep *life_sleep(struct life *l, uint64_t out, uint32_t kstack, uint32_t ustack)
{
	l->sleeps = more(l->sleeps, (size_t)l->n_sleeps, sizeof(*l->sleeps));
	l->sleeps[l->n_sleeps] = (struct sleep) {
		.kstack = kstack, .ustack = ustack, .waker = NOBODY, .out_ns = out
	};
	return &l->sleeps[l->n_sleeps++];
}

int world_find(struct world *w, uint32_t tid)
{
	for (int i = w->n_lives - 1; i >= 0; i--)
		if (w->lives[i].tid == tid)
			return i;
	return NOBODY;
}

const struct trace_thread *world_snapshot(struct world *w, uint32_t tid)
{
	size_t n;
	const struct trace_thread *s = trace_threads(w->t, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].tid == tid && s[i].state != 'X' && s[i].state != 'Z')
			return &s[i];
	return NULL;
}

int world_born(struct world *w, uint32_t tid, uint64_t begin, const struct trace_thread *snap)
{
	struct life *l;

	w->lives = more(w->lives, (size_t)w->n_lives, sizeof(*l));
	l = &w->lives[w->n_lives];
	*l = (struct life) {
		.tid = tid, .begin = begin, .parent = NOBODY, .now = UNKNOWN, .since = begin
	};
	l->names = more(NULL, 0, sizeof(*l->names));
	l->names[0].at = 0;
	l->names[0].name = snap ? snap->name : 0;
	l->n_names = 1;
	l->tgid = snap ? snap->tgid : 0;
	l->snap = snap;
	l->kernel = snap && snap->flags & CHAINLOG_THREAD_KTHREAD;
	l->recorder =
		trace_info(w->t)->recorder_tgid && (l->tgid == trace_info(w->t)->recorder_tgid ||
						    tid == trace_info(w->t)->recorder_tgid);
	if (l->recorder && !l->names[0].name)
		l->names[0].name = trace_info(w->t)->recorder_name;
	if (snap && snap->group)
		who_is_grouped(w, w->n_lives, begin, snap->group);
	return w->n_lives++;
}

int world_get(struct world *w, uint32_t tid, uint64_t at)
{
	int i = world_find(w, tid);
	const struct trace_thread *s = world_snapshot(w, tid);
	uint64_t begin = i == NOBODY ? w->start : at;

	if (i != NOBODY && w->lives[i].now != DEAD)
		return i;
	return world_born(w, tid, begin,
			  s && s->start_ns > w->start && s->start_ns <= begin ? s : NULL);
}

void world_first_lives(struct world *w)
{
	size_t n;
	const struct trace_thread *s = trace_threads(w->t, &n);

	for (size_t k = 0; k < n; k++) {
		struct life *l;
		uint32_t object;
		int i;

		if (!s[k].tid || s[k].start_ns > w->start || s[k].state == 'X' ||
		    s[k].state == 'Z' || world_find(w, s[k].tid) != NOBODY)
			continue;
		i = world_born(w, s[k].tid, w->start, &s[k]);
		l = &w->lives[i];
		if (l->recorder)
			continue;
		if (s[k].flags & CHAINLOG_THREAD_RUNNING) {
			l->now = RUNS;
			l->cpu = NOBODY;
			l->last_seen = w->start;
		} else if (s[k].state != 'R') {
			l->now = SLEEPS;
			l->guessed = true;
			l->heard_from = w->start;
			object = object_by_stack(w, s[k].kstack);
			if (!object && object_is_of_call(w, s[k].kstack))
				object = s[k].object;
			life_sleep(l, w->start, s[k].kstack, s[k].ustack)->object = object;
			l->sleeps[l->n_sleeps - 1].state = s[k].state;
		}
	}
}
