// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trigger {
	uint64_t limit_ns;
	regex_t comm;
	bool has_comm;
	struct event_view view;
	struct threads threads; /* as of the event that the view is at */
	uint64_t quiet_until_ns;
	struct trigger_wait longest; /* wait_ns 0: none */
};

int trigger_new(struct trigger **out, uint64_t limit_ns, const char *comm, char *why,
		size_t why_size)
{
	struct trigger *t = calloc(1, sizeof(*t));
	int err;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->limit_ns = limit_ns;
	if (comm) {
		err = regcomp(&t->comm, comm, REG_EXTENDED | REG_NOSUB);
		if (err) {
			regerror(err, &t->comm, why, why_size);
			free(t);
			return -EINVAL;
		}
		t->has_comm = true;
	}
	*out = t;
	return 0;
}

void trigger_free(struct trigger *t)
{
	if (!t)
		return;
	if (t->has_comm)
		regfree(&t->comm);
	event_view_free(&t->view);
	threads_free(&t->threads);
	free(t);
}

struct threads *trigger_threads(struct trigger *t)
{
	return &t->threads;
}

void trigger_quiet(struct trigger *t, uint64_t until_ns)
{
	t->quiet_until_ns = until_ns;
	t->longest.wait_ns = 0;
}

static bool is_selected(const struct trigger *t, const struct thread_state *th)
{
	if (!t->has_comm)
		return !(th->flags & CHAINLOG_THREAD_KTHREAD);
	return !regexec(&t->comm, th->name, 0, NULL, 0);
}

/* The thread is about to be on a CPU again. */
static void wait_ends(struct trigger *t, const struct thread_state *th, uint64_t now_ns)
{
	if ((th->doing != THREAD_ASLEEP && th->doing != THREAD_WOKEN) ||
	    now_ns - th->out_ns <= t->limit_ns || now_ns - th->out_ns <= t->longest.wait_ns ||
	    now_ns < t->quiet_until_ns)
		return;
	/* Among lost events, it may have been awake. */
	if (t->threads.lost_ns >= th->out_ns || !is_selected(t, th))
		return;
	t->longest = (struct trigger_wait) {
		.wait_ns = now_ns - th->out_ns,
		.end_ns = now_ns,
		.tid = th->tid,
	};
	memcpy(t->longest.name, th->name, sizeof(t->longest.name));
}

int trigger_look(struct trigger *t, const struct event_window *w, const struct id_pool *strings,
		 uint64_t horizon_ns)
{
	int err = event_view_refresh(&t->view, w);
	const struct chainlog_fields *ev;

	while (!err && (ev = event_view_next(&t->view, horizon_ns))) {
		const struct thread_state *th = NULL;
		char name[THREADS_NAME_LEN];

		if (ev->kind == CHAINLOG_SWITCH)
			th = threads_find(&t->threads, ev->other);
		if (th && th->out_ns <= ev->time_ns)
			wait_ends(t, th, ev->time_ns);
		id_pool_text(strings, ev->string, name, sizeof(name));
		err = threads_event(&t->threads, ev, name);
	}
	return err ? err : t->view.error;
}

bool trigger_take(struct trigger *t, struct trigger_wait *out)
{
	if (!t->longest.wait_ns)
		return false;
	*out = t->longest;
	t->longest.wait_ns = 0;
	return true;
}
