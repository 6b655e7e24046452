// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests of clients: each is looked for in all events, and compared with all others. */
#include <stdio.h>
#include <string.h>

#include "oracle_private.h"

void context_noted(struct world *w, const struct event *ev)
{
	struct published p = { .what = PUBLISHED_LOST, .life = NOBODY, .at = ev->lost.last_ns };

	if (ev->kind == EVENT_CONTEXT || ev->kind == EVENT_EXEC) {
		p.what = ev->kind == EVENT_EXEC ? OTHER_PROGRAM : PUBLISHED;
		p.life = world_find(w, ev->tid);
		p.at = ev->time_ns;
		p.route = ev->kind == EVENT_EXEC ? 0 : ev->context.route;
	}
	w->published = more(w->published, w->n_published, sizeof(p));
	w->published[w->n_published++] = p;
}

/* The route that the life had published last, not before since. */
static uint32_t route_of(const struct world *w, int life, uint64_t since)
{
	uint64_t lost_until = 0;

	for (size_t i = w->n_published; i-- > 0 && life != NOBODY;)
		if (w->published[i].what == PUBLISHED_LOST && w->published[i].at > lost_until)
			lost_until = w->published[i].at;
	for (size_t i = w->n_published; i-- > 0 && life != NOBODY;) {
		const struct published *p = &w->published[i];

		if (p->life != life)
			continue;
		return p->what == PUBLISHED && p->at >= since && (!lost_until || p->at > lost_until)
			       ? p->route
			       : 0;
	}
	return 0;
}

void request_noted(struct world *w, const struct event *ev)
{
	struct told *told;
	bool lost = ev->kind == EVENT_AUX_LOST && ev->other == CHAINLOG_REQUEST_MORE;

	lost |= ev->kind == EVENT_LOST && trace_damage(w->t)->what;
	if (((ev->kind == EVENT_LOST && trace_damage(w->t)->what) ||
	     (ev->kind == EVENT_AUX_LOST && ev->other == CHAINLOG_REQUEST)) &&
	    ev->lost.last_ns > w->requests_bad_until)
		w->requests_bad_until = ev->lost.last_ns;
	if (ev->kind == EVENT_CONTEXT || (ev->kind == EVENT_LOST && trace_damage(w->t)->what) ||
	    (ev->kind == EVENT_AUX_LOST && ev->other == CHAINLOG_CONTEXT))
		context_noted(w, ev);
	if (!lost && (ev->kind < EVENT_REQUEST || ev->kind > EVENT_REQUEST_OPEN))
		return;
	w->told = more(w->told, w->n_told, sizeof(*w->told));
	told = &w->told[w->n_told++];
	*told = (struct told) { .ev = *ev, .life = NOBODY, .other = NOBODY, .lost = lost };
	if (!lost && ev->tid)
		told->life = world_find(w, ev->tid);
	if (!lost && ev->other)
		told->other = world_find(w, ev->other);
	if (ev->kind == EVENT_REQUEST)
		told->route = route_of(
			w, told->life,
			ev->request.flags & CHAINLOG_REQUEST_PROBED ? ev->request.taken_ns : 0);
	if (!told->route && !lost && ev->kind != EVENT_REQUEST_MORE &&
	    !(ev->request.flags & CHAINLOG_REQUEST_PROBED))
		told->route = ev->request.label;
}

static bool is_there(struct world *w, int life, uint64_t at)
{
	return life != NOBODY && w->lives[life].begin <= at && at <= w->lives[life].end;
}

