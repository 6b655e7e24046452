// SPDX-License-Identifier: GPL-2.0-or-later
#include "diagnostics.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/group_name.h"
#include "base/text.h"
#include "common/similar.h"
#include "formats/paragraph.h"
#include "select/wait_filter.h"
#include "select/scope.h"
#include "select/top_waits.h"
#include "select/wait_nature.h"
#include "words/request_words.h"
#include "words/lock_holder.h"
#include "words/process_notes.h"

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

void print_damage(const char *name, const struct trace_damage *d)
{
	fprintf(print_about(stderr, name), "damaged at byte %" PRIu64 ": %s", d->first_offset,
		d->what);
	if (d->bytes)
		fprintf(stderr, "; skipped %" PRIu64 " bytes", d->bytes);
	if (d->blocks)
		fprintf(stderr, " (damaged blocks: %" PRIu64 ")", d->blocks);
	fputs(d->cut ? "; read up to there\n" : "; the rest was read\n", stderr);
}

/* ---- several machines ----------------------------------------------------------------------- */

void print_joined(const struct host_pair *p, const struct joined_host *hosts)
{
	const char *server = hosts[p->server].name;
	bool ahead = p->ahead_ns >= 0;
	uint64_t apart_ns = ahead ? (uint64_t)p->ahead_ns : -(uint64_t)p->ahead_ns;

	fputs("of ", print_about(stderr, hosts[p->client].name));
	fprintf(stderr, "%" PRIu64 " waits that answers of ", p->answers);
	print_clean(stderr, server);
	fprintf(stderr, " ended, %" PRIu64 " are explained there; ", p->joined);
	if (p->contradicting)
		fprintf(stderr, "%" PRIu64 " contradict the order of messages; ", p->contradicting);
	if (p->unbounded)
		fprintf(stderr, "%" PRIu64 " are shorter than the uncertainty of the clocks; ",
			p->unbounded);
	if (p->width_ns == UINT64_MAX) {
		fputs("its clock offset is unknown\n", stderr);
		return;
	}
	fprintf(stderr, "its clock is %" PRIu64 ".%09" PRIu64 " s %s, known to %.3f us at best\n",
		apart_ns / 1000000000, apart_ns % 1000000000, ahead ? "ahead" : "behind",
		(double)p->width_ns / 1e3);
}

/* ---- nothing to show ------------------------------------------------------------------------ */

void print_range_warning(const char *name, const struct timelines *tl, const struct options *o)
{
	uint64_t len_ns = timelines_end_ns(tl) - timelines_start_ns(tl);

	if (o->who_ran && !timelines_cpus(tl)) {
		fputs("does not say on which CPU's queue a thread waited: --who-ran shows "
		      "nothing\n",
		      print_about(stderr, name));
	}
	if (o->from_ns && o->from_ns >= len_ns) {
		fprintf(print_about(stderr, name),
			"--from is after the end of the trace: it covers %.3f s\n",
			seconds(len_ns));
	}
}

/* ---- what was asked for and is not there ----------------------------------------------------- */

#define NEAR_SHOWN 5

static bool is_leader(const struct thread *th)
{
	return !th->tgid || th->tgid == th->tid;
}

/* True if a process has, or had, the name. */
static bool process_named(const struct timelines *tl, const char *name)
{
	const struct trace *t = timelines_trace(tl);

	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; is_leader(th) && k <= th->renames; k++)
			if (process_is_called(trace_string(t, timelines_nth_name(tl, i, k)),
					      th->tid, name))
				return true;
	}
	return false;
}

/* " (near: mariadbd 812, ...)": processes whose last names are similar. */
static void print_near(const struct timelines *tl, const char *name)
{
	const struct trace *t = timelines_trace(tl);
	unsigned int shown = 0;

	for (uint32_t i = 0; i < timelines_threads(tl) && shown < NEAR_SHOWN; i++) {
		const struct thread *th = timelines_thread(tl, i);
		const char *is = trace_string(t, timelines_nth_name(tl, i, th->renames));

		if (!is_leader(th) || !*is || !words_similar(name, is))
			continue;
		fputs(shown++ ? ", " : "; there is: ", stderr);
		print_clean(stderr, is);
		fprintf(stderr, " (%" PRIu32 ")", th->tid);
	}
	fputs(shown ? "\n" : " (--format=threads lists them)\n", stderr);
}

