// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=csv: comma-separated values for databases and notebooks: a header row, then one row for
 * each wait, thread by thread in the order of time; with --top the longest waits. Quoting follows
 * RFC 4180; chainwalk(1) describes the columns.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "wait_amounts.h"
#include "words/kernel_stacks.h"
#include "select/route_times.h"
#include "select/wait_nature.h"
#include "timeline/processes.h"
#include "words/wall_time.h"
#include "words/names.h"
#include "words/request_words.h"
#include "words/waited_for.h"

/* The ends that have a column of blocked time, in their order. */
static const enum chain_end columns[] = {
#define END_OF_OWN(NAME, number, name, above, colour, spread, sentence)
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) [csv] = number,
#include "ends.def"
#include "common/xalloc.h"
};

#define N_ENDS (sizeof(columns) / sizeof(columns[0]))
#define WHO_COLUMNS 3
#define RAN_COLUMNS 3

struct writer {
	struct wait_amounts wait; /* the current one, by node */
	FILE *out;
	const struct timelines *timelines;
	const struct trace *trace;
	struct names *names;
	struct processes *processes;
	struct cpu_holders *cpu_holders; /* NULL: not known, and without columns */
	struct sums who_had_cpu;
	bool sampled, interrupts; /* what the trace has; otherwise without columns */
	bool requests;		  /* rows are requests */
	uint64_t *median_ns;	  /* request_medians(), of requests */
	struct intern links;	  /* struct link; their ids are the labels */
	struct sums stacks;	  /* ns of the current wait by (0, text) */
	uint64_t ends_ns[CHAIN_ENDS], interrupted_ns;
	struct format_totals totals; /* of all waits written */
};

/* The time of a chain is shared out over what its last waker ran: so chains are told apart. */
static uint32_t label_link(void *arg, const struct link *l)
{
	struct writer *c = arg;

	return xintern(&c->links, l, sizeof(*l), NULL);
}

/* ---- fields --------------------------------------------------------------------------------- */

/*
 * A field with any text: in quotes where RFC 4180 requires them, quotes doubled. A spreadsheet
 * takes what begins with one of these characters for a formula, which a recorded program could have
 * as its name; behind an apostrophe it is text.
 */
static void put_text(struct writer *c, const char *s)
{
	bool is_formula =
		*s && strchr("=+-@", *s) && strcmp(s, "-") != 0 && strncmp(s, "-;", 2) != 0;

	if (is_formula && !s[strcspn(s, ",\"\r\n")])
		putc('\'', c->out);
	if (!s[strcspn(s, ",\"\r\n")]) {
		fputs(s, c->out);
		return;
	}
	putc('"', c->out);
	if (is_formula)
		putc('\'', c->out);
	for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
		fwrite(s, 1, (size_t)(quote + 1 - s), c->out);
		putc('"', c->out);
	}
	fputs(s, c->out);
	putc('"', c->out);
}

/* A row has some twenty of these: without printf's format it takes a tenth less time. */
static void put_ns(struct writer *c, uint64_t ns)
{
	char text[1 + 20], *p = text + sizeof(text);

	do
		*--p = (char)('0' + ns % 10);
	while (ns /= 10);
	*--p = ',';
	fwrite(p, 1, (size_t)(text + sizeof(text) - p), c->out);
}

/* A thread or process id; an empty field if it is unknown. */
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

/* The name of the process; an empty field if its leader was never seen. */
static void put_process(struct writer *c, uint32_t thread)
{
	const char *name = trace_string(c->trace, process_name(c->processes, thread));

	putc(',', c->out);
	if (*name)
		put_text(c, names_text(c->names, names_clean(c->names, name)));
}

static void put_stack(struct writer *c, uint32_t text)
{
	putc(',', c->out);
	put_text(c, names_text(c->names, text));
}

