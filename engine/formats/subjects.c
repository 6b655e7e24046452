// SPDX-License-Identifier: GPL-2.0-or-later
#include "subjects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/pairs.h"
#include "causes/causes.h"
#include "format_requests.h"
#include "select/path.h"
#include "select/top_waits.h"
#include "common/xalloc.h"

#define TOLD_MOST 32
/* A thread that waited for others in less than one of so many parts of the time is none. */
#define LEAST_OF_TIME 10
/* Endpoints whose requests took less than one of so many parts of the time are not explained. */
#define LEAST_OF_REQUESTS 100

static struct subject *add(struct subjects *s, enum subject_kind kind)
{
	s->at[s->n] = (struct subject) { .kind = kind };
	return &s->at[s->n++];
}

static const char *last_name(const struct timelines *tl, struct names *names, uint32_t thread)
{
	return names_text(names, names_thread(names, thread, timelines_end_ns(tl)));
}

/* "alpha/26050", a text. */
static uint32_t name_with_id(const struct timelines *tl, struct names *names, uint32_t thread)
{
	struct text_buf b = { 0 };
	char id[16];
	uint32_t text;

	snprintf(id, sizeof(id), "/%" PRIu32, timelines_thread(tl, thread)->tid);
	text_puts(&b, last_name(tl, names, thread));
	text_puts(&b, id);
	text = names_adopt(names, b.p);
	text_free(&b);
	return text;
}

/* ---- the command, or what the user named ----------------------------------------------------- */

/* How long the one whose turn it was had no CPU. */
static uint64_t without_cpu_ns(const struct chain_steps *s)
{
	uint32_t n;
	const struct chain_step *at = chain_steps_list(s, &n);
	uint64_t ns = 0;

	for (uint32_t i = 1; i < n; i++)
		ns += at[i].is_end ? at[i].no_cpu_ns : 0;
	return ns;
}

static void add_path_steps(struct subjects *s, struct subject *of, const struct path *p,
			   const struct timelines *tl, const struct options *o)
{
	chain_steps_new(&of->steps, tl, o, s->names, s->known);

	chain_steps_add_life(of->steps, p->thread, p->from_ns, p->to_ns);
	chain_steps_end(of->steps);
	of->no_cpu_ns = without_cpu_ns(of->steps);
	path_processes_find(&of->processes, tl, o, p->thread, p->from_ns, p->to_ns);
}

static void add_path(struct subjects *s, const struct timelines *tl, const struct options *o)
{
	const struct thread *th;
	struct subject *of;
	uint64_t own_ns, others_ns;
	struct path p;

	path_find(&p, tl, o);
	if (p.from_ns >= p.to_ns)
		return;
	th = timelines_thread(tl, p.thread);
	of = add(s, p.is_command ? SUBJECT_COMMAND : SUBJECT_NAMED);
	of->name = p.is_command ? names_thread(s->names, p.thread, p.to_ns - 1)
				: name_with_id(tl, s->names, p.thread);
	of->thread = p.thread;
	of->from_ns = p.from_ns;
	of->took_ns = of->of_ns = p.to_ns - p.from_ns;
	of->began = p.from_ns <= th->begin_ns && th->begin_ns > timelines_start_ns(tl);
	of->began |= p.is_command && !o->from_ns;
	of->ended = th->flags & THREAD_EXITED && p.to_ns >= th->end_ns;
	if (s->all)
		return;
	path_ran_ns(&own_ns, &others_ns, &p, tl, o);
	of->cpus_busy = (double)own_ns / (double)of->took_ns;
	of->others_cpus = (double)others_ns / (double)of->took_ns;
	add_path_steps(s, of, &p, tl, o);
}

/* ---- who waited for others ------------------------------------------------------------------- */

/* Whose waits are told already: texts of the names of threads. */
struct told {
	uint32_t who[TOLD_MOST];
	size_t n;
};

/* Whether most of a path is a pause at its end, which says nothing of what others waited for
 * meanwhile. */