static bool complain_name(const char *trace, const struct timelines *tl, const char *name)
{
	if (process_named(tl, name))
		return false;
	fputs("no process '", print_about(stderr, trace));
	print_clean(stderr, name);
	fputs("' in this trace", stderr);
	print_near(tl, name);
	return true;
}

/* The thread with the id, the leader of its process if process is set; NULL: there is none. */
static const struct thread *find_id(const struct timelines *tl, uint32_t id, bool process)
{
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		if (process ? (th->tgid ? th->tgid : th->tid) == id : th->tid == id)
			return th;
	}
	return NULL;
}

/* Whether a process has the id in its own PID namespace. */
static bool find_own_id(const struct timelines *tl, uint32_t id)
{
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		if (id && timelines_thread(tl, i)->own_id == id)
			return true;
	return false;
}

static bool complain_id(const char *trace, const struct timelines *tl, uint32_t id, bool process)
{
	const struct thread *thread;

	if (find_id(tl, id, process) || (process && find_own_id(tl, id)))
		return false;
	fprintf(print_about(stderr, trace), "no %s %" PRIu32 " in this trace",
		process ? "process" : "thread", id);
	thread = process ? find_id(tl, id, false) : NULL;
	if (thread)
		fprintf(stderr, "; it is a thread of process %" PRIu32 ": -t %" PRIu32 "\n",
			thread->tgid, id);
	else
		fputs(" (--format=threads lists them)\n", stderr);
	return true;
}

static bool processes_known(const struct timelines *tl)
{
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		if (timelines_thread(tl, i)->tgid)
			return true;
	return false;
}

static bool complain_list(const char *trace, const struct timelines *tl,
			  const struct process_list *l)
{
	bool missing = false;

	if ((l->ids.n || l->names.n) && !processes_known(tl)) {
		fputs("processes are not known, only threads (-t, -c); perf script "
		      "--show-task-events has them\n",
		      print_about(stderr, trace));
		return true;
	}

	for (size_t i = 0; i < l->ids.n; i++)
		missing |= complain_id(trace, tl, l->ids.ids[i], true);
	for (size_t i = 0; i < l->names.n; i++)
		missing |= complain_name(trace, tl, l->names.paths[i]);
	return missing;
}

static bool name_matches(const struct timelines *tl, const regex_t *regex)
{
	const struct trace *t = timelines_trace(tl);

	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		for (uint32_t k = 0; k <= timelines_thread(tl, i)->renames; k++)
			if (!regexec(regex, trace_string(t, timelines_nth_name(tl, i, k)), 0, NULL,
				     0))
				return true;
	return false;
}

struct group_search {
	const struct trace *trace;
	const regex_t *regex;
};

/* As wait_filter_fits() chooses. */
static bool group_fits(void *search, uint32_t path)
{
	struct group_search *s = search;
	char name[GROUP_NAME_LEN];

	group_name(trace_string(s->trace, path), name);
	return path && (!regexec(s->regex, trace_string(s->trace, path), 0, NULL, 0) ||
			!regexec(s->regex, name, 0, NULL, 0));
}

static bool group_matches(const struct timelines *tl, const regex_t *regex)
{
	struct group_search s = { timelines_trace(tl), regex };

	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		if (timelines_any_group(tl, i, group_fits, &s))
			return true;
	return false;
}

static bool complain_groups(const char *trace, const struct timelines *tl,
			    const struct regex_list *l)
{
	bool missing = false;

	if (l->n && !timelines_grouped(tl)) {
		fputs("does not say in which control groups threads were\n",
		      print_about(stderr, trace));
		return true;
	}
	for (size_t i = 0; i < l->n; i++) {
		if (group_matches(tl, &l->regex[i]))
			continue;
		missing = true;
		fputs("no control group matches '", print_about(stderr, trace));
		print_clean(stderr, l->text[i]);
		fputs("' in this trace (--format=threads lists them)\n", stderr);
	}
	return missing;
}

/* As request_choice_new() chooses. */
static bool endpoint_matches(const struct timelines *tl, const struct regex_list *l, size_t number)
{
	uint32_t n;
	const struct request_endpoint *e = timelines_endpoints(tl, &n);

	for (uint32_t i = 0; i < n; i++)
		if (request_endpoint_fits(tl, &e[i], l, number))
			return true;
	return false;
}

