// SPDX-License-Identifier: GPL-2.0-or-later
#include "oracle.h"

#include "oracle_private.h"

/* Called first for every event of a thread. */
static void touch(struct life *l, uint64_t at)
{
	l->touched = true;
	if (l->guessed && l->now == SLEEPS && l->snap->seen_ns <= at)
		l->guessed = false;
}

/* Another thread, or none, is seen where this one was believed to run. */
static void evict(struct world *w, int core)
{
	struct core *c = &w->cores[core];

	if (c->runs >= 0) {
		struct life *l = &w->lives[c->runs];

		life_note(l, l->since, l->last_seen, RUNS, 0);
		life_is(l, UNKNOWN, l->last_seen);
	}
	c->missed = true;
	c->runs = NOBODY;
}

/* Life i is seen on the core at this time, and has run there since then. */
static void runs_here(struct world *w, int core, int i, uint64_t at, uint64_t since)
{
	struct life *l = &w->lives[i];
	struct core *c = &w->cores[core];

	l->guessed = false;
	l->new_born = false;
	if (at < c->good_from) {
		life_note(l, since, at, RUNS, 0);
		life_is(l, UNKNOWN, at);
		c->runs = NOBODY;
		c->missed = false;
		return;
	}
	life_is(l, RUNS, since);
	who_place(w, i, since, core);
	l->cpu = core;
	l->last_seen = at;
	c->runs = i;
}

static void take_off_core(struct world *w, int i)
{
	struct life *l = &w->lives[i];

	if (l->now == RUNS && l->cpu != NOBODY && w->cores[l->cpu].runs == i) {
		w->cores[l->cpu].runs = NOBODY;
		w->cores[l->cpu].missed = true;
	}
}

/* Life i does something on the core, so it runs there. */
static void acts(struct world *w, int core, int i, uint64_t at)
{
	struct core *c = &w->cores[core];
	struct life *l = &w->lives[i];
	bool always = c->runs == NOBODY && !c->missed && c->good_from <= at;
	uint64_t since = at;

	if (l->recorder)
		return;
	touch(l, at);
	if (c->runs == i) {
		l->last_seen = at;
		return;
	}
	who_was_not_idle(w, core);
	evict(w, core);
	if (always && l->now == UNKNOWN) {
		since = l->since > c->good_from ? l->since : c->good_from;
		life_note(l, l->since, since, UNKNOWN, 0);
	} else if (always && l->now == RUNS && l->cpu == NOBODY) {
		since = l->since;
	} else if (always && l->guessed && c->good_from <= l->since) {
		since = l->heard_from > c->good_from ? l->heard_from : c->good_from;
		/* All that was written down of the time since then is that nothing was known. */
		while (l->n_pieces && l->pieces[l->n_pieces - 1].to > since) {
			struct piece *p = &l->pieces[l->n_pieces - 1];

			if (p->what != UNKNOWN)
				abort();
			p->to = since;
			l->n_pieces -= p->from >= since;
		}
		l->has_early = l->now == WOKEN && !l->woken_again;
		l->early = l->sleeps[l->n_sleeps - 1];
		l->early_sure = l->sure;
	} else {
		take_off_core(w, i);
		life_forget(l, at);
	}
	runs_here(w, core, i, at, since);
	l->loss_while_on = always && w->lossy;
}

/* The life that acts on the core under this tid. */
static int who_acts(struct world *w, int core, uint32_t tid, uint64_t at)
{
	int i = world_find(w, tid), on = w->cores[core].runs;

	/* exec by a thread that is not the leader: it takes the dead leader's tid. */
	if (on >= 0 && (i == NOBODY || w->lives[i].now == DEAD) && w->lives[on].tgid == tid &&
	    w->lives[on].tid != tid) {
		/* world_find() returns the youngest life with a tid, which must not be the dead. */
		if (i != NOBODY)
			w->lives[i].tid = 0;
		w->lives[on].tid = tid;
		return on;
	}
	return world_get(w, tid, at);
}