static bool ends_in_pause(const struct chain_steps *s)
{
	uint32_t n, most = 0;
	const struct chain_step *at = chain_steps_list(s, &n);

	for (uint32_t i = 1; i < n; i++)
		if (at[i].is_end && (!most || at[i].ns > at[most].ns))
			most = i;
	return most && at[most].end == CHAIN_TIMER &&
	       (!at[most].above || at[at[most].above].kind != JOINT_LOCK);
}

static void note_name(struct told *told, uint32_t who)
{
	if (told->n < TOLD_MOST)
		told->who[told->n++] = who;
}

/* Those on the path, but for small parts of it; of one that ends in a pause only who waits for
 * others' ends. */
static void note_told(struct told *told, const struct subject *of, const struct timelines *tl,
		      struct names *names)
{
	uint32_t n;
	const struct chain_step *at = chain_steps_list(of->steps, &n);
	const struct path_process *process = of->processes.at;
	bool pause = ends_in_pause(of->steps);

	for (uint32_t i = 1; i < n; i++)
		if (LEAST_OF_TIME * at[i].ns >= of->took_ns && at[i].who &&
		    (!pause || at[i].kind == JOINT_CHILD))
			note_name(told, at[i].who);
	/* Who passes on what others did is in no step. */
	for (uint32_t i = 1; i < of->processes.n; i++)
		if (LEAST_OF_TIME * process[i].ns >= of->took_ns)
			note_name(told, names_thread(names, process[process[i].above].leader,
						     timelines_end_ns(tl)));
}

static bool is_told(const struct told *told, const struct names *names, const char *name)
{
	for (size_t i = 0; i < told->n; i++)
		if (!strcmp(names_text(names, told->who[i]), name))
			return true;
	return false;
}

/* How long each thread waited for others; the waits of one of them. */
struct waiters {
	const struct timelines *timelines;
	uint64_t *waited_ns;
	struct chain_steps *steps;
};

static bool add_length(void *arg, const struct chosen_wait *p)
{
	struct waiters *w = arg;

	/* For whom is not known. */
	if (p->wait->flags & WAIT_NO_WAKING)
		return true;
	w->waited_ns[p->thread] += p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	return true;
}

static bool add_to_steps(void *arg, const struct chosen_wait *p)
{
	struct waiters *w = arg;

	chain_steps_add(w->steps, p);
	return true;
}

/* Whether it may be asked why a thread waited. */
static bool may_tell(const struct timelines *tl, struct names *names, const struct told *told,
		     uint32_t thread)
{
	return timelines_thread(tl, thread)->tgid !=
		       trace_info(timelines_trace(tl))->recorder_tgid &&
	       !is_told(told, names, last_name(tl, names, thread));
}

/* Of the threads that are not told; THREAD_NONE: none waited. */
static uint32_t longest(const struct waiters *w, struct names *names, const struct told *told)
{
	uint32_t most = THREAD_NONE;

	for (uint32_t i = 0; i < timelines_threads(w->timelines); i++)
		if (w->waited_ns[i] &&
		    (most == THREAD_NONE || w->waited_ns[i] > w->waited_ns[most]) &&
		    may_tell(w->timelines, names, told, i))
			most = i;
	return most;
}

static void add_waiter_steps(struct subjects *s, struct waiters *w, const struct options *o,
			     struct wait_filter *f, uint32_t thread)
{
	const struct timelines *tl = w->timelines;
	struct subject *of = add(s, SUBJECT_WAITER);

	chain_steps_new(&of->steps, tl, o, s->names, s->known);
	w->steps = of->steps;
	of->name = name_with_id(tl, s->names, thread);
	of->took_ns = w->waited_ns[thread];
	of->of_ns = timelines_end_ns(tl) - timelines_start_ns(tl);
	top_waits_of_thread(tl, f, thread, add_to_steps, w);
	chain_steps_end(of->steps);
}

