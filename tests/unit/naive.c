// SPDX-License-Identifier: GPL-2.0-or-later
#include "naive.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY (-1)
#define IDLE (-2)

enum what { RUNS, SLEEPS, WOKEN, PREEMPTED, UNKNOWN, DEAD };

/* Why somebody slept, and who ended it. */
struct sleep {
	uint32_t kstack, ustack; /* the sleeper's */
	int waker;		 /* thread, IDLE or NOBODY */
	uint32_t waker_kstack, waker_ustack;
	uint64_t out_ns, woken_ns;
	bool maybe_woken; /* what woke it a little early may be lost */
	bool never; /* asleep at the end of the trace */
};

struct piece {
	uint64_t from, to;
	enum what what;
	int sleep; /* SLEEPS, WOKEN: index in sleeps; PREEMPTED too, for the stack */
};

struct life {
	uint32_t tid, tgid;
	uint64_t begin, end;
	struct piece *pieces;
	int n_pieces;
	struct sleep *sleeps;
	int n_sleeps;
	struct {
		uint64_t at;
		uint32_t name;
	} *names;
	int n_names;

	enum what now;
	uint64_t since;	    /* of now */
	uint64_t woken_at;  /* WOKEN */
	uint64_t last_seen; /* RUNS */
	int cpu;	    /* RUNS; NOBODY: on one not known */
	bool guessed;	    /* not from a switch */
	bool new_born, touched, leaving, recorder;
	bool has_early, early_is_it, loss_while_on;
	struct sleep early;
	const struct trace_thread *snap;
};

struct core {
	int runs; /* thread, IDLE, NOBODY: not known */
	bool missed; /* NOBODY because a switch was missed */
	uint64_t good_from;
};

struct world {
	const struct trace *t;
	uint64_t start, end, bad_until;
	bool lossy;
	struct life *lives;
	int n_lives;
	struct core cores[256];
	unsigned int depth;
	char **lines;
	uint64_t *ns;
	size_t n_lines;
};

static void *more(void *p, size_t n, size_t size)
{
	if (n & (n - 1))
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		abort();
	return p;
}

/* ---- lives ---------------------------------------------------------------------------------- */

static void note(struct life *l, uint64_t from, uint64_t to, enum what what, int sleep)
{
	if (from >= to)
		return;
	l->pieces = more(l->pieces, (size_t)l->n_pieces, sizeof(*l->pieces));
	l->pieces[l->n_pieces++] = (struct piece){from, to, what, sleep};
}

static void now_is(struct life *l, enum what what, uint64_t at)
{
	l->now = what;
	l->since = at;
}

/* Whatever was going on since then is not known. */
static void forget(struct life *l, uint64_t at)
{
	switch (l->now) {
	case RUNS:
		note(l, l->since, l->last_seen, RUNS, 0);
		note(l, l->last_seen, at, UNKNOWN, 0);
		break;
	case WOKEN:
		if (!l->guessed) {
			note(l, l->since, l->woken_at, SLEEPS, l->n_sleeps - 1);
			note(l, l->woken_at, at, UNKNOWN, 0);
			break;
		}
		/* fall through */
	case SLEEPS:
	case PREEMPTED:
	case UNKNOWN:
		note(l, l->since, at, UNKNOWN, 0);
		break;
	case DEAD:
		break;
	}
}

/* What was going on went on until then. */
static void conclude(struct life *l, uint64_t at)
{
	switch (l->now) {
	case RUNS:
		note(l, l->since, at, RUNS, 0);
		break;
	case SLEEPS:
		l->sleeps[l->n_sleeps - 1].woken_ns = at;
		note(l, l->since, at, SLEEPS, l->n_sleeps - 1);
		break;
	case WOKEN:
		note(l, l->since, l->woken_at, SLEEPS, l->n_sleeps - 1);
		note(l, l->woken_at, at, WOKEN, l->n_sleeps - 1);
		break;
	case PREEMPTED:
		note(l, l->since, at, PREEMPTED, l->n_sleeps - 1);
		break;
	case UNKNOWN:
		note(l, l->since, at, UNKNOWN, 0);
		break;
	case DEAD:
		break;
	}
}