static bool complain_endpoints(const char *trace, const struct timelines *tl,
			       const struct regex_list *l)
{
	bool missing = false;

	for (size_t i = 0; i < l->n; i++) {
		if (endpoint_matches(tl, l, i))
			continue;
		missing = true;
		fputs("no endpoint matches '", print_about(stderr, trace));
		print_clean(stderr, l->text[i]);
		fputs("' in this trace (--format=requests lists them)\n", stderr);
	}
	return missing;
}

static bool complain_trace_id(const char *trace, const struct timelines *tl, const uint64_t id[2])
{
	const struct context asked = { { id[0], id[1] }, 0, 0 };
	char text[TRACE_ID_SIZE];
	size_t n = 0;

	if (id[0] | id[1])
		timelines_requests_by_trace(tl, id, &n);
	if (n || !(id[0] | id[1]))
		return false;
	fprintf(print_about(stderr, trace),
		"no request is known to be of trace %s (-f json --requests lists them)\n",
		trace_id_text(text, &asked));
	return true;
}

/* Whether a thread of the trace waits for an object that the expression fits. */
static bool object_matches(const struct timelines *tl, struct names *names, const regex_t *regex)
{
	uint32_t end = trace_objects_end(timelines_trace(tl));

	for (uint32_t i = 1; i < end; i++)
		if (!regexec(regex, names_text(names, names_object(names, i, true)), 0, NULL, 0))
			return true;
	return false;
}

static bool has_class(const struct trace *t, const char *class)
{
	for (uint32_t i = 1; i < trace_objects_end(t); i++) {
		const struct trace_object *what = trace_object(t, i);

		if (what && !strcmp(trace_string(t, what->class), class))
			return true;
	}
	return false;
}

/* One of the classes suffices: "tcp,udp,unix" is asked for where all sockets are meant. */
static bool complain_classes(const char *trace, const struct timelines *tl,
			     const struct word_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (has_class(timelines_trace(tl), l->words[i]))
			return false;
	fputs("no object of class ", print_about(stderr, trace));
	for (size_t i = 0; i < l->n; i++) {
		fputs(i ? ", '" : "'", stderr);
		print_clean(stderr, l->words[i]);
		putc('\'', stderr);
	}
	fputs(" in this trace (--format=objects lists them)\n", stderr);
	return true;
}

static void complain_objects(const char *trace, const struct timelines *tl, const struct options *o,
			     bool *missing)
{
	struct names *names;

	if (!o->waits_for.n && !o->classes.n)
		return;
	if (!wait_classes_known(tl)) {
		fputs("does not say what was waited for\n", print_about(stderr, trace));
		*missing = true;
		return;
	}
	if (o->classes.n)
		*missing |= complain_classes(trace, tl, &o->classes);
	names_new(&names, tl, o);
	for (size_t i = 0; i < o->waits_for.n; i++) {
		if (object_matches(tl, names, &o->waits_for.regex[i]))
			continue;
		*missing = true;
		fputs("no object matches '", print_about(stderr, trace));
		print_clean(stderr, o->waits_for.text[i]);
		fputs("' in this trace (--format=objects lists them)\n", stderr);
	}
	names_free(names);
}

void print_missing(const char *name, const struct timelines *tl, const struct options *o, bool *any)
{
	bool missing = complain_list(name, tl, &o->processes);

	missing |= complain_list(name, tl, &o->trees);
	for (size_t i = 0; i < o->tids.n; i++)
		missing |= complain_id(name, tl, o->tids.ids[i], false);
	for (size_t i = 0; i < o->names.n; i++) {
		if (name_matches(tl, &o->names.regex[i]))
			continue;
		missing = true;
		fputs("no thread name matches '", print_about(stderr, name));
		print_clean(stderr, o->names.text[i]);
		fputs("' in this trace (--format=threads lists them)\n", stderr);
	}
	missing |= complain_groups(name, tl, &o->groups);
	missing |= complain_endpoints(name, tl, &o->endpoints);
	missing |= complain_trace_id(name, tl, o->trace_id);
	complain_objects(name, tl, o, &missing);
	*any = missing;
}

/* ---- the summary ---------------------------------------------------------------------------- */

