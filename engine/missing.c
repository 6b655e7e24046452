// SPDX-License-Identifier: GPL-2.0-or-later
#include "missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "select/scope.h"
#include "common/similar.h"

#define NEAR_SHOWN 5

static void begin_line(const char *name)
{
	fputs("chainwalk: ", stderr);
	print_clean(stderr, name);
	fputs(": ", stderr);
}

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
			if (process_is_called(trace_string(t, timelines_nth_name(tl, i, k)), name))
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
	begin_line(trace);
	fputs("no process '", stderr);
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

static bool complain_id(const char *trace, const struct timelines *tl, uint32_t id, bool process)
{
	const struct thread *thread;

	if (find_id(tl, id, process))
		return false;
	begin_line(trace);
	fprintf(stderr, "no %s %" PRIu32 " in this trace", process ? "process" : "thread", id);
	thread = process ? find_id(tl, id, false) : NULL;
	if (thread)
		fprintf(stderr, "; it is a thread of process %" PRIu32 ": -t %" PRIu32 "\n",
			thread->tgid, id);
	else
		fputs(" (--format=threads lists them)\n", stderr);
	return true;
}

static bool complain_list(const char *trace, const struct timelines *tl,
			  const struct process_list *l)
{
	bool missing = false;

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

bool print_missing(const char *name, const struct timelines *tl, const struct options *o)
{
	bool missing = complain_list(name, tl, &o->processes);

	missing |= complain_list(name, tl, &o->trees);
	for (size_t i = 0; i < o->tids.n; i++)
		missing |= complain_id(name, tl, o->tids.ids[i], false);
	for (size_t i = 0; i < o->names.n; i++) {
		if (name_matches(tl, &o->names.regex[i]))
			continue;
		missing = true;
		begin_line(name);
		fputs("no thread name matches '", stderr);
		print_clean(stderr, o->names.text[i]);
		fputs("' in this trace (--format=threads lists them)\n", stderr);
	}
	return missing;
}
