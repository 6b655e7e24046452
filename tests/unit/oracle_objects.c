// SPDX-License-Identifier: GPL-2.0-or-later
/* What sleepers waited for, which of several things was ready, and what disks had done. */
#include <stdio.h>
#include <string.h>

#include "oracle_private.h"

bool object_is_of_call(struct world *w, uint32_t kstack)
{
	static const char *const outside[] = {
		"syscall_trace_enter", "__secure_computing",	     "seccomp_do_user_notification",
		"__seccomp_filter",    "irqentry_exit_to_user_mode", "exit_to_user_mode_loop",
		"get_signal",	       "arch_do_signal_or_restart",  "syscall_exit_to_user_mode",
		"task_work_run",
	};
	struct trace_stack s = trace_stack(w->t, kstack);

	for (uint32_t i = 0; i < s.n; i++) {
		char buf[300];
		const char *f = frame_name(w, s.frames[i], buf, sizeof(buf));
		size_t len = strcspn(f, ".");

		if (!strncmp(f, "asm_exc_", 8) && i + 1 != s.n)
			return false;
		for (size_t k = 0; k < sizeof(outside) / sizeof(*outside); k++)
			if (strlen(outside[k]) == len && !strncmp(f, outside[k], len))
				return false;
	}
	return true;
}

static bool awaits_rcu(const char *f)
{
	static const char *const names[] = {
		"rcu_barrier",	      "srcu_barrier",
		"synchronize_rcu",    "synchronize_srcu",
		"__synchronize_srcu", "synchronize_net",
		"__wait_rcu_gp",      "cond_synchronize_rcu",
		"kvfree_rcu_barrier", "percpu_ref_switch_to_atomic_sync",
		"synchronize_sched",  "rcu_sync_enter"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(f, names[i], strlen(names[i])))
			return true;
	return false;
}

uint32_t object_by_stack(struct world *w, uint32_t kstack)
{
	struct trace_stack s = trace_stack(w->t, kstack);
	char buf[300], name[300] = "";
	uint32_t i = 0;

	for (; i < s.n; i++) {
		const char *f = frame_name(w, s.frames[i], buf, sizeof(buf));

		if (strncmp(f, "schedule", 8) && strcmp(f, "__schedule") &&
		    strncmp(f, "io_schedule", 11) && strncmp(f, "wait_for_completion", 19) &&
		    strncmp(f, "__wait_for_common", 17))
			break;
	}
	for (; i < s.n && awaits_rcu(frame_name(w, s.frames[i], buf, sizeof(buf))); i++)
		snprintf(name, sizeof(name), "%s", frame_name(w, s.frames[i], buf, sizeof(buf)));
	for (i = 1; *name && i < trace_objects_end(w->t); i++) {
		const struct trace_object *o = trace_object(w->t, i);

		if (o && !strcmp(trace_string(w->t, o->class), "RCU") &&
		    !strcmp(trace_string(w->t, o->name), name))
			return i;
	}
	return 0;
}

/* The thread has just gone to sleep. */
void object_awaited(struct world *w, const struct event *ev)
{
	int i = ev->tid ? world_find(w, ev->tid) : NOBODY;
	struct life *l = i == NOBODY ? NULL : &w->lives[i];
	struct sleep *s =
		l && (l->now == SLEEPS || l->now == WOKEN) ? &l->sleeps[l->n_sleeps - 1] : NULL;

	if (s && s->out_ns == ev->time_ns && s->pair == ev->other &&
	    object_is_of_call(w, s->kstack))
		s->object = ev->awaited.object;
}

void object_asked(struct world *w, const struct event *ev)
{
	w->askings = more(w->askings, (size_t)w->n_askings, sizeof(*w->askings));
	w->askings[w->n_askings++] = (struct asking) { ev->time_ns, ev->tid, ev->kstack };
}

static bool has_function(struct world *w, uint32_t stack, const char *function)
{
	struct trace_stack s = trace_stack(w->t, stack);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(w->t, s.frames[i]);

		if (f && !strcmp(trace_string(w->t, f->symbol), function))
			return true;
	}
	return false;
}

/* Whether what the disk did was asked for by the worker that lets go what was held back. */
static bool was_held(struct world *w, const struct event *ev)
{
	for (int i = w->n_askings - 1; i >= 0; i--)
		if (ev->tid && w->askings[i].tid == ev->tid &&
		    w->askings[i].at == ev->disk_done.asked_ns)
			return has_function(w, w->askings[i].kstack, "blk_throtl_dispatch_work_fn");
	return false;
}

/* A disk was done, or it is not known what it did. */
void object_done(struct world *w, const struct event *ev)
{
	struct core *c = &w->cores[ev->cpu];
	const struct trace_object *group =
		ev->kind == EVENT_DISK_DONE ? trace_object(w->t, ev->disk_done.group) : NULL;

	c->done = (struct done) { false };
	if (ev->kind == EVENT_AUX_LOST && c->dones_bad_until < ev->lost.last_ns + 1)
		c->dones_bad_until = ev->lost.last_ns + 1;
	if (ev->kind == EVENT_DISK_DONE && ev->time_ns >= c->dones_bad_until &&
	    !trace_damage(w->t)->what)
		c->done = (struct done) { true,
					  ev->disk_done.issued_ns,
					  ev->disk_done.disk,
					  (uint32_t)ev->disk_done.what & 7,
					  was_held(w, ev) ? ev->disk_done.asked_ns : 0,
					  group ? group->name : 0 };
}

/* The sleep of the event's thread that was ended right before, if it was not too short for that. */
static struct sleep *just_ended(struct world *w, const struct event *ev)
{
	int i = world_find(w, ev->tid);
	struct life *l = i == NOBODY ? NULL : &w->lives[i];
	struct sleep *s = l && l->now == WOKEN ? &l->sleeps[l->n_sleeps - 1] : NULL;

	return s && l->woken_at == ev->time_ns && s->out_ns < ev->time_ns ? s : NULL;
}

/* The thread has just been woken. */
void object_ready(struct world *w, const struct event *ev)
{
	struct sleep *s = just_ended(w, ev);

	if (s && !s->told_ready)
		s->told_ready = ev->awaited.object;
	if (s && s->object && !s->ready)
		s->ready = ev->awaited.object;
}

void object_not_sent(struct world *w, const struct event *ev)
{
	struct sleep *s = just_ended(w, ev);

	if (s)
		s->not_sent = true;
}

void object_put_off(struct world *w, const struct event *ev)
{
	struct sleep *s = just_ended(w, ev);

	if (s && !s->put_off.which && ev->tcp_timer.which >= 1 && ev->tcp_timer.which <= 3)
		s->put_off = (struct put_off) { ev->tcp_timer.since_ns, ev->tcp_timer.at_ns,
						ev->tcp_timer.which };
}

/* The thread has just gone to sleep; or it has slept since the start. */
void object_held(struct world *w, uint32_t tid, uint32_t holder, uint64_t at)
{
	int i = world_find(w, tid), by = world_find(w, holder);
	struct life *l = i == NOBODY ? NULL : &w->lives[i];

	if (l && by != NOBODY && w->lives[by].now != DEAD && l->n_sleeps &&
	    (l->now == SLEEPS || l->now == WOKEN) && l->sleeps[l->n_sleeps - 1].out_ns == at)
		l->sleeps[l->n_sleeps - 1].held_by = 1 + by;
}