static void print_coverage(const char *name, const struct trace *t)
{
	const struct trace_info *i = trace_info(t);

	print_clean(stderr, name);
	fprintf(stderr, ": %.3f s on %" PRIu32 " CPUs, %" PRIu64 " events, %" PRIu64 " lost%s\n",
		seconds(i->end_ns - i->start_ns), i->cpus, i->events, i->lost,
		trace_damage(t)->what ? ", and those in the damaged part" : "");
	if (i->sideband_lost)
		fprintf(stderr,
			"%" PRIu64
			" records of memory mappings are lost: functions may lack names\n",
			i->sideband_lost);
}

/* A line of the summary, cut to the screen's width if there is one: begin it, and end it. */
static void begin_line(struct paragraph *p, const struct options *o)
{
	paragraph_begin(p);

	p->columns = o->columns ? paragraph_columns(o->columns) : SIZE_MAX;
}

static void print_note_lines(const struct process_notes *notes, const struct options *o)
{
	size_t most = o->columns ? PROCESS_NOTES_SCREEN : PROCESS_NOTES_SHOWN;
	size_t shown = notes->n > most ? most - 1 : notes->n;

	for (size_t i = 0; i < shown; i++) {
		struct paragraph p;

		begin_line(&p, o);
		print_clean(p.f, notes->line[i]);
		paragraph_end_cut(&p, stderr);
	}
	if (shown < notes->n)
		fprintf(stderr, "and %zu more notes on the stacks of processes: --format=info\n",
			notes->n - shown);
}

/* What stacks lack, of processes that the output tells of. -f info has all. */
static void print_notes(const struct format_input *in)
{
	struct process_list told = { .ids = { NULL, 0 } };
	bool some = in->totals && in->totals->tells;
	struct process_notes notes;
	struct names *names;

	if (some) {
		names_new(&names, in->timelines, in->options);
		process_notes_find(&told, in->timelines, names, &in->totals->told);
		names_free(names);
	}
	process_notes_of(&notes, in->trace, some ? &told : NULL, PROCESS_NOTES_NAMED);
	print_note_lines(&notes, in->options);
	process_notes_free(&notes);
	free(told.ids.ids);
}

/* What somebody took of all time, if it is a thousandth of that: a little is always taken. */
static void print_taken(const struct timelines *tl, const char *who, uint64_t ns)
{
	const struct trace_info *i = trace_info(timelines_trace(tl));
	double all = seconds(i->end_ns - i->start_ns) * i->cpus;
	double taken = seconds(ns);

	if (taken > 0 && taken * 1000 >= all)
		fprintf(stderr, "the %s took %.3f s of the CPUs' time, %.1f %%\n", who, taken,
			all > 0 ? 100 * taken / all : 100);
}

/* The shares of the ends in the blocked time, the largest first. */
static void print_ends(const struct chain_summary *s, const struct timelines *tl)
{
	uint64_t untraced = trace_info(timelines_trace(tl))->lost ? 0 : timelines_untraced(tl);
	enum chain_end order[CHAIN_ENDS];
	size_t n = chain_ends_by_size(s->ends_ns, order);

	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s%s %.1f %%", i ? ", " : "chains end in ",
			chain_end_name(order[i]),
			100 * (double)s->ends_ns[order[i]] / (double)s->blocked_ns);
	if (s->ends_ns[CHAIN_UNKNOWN] && untraced)
		fprintf(stderr,
			"; [unknown] as the kernel has not reported at least %" PRIu64 " switch%s",
			untraced, untraced == 1 ? "" : "es");
	if (n)
		putc('\n', stderr);
}

/* ---- sleeps that had not ended ----------------------------------------------------------- */

#define STUCK_SHOWN 4

/* The chosen waits that had not ended when the trace, or their thread, did. */
struct unwoken {
	uint64_t waits, ns;
	uint64_t stuck; /* at a lock, or in state D */
	struct {
		uint32_t thread;
		uint32_t holder; /* a thread; THREAD_NONE: not known */
	} of[STUCK_SHOWN];
};

/* The sleep of a thread that had not ended when the trace did, or the thread; NULL: it has none. */
static const struct wait *unwoken_of(const struct thread *th)
{
	for (uint32_t i = th->n_waits; i-- > 0;) {
		const struct wait *w = &th->waits[i];

		if (w->flags & WAIT_NOT_WOKEN)
			return w;
		/* Only a thread that died may have slept once more, as it did. */
		if (!(th->flags & THREAD_EXITED))
			break;
	}
	return NULL;
}

