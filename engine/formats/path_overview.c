// SPDX-License-Identifier: GPL-2.0-or-later
#include "path_overview.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answer/chain_steps.h"
#include "causes/causes.h"
#include "chain_lines.h"
#include "paragraph.h"
#include "select/scope.h"
#include "select/top_waits.h"
#include "verdict.h"

#define LINES_SHOWN 6
/* A thread that waited for others in less than one of so many parts of the time is not shown. */
#define LEAST_OF_TIME 10
/* The CPUs are what a command waits for if it keeps so much of them busy, in percent. */
#define ALL_BUSY 90

/* Whose waits are told already: texts of the names of threads. */
struct told {
	uint32_t who[LINES_SHOWN];
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
	return most && at[most].end == CHAIN_TIMER;
}

/* Those on the path, but for small parts of it; of one that ends in a pause only who waits for
 * others' ends. */
static void note_told(struct told *told, const struct chain_steps *s)
{
	uint32_t n;
	const struct chain_step *at = chain_steps_list(s, &n);
	bool pause = ends_in_pause(s);

	for (uint32_t i = 1; i < n && told->n < LINES_SHOWN; i++)
		if (LEAST_OF_TIME * at[i].ns >= chain_steps_total_ns(s) && at[i].who &&
		    (!pause || at[i].kind == JOINT_CHILD))
			told->who[told->n++] = at[i].who;
}

static bool is_told(const struct told *told, const struct names *names, const char *name)
{
	for (size_t i = 0; i < told->n; i++)
		if (!strcmp(names_text(names, told->who[i]), name))
			return true;
	return false;
}

/* The command's main thread, and its life from when the command's program began. */
struct command {
	uint32_t thread;
	uint64_t from_ns, to_ns;
};

/*
 * When the recorder's child became the command: it has another name from then on, if that is not
 * the recorder's own.
 */
static uint64_t began_ns(const struct timelines *tl, uint32_t thread)
{
	const struct thread *th = timelines_thread(tl, thread);
	uint32_t recorder = trace_info(timelines_trace(tl))->recorder_name;

	if (!th->renames || !recorder || th->name != recorder)
		return th->begin_ns;
	return timelines_next_name_ns(tl, thread, th->begin_ns);
}

static bool find_command(struct command *c, const struct timelines *tl, uint32_t tgid)
{
	for (c->thread = 0; c->thread < timelines_threads(tl); c->thread++) {
		const struct thread *th = timelines_thread(tl, c->thread);

		if (th->tid != tgid || timelines_is_client(tl, c->thread))
			continue;
		c->from_ns = began_ns(tl, c->thread);
		c->to_ns = th->end_ns;
		return c->from_ns < c->to_ns;
	}
	return false;
}

static uint64_t overlap_ns(uint64_t from_ns, uint64_t to_ns, const struct command *c)
{
	return clip_ns(to_ns, c->from_ns, c->to_ns) - clip_ns(from_ns, c->from_ns, c->to_ns);
}

/* How long all threads of the command ran while it did. */
static int ran_ns(uint64_t *ns, const struct timelines *tl, const struct options *o,
		  const struct command *c)
{
	bool *is_in;
	int err = scope_find(&is_in, tl, o);

	*ns = 0;
	for (uint32_t i = 0; i < timelines_threads(tl) && !err; i++) {
		const struct thread *th = timelines_thread(tl, i);

		if (!is_in[i] || timelines_is_client(tl, i))
			continue;
		*ns += overlap_ns(th->begin_ns, th->end_ns, c);
		for (uint32_t w = 0; w < th->n_waits; w++)
			*ns -= overlap_ns(th->waits[w].out_ns, th->waits[w].in_ns, c);
	}
	free(is_in);
	return err;
}

static int put_all(FILE *out, const struct format_input *in, const struct options *o,
		   struct names *names, const struct command *c, struct told *told)
{
	uint32_t cpus = trace_info(in->trace)->cpus;
	double took_ns = (double)(c->to_ns - c->from_ns), busy;
	uint64_t ns;
	struct chain_steps *steps = NULL;
	struct paragraph p;
	int err = ran_ns(&ns, in->timelines, o, c);

	if (!err)
		err = chain_steps_new(&steps, in->timelines, o, names);
	if (!err)
		err = chain_steps_add_life(steps, c->thread, c->from_ns, c->to_ns);
	if (!err)
		err = chain_steps_end(steps);
	if (!err)
		err = paragraph_begin(&p);
	if (!err) {
		uint32_t name = names_thread(names, c->thread, c->to_ns - 1);

		p.columns = paragraph_columns(o->columns);
		busy = (double)ns / took_ns;
		fprintf(p.f, "%s took %.3f s with %.1f of %u CPU%s busy", names_text(names, name),
			took_ns / 1e9, busy, cpus, cpus == 1 ? "" : "s");
		if (100 * busy >= ALL_BUSY * cpus)
			fputs(": the CPUs are what it waits for.", p.f);
		else
			err = verdict_put(p.f, steps, names, true);
		if (paragraph_end(&p, out, 2))
			err = -ENOMEM;
	}
	if (!err)
		err = chain_lines_put(out, steps, names, paragraph_columns(o->columns),
				      LINES_SHOWN);
	if (!err)
		note_told(told, steps);
	chain_steps_free(steps);
	return err;
}

