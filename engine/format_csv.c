// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for databases and notebooks: comma-separated values, one row a wait, a header row first.
 * Quoting as RFC 4180 has it; the columns are described in the manual page. Thread by thread in
 * order of time; or the longest ones, with --top.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "format.h"
#include "handler.h"
#include "picks.h"
#include "processes.h"
#include "stack_text.h"
#include "wall_time.h"

/* The ends of blocked time, in the order of their columns. */
static const struct {
	enum chain_end end;
	const char *column;
} ends[] = {
	{ CHAIN_RUNNING, "end_running_ns" },	 { CHAIN_RUNNABLE, "end_runnable_ns" },
	{ CHAIN_INTERRUPT, "end_interrupt_ns" }, { CHAIN_NOT_WOKEN, "end_not_woken_ns" },
	{ CHAIN_UNKNOWN, "end_unknown_ns" },	 { CHAIN_DEPTH, "end_depth_limit_ns" },
	{ CHAIN_LOOP, "end_loop_ns" },
};

#define N_ENDS (sizeof(ends) / sizeof(ends[0]))

struct writer {
	FILE *out;
	const struct timelines *timelines;
	const struct trace *trace;
	struct names *names;
	struct processes *processes;
	struct chains chains;
	uint64_t ends_ns[CHAIN_ENDS]; /* of the wait at hand */
	struct chain_summary sums;    /* of all waits written */
};

static void add(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct writer *c = arg;

	(void)node;
	c->ends_ns[end] += ns;
}

/* ---- fields --------------------------------------------------------------------------------- */

/* Any text as one field: in quotes if it needs them, quotes doubled. */
static void put_field(struct writer *c, const char *s, size_t len)
{
	bool quoted = false;

	for (size_t i = 0; i < len && !quoted; i++)
		quoted = s[i] == ',' || s[i] == '"' || s[i] == '\r' || s[i] == '\n';
	if (!quoted) {
		fwrite(s, 1, len, c->out);
		return;
	}
	putc('"', c->out);
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			putc('"', c->out);
		putc(s[i], c->out);
	}
	putc('"', c->out);
}

static void put_text(struct writer *c, const char *s)
{
	put_field(c, s, strlen(s));
}

static void put_ns(struct writer *c, uint64_t ns)
{
	fprintf(c->out, ",%" PRIu64, ns);
}

/* A number of a thread or process; nothing if it is not known. */
static void put_id(struct writer *c, uint32_t id)
{
	putc(',', c->out);
	if (id)
		fprintf(c->out, "%" PRIu32, id);
}

static void put_wall_time(struct writer *c, uint64_t ns)
{
	char text[WALL_TIME_SIZE];

	fprintf(c->out, ",%s", wall_time_iso(text, trace_info(c->trace), ns));
}

/* The name of the process; without a leader to take it from, nothing. */
static void put_process(struct writer *c, uint32_t thread)
{
	const char *name = trace_string(c->trace, process_name(c->processes, thread));

	putc(',', c->out);
	if (*name)
		put_text(c, names_text(c->names, names_clean(c->names, name)));
}

static int put_stack(struct writer *c, struct stack_text stack)
{
	putc(',', c->out);
	put_field(c, stack.s, stack.len);
	return stack.s ? 0 : -ENOMEM;
}