static struct sleep *new_sleep(struct life *l, uint64_t out, uint32_t kstack, uint32_t ustack)
{
	l->sleeps = more(l->sleeps, (size_t)l->n_sleeps, sizeof(*l->sleeps));
	l->sleeps[l->n_sleeps] =
		(struct sleep){.kstack = kstack, .ustack = ustack, .waker = NOBODY, .out_ns = out};
	return &l->sleeps[l->n_sleeps++];
}

static int find(struct world *w, uint32_t tid)
{
	for (int i = w->n_lives - 1; i >= 0; i--)
		if (w->lives[i].tid == tid)
			return i;
	return NOBODY;
}

static const struct trace_thread *snapshot_of(struct world *w, uint32_t tid)
{
	size_t n;
	const struct trace_thread *s = trace_threads(w->t, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].tid == tid && s[i].state != 'X' && s[i].state != 'Z')
			return &s[i];
	return NULL;
}

static int born(struct world *w, uint32_t tid, uint64_t begin, const struct trace_thread *snap)
{
	struct life *l;

	w->lives = more(w->lives, (size_t)w->n_lives, sizeof(*l));
	l = &w->lives[w->n_lives];
	*l = (struct life){.tid = tid, .begin = begin, .now = UNKNOWN, .since = begin};
	l->names = more(NULL, 0, sizeof(*l->names));
	l->names[0].at = 0;
	l->names[0].name = snap ? snap->name : 0;
	l->n_names = 1;
	l->tgid = snap ? snap->tgid : 0;
	l->snap = snap;
	l->recorder = trace_info(w->t)->recorder_tgid &&
		      (l->tgid == trace_info(w->t)->recorder_tgid ||
		       tid == trace_info(w->t)->recorder_tgid);
	return w->n_lives++;
}

static int get(struct world *w, uint32_t tid, uint64_t at)
{
	int i = find(w, tid);
	const struct trace_thread *s = snapshot_of(w, tid);
	uint64_t begin = i == NOBODY ? w->start : at;

	if (i != NOBODY && w->lives[i].now != DEAD)
		return i;
	return born(w, tid, begin, s && s->start_ns > w->start && s->start_ns <= begin ? s : NULL);
}

static void first_lives(struct world *w)
{
	size_t n;
	const struct trace_thread *s = trace_threads(w->t, &n);

	for (size_t k = 0; k < n; k++) {
		struct life *l;
		int i;

		if (!s[k].tid || s[k].start_ns > w->start || s[k].state == 'X' ||
		    s[k].state == 'Z' || find(w, s[k].tid) != NOBODY)
			continue;
		i = born(w, s[k].tid, w->start, &s[k]);
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
			new_sleep(l, w->start, s[k].kstack, s[k].ustack);
		}
	}
}

/* ---- events --------------------------------------------------------------------------------- */

/* Every event of a thread begins here. */
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

		note(l, l->since, l->last_seen, RUNS, 0);
		now_is(l, UNKNOWN, l->last_seen);
	}
	c->missed = true;
	c->runs = NOBODY;
}

static void runs_here(struct world *w, int core, int i, uint64_t at, uint64_t since)
{
	struct life *l = &w->lives[i];
	struct core *c = &w->cores[core];

	l->guessed = false;
	l->new_born = false;
	if (at < c->good_from) {
		note(l, since, at, RUNS, 0);
		now_is(l, UNKNOWN, at);
		c->runs = NOBODY;
		c->missed = false;
		return;
	}
	now_is(l, RUNS, since);
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
	evict(w, core);
	if (always && l->now == UNKNOWN) {
		since = l->since > c->good_from ? l->since : c->good_from;
		note(l, l->since, since, UNKNOWN, 0);
	} else if (always && l->now == RUNS && l->cpu == NOBODY) {
		since = l->since;
	} else if (always && l->guessed && c->good_from <= l->since) {
		since = l->since;
		l->has_early = l->now == WOKEN;
		l->early = l->sleeps[l->n_sleeps - 1];
	} else {
		take_off_core(w, i);
		forget(l, at);
	}
	runs_here(w, core, i, at, since);
	l->loss_while_on = always && w->lossy;
}