static int put_command(FILE *out, const struct format_input *in, const struct options *o,
		       struct names *names, struct told *told, bool *any)
{
	struct command c;

	if (!o->command || !find_command(&c, in->timelines, o->command))
		return 0;
	*any = true;
	return put_all(out, in, o, names, &c, told);
}

/* ---- those who waited for others ------------------------------------------------------------- */

/* How long each thread waited for others; the waits of one of them. */
struct waiters {
	const struct timelines *timelines;
	uint64_t *waited_ns;
	uint32_t chosen;
	struct chain_steps *steps;
};

static int add_length(void *arg, const struct chosen_wait *p)
{
	struct waiters *w = arg;

	w->waited_ns[p->thread] += p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	return 0;
}

static int add_to_steps(void *arg, const struct chosen_wait *p)
{
	struct waiters *w = arg;

	return chain_steps_add(w->steps, p);
}

static const char *last_name(const struct timelines *tl, struct names *names, uint32_t thread)
{
	return names_text(names, names_thread(names, thread, timelines_end_ns(tl)));
}

/* Of the threads that are not told; THREAD_NONE: none waited. */
static uint32_t longest(const struct waiters *w, struct names *names, const struct told *told)
{
	uint32_t recorder = trace_info(timelines_trace(w->timelines))->recorder_tgid;
	uint32_t most = THREAD_NONE;

	for (uint32_t i = 0; i < timelines_threads(w->timelines); i++)
		if (w->waited_ns[i] && timelines_thread(w->timelines, i)->tgid != recorder &&
		    (most == THREAD_NONE || w->waited_ns[i] > w->waited_ns[most]) &&
		    !is_told(told, names, last_name(w->timelines, names, i)))
			most = i;
	return most;
}

static int put_waiter(FILE *out, struct waiters *w, const struct options *o, struct names *names,
		      struct wait_filter *f)
{
	const struct timelines *tl = w->timelines;
	uint32_t tid = timelines_thread(tl, w->chosen)->tid, name;
	struct paragraph p;
	int err = top_waits_of_thread(tl, f, w->chosen, add_to_steps, w);

	if (!err)
		err = chain_steps_end(w->steps);
	if (!err)
		err = paragraph_begin(&p);
	if (err)
		return err;
	p.columns = paragraph_columns(o->columns);
	name = names_thread(names, w->chosen, timelines_end_ns(tl));
	fprintf(p.f, "%s/%u waited for others for %.3f of %.3f s", names_text(names, name), tid,
		(double)w->waited_ns[w->chosen] / 1e9,
		(double)(timelines_end_ns(tl) - timelines_start_ns(tl)) / 1e9);
	err = verdict_put(p.f, w->steps, names, true);
	if (paragraph_end(&p, out, 2))
		err = -ENOMEM;
	return err ? err
		   : chain_lines_put(out, w->steps, names, paragraph_columns(o->columns),
				     LINES_SHOWN);
}

/* The thread that waited longest for others, if it is not told yet. */
static int put_waiters(FILE *out, const struct format_input *in, const struct options *o,
		       struct names *names, const struct told *told, bool *any)
{
	struct waiters w = { .timelines = in->timelines };
	struct wait_filter *f = NULL;
	uint64_t all_ns = timelines_end_ns(in->timelines) - timelines_start_ns(in->timelines);
	int err;

	w.waited_ns = calloc(timelines_threads(in->timelines) + 1, sizeof(*w.waited_ns));
	err = w.waited_ns ? wait_filter_new(&f, in->timelines, o, names) : -ENOMEM;
	if (!err)
		err = top_waits_walk(in->timelines, f, 0, add_length, &w);
	w.chosen = err ? THREAD_NONE : longest(&w, names, told);
	if (w.chosen != THREAD_NONE && w.waited_ns[w.chosen] >= all_ns / LEAST_OF_TIME) {
		err = chain_steps_new(&w.steps, in->timelines, o, names);
		*any = true;
		if (!err)
			err = put_waiter(out, &w, o, names, f);
	}
	chain_steps_free(w.steps);
	wait_filter_free(f);
	free(w.waited_ns);
	return err;
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool path_overview_wanted(const struct format_input *in)
{
	return !(in->options->given & (GIVEN_REQUESTS | GIVEN_WITHIN | GIVEN_RANGE | GIVEN_WAIT |
				       GIVEN_STATE | GIVEN_OF_OBJECTS | GIVEN_ENDED));
}

int path_overview_put(FILE *out, const struct format_input *in, bool has_requests)
{
	struct options o = causes_request_options(in->options);
	struct names *names;
	struct told told = { .n = 0 };
	bool any = false;
	int err;

	o.requests = false;
	/* Pauses, and waits for work, are no waits for others. */
	o.no_idle = true;
	o.parts = PART_BLOCKED;
	err = names_new(&names, in->timelines, &o);
	if (!err)
		err = put_command(out, in, &o, names, &told, &any);
	if (!err && !has_requests)
		err = put_waiters(out, in, &o, names, &told, &any);
	if (!err && any)
		putc('\n', out);
	names_free(names);
	return err;
}
