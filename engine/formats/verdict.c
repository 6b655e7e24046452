// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

#include "style.h"
#include "table.h"

/* Columns of a function's name: of some languages they are very long. */
#define PLACE_COLUMNS 60

/* What has less of the time than one of so many parts of it is no cause of all. */
#define LEAST_PART 3

struct way {
	const struct chain_step *end;	 /* the last step */
	const struct chain_step *waiter; /* the last one that waits; NULL: none */
	/* The lock nearest to the end, and who holds it; NULL: none. */
	const struct chain_step *at_lock, *holder;
	const struct chain_step
		*queue; /* the first step is a queue, whose thread is the next one */
	const struct chain_step *reader; /* that one */
	bool for_others;		 /* the end ran for other requests meanwhile */
};

/* Follows what has most of the time. */
static void find_way(const struct chain_steps *s, struct way *way)
{
	uint32_t n_steps, step = 0;
	const struct chain_step *at = chain_steps_list(s, &n_steps);
	bool after_lock = false;

	*way = (struct way) { .end = NULL };
	for (;;) {
		size_t n;
		uint32_t *below = chain_steps_below(s, step, &n);

		step = n ? below[0] : 0;
		free(below);
		if (!step)
			return;
		way->end = &at[step];
		if (way->queue && !way->reader)
			way->reader = &at[step];
		/* The end of the wait itself is nobody's who holds it. */
		if (after_lock && (at[step].who || !at[step].is_end))
			way->holder = &at[step];
		after_lock = false;
		if (at[step].is_end)
			continue;
		if (!at[step].who && !at[step].above)
			way->queue = &at[step];
		if (at[step].who)
			way->waiter = &at[step];
		if (at[step].kind == JOINT_LOCK) {
			way->at_lock = &at[step];
			after_lock = true;
		}
	}
}

static const char *text_of(const struct names *names, uint32_t text)
{
	return text ? names_text(names, text) : "";
}

static void put_in(FILE *out, const char *before, const char *what)
{
	if (*what)
		fprintf(out, "%s%s", before, what);
}

static void put_place(FILE *out, const char *before, const char *at)
{
	if (!*at)
		return;
	fputs(before, out);
	table_put_cut(out, at, PLACE_COLUMNS);
}

/* Whether a place is only the file of the program that has the thread: "[dd]", "[dd+0x40]" of dd.
 */
static bool is_program_itself(const char *at, const char *who)
{
	size_t len = strlen(who);

	return *at == '[' && len && !strncmp(at + 1, who, len) &&
	       (at[1 + len] == ']' || at[1 + len] == '+');
}

/* "runs keysCommand"; or that it would, if it had a CPU. */
static void put_running(FILE *out, const struct names *names, const struct chain_step *e,
			const char *who, bool for_others)
{
	enum chain_step_cpu cpu = chain_step_cpu(e);
	const char *at = is_program_itself(text_of(names, e->at), who) ? "" : text_of(names, e->at);

	if (cpu == CHAIN_STEP_HAD_NO_CPU) {
		fputs("has no CPU", out);
		put_in(out, ", which is taken by ", text_of(names, e->by));
		return;
	}
	fputs("runs", out);
	put_place(out, " ", at);
	put_in(out, *at ? ", in the kernel for " : " in the kernel for ", text_of(names, e->call));
	fputs(for_others ? " for others" : "", out);
	if (cpu == CHAIN_STEP_RAN_IN_PART)
		fprintf(out, ", without a CPU for %.0f %% of that",
			100 * (double)e->no_cpu_ns / (double)e->ns);
}