static bool find_out(struct world *w, size_t at, struct asked_for *of)
{
	const struct told *begin = &w->told[at];
	const struct event *ev = &begin->ev;
	bool several = false, lost = false, over = false;

	if (begin->lost || ev->kind == EVENT_REQUEST_MORE)
		return false;
	*of = (struct asked_for) { .arrival = ev->request.arrival_ns,
				   .taken = ev->request.taken_ns,
				   .answer = ev->request.answer_ns,
				   .reader = begin->other,
				   .writer = begin->life,
				   .answered = ev->kind == EVENT_REQUEST,
				   .probed = ev->request.flags & CHAINLOG_REQUEST_PROBED };
	if (!of->answered) {
		of->reader = begin->life;
		of->writer = NOBODY;
	}
	for (size_t i = 0; i < w->n_told && of->answered && ev->request.connection && !over; i++) {
		const struct told *told = &w->told[i];

		if (told->lost) {
			lost |= told->ev.lost.last_ns >= ev->request.answer_ns;
		} else if (i > at && told->ev.request.connection == ev->request.connection) {
			over = told->ev.kind != EVENT_REQUEST_MORE;
			if (over || several ||
			    told->ev.request.arrival_ns != ev->request.answer_ns ||
			    told->ev.request.answer_ns < ev->request.answer_ns)
				continue;
			several = true;
			of->answer = told->ev.request.answer_ns;
			of->writer = told->life;
		}
	}
	of->known = of->answered && (several || !lost) && of->arrival >= w->start;
	if (!is_there(w, of->reader, of->taken))
		of->reader = NOBODY;
	if (!is_there(w, of->writer, of->answer))
		of->writer = NOBODY;
	return true;
}

bool request_asked(struct world *w, size_t at, struct asked_for *of)
{
	struct told *told = &w->told[at];

	/* Each request is compared with all others, so that this is asked very often. */
	if (!told->was_asked)
		told->is_request = find_out(w, at, &told->asked);
	told->was_asked = true;
	*of = told->asked;
	return told->is_request;
}

/* The thread that leads the life's process. */
static int leader_of(struct world *w, int life)
{
	uint32_t tgid = w->lives[life].tgid;

	for (int i = life; tgid && i >= 0; i--)
		if (w->lives[i].tgid == tgid && w->lives[i].tid == tgid)
			return i;
	for (int i = life; tgid && i < w->n_lives; i++)
		if (w->lives[i].tgid == tgid && w->lives[i].tid == tgid)
			return i;
	return NOBODY;
}

static int server_of(const struct asked_for *a)
{
	return a->writer != NOBODY ? a->writer : a->reader;
}

static bool same_process(struct world *w, int a, int b)
{
	int leader_a, leader_b;

	if (a == NOBODY || b == NOBODY)
		return a == b;
	leader_a = leader_of(w, a);
	leader_b = leader_of(w, b);
	if (leader_a != NOBODY || leader_b != NOBODY)
		return leader_a == leader_b;
	a = (int)(w->lives[a].tgid ? w->lives[a].tgid : w->lives[a].tid);
	b = (int)(w->lives[b].tgid ? w->lives[b].tgid : w->lives[b].tid);
	return a == b;
}

/* Of what has a route it makes no difference whether it is the first of its connection. */
static bool is_first(const struct told *told)
{
	return told->ev.request.flags & CHAINLOG_REQUEST_FIRST && !told->route;
}

/* "tcp :80", "tcp :80 first", "tcp :80 /cart". To be freed. */
static char *endpoint_of(struct world *w, const struct told *told)
{
	const struct event *ev = &told->ev;
	const struct trace_object *o = trace_object(w->t, ev->request.endpoint);
	const struct trace_object *route = trace_object(w->t, told->route);
	const char *name = o ? trace_string(w->t, o->name) : "";
	const char *class = o ? trace_string(w->t, o->class) : "unknown";
	const char *path = route ? trace_string(w->t, route->name) : "";
	bool probed = !strcmp(class, "request") && *name;
	char *text;

	if (asprintf(&text, "%s%s%s%s%s%s", probed ? "" : class, *name && !probed ? " " : "", name,
		     *path ? " " : "", path, is_first(told) ? " first" : "") < 0)
		abort();
	return text;
}

/*
 * The process is called by its leader's last name; without a leader by the first name of the thread
 * whose request at this endpoint came first.
 */