static void idle(struct world *w, int core, uint64_t at)
{
	struct core *c = &w->cores[core];

	if (c->runs == IDLE)
		return;
	c->idle_since = c->runs == NOBODY && !c->missed ? c->good_from : at;
	evict(w, core);
	if (at < c->good_from)
		c->missed = false;
	else
		c->runs = IDLE;
}

static int actor(struct world *w, int core, uint32_t tid, uint64_t at)
{
	int i;

	if (!tid) {
		idle(w, core, at);
		return IDLE;
	}
	i = who_acts(w, core, tid, at);
	acts(w, core, i, at);
	return i;
}

static void goes_out(struct world *w, int core, int i, const struct event *ev)
{
	struct life *l = &w->lives[i];
	bool early;

	if (l->recorder)
		return;
	early = l->has_early;
	l->has_early = false;
	life_conclude(l, ev->time_ns);
	w->cores[core].runs = NOBODY;
	w->cores[core].missed = true;
	l->guessed = false;
	l->early_is_it = false;
	if (ev->state == 'X' || ev->state == 'Z') {
		life_is(l, DEAD, ev->time_ns);
		l->end = ev->time_ns;
		l->end_kstack = ev->kstack;
	} else if (w->lossy && ev->time_ns < w->bad_until) {
		life_is(l, UNKNOWN, ev->time_ns);
	} else {
		struct sleep *s = life_sleep(l, ev->time_ns, ev->kstack, ev->ustack);

		s->maybe_woken = l->loss_while_on;
		s->pair = ev->pair;
		s->state = ev->state;
		s->object = ev->state == 'R' ? 0 : object_by_stack(w, ev->kstack);
		life_is(l, ev->state == 'R' ? PREEMPTED : SLEEPS, ev->time_ns);
		if (ev->state != 'R' && early) {
			s->waker = l->early.waker;
			s->waker_kstack = l->early.waker_kstack;
			s->waker_ustack = l->early.waker_ustack;
			s->done = l->early.done;
			s->early = 1 + l->early.woken_ns;
			s->woken_ns = l->woken_at = ev->time_ns;
			l->now = WOKEN;
			l->early_is_it = true;
			l->sure = l->early_sure;
		}
	}
}

static void comes_in(struct world *w, int core, int i, uint64_t at)
{
	struct life *l = &w->lives[i];

	if (l->recorder) {
		idle(w, core, at);
		return;
	}
	touch(l, at);
	if (l->now == WOKEN || l->now == PREEMPTED)
		who_arrives(w, i, l->now == WOKEN ? l->woken_at : l->since, at, core);
	if (l->now == WOKEN || l->now == PREEMPTED || (l->now == SLEEPS && !l->guessed)) {
		life_conclude(l, at);
	} else {
		take_off_core(w, i);
		life_forget(l, at);
	}
	who_idle_until(w, core, at);
	evict(w, core);
	runs_here(w, core, i, at, at);
	l->loss_while_on = w->lossy && at < w->bad_until;
}

static void on_switch(struct world *w, const struct event *ev)
{
	int core = (int)ev->cpu;
	int prev = actor(w, core, ev->tid, ev->time_ns);
	struct core *c = &w->cores[core];

	c->switches = more(c->switches, (size_t)c->n_switches, sizeof(*c->switches));
	c->switches[c->n_switches++] = ev->time_ns;
	core_switches(w, core, prev, ev->time_ns);
	if (prev >= 0)
		goes_out(w, core, prev, ev);
	if (ev->other)
		comes_in(w, core, world_get(w, ev->other, ev->time_ns), ev->time_ns);
	else
		idle(w, core, ev->time_ns);
}