static int who_acts(struct world *w, int core, uint32_t tid, uint64_t at)
{
	int i = find(w, tid), on = w->cores[core].runs;

	/* exec by a thread that is not the leader: it takes the dead leader's tid. */
	if (on >= 0 && (i == NOBODY || w->lives[i].now == DEAD) && w->lives[on].tgid == tid &&
	    w->lives[on].tid != tid) {
		/* find() takes the youngest with a tid: the dead one must not have it any more. */
		if (i != NOBODY)
			w->lives[i].tid = 0;
		w->lives[on].tid = tid;
		return on;
	}
	return get(w, tid, at);
}

static void idle(struct world *w, int core, uint64_t at)
{
	struct core *c = &w->cores[core];

	if (c->runs == IDLE)
		return;
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
	conclude(l, ev->time_ns);
	w->cores[core].runs = NOBODY;
	w->cores[core].missed = true;
	l->guessed = false;
	l->early_is_it = false;
	if (ev->state == 'X' || ev->state == 'Z') {
		now_is(l, DEAD, ev->time_ns);
		l->end = ev->time_ns;
	} else if (w->lossy && ev->time_ns < w->bad_until) {
		now_is(l, UNKNOWN, ev->time_ns);
	} else {
		struct sleep *s = new_sleep(l, ev->time_ns, ev->kstack, ev->ustack);

		s->maybe_woken = l->loss_while_on;
		now_is(l, ev->state == 'R' ? PREEMPTED : SLEEPS, ev->time_ns);
		if (ev->state != 'R' && early) {
			s->waker = l->early.waker;
			s->waker_kstack = l->early.waker_kstack;
			s->waker_ustack = l->early.waker_ustack;
			s->woken_ns = l->woken_at = ev->time_ns;
			l->now = WOKEN;
			l->early_is_it = true;
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
	if (l->now == WOKEN || l->now == PREEMPTED || (l->now == SLEEPS && !l->guessed)) {
		conclude(l, at);
	} else {
		take_off_core(w, i);
		forget(l, at);
	}
	evict(w, core);
	runs_here(w, core, i, at, at);
	l->loss_while_on = false;
}

static void on_switch(struct world *w, const struct event *ev)
{
	int core = (int)ev->cpu;
	int prev = actor(w, core, ev->tid, ev->time_ns);

	if (prev >= 0)
		goes_out(w, core, prev, ev);
	if (ev->other)
		comes_in(w, core, get(w, ev->other, ev->time_ns), ev->time_ns);
	else
		idle(w, core, ev->time_ns);
}

static void is_woken(struct world *w, int i, const struct event *ev, int waker)
{
	struct life *l = &w->lives[i];
	uint64_t at = ev->time_ns;
	bool first = !l->touched && !l->new_born && !w->lossy && l->begin == w->start &&
		     (!l->snap || l->snap->seen_ns >= at);
	struct sleep *s;

	if (l->recorder)
		return;
	touch(l, at);
	switch (l->now) {
	case DEAD:
	case PREEMPTED:
		return;
	case RUNS:
		l->has_early = true;
		l->early = (struct sleep){.waker = waker,
					  .waker_kstack = ev->kstack,
					  .waker_ustack = ev->ustack};
		return;
	case SLEEPS:
		break;
	case WOKEN:
		if (l->early_is_it)
			break;
		forget(l, at);
		new_sleep(l, at, 0, 0);
		now_is(l, WOKEN, at);
		l->guessed = true;
		break;
	case UNKNOWN:
		if (first) {
			new_sleep(l, w->start, 0, 0);
			now_is(l, WOKEN, w->start);
			l->guessed = true;
			break;
		}
		if (ev->kind == EVENT_WAKING_NEW && l->new_born)
			l->begin = at;
		else
			note(l, l->since, at, UNKNOWN, 0);
		l->new_born = false;
		if (w->lossy && at < w->bad_until) {
			now_is(l, UNKNOWN, at);
			return;
		}
		new_sleep(l, at, 0, 0);
		now_is(l, WOKEN, at);
		l->guessed = true;
		break;
	}
	l->now = WOKEN;
	l->early_is_it = false;
	l->woken_at = at;
	s = &l->sleeps[l->n_sleeps - 1];
	s->woken_ns = at;
	s->waker = waker;
	s->waker_kstack = ev->kstack;
	s->waker_ustack = ev->ustack;
}

static void vanishes(struct world *w, int i, uint64_t at)
{
	struct life *l = &w->lives[i];

	if (i == NOBODY || l->now == DEAD)
		return;
	touch(l, at);
	take_off_core(w, i);
	forget(l, at);
	now_is(l, DEAD, at);
	l->end = at;
}

static int new_life(struct world *w, uint32_t tid, uint64_t at)
{
	const struct trace_thread *s = snapshot_of(w, tid);

	return born(w, tid, at, s && s->start_ns > w->start && s->start_ns <= at ? s : NULL);
}

static void on_waking(struct world *w, const struct event *ev)
{
	int waker = actor(w, (int)ev->cpu, ev->tid, ev->time_ns);
	int i = find(w, ev->other);

	if (!ev->other)
		return;
	if (ev->kind == EVENT_WAKING_NEW && (i == NOBODY || !w->lives[i].new_born)) {
		vanishes(w, i, ev->time_ns);
		i = new_life(w, ev->other, ev->time_ns);
		w->lives[i].new_born = true;
	} else {
		i = get(w, ev->other, ev->time_ns);
	}
	is_woken(w, i, ev, waker);
}

static void on_fork(struct world *w, const struct event *ev)
{
	int i;

	actor(w, (int)ev->cpu, ev->tid, ev->time_ns);
	if (!ev->other)
		return;
	vanishes(w, find(w, ev->other), ev->time_ns);
	i = new_life(w, ev->other, ev->time_ns);
	w->lives[i].new_born = true;
	if (ev->tgid)
		w->lives[i].tgid = ev->tgid;
	if (ev->string)
		w->lives[i].names[0].name = ev->string;
}

static void on_exec(struct world *w, const struct event *ev)
{
	int caller = ev->other && ev->other != ev->tid ? find(w, ev->other) : NOBODY;

	if (!ev->tid)
		return;
	if (caller != NOBODY && w->lives[caller].now != DEAD) {
		int leader = find(w, ev->tid);

		vanishes(w, leader, ev->time_ns);
		if (leader != NOBODY)
			w->lives[leader].tid = 0;
		w->lives[caller].tid = ev->tid;
	}
	actor(w, (int)ev->cpu, ev->tid, ev->time_ns);
}

static void on_lost(struct world *w, const struct event *ev)
{
	uint64_t at = ev->time_ns;

	w->lossy = true;
	if (w->bad_until < ev->last_ns + 1)
		w->bad_until = ev->last_ns + 1;
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
		if (l->now == WOKEN && l->early_is_it) {
			/* Whether a later waking came is not known any more. */
			l->now = SLEEPS;
			l->sleeps[l->n_sleeps - 1].waker = NOBODY;
		}
		if (l->now == RUNS && l->cpu == NOBODY && l->snap->seen_ns > at)
			note(l, l->since, at, UNKNOWN, 0);
		else if (l->guessed)
			forget(l, at);
		else
			conclude(l, at);
		now_is(l, UNKNOWN, at);
		l->guessed = false;
	}
	for (int c = 0; c < 256; c++) {
		if (ev->cpu != EVENT_CPU_UNKNOWN && (int)ev->cpu != c)
			continue;
		w->cores[c].runs = NOBODY;
		w->cores[c].missed = false;
		if (w->cores[c].good_from < ev->last_ns + 1)
			w->cores[c].good_from = ev->last_ns + 1;
	}
}

static void on_event(struct world *w, const struct event *ev)
{
	struct life *l;
	int i;

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
		i = get(w, ev->tid, ev->time_ns);
		l = &w->lives[i];
		l->names = more(l->names, (size_t)l->n_names, sizeof(*l->names));
		l->names[l->n_names].at = ev->time_ns;
		l->names[l->n_names++].name = ev->string;
		break;
	case EVENT_LOST:
		on_lost(w, ev);
		break;
	default:
		break;
	}
}

