// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "wait_filter.h"
#include "base/group_name.h"
#include "route_times.h"
#include "scope.h"
#include "words/code_frames.h"
#include "words/request_words.h"
#include "base/options.h"
#include "timeline/timeline.h"
#include "base/compare.h"
#include "common/xalloc.h"

/* ---- requests -------------------------------------------------------------------------------- */

/*
 * Which requests are shown: of endpoints that were named, not too short, and of these of each
 * service, which is an address without its routes, the slowest: those that took longest beyond the
 * median of their route.
 */

#define WHOLE_PPM 1000000u

/*
 * A request, by how long it took beyond the median of its route; of those that are alike by how
 * long it took, and by when it began.
 */
struct rank {
	uint32_t service;
	uint32_t endpoint; /* the first of those called the same */
	uint64_t over_ns, took_ns, arrival_ns;
	uint32_t request;
	uint32_t others; /* as in struct request */
};

/* Of an endpoint, which stands for those that are called the same. */
struct choice {
	bool fits; /* it was named, or none was */
	/* The last one of the service that is among the slowest; request UINT32_MAX: all are. */
	struct rank last;
};

struct request_choice {
	const struct timelines *timelines;
	const struct options *options;
	struct choice *of;   /* by endpoint */
	uint64_t *median_ns; /* request_medians(); NULL: not asked for */
};

static int slowest_first(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;

	if (a->service != b->service)
		return compare_numbers(a->service, b->service);
	if (a->over_ns != b->over_ns)
		return compare_numbers(b->over_ns, a->over_ns);
	if (a->took_ns != b->took_ns)
		return compare_numbers(b->took_ns, a->took_ns);
	if (a->arrival_ns != b->arrival_ns)
		return compare_numbers(a->arrival_ns, b->arrival_ns);
	return compare_numbers(a->request, b->request);
}

static struct rank rank_of(const struct request_choice *c, const struct request *q)
{
	uint32_t n_endpoints;
	const struct request_endpoint *all = timelines_endpoints(c->timelines, &n_endpoints);
	const struct request_endpoint *e = &all[all[q->endpoint].alike];
	size_t n;

	return (struct rank) {
		.service = request_service(e),
		.endpoint = (uint32_t)(e - all),
		.over_ns = c->median_ns ? request_over_ns(c->timelines, c->median_ns, q) : 0,
		.took_ns = q->answer_ns - q->arrival_ns,
		.arrival_ns = q->arrival_ns,
		.request = (uint32_t)(q - timelines_requests(c->timelines, &n)),
		.others = q->others,
	};
}

/* How many from at[0] on, of n, are of one service. */
static size_t count_same(const struct rank *at, size_t n)
{
	size_t i = 0;

	while (i < n && at[i].service == at[0].service)
		i++;
	return i;
}

/* The first requests of connections to an address are left out, unless there are no others. */
static void leave_out_first(struct request_choice *c, const size_t *n_of)
{
	uint32_t n;
	const struct request_endpoint *e = timelines_endpoints(c->timelines, &n);
	bool *has_others = xcalloc((size_t)n + 1, sizeof(*has_others)); /* by address */

	for (uint32_t i = 0; i < n; i++)
		has_others[e[i].address] |= !e[i].first && n_of[i];
	for (uint32_t i = 0; i < n; i++)
		if (e[i].first && has_others[e[i].address])
			c->of[i].fits = false;
	free(has_others);
}

/* Finds which of the n requests of a service, of all its routes, are the slowest. */
static void choose_slowest(struct request_choice *c, const struct rank *at, size_t n)
{
	uint64_t all = n, chosen;
	size_t last = 0;

	for (size_t i = 0; i < n; i++)
		all += at[i].others;
	chosen = all * c->options->slowest_ppm / WHOLE_PPM;
	for (uint64_t told = at[0].others + 1ull; told < chosen; last++)
		told += at[last + 1].others + 1ull;
	for (size_t i = 0; i < n; i++)
		c->of[at[i].endpoint].last = at[last];
}

