// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definitions.h"
#include "routes/route_like.h"

/*
 * Connections are numbered in turn. The latest request of each is kept at the connection's number
 * modulo this: one that many newer connections have followed may lose its place, and then only its
 * first answer counts.
 */
#define CONNECTIONS (1u << 16)

/* A request that was answered, and whose answer may go on. */
struct answered {
	uint64_t connection, arrival_ns, first_ns;
	uint32_t endpoint, route;
};

struct trigger {
	struct trigger_options o;
	uint64_t least_ns; /* the shortest limit of requests */
	regex_t comm;
	bool has_comm;
	struct event_view view;
	struct threads threads;	   /* as of the event that the view is at */
	struct answered *answered; /* NULL: requests do not matter */
	uint64_t quiet_until_ns;
	struct trigger_event longest; /* took_ns 0: none */
};

static int compile(struct trigger *t, char *why, size_t why_size)
{
	int err = t->o.comm ? regcomp(&t->comm, t->o.comm, REG_EXTENDED | REG_NOSUB) : 0;

	if (err) {
		regerror(err, &t->comm, why, why_size);
		return -EINVAL;
	}
	t->has_comm = t->o.comm != NULL;
	return 0;
}

int trigger_new(struct trigger **out, const struct trigger_options *o, char *why, size_t why_size)
{
	struct trigger *t = calloc(1, sizeof(*t));
	int err;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->o = *o;
	t->least_ns = UINT64_MAX;
	for (unsigned int i = 0; i < o->n_requests; i++)
		if (t->least_ns > o->requests[i].limit_ns)
			t->least_ns = o->requests[i].limit_ns;
	err = compile(t, why, why_size);
	if (!err && o->n_requests) {
		t->answered = calloc(CONNECTIONS, sizeof(*t->answered));
		err = t->answered ? 0 : -ENOMEM;
	}
	if (err) {
		trigger_free(t);
		return err;
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
	free(t->answered);
	free(t);
}

struct threads *trigger_threads(struct trigger *t)
{
	return &t->threads;
}

void trigger_quiet(struct trigger *t, uint64_t until_ns)
{
	t->quiet_until_ns = until_ns;
	t->longest.took_ns = 0;
}

/* ---- waits --------------------------------------------------------------------------------- */

static bool is_selected(const struct trigger *t, const struct thread_state *th)
{
	if (!t->has_comm)
		return !(th->flags & CHAINLOG_THREAD_KTHREAD);
	return !regexec(&t->comm, th->name, 0, NULL, 0);
}

/* The thread is about to be on a CPU again. */
static void wait_ends(struct trigger *t, const struct thread_state *th, uint64_t now_ns)
{
	if ((th->doing != THREAD_ASLEEP && th->doing != THREAD_WOKEN) || !t->o.wait_ns ||
	    now_ns - th->out_ns <= t->o.wait_ns || now_ns - th->out_ns <= t->longest.took_ns ||
	    now_ns < t->quiet_until_ns)
		return;
	/* Among lost events, it may have been awake. */
	if (t->threads.lost_ns >= th->out_ns || !is_selected(t, th))
		return;
	t->longest = (struct trigger_event) { .took_ns = now_ns - th->out_ns, .tid = th->tid };
	memcpy(t->longest.name, th->name, sizeof(th->name));
}

/* ---- requests ------------------------------------------------------------------------------ */

/* As chainwalk writes it. */
static void endpoint_text(const struct definitions *d, uint32_t id, char *text, size_t size)
{
	struct encoder_object o;

	if (!id || !definitions_object(d, id, &o) || !*o.class)
		snprintf(text, size, "unknown");
	else if (!strcmp(o.class, CHAINLOG_CLASS_REQUEST))
		snprintf(text, size, "%s", o.name);
	else
		snprintf(text, size, "%s%s%s", o.class, *o.name ? " " : "", o.name);
}

/* As it was asked for, or as it was told; "": not known. */
static const char *route_text(const struct trigger_names *n, uint32_t id)
{
	const char *asked = id_map_asked(n->ids, id);
	struct encoder_object o;

	if (asked)
		return asked;
	return id && definitions_object(n->definitions, id, &o) &&
			       !strcmp(o.class, CHAINLOG_CLASS_ROUTE)
		       ? o.name
		       : "";
}

/* Which of two limits holds: that of more. */
enum rank { NOT_MEANT, ANY_REQUEST, OF_ENDPOINT, OF_ROUTE, OF_BOTH };

/* How a limit means requests of a route to an endpoint. Sets what of it is the route's. */
static enum rank rank_of(const struct trigger_request *r, const char *endpoint, const char *route,
			 const char **part)
{
	size_t len = strlen(endpoint);

	*part = NULL;
	if (!r->what)
		return ANY_REQUEST;
	if (r->what_len >= len && !memcmp(r->what, endpoint, len)) {
		if (r->what_len == len)
			return OF_ENDPOINT;
		*part = r->what + len + 1;
		if (r->what[len] == ' ' && *route &&
		    route_is_like(route, *part, r->what_len - len - 1))
			return OF_BOTH;
	}
	*part = r->what;
	return *route && route_is_like(route, r->what, r->what_len) ? OF_ROUTE : NOT_MEANT;
}

/* The limit that holds for a request, of several the last one; sets the route that it names. */
static uint64_t limit_of(const struct trigger *t, struct trigger_event *e, const char *route)
{
	enum rank best = NOT_MEANT, rank;
	uint64_t limit_ns = UINT64_MAX;
	const char *part;

	for (unsigned int i = 0; i < t->o.n_requests; i++) {
		const struct trigger_request *r = &t->o.requests[i];

		rank = rank_of(r, e->name, route, &part);
		if (rank == NOT_MEANT || rank < best)
			continue;
		best = rank;
		limit_ns = r->limit_ns;
		e->route = rank >= OF_ROUTE ? part : NULL;
		e->route_len = e->route ? (size_t)(r->what + r->what_len - part) : 0;
	}
	return limit_ns;
}

static void request_ends(struct trigger *t, const struct trigger_names *n, const struct answered *a,
			 uint64_t answer_ns)
{
	uint64_t took_ns = answer_ns > a->arrival_ns ? answer_ns - a->arrival_ns : 0;
	struct trigger_event e = { .took_ns = took_ns, .is_request = true };

	if (took_ns <= t->least_ns || took_ns <= t->longest.took_ns ||
	    answer_ns < t->quiet_until_ns)
		return;
	endpoint_text(n->definitions, a->endpoint, e.name, sizeof(e.name));
	if (took_ns > limit_of(t, &e, route_text(n, a->route)))
		t->longest = e;
}

static void request_answered(struct trigger *t, const struct trigger_names *n,
			     const struct event *ev)
{
	const struct answered a = {
		.connection = ev->request.connection,
		.arrival_ns = ev->request.arrival_ns,
		.first_ns = ev->request.answer_ns,
		.endpoint = ev->request.endpoint,
		.route = ev->request.label,
	};

	/* A datagram has one answer. */
	if (a.connection)
		t->answered[a.connection % CONNECTIONS] = a;
	request_ends(t, n, &a, a.first_ns);
}

/*
 * The event has neither arrival nor endpoint: these are those of the request with the same first
 * answer. Without it, as it is too old or was lost, a trace would not show the request.
 */
static void more_answered(struct trigger *t, const struct trigger_names *n, const struct event *ev,
			  uint64_t from_ns)
{
	const struct answered *a = &t->answered[ev->request.connection % CONNECTIONS];

	if (a->connection == ev->request.connection && a->first_ns == ev->request.arrival_ns &&
	    a->first_ns >= from_ns)
		request_ends(t, n, a, ev->request.answer_ns);
}

/* ---- all ----------------------------------------------------------------------------------- */

static void event_ends(struct trigger *t, const struct trigger_names *n, const struct event *ev,
		       uint64_t from_ns)
{
	const struct thread_state *th;

	switch (ev->kind) {
	case CHAINLOG_SWITCH:
		th = threads_find(&t->threads, ev->other);
		if (th && th->out_ns <= ev->time_ns)
			wait_ends(t, th, ev->time_ns);
		break;
	case EVENT_REQUEST:
		if (t->answered)
			request_answered(t, n, ev);
		break;
	case EVENT_REQUEST_MORE:
		if (t->answered)
			more_answered(t, n, ev, from_ns);
		break;
	default:
		break;
	}
}

int trigger_look(struct trigger *t, const struct event_window *w, const struct trigger_names *n,
		 uint64_t from_ns, uint64_t horizon_ns)
{
	int err = event_view_refresh(&t->view, w);
	const struct event *ev;

	while (!err && (ev = event_view_next(&t->view, horizon_ns))) {
		char name[THREADS_NAME_LEN];

		event_ends(t, n, ev, from_ns);
		id_pool_text(&n->definitions->strings, ev->string, name, sizeof(name));
		err = threads_event(&t->threads, ev, name);
	}
	return err ? err : t->view.error;
}

bool trigger_take(struct trigger *t, struct trigger_event *out)
{
	if (!t->longest.took_ns)
		return false;
	*out = t->longest;
	t->longest.took_ns = 0;
	return true;
}