/* Whether events are missing of most of it. */
static bool is_mostly_unknown(const struct chain_steps *s)
{
	uint32_t n;
	const struct chain_step *at = chain_steps_list(s, &n);
	uint64_t unknown_ns = 0;

	for (uint32_t i = 1; i < n; i++)
		if (at[i].is_end && at[i].end == CHAIN_UNKNOWN)
			unknown_ns += at[i].ns;
	return 2 * unknown_ns > chain_steps_total_ns(s);
}

/* Threads of so many names are looked at for one of which it is known what it waited for. */
#define WAITERS_TRIED 4

/* Of w's threads the one that waited longest; if that is unknown, another one that waited long. */
static void choose_waiter(struct subjects *s, struct waiters *w, const struct options *o,
			  struct wait_filter *f, struct told *told)
{
	const struct timelines *tl = w->timelines;
	uint64_t all_ns = timelines_end_ns(tl) - timelines_start_ns(tl);
	struct subject unknown = { .steps = NULL }, *of = NULL;

	for (int i = 0; i < WAITERS_TRIED; i++) {
		uint32_t thread = longest(w, s->names, told);

		if (thread == THREAD_NONE || w->waited_ns[thread] < all_ns / LEAST_OF_TIME)
			break;
		add_waiter_steps(s, w, o, f, thread);
		of = &s->at[s->n - 1];
		if (!is_mostly_unknown(of->steps))
			break;
		s->n--;
		if (unknown.steps)
			chain_steps_free(of->steps);
		else
			unknown = *of;
		of = NULL;
		note_name(told, names_thread(s->names, thread, timelines_end_ns(tl)));
	}
	if (of)
		chain_steps_free(unknown.steps);
	else if (unknown.steps)
		s->at[s->n++] = unknown;
}

/* The thread that waited longest for others, if it is not told yet. */
static void add_waiter(struct subjects *s, const struct timelines *tl, const struct options *o,
		       const struct wait_filter *like)
{
	struct waiters w = { .timelines = tl };
	struct wait_filter *f = NULL;
	struct told told = { .n = 0 };

	if (s->n)
		note_told(&told, &s->at[0], tl, s->names);
	w.waited_ns = xcalloc(timelines_threads(tl) + 1, sizeof(*w.waited_ns));
	wait_filter_like(&f, like, o, s->names);
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		if (may_tell(tl, s->names, &told, i))
			top_waits_of_thread(tl, f, i, add_length, &w);
	choose_waiter(s, &w, o, f, &told);
	wait_filter_free(f);
	free(w.waited_ns);
}

/* ---- endpoints ------------------------------------------------------------------------------- */

/* Whether all of the endpoint's requests took hardly any time. */
static bool took_no_time(const struct timelines *tl, const struct wait_filter *f,
			 const struct endpoint_requests *e)
{
	uint64_t start_ns = timelines_start_ns(tl), end_ns = timelines_end_ns(tl), from_ns, to_ns;

	wait_filter_window(f, &from_ns, &to_ns);
	from_ns = clip_ns(from_ns, start_ns, end_ns);
	to_ns = clip_ns(to_ns, from_ns, end_ns);
	return requests_shown_ns(e->all) < (to_ns - from_ns) / LEAST_OF_REQUESTS;
}

/* Whether most requests to the same address are not the first of their connection, as e's are. */
static bool has_more_others(const struct endpoint_requests *at, size_t n,
			    const struct endpoint_requests *e)
{
	uint64_t others = 0;

	for (size_t i = 0; i < n; i++)
		if (at[i].endpoint->address == e->endpoint->address && !at[i].endpoint->first)
			others += requests_count(at[i].all);
	return others >= requests_count(e->all) && others;
}

