// SPDX-License-Identifier: GPL-2.0-or-later
#include "select.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "idle.h"

/* An answer that is worked out once. */
enum answer {
	NOT_ASKED,
	YES,
	NO,
};

struct selection {
	const struct timelines *timelines;
	const struct options *options;
	struct names *names;
	uint8_t *of_pair;   /* enum answer: its frames fit --within and --without */
	uint8_t *of_name;   /* enum answer by string id: it fits -c */
	uint8_t *of_kstack; /* enum answer: it is an idle one */
	uint64_t idle_waits, idle_ns;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
};

struct selection *selection_new(const struct timelines *tl, const struct options *o,
				struct names *names)
{
	struct selection *s = calloc(1, sizeof(*s));
	uint64_t start = timelines_start_ns(tl);

	if (!s)
		return NULL;
	s->timelines = tl;
	s->options = o;
	s->names = names;
	s->from_ns = start > UINT64_MAX - o->from_ns ? UINT64_MAX : start + o->from_ns;
	s->to_ns = start > UINT64_MAX - o->to_ns ? UINT64_MAX : start + o->to_ns;
	s->of_pair = calloc(timelines_pairs_end(tl), 1);
	s->of_name = calloc((size_t)trace_strings_end(timelines_trace(tl)) + 1, 1);
	s->of_kstack = calloc((size_t)trace_stacks_end(timelines_trace(tl)) + 1, 1);
	if (!s->of_pair || !s->of_name || !s->of_kstack) {
		selection_free(s);
		return NULL;
	}
	return s;
}

void selection_free(struct selection *s)
{
	if (!s)
		return;
	free(s->of_pair);
	free(s->of_name);
	free(s->of_kstack);
	free(s);
}

static bool has_id(const struct id_list *l, uint32_t id)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->ids[i] == id)
			return true;
	return false;
}

bool selection_thread(const struct selection *s, const struct thread *th)
{
	const struct options *o = s->options;

	if (o->no_kthreads && th->flags & THREAD_KTHREAD)
		return false;
	if (o->tids.n && !has_id(&o->tids, th->tid))
		return false;
	/* Where the process is not known, the thread may at least be its leader. */
	return !o->pids.n || has_id(&o->pids, th->tgid ? th->tgid : th->tid);
}

static bool name_fits(struct selection *s, uint32_t string)
{
	const struct trace *t = timelines_trace(s->timelines);
	uint8_t *answer;

	if (!s->options->names.n)
		return true;
	if (string >= trace_strings_end(t))
		string = 0;
	answer = &s->of_name[string];
	if (*answer == NOT_ASKED)
		*answer = regex_list_match(&s->options->names, trace_string(t, string)) ? YES : NO;
	return *answer == YES;
}

bool selection_name(struct selection *s, uint32_t thread)
{
	const struct thread *th = timelines_thread(s->timelines, thread);

	for (uint32_t i = 0; i <= th->renames; i++)
		if (name_fits(s, timelines_nth_name(s->timelines, thread, i)))
			return true;
	return false;
}

void selection_window(const struct selection *s, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = s->from_ns;
	*to_ns = s->to_ns;
}

/* Which of the regular expressions fit some frame of the stack. */
static void match_frames(struct selection *s, struct trace_stack stack, const struct regex_list *l,
			 bool *hit)
{
	for (uint32_t f = 0; f < stack.n; f++) {
		const char *text = names_text(s->names, names_frame(s->names, stack.frames[f]));

		for (size_t i = 0; i < l->n; i++)
			hit[i] = hit[i] || !regexec(&l->regex[i], text, 0, NULL, 0);
	}
}

static size_t count_hits(struct selection *s, struct stack_pair p, const struct regex_list *l)
{
	const struct trace *t = timelines_trace(s->timelines);
	bool *hit = calloc(l->n + 1, sizeof(*hit));
	size_t n = 0;

	if (!hit)
		return 0;
	match_frames(s, trace_stack(t, p.kstack), l, hit);
	match_frames(s, trace_stack(t, p.ustack), l, hit);
	for (size_t i = 0; i < l->n; i++)
		n += hit[i];
	free(hit);
	return n;
}

static bool stack_fits(struct selection *s, uint32_t pair)
{
	const struct options *o = s->options;
	struct stack_pair p = timelines_pair(s->timelines, pair);
	uint8_t *answer = &s->of_pair[pair];

	if (!o->within.n && !o->without.n)
		return true;
	if (*answer == NOT_ASKED)
		*answer = count_hits(s, p, &o->within) == o->within.n &&
					  !count_hits(s, p, &o->without)
				  ? YES
				  : NO;
	return *answer == YES;
}

static bool is_idle(struct selection *s, const struct wait *w)
{
	const struct trace *t = timelines_trace(s->timelines);
	uint32_t kstack = timelines_pair(s->timelines, w->stack).kstack;
	uint8_t *answer;

	if (w->kind != WAIT_SLEEP || kstack >= trace_stacks_end(t))
		return false;
	answer = &s->of_kstack[kstack];
	if (*answer == NOT_ASKED)
		*answer = idle_stack(t, kstack) ? YES : NO;
	return *answer == YES;
}

static void clip(uint64_t *from, uint64_t *to, uint64_t lo, uint64_t hi)
{
	if (*from < lo)
		*from = lo;
	if (*to > hi)
		*to = hi;
	if (*to < *from)
		*to = *from;
}

bool selection_wait(struct selection *s, uint32_t thread, const struct wait *w, struct shown *shown)
{
	const struct options *o = s->options;
	uint64_t len = w->in_ns - w->out_ns;
	unsigned int parts = o->parts;

	if (w->kind == WAIT_UNKNOWN || len < o->min_wait_ns || len > o->max_wait_ns)
		return false;
	if (w->in_ns <= s->from_ns || w->out_ns >= s->to_ns)
		return false;
	if (w->kind == WAIT_PREEMPTED) {
		if (!(parts & PART_PREEMPTED))
			return false;
	} else {
		if (!(parts & (PART_BLOCKED | PART_RUNNABLE)))
			return false;
		if (*o->states && !strchr(o->states, w->state))
			return false;
	}
	if (!name_fits(s, timelines_name(s->timelines, thread, w->out_ns)) ||
	    !stack_fits(s, w->stack))
		return false;
	*shown = (struct shown) { w->out_ns, w->wake_ns, w->wake_ns, w->in_ns };
	if (w->kind == WAIT_SLEEP && !(parts & PART_BLOCKED))
		shown->blocked_to_ns = shown->blocked_from_ns;
	if (w->kind == WAIT_SLEEP && !(parts & PART_RUNNABLE))
		shown->off_to_ns = shown->off_from_ns;
	clip(&shown->blocked_from_ns, &shown->blocked_to_ns, s->from_ns, s->to_ns);
	clip(&shown->off_from_ns, &shown->off_to_ns, s->from_ns, s->to_ns);
	if (o->no_idle && is_idle(s, w)) {
		s->idle_waits++;
		s->idle_ns += shown->blocked_to_ns - shown->blocked_from_ns + shown->off_to_ns -
			      shown->off_from_ns;
		return false;
	}
	return true;
}

void selection_idle(const struct selection *s, uint64_t *waits, uint64_t *ns)
{
	*waits = s->idle_waits;
	*ns = s->idle_ns;
}