static void find_slowest(struct request_choice *c, uint64_t from_ns, uint64_t to_ns)
{
	size_t n_all, n = 0, same;
	uint32_t n_endpoints;
	const struct request *all = timelines_requests(c->timelines, &n_all);
	struct rank *ranks = xmalloc(n_all * sizeof(*ranks));
	size_t *n_of;

	timelines_endpoints(c->timelines, &n_endpoints);
	n_of = xcalloc((size_t)n_endpoints + 1, sizeof(*n_of));
	c->median_ns = request_medians(c->timelines, c->options);
	for (size_t i = 0; i < n_all; i++) {
		if (!c->of[all[i].endpoint].fits || !request_overlaps(&all[i], from_ns, to_ns))
			continue;
		ranks[n] = rank_of(c, &all[i]);
		n_of[ranks[n++].endpoint]++;
	}
	qsort(ranks, n, sizeof(*ranks), slowest_first);
	for (size_t i = 0; i < n; i += same) {
		same = count_same(ranks + i, n - i);
		choose_slowest(c, ranks + i, same);
	}
	leave_out_first(c, n_of);
	free(ranks);
	free(n_of);
}

static void request_choice_free(struct request_choice *c)
{
	if (!c)
		return;
	free(c->median_ns);
	free(c->of);
	free(c);
}

/* Whether an endpoint was named. */
static bool is_named(const struct timelines *tl, const struct request_endpoint *e,
		     const struct regex_list *l)
{
	size_t i = 0;

	while (i < l->n && !request_endpoint_fits(tl, e, l, i))
		i++;
	return i < l->n;
}

/* Of requests that overlap [from_ns, to_ns). What is given must outlive it. */
static void request_choice_new(struct request_choice **out, const struct timelines *tl,
			       const struct options *o, uint64_t from_ns, uint64_t to_ns)
{
	struct request_choice *c = xcalloc(1, sizeof(*c));
	const struct request_endpoint *e;
	uint32_t n;

	e = timelines_endpoints(tl, &n);
	c->of = xcalloc((size_t)n + 1, sizeof(*c->of));
	c->timelines = tl;
	c->options = o;
	for (uint32_t i = 0; i < n; i++) {
		c->of[i].last.request = UINT32_MAX;
		c->of[i].fits = !o->endpoints.n || is_named(tl, &e[i], &o->endpoints);
	}
	if (o->slowest_ppm)
		find_slowest(c, from_ns, to_ns);
	*out = c;
}

static bool is_of_trace(const struct request_choice *c, const struct request *q)
{
	const uint64_t *id = c->options->trace_id;
	const struct context *context = timelines_context(c->timelines, q);

	return !(id[0] | id[1]) ||
	       (context && context->trace[0] == id[0] && context->trace[1] == id[1]);
}

/* Whether the request that a client waits for in w is shown. */
static bool request_choice_has(const struct request_choice *c, const struct wait *w)
{
	const struct request *q = timelines_request_of(c->timelines, w);
	struct rank rank = rank_of(c, q);
	const struct rank *last = &c->of[rank.endpoint].last;

	if (!c->of[q->endpoint].fits || q->answer_ns - q->arrival_ns < c->options->min_request_ns)
		return false;
	if (!is_of_trace(c, q))
		return false;
	return last->request == UINT32_MAX || slowest_first(&rank, last) <= 0;
}

/* ---- all that is chosen by --------------------------------------------------------------------
 */

/* An answer that is found once for each name or stack. */
enum answer {
	NOT_ASKED,
	YES,
	NO,
};

struct wait_filter {
	const struct timelines *timelines;
	const struct options *options;
	struct names *names;
	bool *threads;			 /* of scope_find() */
	struct request_choice *requests; /* NULL: threads' waits are shown */
	uint8_t *of_pair;		 /* enum answer: its frames fit --within and --without */
	uint8_t *of_object; /* likewise: what is waited for fits --object and --class */
	uint8_t *of_name;   /* enum answer by string id: it fits -c */
	uint8_t *of_group;  /* likewise a group's path: it fits --cgroup */
	struct wait_natures *natures;
	uint64_t idle_waits, idle_ns;
	uint64_t preempted_ns;	 /* left out */
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	bool asks_of_each;	 /* by name, group, stack, object or request */
	bool has_all;		 /* no option leaves out any wait, or a part of one */
};

/* Whether it does not matter which wait it is, but for the window. */
static bool leaves_out_nothing(const struct options *o)
{
	const unsigned int all = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;

	return !o->min_wait_ns && o->max_wait_ns == UINT64_MAX && !o->ended && !*o->states &&
	       !o->no_idle && (o->parts & all) == all;
}

/* like: one whose natures of waits it shares; NULL: none. */
static void new_like(struct wait_filter **out, const struct timelines *tl, const struct options *o,
		     struct names *names, const struct wait_filter *like)
{
	struct wait_filter *f = xcalloc(1, sizeof(*f));