static void find_unwoken(const struct timelines *tl, const struct options *given, struct unwoken *u)
{
	struct options o = *given;
	struct names *names;
	struct wait_filter *f = NULL;
	uint32_t i = 0, end = 0;

	o.ended = o.no_idle = false;
	names_new(&names, tl, &o);
	wait_filter_new(&f, tl, &o, names);
	timelines_range(tl, wait_filter_of_requests(f), &i, &end);
	for (; i < end; i++) {
		const struct thread *th = timelines_thread(tl, i);
		struct chosen_wait c = { .thread = i };

		c.wait = wait_filter_thread(f, i) ? unwoken_of(th) : NULL;
		if (!c.wait || !wait_filter_wait(f, i, c.wait, &c.shown))
			continue;
		u->waits++;
		u->ns += chosen_wait_ns(&c);
		if (!wait_looks_stuck(tl, names_kernel_stacks(names), c.wait) ||
		    u->stuck++ >= STUCK_SHOWN)
			continue;
		u->of[u->stuck - 1].thread = i;
		u->of[u->stuck - 1].holder = lock_holder(names_objects(names), i, c.wait);
	}
	wait_filter_free(f);
	names_free(names);
}

/* "; -t 7 (janitor) holds it"; nothing if it is not known. */
static void put_holder(FILE *f, const struct timelines *tl, uint32_t holder)
{
	const struct thread *th;

	if (holder == THREAD_NONE)
		return;
	th = timelines_thread(tl, holder);
	fprintf(f, "; -t %" PRIu32 " (", th->tid);
	print_clean(f, trace_string(timelines_trace(tl), timelines_name(tl, holder, th->end_ns)));
	fputs(") holds it", f);
}

/* Who may be deadlocked, or waits for a lock that is held for long: a trace that ends cannot tell.
 */
static void print_stuck(const struct timelines *tl, const struct options *o,
			const struct unwoken *u)
{
	struct paragraph p;

	begin_line(&p, o);
	fprintf(p.f, "at a lock or in state D at the end, %" PRIu64 " thread%s: ", u->stuck,
		u->stuck == 1 ? "" : "s");
	for (uint64_t i = 0; i < u->stuck && i < STUCK_SHOWN; i++) {
		const struct thread *th = timelines_thread(tl, u->of[i].thread);

		fprintf(p.f, "%s-t %" PRIu32 " (", i ? ", " : "", th->tid);
		print_clean(p.f, trace_string(timelines_trace(tl),
					      timelines_name(tl, u->of[i].thread, th->end_ns)));
		put_holder(p.f, tl, u->of[i].holder);
		putc(')', p.f);
	}
	fputs(u->stuck > STUCK_SHOWN ? ", ..." : "", p.f);
	paragraph_end_cut(&p, stderr);
}

/* What is left out without being asked for, and what must not be overlooked. */
static void print_unwoken(const struct timelines *tl, const struct options *o)
{
	struct unwoken u = { 0 };

	find_unwoken(tl, o, &u);
	if (!u.waits)
		return;
	if (o->ended)
		fprintf(stderr,
			"left out: %" PRIu64
			" sleep%s that had not ended, %.3f s (--not-woken shows them)\n",
			u.waits, u.waits == 1 ? "" : "s", seconds(u.ns));
	if (u.stuck)
		print_stuck(tl, o, &u);
}

/* Whose waits these are, when nobody asked for anybody's. */
static void print_command(const struct timelines *tl, const struct options *o)
{
	uint32_t n = timelines_threads(tl), in = 0;
	bool *shown;

	scope_find(&shown, tl, o);
	for (uint32_t i = 0; i < n; i++)
		in += shown[i];
	free(shown);
	if (in == 1)
		fputs("of the one thread", stderr);
	else
		fprintf(stderr, "of the %" PRIu32 " threads", in);
	fprintf(stderr, " of the command, out of %" PRIu32 " (--all: of the whole machine)\n", n);
}