static void is_woken(struct world *w, int i, const struct event *ev, int waker)
{
	struct life *l = &w->lives[i];
	uint64_t at = ev->time_ns;
	bool is_birth = ev->kind == EVENT_WAKING_NEW && l->new_born && l->now == UNKNOWN;
	bool first = !l->touched && !l->new_born && !w->lossy && l->begin == w->start &&
		     (!l->snap || l->snap->seen_ns >= at);
	struct sleep *s;
	bool doubtful;

	if (l->recorder)
		return;
	touch(l, at);
	switch (l->now) {
	case DEAD:
	case PREEMPTED:
		return;
	case RUNS:
		l->has_early = !w->lossy || at >= w->bad_until;
		l->early_sure = (ev->flags & CHAINLOG_F_OFF_QUEUE);
		l->early = (struct sleep) { .waker = waker,
					    .woken_ns = at,
					    .waker_kstack = ev->kstack,
					    .waker_ustack = ev->ustack,
					    .done = w->cores[ev->cpu].done };
		return;
	case SLEEPS:
		break;
	case WOKEN:
		if (l->early_is_it && !l->sure)
			break;
		l->heard_from = l->guessed ? l->heard_from : at;
		life_forget(l, at);
		life_sleep(l, at, 0, 0);
		life_is(l, WOKEN, at);
		who_place(w, i, at, NOBODY);
		l->guessed = true;
		break;
	case UNKNOWN:
		l->heard_from = is_birth ? at : l->since;
		if (first) {
			life_sleep(l, w->start, 0, 0);
			life_is(l, WOKEN, w->start);
			who_place(w, i, at, NOBODY);
			l->guessed = true;
			break;
		}
		if (ev->kind == EVENT_WAKING_NEW && l->new_born)
			l->begin = at;
		else
			life_note(l, l->since, at, UNKNOWN, 0);
		l->new_born = false;
		/* Preempted, with no quota left, it may have been woken, too. */
		doubtful = ev->kind == EVENT_WAKING && !(ev->flags & CHAINLOG_F_OFF_QUEUE) &&
			   trace_info(w->t)->aux >> CHAINLOG_UNTHROTTLED & 1;
		if (w->lossy && (at < w->bad_until || doubtful)) {
			life_is(l, UNKNOWN, at);
			return;
		}
		life_sleep(l, at, 0, 0);
		life_is(l, WOKEN, at);
		who_place(w, i, at, NOBODY);
		l->guessed = true;
		break;
	}
	l->now = WOKEN;
	l->woken_again = false;
	l->early_is_it = false;
	l->sure = (ev->flags & CHAINLOG_F_OFF_QUEUE);
	l->woken_at = at;
	s = &l->sleeps[l->n_sleeps - 1];
	s->woken_ns = at;
	s->early = 0;
	s->is_birth = is_birth;
	s->waker = waker;
	s->waker_kstack = ev->kstack;
	s->waker_ustack = ev->ustack;
	s->done = w->cores[ev->cpu].done;
}

static void vanishes(struct world *w, int i, uint64_t at)
{
	struct life *l = &w->lives[i];

	if (i == NOBODY || l->now == DEAD)
		return;
	touch(l, at);
	take_off_core(w, i);
	life_forget(l, at);
	life_is(l, DEAD, at);
	l->end = at;
}

static int new_life(struct world *w, uint32_t tid, uint64_t at)
{
	const struct trace_thread *s = world_snapshot(w, tid);

	return world_born(w, tid, at, s && s->start_ns > w->start && s->start_ns <= at ? s : NULL);
}

/* A waking by an unknown waker. */
static void is_woken_somehow(struct world *w, int i, uint64_t at)
{
	struct life *l = &w->lives[i];

	if (l->recorder)
		return;
	touch(l, at);
	l->has_early = false;
	l->woken_again = true;
	if (l->now == WOKEN && l->early_is_it && !l->sure) {
		l->now = SLEEPS;
		l->early_is_it = false;
		l->sleeps[l->n_sleeps - 1].waker = NOBODY;
	}
	if (l->now == SLEEPS)
		l->sleeps[l->n_sleeps - 1].maybe_woken = true;
}

static void on_waking(struct world *w, const struct event *ev)
{
	if ((ev->flags & CHAINLOG_F_NO_WAKER)) {
		if (ev->other)
			is_woken_somehow(w, world_get(w, ev->other, ev->time_ns), ev->time_ns);
		return;
	}
	int waker = actor(w, (int)ev->cpu, ev->tid, ev->time_ns);
	int i = world_find(w, ev->other);

	if (!ev->other)
		return;
	if (waker >= 0 && w->lives[waker].n_sleeps)
		w->lives[waker].sleeps[w->lives[waker].n_sleeps - 1].then_woke = true;
	if (ev->kind == EVENT_WAKING_NEW && (i == NOBODY || !w->lives[i].new_born)) {
		vanishes(w, i, ev->time_ns);
		i = new_life(w, ev->other, ev->time_ns);
		w->lives[i].new_born = true;
	} else {
		i = world_get(w, ev->other, ev->time_ns);
	}
	is_woken(w, i, ev, waker);
}