	f->timelines = tl;
	f->options = o;
	f->names = names;
	shown_window(tl, o, &f->from_ns, &f->to_ns);
	f->of_pair = xcalloc(timelines_pairs_end(tl), 1);
	f->of_name = xcalloc((size_t)trace_strings_end(timelines_trace(tl)) + 1, 1);
	f->of_group = xcalloc((size_t)trace_strings_end(timelines_trace(tl)) + 1, 1);
	f->of_object = xcalloc(trace_objects_end(timelines_trace(tl)), 1);
	scope_find(&f->threads, tl, o);
	if (like)
		wait_natures_share(&f->natures, like->natures, names_kernel_stacks(names));
	else
		wait_natures_new(&f->natures, tl, names_kernel_stacks(names));

	if (o->requests)
		request_choice_new(&f->requests, tl, o, f->from_ns, f->to_ns);
	f->asks_of_each = f->requests || o->names.n || o->groups.n || o->within.n || o->without.n ||
			  o->waits_for.n || o->classes.n;
	f->has_all = !f->asks_of_each && leaves_out_nothing(o);
	*out = f;
}

void wait_filter_new(struct wait_filter **out, const struct timelines *tl, const struct options *o,
		     struct names *names)
{
	new_like(out, tl, o, names, NULL);
}

void wait_filter_like(struct wait_filter **out, const struct wait_filter *f,
		      const struct options *o, struct names *names)
{
	new_like(out, f->timelines, o ? o : f->options, names, f);
}

void wait_filter_free(struct wait_filter *f)
{
	if (!f)
		return;
	free(f->threads);
	request_choice_free(f->requests);
	free(f->of_pair);
	free(f->of_name);
	free(f->of_group);
	free(f->of_object);
	wait_natures_free(f->natures);
	free(f);
}

bool wait_filter_of_requests(const struct wait_filter *f)
{
	return f->requests;
}

bool wait_filter_thread(const struct wait_filter *f, uint32_t thread)
{
	return f->threads[thread];
}

static bool name_fits(struct wait_filter *f, uint32_t string)
{
	const struct trace *t = timelines_trace(f->timelines);
	uint8_t *answer;

	if (!f->options->names.n)
		return true;
	if (string >= trace_strings_end(t))
		string = 0;
	answer = &f->of_name[string];
	if (*answer == NOT_ASKED)
		*answer = regex_list_match(&f->options->names, trace_string(t, string)) ? YES : NO;
	return *answer == YES;
}

/* The expression fits the path of a control group, or what it is called. */
static bool group_fits(void *filter, uint32_t path)
{
	struct wait_filter *f = filter;
	const struct trace *t = timelines_trace(f->timelines);
	char name[GROUP_NAME_LEN];
	uint8_t *answer;

	if (!f->options->groups.n)
		return true;
	if (!path || path >= trace_strings_end(t))
		return false;
	answer = &f->of_group[path];
	if (*answer == NOT_ASKED) {
		group_name(trace_string(t, path), name);
		*answer = regex_list_match(&f->options->groups, trace_string(t, path)) ||
					  regex_list_match(&f->options->groups, name)
				  ? YES
				  : NO;
	}
	return *answer == YES;
}

bool wait_filter_fits(struct wait_filter *f, uint32_t name, uint32_t thread, uint64_t at_ns)
{
	if (!name_fits(f, name))
		return false;
	return !f->options->groups.n || group_fits(f, timelines_group(f->timelines, thread, at_ns));
}

bool wait_filter_name(struct wait_filter *f, uint32_t thread)
{
	const struct thread *th = timelines_thread(f->timelines, thread);
	bool fits = false;

	for (uint32_t i = 0; i <= th->renames && !fits; i++)
		fits = name_fits(f, timelines_nth_name(f->timelines, thread, i));
	return fits &&
	       (!f->options->groups.n || timelines_any_group(f->timelines, thread, group_fits, f));
}

bool wait_filter_running(const struct wait_filter *f)
{
	const struct options *o = f->options;

	return o->parts & PART_RUNNING &&
	       !(o->given & (GIVEN_WITHIN | GIVEN_WAIT | GIVEN_OF_OBJECTS)) && !*o->states;
}

void wait_filter_window(const struct wait_filter *f, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = f->from_ns;
	*to_ns = f->to_ns;
}