static void add_endpoint(struct subjects *s, const struct format_input *in, const struct options *o,
			 const struct endpoint_requests *e, struct service *service)
{
	struct subject *of = add(s, SUBJECT_ENDPOINT);
	struct text_buf name = { 0 };

	of->service = service;
	of->requests = service ? &service->requests : e;
	of->slowest = service ? service->slowest : requests_slowest(e->all);
	of->took_ns = of->requests->total_ns;
	request_endpoint_put(&name, in, of->requests);
	of->name = names_adopt(s->names, name.p);
	text_free(&name);
	if (s->all || took_no_time(in->timelines, s->filter, of->requests))
		return;
	chain_steps_new(&of->steps, in->timelines, o, s->names, s->known);
	for (size_t i = 0; i < of->slowest.n; i++)
		chain_steps_add(of->steps, &of->slowest.at[i]);
	chain_steps_end(of->steps);
}

/* A step counts from one of so many parts of all on. */
#define LEAST_OF_STEPS 4

/* Whether a's slowest requests waited for the process of b. */
static bool waits_for(const struct subjects *s, const struct subject *a, const struct subject *b)
{
	const char *process = trace_string(s->trace, b->requests->endpoint->process);
	uint32_t n;
	const struct chain_step *at = chain_steps_list(a->steps, &n);

	for (uint32_t i = 1; i < n; i++)
		if (at[i].above && at[i].who && !strcmp(names_text(s->names, at[i].who), process) &&
		    LEAST_OF_STEPS * at[i].ns >= chain_steps_total_ns(a->steps))
			return true;
	return false;
}

/* Who asks comes before whom it asks, whose requests its own are made of. */
static void sort_by_asking(struct subjects *s, size_t first)
{
	for (size_t i = first; i < s->n; i++)
		for (size_t k = i + 1; k < s->n && s->at[i].steps; k++) {
			struct subject asking = s->at[k];

			if (!asking.steps || !waits_for(s, &asking, &s->at[i]) ||
			    waits_for(s, &s->at[i], &asking))
				continue;
			memmove(&s->at[i + 1], &s->at[i], (k - i) * sizeof(s->at[0]));
			s->at[i] = asking;
		}
}

/* Of endpoints with one route, or first of those of one service. */
struct group {
	const struct endpoint_requests *first;
	uint64_t total_ns;
	size_t routes;
};

static int most_time_first(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (a->first->endpoint->first != b->first->endpoint->first)
		return a->first->endpoint->first - b->first->endpoint->first;
	if (a->total_ns != b->total_ns)
		return compare_numbers(b->total_ns, a->total_ns);
	return compare_numbers((uintptr_t)a->first, (uintptr_t)b->first);
}

/* Puts n endpoints that are in order into groups, by service or each alone. */
static struct group *find_groups(const struct endpoint_requests *at, size_t n, bool alone,
				 size_t *n_groups)
{
	struct group *groups = xcalloc(n + 1, sizeof(*groups));
	struct pair_table of = { .cap = 0 }; /* 1 + the group */

	*n_groups = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t *group = pair_table_at(&of, request_service(at[i].endpoint),
						alone ? (uint32_t)i + 1 : 0, sizeof(*group));

		if (!*group)
			groups[(*group = (uint32_t)++ * n_groups) - 1].first = &at[i];
		groups[*group - 1].total_ns += at[i].total_ns;
		groups[*group - 1].routes += at[i].all.n > 0;
	}
	pair_table_free(&of);
	qsort(groups, *n_groups, sizeof(*groups), most_time_first);
	return groups;
}

/* Adds the group, unless nobody asks why these took so long; *shown: how many were. */
static void add_group(struct subjects *s, const struct format_input *in, const struct options *o,
		      const struct group *g, size_t n, size_t *shown)
{
	struct service *service = NULL;

	if (g->routes > 1)
		service_new(&service, g->first, n);
	if (!s->all &&
	    took_no_time(in->timelines, s->filter, service ? &service->requests : g->first) &&
	    (*shown || o->command)) {
		service_free(service);
		return;
	}
	++*shown;
	add_endpoint(s, in, o, g->first, service);
}