static void on_fork(struct world *w, const struct event *ev)
{
	int i, parent = actor(w, (int)ev->cpu, ev->tid, ev->time_ns);

	if (!ev->other)
		return;
	vanishes(w, world_find(w, ev->other), ev->time_ns);
	i = new_life(w, ev->other, ev->time_ns);
	w->lives[i].new_born = true;
	w->lives[i].parent = parent >= 0 ? parent : NOBODY;
	if (parent >= 0)
		w->lives[i].kernel |= w->lives[parent].kernel;
	if (ev->tgid)
		w->lives[i].tgid = ev->tgid;
	if (ev->string)
		w->lives[i].names[0].name = ev->string;
	who_inherits(w, i, ev->time_ns, parent);
}

/* The recorder's child: of a thread that had no event before its exec there is nothing before. */
static void becomes_command(struct world *w, const struct event *ev)
{
	int i = world_find(w, ev->tid);
	struct life *l = i == NOBODY ? NULL : &w->lives[i];

	if (l && trace_info(w->t)->command_tgid == ev->tid && !l->touched && l->now == UNKNOWN &&
	    !w->lossy)
		l->begin = l->since = ev->time_ns;
}

static void on_exec(struct world *w, const struct event *ev)
{
	int caller = ev->other && ev->other != ev->tid ? world_find(w, ev->other) : NOBODY, i;

	if (!ev->tid)
		return;
	if (caller != NOBODY && w->lives[caller].now != DEAD) {
		int leader = world_find(w, ev->tid);

		vanishes(w, leader, ev->time_ns);
		if (leader != NOBODY)
			w->lives[leader].tid = 0;
		w->lives[caller].tid = ev->tid;
	}
	becomes_command(w, ev);
	i = actor(w, (int)ev->cpu, ev->tid, ev->time_ns);
	if (i >= 0)
		w->lives[i].kernel = false;
	context_noted(w, ev);
}

static void on_lost(struct world *w, const struct event *ev)
{
	uint64_t at = ev->time_ns;

	if (!w->lossy)
		w->first_loss = at;
	if (w->bad_until < ev->lost.last_ns + 1)
		w->bad_ns += ev->lost.last_ns + 1 - (at > w->bad_until ? at : w->bad_until);
	w->lossy = true;
	if (w->bad_until < ev->lost.last_ns + 1)
		w->bad_until = ev->lost.last_ns + 1;
	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];
		bool here = l->now == RUNS && l->cpu != NOBODY;

		l->has_early = false;
		l->loss_while_on = true;
		if (l->now == DEAD || l->now == UNKNOWN ||
		    (here && ev->cpu != EVENT_CPU_UNKNOWN && (int)ev->cpu != l->cpu))
			continue;
		if (l->guessed && l->now == SLEEPS && l->snap->seen_ns <= at)
			l->guessed = false;
		if (l->now == WOKEN && l->early_is_it && !l->sure) {
			/* A later waking may be among the lost events. */
			l->now = SLEEPS;
			l->sleeps[l->n_sleeps - 1].waker = NOBODY;
		}
		if (l->now == RUNS && l->cpu == NOBODY && l->snap->seen_ns > at)
			life_note(l, l->since, at, UNKNOWN, 0);
		else if (l->guessed)
			life_forget(l, at);
		else
			life_conclude(l, at);
		life_is(l, UNKNOWN, at);
		l->guessed = false;
	}
	for (int c = 0; c < CORES; c++) {
		if (ev->cpu != EVENT_CPU_UNKNOWN && (int)ev->cpu != c)
			continue;
		who_missed(w, c, at);
		core_missed(&w->cores[c], ev->lost.last_ns);
		w->cores[c].runs = NOBODY;
		w->cores[c].missed = false;
		if (w->cores[c].good_from < ev->lost.last_ns + 1)
			w->cores[c].good_from = ev->lost.last_ns + 1;
	}
}