void wait_filter_set_window(struct wait_filter *f, uint64_t from_ns, uint64_t to_ns)
{
	f->from_ns = from_ns;
	f->to_ns = to_ns;
}

/* Sets hit[] for each regular expression that fits some frame of the stack. */
static void match_frames(struct wait_filter *f, struct trace_stack stack,
			 const struct regex_list *l, bool *hit)
{
	for (uint32_t i = 0; i < stack.n; i++) {
		uint32_t texts[] = { names_frame(f->names, stack.frames[i]), 0 };

		/* "^mirror$" fits "mirror (feed.py:31)". */
		if (code_frame(timelines_trace(f->timelines), stack.frames[i]))
			texts[1] = names_function(f->names, stack.frames[i]);
		for (size_t k = 0; k < 2 * l->n; k++)
			if (texts[k % 2] &&
			    regexec(&l->regex[k / 2], names_text(f->names, texts[k % 2]), 0, NULL,
				    0) == 0)
				hit[k / 2] = true;
	}
}

static size_t count_hits(struct wait_filter *f, struct stack_pair p, const struct regex_list *l)
{
	const struct trace *t = timelines_trace(f->timelines);
	bool *hit = xcalloc(l->n + 1, sizeof(*hit));
	size_t n = 0;

	match_frames(f, trace_stack(t, p.kstack), l, hit);
	match_frames(f, trace_stack(t, p.ustack), l, hit);
	for (size_t i = 0; i < l->n; i++)
		n += hit[i];
	free(hit);
	return n;
}

static bool stack_fits(struct wait_filter *f, uint32_t pair)
{
	const struct options *o = f->options;
	uint8_t *answer = &f->of_pair[pair];
	struct stack_pair p;

	if (!o->within.n && !o->without.n)
		return true;
	p = timelines_pair(f->timelines, pair);
	if (*answer == NOT_ASKED)
		*answer = count_hits(f, p, &o->within) == o->within.n &&
					  !count_hits(f, p, &o->without)
				  ? YES
				  : NO;
	return *answer == YES;
}

static bool object_fits(struct wait_filter *f, uint32_t object)
{
	const struct options *o = f->options;
	const struct trace *t = timelines_trace(f->timelines);
	const struct trace_object *what = trace_object(t, object);
	uint8_t *answer;
	bool fits;

	if (!what)
		return false;
	answer = &f->of_object[object];
	if (*answer == NOT_ASKED) {
		fits = !o->classes.n || word_list_has(&o->classes, trace_string(t, what->class));
		if (fits && o->waits_for.n)
			fits = regex_list_match(&o->waits_for,
						names_text(f->names,
							   names_object(f->names, object, true)));
		*answer = fits ? YES : NO;
	}
	return *answer == YES;
}

/* What was waited for, or of several what was ready. */
static bool objects_fit(struct wait_filter *f, uint32_t pair)
{
	const struct options *o = f->options;
	struct stack_pair p;

	if (!o->waits_for.n && !o->classes.n)
		return true;
	p = timelines_pair(f->timelines, pair);
	return object_fits(f, p.object) || object_fits(f, p.ready);
}

bool wait_filter_is_idle(struct wait_filter *f, uint32_t thread, const struct wait *w)
{
	return wait_filter_nature(f, thread, w) != WAIT_FOR_OTHERS;
}

enum wait_nature wait_filter_nature(struct wait_filter *f, uint32_t thread, const struct wait *w)
{
	return wait_nature(f->natures, thread, w);
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

/* The name of a thread as it began to wait, or of the process whose client waits. */
static uint32_t name_at(const struct wait_filter *f, uint32_t thread, const struct wait *w)
{
	uint32_t n;

	if (timelines_is_client(f->timelines, thread))
		return timelines_endpoints(f->timelines,
					   &n)[timelines_request_of(f->timelines, w)->endpoint]
			.process;
	return timelines_name(f->timelines, thread, w->out_ns);
}

static bool each_fits(struct wait_filter *f, uint32_t thread, const struct wait *w)
{
	return wait_filter_fits(f, name_at(f, thread, w), thread, w->out_ns) &&
	       stack_fits(f, w->stack) && objects_fit(f, w->stack) &&
	       (!f->requests || request_choice_has(f->requests, w));
}

bool wait_filter_wait(struct wait_filter *f, uint32_t thread, const struct wait *w,
		      struct shown *shown)
{
	const struct options *o = f->options;
	uint64_t len = w->in_ns - w->out_ns;
	unsigned int parts = o->parts;
	bool is_idle;