/* Who may not run need not be who used it up. */
static void put_quota(FILE *out, const struct names *names, const struct chain_step *e,
		      const char *who)
{
	const char *by = text_of(names, e->by), *used_by = text_of(names, e->used_by);
	bool itself = e->end == CHAIN_DISK || !strcmp(used_by, who);

	fputs(itself ? "has used up " : "may not run, as ", out);
	fprintf(out, "%s %s", *by ? "the" : "its",
		e->end == CHAIN_DISK ? "I/O limit" : "CPU quota");
	put_in(out, " of ", by);
	fputs(itself ? "" : " is used up", out);
	if (!itself && *used_by)
		fprintf(out, ", %u %% by %s", e->used_percent, used_by);
}

/* What the last thread did: "sleeps in clock_nanosleep". */
static void put_deed(FILE *out, const struct names *names, const struct way *way, const char *who,
		     bool own)
{
	const struct chain_step *e = way->end, *w = way->waiter;
	const char *by = text_of(names, e->by);
	const char *at = w ? text_of(names, w->at) : "", *what = w ? text_of(names, w->what) : "";

	if (e->throttled) {
		put_quota(out, names, e, who);
	} else if (e->is_end && e->end == CHAIN_RUNNING) {
		put_running(out, names, e, who, way->for_others);
	} else if (e->is_end && e->end == CHAIN_DISK) {
		fputs("waits for ", out);
		fputs(*by ? by : "a disk", out);
		put_place(out, " in ", at);
	} else if (e->is_end && e->end == CHAIN_UNKNOWN) {
		fputs("does something unknown (events are missing)", out);
	} else if (e->is_end && e->end == CHAIN_TIMER && (!*what || w->kind == JOINT_SLEEP)) {
		fputs(own && w && !w->above ? "sleeps by choice" : "sleeps", out);
		put_place(out, " in ", at);
	} else {
		put_in(out, "waits for ", what);
		fputs(*what ? "" : "waits", out);
		put_place(out, " in ", at);
		put_in(out, ", which is held by ", by);
		if (e->is_end && e->all)
			fprintf(out, ", as all %u of that name do, in vain", e->all);
		if (e->is_end && e->end == CHAIN_NETWORK)
			put_in(out, ": ", text_of(names, e->what));
		if (e->is_end && e->end == CHAIN_NOT_WOKEN)
			fputs(", and is never woken", out);
	}
}

/* Whether requests wait in an event loop, which is busy with others. */
static bool is_loop(const struct chain_steps *s, const struct way *way)
{
	return !way->holder && way->queue && way->queue->kind == JOINT_BUSY &&
	       chain_steps_in_loop(s) && way->reader && way->reader->who;
}

void verdict_put(FILE *out, const struct chain_steps *s, const struct names *names, bool color,
		 bool own)
{
	uint64_t all_ns = chain_steps_total_ns(s);
	struct way way;
	const char *who, *holder;
	bool loop;

	find_way(s, &way);
	if (!way.end)
		return;
	who = text_of(names, way.end->who ? way.end->who : way.waiter ? way.waiter->who : 0);
	who = *who ? who : "an unknown thread";
	holder = way.holder ? text_of(names, way.holder->who ? way.holder->who : way.at_lock->who)
			    : "";
	if (way.end->ns < all_ns / LEAST_PART)
		fprintf(out, "; no single cause: for %.0f %% ",
			100 * (double)way.end->ns / (double)all_ns);
	else
		fputs(" because ", out);
	loop = is_loop(s, &way);
	if (loop) {
		fputs("the event loop of ", out);
		holder = text_of(names, way.reader->who);
	}
	style_name(out, color, *holder ? holder : who);
	if (way.holder) {
		fprintf(out, " holds %s", text_of(names, way.at_lock->what));
		put_in(out, " for ", text_of(names, way.holder->served));
		fputs(", and", out);
	}
	if (*holder && strcmp(holder, who)) {
		fputs(" waits while ", out);
		style_name(out, color, who);
	}
	way.for_others = way.queue && !way.holder && (!loop || !strcmp(holder, who));
	putc(' ', out);
	put_deed(out, names, &way, who, own);
	fputs(".", out);
}