static void at_end(struct world *w)
{
	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];

		if (l->now == DEAD)
			continue;
		l->end = w->end;
		touch(l, w->end);
		if (l->now == SLEEPS && !l->guessed)
			l->sleeps[l->n_sleeps - 1].never =
				!l->sleeps[l->n_sleeps - 1].maybe_woken;
		if (l->now == UNKNOWN && l->leaving)
			l->end = l->since;
		else if (l->guessed)
			forget(l, w->end);
		else
			conclude(l, w->end);
	}
}

/* ---- chains --------------------------------------------------------------------------------- */

static void put_line(struct world *w, const char *chain, const char *end, uint64_t ns)
{
	if (!ns)
		return;
	w->lines = more(w->lines, w->n_lines, sizeof(*w->lines));
	w->ns = more(w->ns, w->n_lines, sizeof(*w->ns));
	if (asprintf(&w->lines[w->n_lines], "%s;[%s]", chain, end) < 0)
		abort();
	w->ns[w->n_lines++] = ns;
}

static void append_clean(char **s, const char *raw)
{
	char *old = *s, *clean = strdup(*raw ? raw : "[unknown]");

	for (char *c = clean; *c; c++)
		if (*c == ';')
			*c = ':';
		else if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	if (asprintf(s, "%s%s%s", old, *old ? ";" : "", clean) < 0)
		abort();
	free(old);
	free(clean);
}