/* The names of the flags, separated by spaces. */
static void put_flags(struct writer *c, const struct wait *w)
{
	const char *separator = ",";

	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		if (w->flags & f->flag) {
			fprintf(c->out, "%s%s", separator, f->name);
			separator = " ";
		}
	if (wait_throttled(w)) {
		fprintf(c->out, "%sthrottled", separator);
		separator = " ";
	}
	if (wait_killed(w)) {
		fprintf(c->out, "%skilled", separator);
		separator = " ";
	}
	if (*separator == ',')
		putc(',', c->out);
}

/* Name, ids, handler and stack of the waker; empty fields if none is known. */
static void put_waker(struct writer *c, const struct wait *w)
{
	uint32_t kstack = timelines_pair(c->timelines, w->waker_stack).kstack, name, frame;
	const struct thread *th;
	struct waker_context context;

	if (w->kind != WAIT_SLEEP || w->waker == THREAD_NONE) {
		fputs(",,,,,", c->out);
		return;
	}
	context = waker_context(c->wait.chains.kernel, c->timelines, w);
	if (context.interrupt) {
		frame = names_frame(c->names,
				    irq_handler(c->wait.chains.kernel, kstack, context.frames));
		fputs(",[interrupt],,,", c->out);
		put_text(c, names_text(c->names, frame));
	} else {
		name = names_thread(c->names, w->waker, w->wake_ns);
		th = timelines_thread(c->timelines, w->waker);
		putc(',', c->out);
		put_text(c, names_text(c->names, name));
		put_id(c, th->tid);
		put_id(c, th->tgid);
		putc(',', c->out);
	}
	put_stack(c, names_waker_stack(c->names, w->waker_stack, context));
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Traces without objects have no such column. */
static bool has_objects(const struct writer *c)
{
	return wait_classes_known(c->timelines);
}

static void put_header(struct writer *c)
{
	fputs("start_ns,wake_ns,end_ns,wall_time,thread,tid,pid,process,kind,state,flags,"
	      "blocked_ns,runnable_ns,preempted_ns,waker,waker_tid,waker_pid,waker_handler,waker_"
	      "stack",
	      c->out);
	for (size_t i = 0; i < N_ENDS; i++) {
		fputs(",end_", c->out);
		for (const char *p = chain_end_word(columns[i]); *p; p++)
			putc(*p == ' ' ? '_' : *p, c->out);
		fputs("_ns", c->out);
	}
	fputs(has_objects(c) ? ",stack,object" : ",stack", c->out);
	for (int i = 1; i <= WHO_COLUMNS && c->cpu_holders; i++)
		fprintf(c->out, ",had_cpu_%d,had_cpu_%d_ns", i, i);
	if (c->interrupts)
		fputs(",end_running_interrupts_ns", c->out);
	for (int i = 1; i <= RAN_COLUMNS && c->sampled; i++)
		fprintf(c->out, ",ran_%d,ran_%d_ns", i, i);
	if (c->requests)
		fputs(",endpoint,taken_ns,connection,reader_tid,marks,label,route,trace_id,span_id,"
		      "over_ns",
		      c->out);
	fputs(timelines_grouped(c->timelines) ? ",cgroup,cgroup_name\n" : "\n", c->out);
}

/* The path of the control group in which the thread was, and what that is called. */
static void put_group(struct writer *c, uint32_t path)
{
	putc(',', c->out);
	if (path)
		put_text(c, names_text(c->names, names_string(c->names, path)));
	putc(',', c->out);
	if (path)
		put_text(c, names_text(c->names, names_group_path(c->names, path)));
}

/* Those who had the CPU longest while the thread waited for one; unknown ones are left out. */
static void put_who(struct writer *c, const struct chosen_wait *p)
{
	struct sums *s = &c->who_had_cpu;
	const struct sum *of;
	size_t n_of;
	int n = 0;

	if (!c->cpu_holders)
		return;
	sums_clear(s);
	cpu_holders_share(c->cpu_holders, p->thread, p->wait, p->shown.off_from_ns,
			  p->shown.off_to_ns, cpu_holders_add, s);
	sums_sort(s, c->names, cpu_holder_name);
	of = sums_of(s, 0, &n_of);
	for (size_t i = 0; i < n_of && n < WHO_COLUMNS; i++) {
		if (!of[i].text)
			continue;
		putc(',', c->out);
		put_text(c, names_text(c->names, of[i].text));
		put_ns(c, of[i].amount);
		n++;
	}
	for (; n < WHO_COLUMNS; n++)
		fputs(",,", c->out);
}

/*
 * What wakers did while they ran: how much of that time went to interrupts, and the stacks in which
 * most of it was spent, by the samples (chain-semantics, section 8).
 */
static void put_ran(struct writer *c)
{
	const struct sum *stacks;
	size_t n;

	if (c->interrupts)
		put_ns(c, c->interrupted_ns);
	sums_sort(&c->stacks, c->names, sums_key_is_text);
	stacks = sums_of(&c->stacks, 0, &n);
	for (size_t i = 0; i < RAN_COLUMNS && c->sampled; i++) {
		putc(',', c->out);
		if (i >= n) {
			putc(',', c->out);
			continue;
		}
		put_text(c, names_text(c->names, stacks[i].text));
		put_ns(c, stacks[i].amount);
	}
}

/* A field with a text of the program; cleaned. */
static void put_clean(struct writer *c, const char *s)
{
	uint32_t text = *s ? names_clean(c->names, s) : 0;

	putc(',', c->out);
	put_text(c, text ? names_text(c->names, text) : "");
}

/* What rows of requests have in addition. */
static void put_request(struct writer *c, const struct request *q)
{
	const struct timelines *tl = c->timelines;
	const struct context *context = timelines_context(tl, q);
	char trace[TRACE_ID_SIZE], span[SPAN_ID_SIZE];
	const char *separator = "";

	put_clean(c, request_endpoint_name(tl, q));
	put_ns(c, q->taken_ns - timelines_start_ns(tl));
	putc(',', c->out);
	if (q->connection)
		fprintf(c->out, "%" PRIu64, q->connection);
	put_id(c, q->reader == THREAD_NONE ? 0 : timelines_thread(tl, q->reader)->tid);
	putc(',', c->out);
	for (const struct request_mark *m = request_marks; m->name; m++)
		if (q->flags & m->flag) {
			fprintf(c->out, "%s%s", separator, m->name);
			separator = " ";
		}
	put_clean(c, request_label(tl, q));
	put_clean(c, request_route(tl, q));
	fprintf(c->out, ",%s,%s", trace_id_text(trace, context), span_id_text(span, context));
	put_ns(c, request_over_ns(tl, c->median_ns, q));
}

static void put_wait(struct writer *c, const struct chosen_wait *p)
{
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	const struct thread *th = timelines_thread(c->timelines, p->thread);
	uint64_t start_ns = timelines_start_ns(c->timelines);
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;
	bool preempted = w->kind == WAIT_PREEMPTED;
	uint32_t name = names_thread(c->names, p->thread, w->out_ns);

	fprintf(c->out, "%" PRIu64 ",", w->out_ns - start_ns);
	if (!preempted && wait_has_waking(w))
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
	put_flags(c, w);
	put_ns(c, s->blocked_to_ns - s->blocked_from_ns);
	put_ns(c, preempted ? 0 : off_ns);
	put_ns(c, preempted ? off_ns : 0);
	put_waker(c, w);
	for (size_t i = 0; i < N_ENDS; i++)
		put_ns(c, c->ends_ns[columns[i]]);
	put_stack(c, names_off_cpu(c->names, w->stack));
	if (has_objects(c))
		put_stack(c, waited_for_words(c->names, w->stack));
	put_who(c, p);
	put_ran(c);
	if (c->requests)
		put_request(c, timelines_request_of(c->timelines, w));
	if (timelines_grouped(c->timelines))
		put_group(c, timelines_group(c->timelines, p->thread, w->out_ns));
	putc('\n', c->out);
}

static void add_to_sums(struct writer *c, const struct chosen_wait *p)
{
	struct chain_summary *sums = &c->totals.sums;
	const struct shown *s = &p->shown;
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;

	if (p->wait->kind == WAIT_SLEEP && has_objects(c))
		sums_add(&c->totals.classes, 0, wait_class(c->timelines, p->wait->stack),
			 s->blocked_to_ns - s->blocked_from_ns);
	sums->waits++;
	sums->blocked_ns += s->blocked_to_ns - s->blocked_from_ns;
	if (p->wait->kind == WAIT_PREEMPTED)
		sums->preempted_ns += off_ns;
	else
		sums->runnable_ns += off_ns;
	for (int i = 0; i < CHAIN_ENDS; i++)
		sums->ends_ns[i] += c->ends_ns[i];
}

/* Adds up the amounts of the current wait. */
static void sum_up(struct writer *c)
{
	size_t n, n_stacks;
	const struct wait_amount *a = wait_amounts_list(&c->wait, &n);

	memset(c->ends_ns, 0, sizeof(c->ends_ns));
	c->interrupted_ns = 0;
	sums_clear(&c->stacks);
	for (size_t i = 0; i < n; i++) {
		struct sum *ran = sums_of(&c->wait.ran, a[i].place, &n_stacks);

		c->ends_ns[a[i].key.end] += a[i].ns;
		c->interrupted_ns += a[i].interrupted_ns;
		if (a[i].key.end != CHAIN_RUNNING || !n_stacks)
			continue;
		sums_share(ran, n_stacks, a[i].ns, c->names);
		for (size_t k = 0; k < n_stacks; k++)
			sums_add(&c->stacks, 0, ran[k].text, ran[k].share);
	}
}

static bool write_wait(void *arg, const struct chosen_wait *p)
{
	struct writer *c = arg;

	wait_amounts_make(&c->wait, p);
	sum_up(c);
	add_to_sums(c, p);
	put_wait(c, p);
	/* Stop after a write error, which the caller reports. */
	return !ferror(c->out);
}

static int write_csv(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct wait_filter *s = NULL;
	struct writer c = {
		.out = out,
		.timelines = in->timelines,
		.trace = in->trace,
		.sampled = timelines_sampled(in->timelines),
		.interrupts = timelines_interrupts(in->timelines),
		.requests = o->requests,
	};

	names_new(&c.names, in->timelines, o);
	wait_amounts_init(&c.wait, in->timelines, o, c.names, true, c.sampled ? label_link : NULL,
			  NULL);
	wait_filter_new(&s, in->timelines, o, c.names);
	processes_new(&c.processes, in->timelines);
	cpu_holders_new(&c.cpu_holders, in->timelines, true);
	if (c.requests)
		c.median_ns = request_medians(in->timelines, o);
	put_header(&c);
	top_waits_walk(in->timelines, s, o->top, write_wait, &c);
	/* With --top only the longest waits were added up. */
	if (!ferror(out) && in->totals && !o->top) {
		wait_filter_idle(s, &c.totals.sums.idle_waits, &c.totals.sums.idle_ns);
		c.totals.sums.not_shown_ns = wait_filter_preempted_ns(s);
		c.totals.known = true;
		*in->totals = c.totals;
		c.totals.classes = (struct sums) { .n = 0 };
	}
	wait_amounts_free(&c.wait);
	cpu_holders_free(c.cpu_holders);
	sums_free(&c.totals.classes);
	sums_free(&c.who_had_cpu);
	sums_free(&c.stacks);
	intern_free(&c.links);
	free(c.median_ns);
	processes_free(c.processes);
	wait_filter_free(s);
	names_free(c.names);
	return 0;
}

const struct format format_csv = {
	.name = "csv",
	.summary = "waits as comma-separated values, for databases and notebooks",
	.wants_timelines = true,
	.wants_cpus = true,
	.takes = GIVEN_OF_CHAINS | GIVEN_MODE | GIVEN_PLAIN_ENDS | GIVEN_TOP,
	.write = write_csv,
};