static const char *server_name(struct world *w, size_t at, const struct asked_for *a)
{
	int server = server_of(a), leader = server == NOBODY ? NOBODY : leader_of(w, server);
	struct asked_for first;

	if (leader != NOBODY) {
		const struct life *l = &w->lives[leader];

		return trace_string(w->t, l->names[l->n_names - 1].name);
	}
	for (size_t i = 0; i <= at && server != NOBODY; i++) {
		const struct event *ev = &w->told[i].ev;

		if (request_asked(w, i, &first) &&
		    ev->request.endpoint == w->told[at].ev.request.endpoint &&
		    is_first(&w->told[i]) == is_first(&w->told[at]) &&
		    w->told[i].route == w->told[at].route &&
		    same_process(w, server, server_of(&first)))
			return trace_string(w->t, w->lives[server_of(&first)].names[0].name);
	}
	return "";
}

/* The request that life reads and answers at that time; SIZE_MAX: none, or several. */
static size_t works_for(struct world *w, int life, uint64_t at)
{
	size_t found = SIZE_MAX;
	struct asked_for a;

	if (at < w->requests_bad_until)
		return SIZE_MAX;
	for (size_t i = 0; i < w->n_told; i++) {
		if (!request_asked(w, i, &a) || !a.answered || a.probed || a.reader != life ||
		    a.writer != life || a.taken > at || a.answer <= at)
			continue;
		if (found != SIZE_MAX)
			return SIZE_MAX;
		found = i;
	}
	return found;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void explain_queued(struct world *w, const char *head, const struct asked_for *a,
			   bool classic)
{
	uint64_t *cuts = NULL;
	size_t n = 0;
	struct asked_for other;

	for (size_t i = 0; i < w->n_told; i++) {
		if (!request_asked(w, i, &other) || !other.answered)
			continue;
		for (int end = 0; end < 2; end++) {
			uint64_t at = end ? other.answer : other.taken;

			cuts = more(cuts, n, sizeof(*cuts));
			cuts[n++] = at < a->arrival ? a->arrival : at > a->taken ? a->taken : at;
		}
	}
	cuts = more(cuts, n, sizeof(*cuts));
	cuts[n++] = w->requests_bad_until < a->arrival ? a->arrival
		    : w->requests_bad_until > a->taken ? a->taken
						       : w->requests_bad_until;
	cuts = more(cuts, n, sizeof(*cuts));
	cuts[n++] = a->arrival;
	cuts = more(cuts, n, sizeof(*cuts));
	cuts[n++] = a->taken;
	qsort(cuts, n, sizeof(*cuts), by_number);
	for (size_t i = 0; i + 1 < n; i++) {
		char *chain, *text, *label;
		size_t whose;

		if (cuts[i] == cuts[i + 1])
			continue;
		whose = a->reader == NOBODY ? SIZE_MAX : works_for(w, a->reader, cuts[i]);
		chain = strdup(head);
		text_append(&chain, "[queued]");
		if (whose != SIZE_MAX) {
			text = endpoint_of(w, &w->told[whose]);
			if (asprintf(&label, "[for %s]", text) < 0)
				abort();
			text_append(&chain, label);
			free(label);
			free(text);
		}
		oracle_explain_by(w, chain,
				  &(struct sleep) { .waker = a->reader,
						    .woken_ns = a->taken,
						    .answers = SIZE_MAX },
				  cuts[i], cuts[i + 1], classic);
		free(chain);
	}
	free(cuts);
}

void oracle_explain_requests(struct world *w, bool classic)
{
	struct asked_for a;

	for (size_t i = 0; i < w->n_told; i++) {
		const struct event *ev = &w->told[i].ev;
		char *endpoint, *name, *head;
		const char *server;

		if (!request_asked(w, i, &a) || !a.known)
			continue;
		endpoint = endpoint_of(w, &w->told[i]);
		server = server_name(w, i, &a);
		if (asprintf(&name, "[request %s]%s%s", endpoint, *server ? " " : "", server) < 0)
			abort();
		head = strdup("");
		text_append(&head, name);
		explain_queued(w, head, &a, classic);
		oracle_explain_by(w, head,
				  &(struct sleep) { .waker = a.writer,
						    .waker_kstack = ev->kstack,
						    .waker_ustack = ev->ustack,
						    .woken_ns = a.answer,
						    .answers = i },
				  a.taken, a.answer, classic);
		free(head);
		free(name);
		free(endpoint);
	}
	oracle_finish(w);
}