static const char *frame_name(struct world *w, uint32_t frame, char *buf, size_t size)
{
	const struct trace_frame *f = trace_frame(w->t, frame);
	const char *path = f && f->module ? trace_module_path(w->t, f->module) : "";
	const char *base = strrchr(path, '/');

	if (f && *trace_string(w->t, f->symbol))
		return trace_string(w->t, f->symbol);
	if (!*path || (base && !base[1]))
		return "";
	snprintf(buf, size, "[%s]", base ? base + 1 : path);
	return buf;
}

static void append_frames(struct world *w, char **s, uint32_t id, uint32_t first_n, bool leaf_first)
{
	struct trace_stack st = trace_stack(w->t, id);
	uint32_t n = st.n < first_n ? st.n : first_n;
	char buf[300];

	for (uint32_t i = 0; i < n; i++)
		append_clean(s, frame_name(w, st.frames[leaf_first ? i : n - 1 - i], buf,
					   sizeof(buf)));
}

static void append_name(struct world *w, char **s, int thread, uint64_t at)
{
	struct life *l = &w->lives[thread];
	uint32_t name = l->names[0].name;

	for (int i = 1; i < l->n_names; i++)
		if (l->names[i].at <= at)
			name = l->names[i].name;
	append_clean(s, trace_string(w->t, name));
}

/* 0: a task; else 1 + how many frames of the waker's kernel stack are the interrupt's. */
static uint32_t interrupt_frames(struct world *w, const struct sleep *s)
{
	struct trace_stack st = trace_stack(w->t, s->waker_kstack);
	uint32_t idle_at = st.n;

	for (uint32_t i = 0; i < st.n; i++) {
		char buf[300];
		const char *f = frame_name(w, st.frames[i], buf, sizeof(buf));

		if (s->waker != IDLE &&
		    (!strcmp(f, "__local_bh_enable_ip") || !strncmp(f, "do_softirq", 10)) &&
		    (f[10] == 0 || f[10] == '.' || f[0] == '_'))
			return 0;
		if (idle_at == st.n && (!strcmp(f, "do_idle") || !strcmp(f, "cpu_startup_entry")))
			idle_at = i;
		if (!strncmp(f, "asm_sysvec_", 11) || !strncmp(f, "sysvec_", 7) ||
		    !strcmp(f, "asm_common_interrupt") || !strcmp(f, "common_interrupt") ||
		    !strcmp(f, "asm_exc_nmi") || !strcmp(f, "exc_nmi")) {
			for (i++; i < st.n; i++) {
				f = frame_name(w, st.frames[i], buf, sizeof(buf));
				if (!strstr(f, "sysvec_") && !strstr(f, "common_interrupt") &&
				    !strstr(f, "exc_nmi"))
					break;
			}
			if (s->waker == IDLE && idle_at < i)
				return 1 + idle_at;
			return 1 + i;
		}
	}
	return s->waker == IDLE ? 1 + idle_at : 0;
}