static void on_event(struct world *w, const struct event *ev)
{
	struct life *l;
	int i;

	if (ev->cpu >= CORES && ev->cpu != EVENT_CPU_UNKNOWN)
		abort(); /* the oracle is for traces of few CPUs */
	who_hears(w, ev);
	request_noted(w, ev);
	i = world_find(w, ev->tid);
	/* What can be told of a sleeper, or is of no thread. */
	if (i != NOBODY && ev->kind >= EVENT_AUX && ev->kind != EVENT_AUX_LOST &&
	    ev->kind != EVENT_WAITS_FOR && ev->kind != EVENT_WAIT_STACKS &&
	    ev->kind != EVENT_OWN_ID && ev->kind != EVENT_GROUP && ev->kind != EVENT_REQUEST_OPEN &&
	    ev->kind != EVENT_INTERRUPTS && ev->kind != EVENT_STEAL && ev->kind != EVENT_RECORDER)
		w->lives[i].astir = true;
	switch (ev->kind) {
	case EVENT_SWITCH:
		on_switch(w, ev);
		break;
	case EVENT_WAKING:
	case EVENT_WAKING_NEW:
		on_waking(w, ev);
		break;
	case EVENT_FORK:
		on_fork(w, ev);
		break;
	case EVENT_EXEC:
		on_exec(w, ev);
		break;
	case EVENT_EXIT:
		i = actor(w, (int)ev->cpu, ev->tid, ev->time_ns);
		if (i >= 0)
			w->lives[i].leaving = true;
		break;
	case EVENT_RENAME:
		if (!ev->tid)
			break;
		i = world_get(w, ev->tid, ev->time_ns);
		l = &w->lives[i];
		l->names = more(l->names, (size_t)l->n_names, sizeof(*l->names));
		l->names[l->n_names].at = ev->time_ns;
		l->names[l->n_names++].name = ev->string;
		break;
	case EVENT_SAMPLE:
		i = ev->tid ? world_find(w, ev->tid) : NOBODY;
		if (i == NOBODY)
			break;
		w->sampled = true;
		l = &w->lives[i];
		l->spots = more(l->spots, (size_t)l->n_spots, sizeof(*l->spots));
		l->spots[l->n_spots++] = (struct spot) { ev->time_ns, ev->kstack, ev->ustack };
		break;
	case EVENT_WAITS_FOR:
		object_awaited(w, ev);
		break;
	case EVENT_READY:
		object_ready(w, ev);
		break;
	case EVENT_NOT_SENT:
		object_not_sent(w, ev);
		break;
	case EVENT_TCP_TIMER:
		object_put_off(w, ev);
		break;
	case EVENT_HOLDER:
		object_held(w, ev->tid, ev->other, ev->time_ns);
		break;
	case EVENT_LOST:
		on_lost(w, ev);
		break;
	case EVENT_DISK_REQUEST:
		object_asked(w, ev);
		break;
	case EVENT_WAIT_STACKS:
		light_told(w, ev);
		break;
	case EVENT_DISK_DONE:
		object_done(w, ev);
		break;
	default:
		if (ev->kind == EVENT_AUX_LOST && ev->other == CHAINLOG_DISK_DONE)
			object_done(w, ev);
		who_more(w, ev);
		work_noted(w, ev);
		break;
	}
}

/* No event tells of the life, which was asleep before any was lost: it slept on, if little time
 * lacks events. */
static void slept_all_along(const struct world *w, struct life *l)
{
	if (!w->lossy || w->bad_ns * 10 > w->end - w->start || l->touched || l->astir ||
	    l->recorder || l->n_sleeps != 1 || l->snap->seen_ns > w->first_loss)
		return;
	l->n_pieces = 0;
	l->guessed = false;
	life_is(l, SLEEPS, l->begin);
}