static void add_endpoints(struct subjects *s, const struct format_input *in,
			  const struct options *o)
{
	const struct endpoint_requests *at, *end;
	struct group *groups;
	size_t shown = 0, most = s->all ? SUBJECTS_ENDPOINTS_MOST : SUBJECTS_ENDPOINTS,
	       first = s->n, n;

	wait_filter_new(&s->filter, in->timelines, o, s->names);
	request_table_new(&s->requests, in->timelines, o, s->filter);
	at = request_table_list(s->requests, &n);
	end = at + n;
	groups = find_groups(at, n, s->all, &s->n_endpoints);
	for (size_t i = 0; i < s->n_endpoints && shown < most; i++) {
		const struct endpoint_requests *e = groups[i].first;

		/* First requests of connections only where there are hardly any others. */
		if (groups[i].routes && !(e->endpoint->first && has_more_others(at, n, e)))
			add_group(s, in, o, &groups[i], (size_t)(end - e), &shown);
	}
	free(groups);
	sort_by_asking(s, first);
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool subjects_chosen(const struct options *o)
{
	return o->command || o->given & GIVEN_WHO;
}

/* Whether the options choose no other waits than those of the command and of threads. */
static bool wants_path(const struct options *o)
{
	return !(o->given & (GIVEN_REQUESTS | GIVEN_WITHIN | GIVEN_WAIT | GIVEN_STATE |
			     GIVEN_OF_OBJECTS | GIVEN_ENDED));
}

/* Whether they choose nothing else of requests than endpoints by their names; all: or some of the
 * requests to an endpoint. */
static bool wants_endpoints(const struct options *o, bool all)
{
	bool named = o->endpoints.n && !o->slowest_ppm && !o->min_request_ns && !o->trace_id[0] &&
		     !o->trace_id[1];

	return !(o->given & ((all || named ? 0 : GIVEN_REQUESTS) | GIVEN_WITHIN | GIVEN_WAIT |
			     GIVEN_STATE | GIVEN_OF_OBJECTS | GIVEN_NO_IDLE | GIVEN_ENDED));
}

static void find(struct subjects *s, const struct format_input *in, const struct wait_filter *like,
		 const struct cpu_holders *cpu_holders, bool all)
{
	size_t n_requests;

	*s = (struct subjects) { .trace = in->trace,
				 .like = like,
				 .of_requests = causes_request_options(in->options),
				 .all = all };
	s->wants_endpoints = wants_endpoints(in->options, all);
	s->of_threads = s->of_requests;
	s->of_threads.requests = false;
	/* Pauses, and waits for work, are no waits for others. */
	s->of_threads.no_idle = true;
	s->of_threads.parts = PART_BLOCKED;
	timelines_requests(in->timelines, &n_requests);
	names_new(&s->names, in->timelines, &s->of_requests);
	chain_known_new(&s->known, in->timelines, s->names, cpu_holders);
	if (wants_path(in->options))
		add_path(s, in->timelines, &s->of_threads);
	if (wants_path(in->options) && !n_requests && !all)
		add_waiter(s, in->timelines, &s->of_threads, like);
	if (n_requests && s->wants_endpoints)
		add_endpoints(s, in, &s->of_requests);
}

void subjects_find(struct subjects *s, const struct format_input *in,
		   const struct wait_filter *like, const struct cpu_holders *cpu_holders)
{
	find(s, in, like, cpu_holders, false);
}

void subjects_find_all(struct subjects *s, const struct format_input *in,
		       const struct cpu_holders *cpu_holders)
{
	find(s, in, NULL, cpu_holders, true);
}

void subjects_free(struct subjects *s)
{
	for (size_t i = 0; i < s->n; i++) {
		chain_steps_free(s->at[i].steps);
		path_processes_free(&s->at[i].processes);
		service_free(s->at[i].service);
	}
	chain_known_free(s->known);
	request_table_free(s->requests);
	wait_filter_free(s->filter);
	names_free(s->names);
}