/* chain and one more link, to be freed. */
static char *linked(struct world *w, const char *chain, const struct sleep *s, uint32_t irq)
{
	struct trace_stack k = trace_stack(w->t, s->waker_kstack);
	struct trace_stack u = trace_stack(w->t, s->waker_ustack);
	char *to = strdup(chain);

	append_clean(&to, "--");
	if (irq) {
		if (irq == 1)
			append_clean(&to, "[unknown stack]");
		append_frames(w, &to, s->waker_kstack, irq - 1, true);
		return to;
	}
	if (!k.n && !u.n)
		append_clean(&to, "[unknown stack]");
	append_frames(w, &to, s->waker_kstack, UINT32_MAX, true);
	if (k.n && u.n)
		append_clean(&to, "-");
	append_frames(w, &to, s->waker_ustack, UINT32_MAX, true);
	append_name(w, &to, s->waker, s->woken_ns);
	return to;
}

static bool among(const int *chain, unsigned int n, int thread)
{
	for (unsigned int i = 0; i < n; i++)
		if (chain[i] == thread)
			return true;
	return false;
}

static void explain(struct world *w, const char *chain, int *members, unsigned int links,
		    const struct sleep *s, uint64_t from, uint64_t to)
{
	struct life *l;
	char *longer;
	uint32_t irq;
	uint64_t covered = 0;

	if (s->never || s->waker == NOBODY) {
		put_line(w, chain, s->never ? "not woken" : "unknown", to - from);
		return;
	}
	if (links == w->depth) {
		put_line(w, chain, "depth limit", to - from);
		return;
	}
	irq = interrupt_frames(w, s);
	longer = linked(w, chain, s, irq);
	if (irq || among(members, links + 1, s->waker)) {
		put_line(w, longer, irq ? "interrupt" : "loop", to - from);
		free(longer);
		return;
	}
	members[links + 1] = s->waker;
	l = &w->lives[s->waker];
	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		uint64_t a = p->from > from ? p->from : from, b = p->to < to ? p->to : to;

		if (a >= b)
			continue;
		covered += b - a;
		if (p->what == SLEEPS)
			explain(w, longer, members, links + 1, &l->sleeps[p->sleep], a, b);
		else
			put_line(w, longer,
				 p->what == RUNS      ? "running" :
				 p->what == UNKNOWN ? "unknown" :
							"runnable",
				 b - a);
	}
	put_line(w, longer, "unknown", to - from - covered);
	free(longer);
}

/* The sleep that a thread woke from last before at; NULL: not known. */
static const struct sleep *woke_last(struct life *l, uint64_t at)
{
	for (int i = l->n_pieces - 1; i >= 0; i--) {
		const struct piece *p = &l->pieces[i];

		if (p->to > at || p->what == RUNS || p->what == PREEMPTED)
			continue;
		return p->what == UNKNOWN ? NULL : &l->sleeps[p->sleep];
	}
	return NULL;
}

static void explain_classic(struct world *w, const char *head, int *members,
			    const struct sleep *s, uint64_t ns)
{
	char *chain = strdup(head);
	const char *end;

	for (unsigned int links = 0;; links++) {
		uint32_t irq;
		char *longer;

		end = !s || (!s->never && s->waker == NOBODY) ? "unknown" :
		      s->never				      ? "not woken" :
		      links == w->depth			      ? "depth limit" :
								NULL;
		if (end)
			break;
		irq = interrupt_frames(w, s);
		longer = linked(w, chain, s, irq);
		free(chain);
		chain = longer;
		end = irq ? "interrupt" : among(members, links + 1, s->waker) ? "loop" : NULL;
		if (end)
			break;
		members[links + 1] = s->waker;
		s = woke_last(&w->lives[s->waker], s->woken_ns);
	}
	put_line(w, chain, end, ns);
	free(chain);
}