static void at_end(struct world *w)
{
	for (int c = 0; c < CORES; c++)
		who_idle_until(w, c, w->end);
	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];

		if (l->now == DEAD)
			continue;
		l->end = w->end;
		slept_all_along(w, l);
		touch(l, w->end);
		if (l->now == WOKEN && l->early_is_it && !l->sure) {
			/* The early waking did not end this sleep: the thread never ran again. */
			l->now = SLEEPS;
			l->sleeps[l->n_sleeps - 1].waker = NOBODY;
		}
		if (l->now == SLEEPS && !l->guessed)
			l->sleeps[l->n_sleeps - 1].never = !l->sleeps[l->n_sleeps - 1].maybe_woken;
		if (l->now == UNKNOWN && l->leaving)
			l->end = l->since;
		else if (l->guessed)
			life_forget(l, w->end);
		else
			life_conclude(l, w->end);
	}
}

struct world *world_of(const struct trace *t)
{
	struct trace_cursor *cursor;
	struct world *w = calloc(1, sizeof(*w));
	const struct trace_holder *holders;
	struct event ev;
	size_t n;

	if (!w || trace_cursor_new(&cursor, t))
		abort();
	w->t = t;
	w->start = trace_info(t)->start_ns;
	w->end = trace_info(t)->end_ns;
	if (trace_cursor_next(cursor, &ev) && ev.time_ns < w->start)
		w->start = ev.time_ns;
	trace_cursor_free(cursor);
	if (trace_cursor_new(&cursor, t))
		abort();
	for (int c = 0; c < CORES; c++)
		w->cores[c] = (struct core) { .runs = NOBODY,
					      .good_from = w->start,
					      .last = { .to = w->start },
					      .told = { true, true } };
	world_first_lives(w);
	holders = trace_holders(t, &n);
	for (size_t i = 0; i < n; i++)
		object_held(w, holders[i].tid, holders[i].holder, w->start);
	while (trace_cursor_next(cursor, &ev)) {
		if (w->end < ev.time_ns)
			w->end = ev.time_ns;
		on_event(w, &ev);
	}
	trace_cursor_free(cursor);
	at_end(w);
	light_apply(w);
	return w;
}

void world_free(struct world *w)
{
	for (int i = 0; i < w->n_lives; i++) {
		free(w->lives[i].pieces);
		free(w->lives[i].sleeps);
		free(w->lives[i].as_slept);
		free(w->lives[i].spots);
		free(w->lives[i].names);
		free(w->lives[i].placed);
		free(w->lives[i].groups);
		free(w->lives[i].forbidden);
	}
	for (int c = 0; c < CORES; c++) {
		free(w->cores[c].idle);
		free(w->cores[c].recorder);
		free(w->cores[c].switches);
		for (int by = 0; by < TAKERS; by++)
			free(w->cores[c].taken[by]);
	}
	for (size_t i = 0; i < w->n_lines; i++) {
		free(w->lines[i]);
		free(w->bases[i]);
	}
	for (size_t i = 0; i < w->n_made; i++)
		free(w->made[i]);
	free(w->made);
	free(w->published);
	free(w->executed);
	free(w->slept);
	free(w->told);
	free(w->still);
	free(w->askings);
	free(w->lines);
	free(w->bases);
	free(w->ns);
	free(w->lives);
	free(w);
}

char *oracle_folded(const struct trace *t, const struct oracle_asked *asked)
{
	struct world *w = world_of(t);
	char *text;

	w->depth = asked->depth;
	w->own = asked->own;
	w->plain_ends = asked->plain_ends;
	w->fold_repeats = asked->fold_repeats;
	w->no_idle = asked->no_idle;
	w->who_ran = asked->who_ran && trace_info(t)->aux >> CHAINLOG_QUEUE & 1 &&
		     !trace_damage(t)->what;
	oracle_find_killed(w);
	oracle_keep_sleeps(w);
	oracle_join_tries(w);
	if (asked->requests)
		oracle_explain_requests(w, asked->classic);
	else
		oracle_explain_all(w, asked->classic);
	text = oracle_sum_up(w);
	world_free(w);
	return text;
}