/* Name, ids, handler and stack of whoever ended the wait; empty fields if nobody is known. */
static int put_waker(struct writer *c, const struct wait *w)
{
	uint32_t kstack = timelines_pair(c->timelines, w->waker_stack).kstack, name, frame;
	const struct thread *th;
	struct context context;

	if (w->kind != WAIT_SLEEP || w->waker == THREAD_NONE) {
		fputs(",,,,,", c->out);
		return 0;
	}
	context = context_of(c->chains.contexts, kstack, w->waker == THREAD_IDLE);
	if (context.interrupt) {
		frame = names_frame(c->names, handler_frame(c->trace, kstack, context.frames));
		if (!frame)
			return -ENOMEM;
		fputs(",[interrupt],,,", c->out);
		put_text(c, names_text(c->names, frame));
		return put_stack(c, stack_text_waker(c->names, w, context));
	}
	name = names_thread(c->names, w->waker, w->wake_ns);
	if (!name)
		return -ENOMEM;
	th = timelines_thread(c->timelines, w->waker);
	putc(',', c->out);
	put_text(c, names_text(c->names, name));
	put_id(c, th->tid);
	put_id(c, th->tgid);
	putc(',', c->out);
	return put_stack(c, stack_text_waker(c->names, w, context));
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void put_header(struct writer *c)
{
	fputs("start_ns,wake_ns,end_ns,wall_time,thread,tid,pid,process,kind,state,blocked_ns,"
	      "runnable_ns,preempted_ns,waker,waker_tid,waker_pid,waker_handler,waker_stack",
	      c->out);
	for (size_t i = 0; i < N_ENDS; i++)
		fprintf(c->out, ",%s", ends[i].column);
	fputs(",stack\n", c->out);
}

static int put_wait(struct writer *c, const struct pick *p)
{
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	const struct thread *th = timelines_thread(c->timelines, p->thread);
	uint64_t start_ns = timelines_start_ns(c->timelines);
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;
	bool preempted = w->kind == WAIT_PREEMPTED;
	uint32_t name = names_thread(c->names, p->thread, w->out_ns);
	int err;

	if (!name)
		return -ENOMEM;
	fprintf(c->out, "%" PRIu64 ",", w->out_ns - start_ns);
	if (!preempted && !(w->flags & (WAIT_NOT_WOKEN | WAIT_NO_WAKING)))
		fprintf(c->out, "%" PRIu64, w->wake_ns - start_ns);
	put_ns(c, w->in_ns - start_ns);
	put_wall_time(c, w->out_ns);
	putc(',', c->out);
	put_text(c, names_text(c->names, name));
	put_id(c, th->tid);
	put_id(c, th->tgid);
	put_process(c, p->thread);
	fprintf(c->out, ",%s,", preempted ? "preempted" : "sleep");
	if (w->state != '?')
		putc(w->state, c->out);
	put_ns(c, s->blocked_to_ns - s->blocked_from_ns);
	put_ns(c, preempted ? 0 : off_ns);
	put_ns(c, preempted ? off_ns : 0);
	err = put_waker(c, w);
	if (err)
		return err;
	for (size_t i = 0; i < N_ENDS; i++)
		put_ns(c, c->ends_ns[ends[i].end]);
	err = put_stack(c, stack_text_off_cpu(c->names, p->thread, w));
	putc('\n', c->out);
	return err;
}

static void sum_up(struct writer *c, const struct pick *p)
{
	struct chain_summary *sums = &c->sums;
	const struct shown *s = &p->shown;
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;

	sums->waits++;
	sums->blocked_ns += s->blocked_to_ns - s->blocked_from_ns;
	if (p->wait->kind == WAIT_PREEMPTED)
		sums->preempted_ns += off_ns;
	else
		sums->runnable_ns += off_ns;
	for (int i = 0; i < CHAIN_ENDS; i++)
		sums->ends_ns[i] += c->ends_ns[i];
}

static int write_wait(void *arg, const struct pick *p)
{
	struct writer *c = arg;
	const struct shown *s = &p->shown;
	int err;

	memset(c->ends_ns, 0, sizeof(c->ends_ns));
	if (p->wait->kind == WAIT_SLEEP)
		chains_explain(&c->chains, chains_head(&c->chains, 1), p->thread, p->wait,
			       s->blocked_from_ns, s->blocked_to_ns);
	if (c->chains.out_of_memory)
		return -ENOMEM;
	sum_up(c, p);
	err = put_wait(c, p);
	if (err)
		return err;
	/* A write error is the caller's to find: there is no point in going on, though. */
	return ferror(c->out) ? 1 : 0;
}

static int write_csv(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct names *names = names_new(in->timelines, o);
	struct selection *s = names ? selection_new(in->timelines, o, names) : NULL;
	struct writer c = { .out = out,
			    .timelines = in->timelines,
			    .trace = in->trace,
			    .names = names,
			    .processes = processes_new(in->timelines) };
	int err = chains_init(&c.chains, in->timelines, o->mode, o->depth,
			      (struct chain_user) { &c, chain_any_label, add });

	if (!s || !c.processes)
		err = -ENOMEM;
	if (!err) {
		put_header(&c);
		err = picks_walk(in->timelines, s, o->top, write_wait, &c);
	}
	/* With --top only some of them were looked at. */
	if (!err && in->totals && !o->top) {
		selection_idle(s, &c.sums.idle_waits, &c.sums.idle_ns);
		*in->totals = (struct format_totals) { true, c.sums };
	}
	chains_free(&c.chains);
	processes_free(c.processes);
	selection_free(s);
	names_free(names);
	return err < 0 ? err : 0;
}

const struct format format_csv = {
	.name = "csv",
	.summary = "waits as comma-separated values, for databases and notebooks",
	.wants_timelines = true,
	.refuses = GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_ANNOTATE | GIVEN_BLOCKED_STACKS |
		   GIVEN_UNIT | GIVEN_VIEW | GIVEN_BY_NAME,
	.write = write_csv,
};