static void explain_all(struct world *w, bool classic)
{
	int *members = malloc((w->depth + 2) * sizeof(*members));

	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];

		for (int k = 0; k < l->n_pieces; k++) {
			const struct piece *p = &l->pieces[k];
			const struct sleep *s;
			char *head;

			if (p->what == RUNS || p->what == UNKNOWN)
				continue;
			s = &l->sleeps[p->sleep];
			head = strdup("");
			append_name(w, &head, i, s->out_ns);
			if (!trace_stack(w->t, s->kstack).n && !trace_stack(w->t, s->ustack).n)
				append_clean(&head, "[unknown stack]");
			append_frames(w, &head, s->ustack, UINT32_MAX, false);
			if (trace_stack(w->t, s->kstack).n && trace_stack(w->t, s->ustack).n)
				append_clean(&head, "-");
			append_frames(w, &head, s->kstack, UINT32_MAX, false);
			members[0] = i;
			if (p->what == WOKEN)
				put_line(w, head, "runnable", p->to - p->from);
			else if (p->what == PREEMPTED)
				put_line(w, head, "preempted", p->to - p->from);
			else if (classic)
				explain_classic(w, head, members, s, p->to - p->from);
			else
				explain(w, head, members, 0, s, p->from, p->to);
			free(head);
		}
	}
	free(members);
}

static struct world *sorting;

static int by_line(const void *a, const void *b)
{
	return strcmp(sorting->lines[*(const size_t *)a], sorting->lines[*(const size_t *)b]);
}

static char *sum_up(struct world *w)
{
	size_t *order = malloc((w->n_lines + 1) * sizeof(*order)), len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < w->n_lines; i++)
		order[i] = i;
	sorting = w;
	qsort(order, w->n_lines, sizeof(*order), by_line);
	for (size_t i = 0, j; i < w->n_lines; i = j) {
		uint64_t ns = 0;

		for (j = i; j < w->n_lines && !strcmp(w->lines[order[i]], w->lines[order[j]]); j++)
			ns += w->ns[order[j]];
		fprintf(out, "%s %llu\n", w->lines[order[i]], (unsigned long long)ns);
	}
	fclose(out);
	free(order);
	return text;
}

char *naive_folded(const struct trace *t, unsigned int depth, bool classic)
{
	struct trace_cursor *cursor = trace_cursor_new(t);
	struct world *w = calloc(1, sizeof(*w));
	struct event ev;
	char *text;

	if (!w || !cursor)
		abort();
	w->t = t;
	w->depth = depth;
	w->start = trace_info(t)->start_ns;
	w->end = trace_info(t)->end_ns;
	if (trace_cursor_next(cursor, &ev) && ev.time_ns < w->start)
		w->start = ev.time_ns;
	trace_cursor_free(cursor);
	cursor = trace_cursor_new(t);
	for (int c = 0; c < 256; c++)
		w->cores[c] = (struct core){NOBODY, false, w->start};
	first_lives(w);
	while (trace_cursor_next(cursor, &ev)) {
		if (w->end < ev.time_ns)
			w->end = ev.time_ns;
		on_event(w, &ev);
	}
	trace_cursor_free(cursor);
	at_end(w);
	explain_all(w, classic);
	text = sum_up(w);
	for (int i = 0; i < w->n_lives; i++) {
		free(w->lives[i].pieces);
		free(w->lives[i].sleeps);
		free(w->lives[i].names);
	}
	for (size_t i = 0; i < w->n_lines; i++)
		free(w->lines[i]);
	free(w->lines);
	free(w->ns);
	free(w->lives);
	free(w);
	return text;
}