static void print_totals(const struct chain_summary *s, const struct timelines *tl, bool no_idle)
{
	fprintf(stderr, "%" PRIu64 " waits: blocked %.3f s, runnable %.3f s", s->waits,
		seconds(s->blocked_ns), seconds(s->runnable_ns));
	if (s->preempted_ns)
		fprintf(stderr, ", preempted %.3f s", seconds(s->preempted_ns));
	/* Less would be printed as 0.000 s. */
	if (s->not_shown_ns >= 500000)
		fprintf(stderr, "; preempted %.3f s not shown: --state all",
			seconds(s->not_shown_ns));
	if (no_idle)
		fprintf(stderr, "; left out as idle: %" PRIu64 " waits, %.3f s", s->idle_waits,
			seconds(s->idle_ns));
	putc('\n', stderr);
	print_ends(s, tl);
}

#define CLASSES_SHOWN 6

/* Adds up what the chosen waits were for, for a format without totals. */
static void sum_classes(const struct timelines *tl, const struct options *o, struct names *names,
			struct sums *sums)
{
	struct wait_filter *f;
	uint32_t i = 0, end = 0;

	wait_filter_new(&f, tl, o, names);
	timelines_range(tl, wait_filter_of_requests(f), &i, &end);
	for (; i < end; i++)
		if (wait_filter_thread(f, i))
			wait_filter_sum_classes(f, i, 0, sums);
	wait_filter_free(f);
}

/* What the chosen waits were for, if the trace says it. */
static void print_classes(const struct format_input *in)
{
	struct sums own = { .n = 0 }, *sums = &own;
	struct names *names;

	if (!wait_classes_known(in->timelines))
		return;
	names_new(&names, in->timelines, in->options);
	if (in->totals && in->totals->known)
		sums = &in->totals->classes;
	else
		sum_classes(in->timelines, in->options, names, sums);
	sums_sort(sums, names, names_string);
	if (sums_write(sums, names, 0, CLASSES_SHOWN, "waited for: ", "unknown", stderr))
		putc('\n', stderr);
	names_free(names);
	sums_free(&own);
}

/* Of a light recording: of how much of the blocked time of the chosen waits there are user stacks.
 */
static void print_stacked(const struct format_input *in)
{
	const struct timelines *tl = in->timelines;
	uint64_t all_ns = 0, stacked_ns = 0;
	struct wait_filter *f = NULL;
	uint32_t i = 0, end = 0;
	struct names *names;

	if (!trace_info(in->trace)->light_ns)
		return;
	names_new(&names, tl, in->options);
	wait_filter_new(&f, tl, in->options, names);
	timelines_range(tl, false, &i, &end);
	for (; i < end && !wait_filter_of_requests(f); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; wait_filter_thread(f, i) && k < th->n_waits; k++) {
			struct shown shown;
			struct stack_pair stacks = timelines_pair(tl, th->waits[k].stack);
			uint64_t ns;

			if (!wait_filter_wait(f, i, &th->waits[k], &shown))
				continue;
			ns = shown.blocked_to_ns - shown.blocked_from_ns;
			all_ns += ns;
			stacked_ns += stacks.ustack || th->flags & THREAD_KTHREAD ? ns : 0;
		}
	}
	if (all_ns)
		fprintf(stderr, "user stacks for %.1f %% of the blocked time\n",
			100 * (double)stacked_ns / (double)all_ns);
	wait_filter_free(f);
	names_free(names);
}

void print_summary(const char *name, const struct format_input *in)
{
	print_coverage(name, in->trace);
	print_notes(in);
	if (!in->timelines)
		return;
	print_taken(in->timelines, "hypervisor", timelines_steal_ns(in->timelines));
	print_taken(in->timelines, "recorder", timelines_recorder_ns(in->timelines));
	if (in->options->command)
		print_command(in->timelines, in->options);
	if (in->totals && in->totals->known)
		print_totals(&in->totals->sums, in->timelines, in->options->no_idle);
	print_stacked(in);
	/* On a screen there are more important things. */
	if (!in->options->columns)
		print_classes(in);
	print_unwoken(in->timelines, in->options);
}

void print_symbols(const struct symbols *s, bool quiet)
{
	struct symbols_counts c = symbols_counts(s);

	if (symbols_complaint(s))
		fprintf(stderr, "chainwalk: %s\n", symbols_complaint(s));
	if (quiet)
		return;
	fprintf(stderr,
		"debug files: names for %" PRIu64 " of %" PRIu64
		" frames without a symbol, from %" PRIu64 " files",
		c.named, c.unnamed, c.files);
	if (c.inlined)
		fprintf(stderr, "; inlined functions in %" PRIu64 " frames", c.inlined);
	putc('\n', stderr);
}