	if (f->has_all && w->kind != WAIT_UNKNOWN && w->out_ns >= f->from_ns &&
	    w->in_ns <= f->to_ns && w->in_ns > f->from_ns && w->out_ns < f->to_ns) {
		*shown = (struct shown) { w->out_ns, w->wake_ns, w->wake_ns, w->in_ns, len };
		return true;
	}
	if (w->kind == WAIT_UNKNOWN || len < o->min_wait_ns || len > o->max_wait_ns)
		return false;
	if (o->ended && w->flags & WAIT_NOT_WOKEN)
		return false;
	if (w->in_ns <= f->from_ns || w->out_ns >= f->to_ns)
		return false;
	if (w->kind != WAIT_PREEMPTED) {
		if (!(parts & (PART_BLOCKED | PART_RUNNABLE)))
			return false;
		if (*o->states && !strchr(o->states, w->state))
			return false;
	}
	if (f->asks_of_each && !each_fits(f, thread, w))
		return false;
	*shown = (struct shown) { w->out_ns, w->wake_ns, w->wake_ns, w->in_ns, 0 };
	if (w->kind == WAIT_SLEEP && !(parts & PART_BLOCKED))
		shown->blocked_to_ns = shown->blocked_from_ns;
	if (w->kind == WAIT_SLEEP && !(parts & PART_RUNNABLE))
		shown->off_to_ns = shown->off_from_ns;
	is_idle = o->no_idle && wait_filter_is_idle(f, thread, w);
	shown->whole_ns = shown->off_to_ns - shown->off_from_ns;
	if (!is_idle)
		shown->whole_ns += shown->blocked_to_ns - shown->blocked_from_ns;
	clip(&shown->blocked_from_ns, &shown->blocked_to_ns, f->from_ns, f->to_ns);
	clip(&shown->off_from_ns, &shown->off_to_ns, f->from_ns, f->to_ns);
	if (w->kind == WAIT_PREEMPTED && !(parts & PART_PREEMPTED)) {
		f->preempted_ns += shown->off_to_ns - shown->off_from_ns;
		return false;
	}
	/* When it lacked a CPU, what it waited for had come. */
	if (is_idle) {
		f->idle_waits += shown->blocked_to_ns > shown->blocked_from_ns;
		f->idle_ns += shown->blocked_to_ns - shown->blocked_from_ns;
		shown->blocked_from_ns = shown->blocked_to_ns;
		return shown->off_to_ns > shown->off_from_ns;
	}
	return true;
}

uint64_t wait_filter_preempted_ns(const struct wait_filter *f)
{
	return f->preempted_ns;
}

void wait_filter_idle(const struct wait_filter *f, uint64_t *waits, uint64_t *ns)
{
	*waits = f->idle_waits;
	*ns = f->idle_ns;
}

void wait_filter_sum_classes(struct wait_filter *f, uint32_t thread, uint32_t thing,
			     struct sums *to)
{
	const struct thread *th = timelines_thread(f->timelines, thread);

	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		struct shown shown;

		if (w->kind == WAIT_SLEEP && wait_filter_wait(f, thread, w, &shown))
			sums_add(to, thing, wait_class(f->timelines, w->stack),
				 shown.blocked_to_ns - shown.blocked_from_ns);
	}
}

static bool request_fits(struct wait_filter *f, const struct timelines *tl, const struct options *o,
			 const struct disk_request *r)
{
	if (r->thread == THREAD_NONE)
		return !(o->given & GIVEN_WHO) && !o->command && !o->no_kthreads;
	return wait_filter_thread(f, r->thread) &&
	       wait_filter_fits(f, timelines_name(tl, r->thread, r->asked_ns), r->thread,
				r->asked_ns);
}

void wait_filter_disk_requests(const struct timelines *tl, const struct options *o,
			       struct names *names,
			       bool (*take)(void *arg, const struct disk_request *r), void *arg)
{
	const struct disk_request *at;
	uint64_t from_ns, to_ns;
	struct wait_filter *f;
	size_t n;

	wait_filter_new(&f, tl, o, names);
	wait_filter_window(f, &from_ns, &to_ns);
	at = timelines_disk_requests(tl, &n);
	for (size_t i = 0; i < n; i++)
		if (at[i].done_ns >= from_ns && at[i].done_ns < to_ns &&
		    request_fits(f, tl, o, &at[i]) && !take(arg, &at[i]))
			break;
	wait_filter_free(f);
}
