// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A trace for the Perfetto UI: for each thread a track with what it did as slices, one after
 * another; on the waker's track an instant for each waking, and from there an arrow to the slice
 * in which the woken thread runs. Interrupts have a track of their own. Thread by thread, each in
 * order of time.
 *
 * All parts of a thread's time are shown unless --state picks some. Where a wait is not chosen
 * there is a gap; wakers that are not chosen have tracks with their wakings alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "format.h"
#include "handler.h"
#include "perfetto.h"
#include "processes.h"
#include "select.h"
#include "stack_text.h"

/* What a string stands for, beside a number of its own: the second half of its key. */
enum string_kind {
	STRING_OFF_CPU, /* a stack pair's */
	STRING_TASK,	/* the same, as a waker's */
	STRING_INTERRUPT,
	STRING_IDLE, /* an interrupt in the idle loop: what is its own differs */
	STRING_STATE,
	STRING_FLAGS,
	STRING_HANDLER, /* of a kernel stack */
	STRING_IDLE_HANDLER,
	STRING_THREADS, /* and all above: a thread, with its name as the number */
};

#define TRACK_INTERRUPTS 1u

struct writer {
	FILE *out;
	const struct timelines *timelines;
	const struct trace *trace;
	struct names *names;
	struct selection *selection;
	struct contexts *contexts;
	struct processes *processes;
	struct perfetto *perfetto;
	bool *told; /* by track: it has been described */
	uint64_t flows;
	uint64_t from_ns, to_ns; /* what is shown */
	bool out_of_memory;
};

/* ---- tracks --------------------------------------------------------------------------------- */

/* Each thread could be the one that its process is known by: two numbers for each. */
static uint64_t thread_track(uint32_t thread)
{
	return 2 * (uint64_t)thread + 2;
}

static uint64_t process_track(uint32_t thread)
{
	return 2 * (uint64_t)thread + 3;
}

static const char *clean(struct writer *p, uint32_t string)
{
	uint32_t text = names_clean(p->names, trace_string(p->trace, string));

	p->out_of_memory |= !text;
	return names_text(p->names, text);
}

/* Only a process whose leader was seen has a name, and a track. */
static void tell_process(struct writer *p, uint32_t thread)
{
	uint32_t leader = process_leader(p->processes, thread);
	uint64_t track = leader == THREAD_NONE ? 0 : process_track(leader);

	if (!track || p->told[track])
		return;
	p->told[track] = true;
	perfetto_process_track(p->perfetto, track, timelines_thread(p->timelines, leader)->tgid,
			       clean(p, process_name(p->processes, thread)));
}

/* The thread's track, described before it is first used. */
static uint64_t track_of(struct writer *p, uint32_t thread)
{
	const struct thread *th = timelines_thread(p->timelines, thread);
	uint64_t track = thread_track(thread);

	if (p->told[track])
		return track;
	p->told[track] = true;
	tell_process(p, thread);
	perfetto_thread_track(p->perfetto, track, th->tgid ? th->tgid : th->tid, th->tid,
			      clean(p, timelines_nth_name(p->timelines, thread, th->renames)));
	return track;
}

static uint64_t interrupts_track(struct writer *p)
{
	if (!p->told[TRACK_INTERRUPTS])
		perfetto_track(p->perfetto, TRACK_INTERRUPTS, "[interrupt]");
	p->told[TRACK_INTERRUPTS] = true;
	return TRACK_INTERRUPTS;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* Puts an argument by its value's key. True: the value is new, and to be told. */
static bool put_arg(struct writer *p, enum perfetto_arg arg, uint32_t key, uint32_t kind,
		    uint32_t *value)
{
	bool is_new;

	*value = perfetto_string(p->perfetto, PERFETTO_ARG_VALUES, key, kind, &is_new);
	perfetto_arg(p->perfetto, arg, *value);
	return is_new;
}

static void tell(struct writer *p, uint32_t value, const char *s, size_t len)
{
	perfetto_tell(p->perfetto, PERFETTO_ARG_VALUES, value, s, len);
}

static void tell_stack(struct writer *p, uint32_t value, struct stack_text t)
{
	p->out_of_memory |= !t.s;
	if (t.s)
		tell(p, value, t.s, t.len);
}

/* Where w's thread slept. */
static void put_off_cpu(struct writer *p, uint32_t thread, const struct wait *w)
{
	uint32_t value;

	if (put_arg(p, PERFETTO_STACK, w->stack, STRING_OFF_CPU, &value))
		tell_stack(p, value, stack_text_off_cpu(p->names, thread, w));
}

/* From where it was woken. */
static void put_waker_stack(struct writer *p, enum perfetto_arg arg, const struct wait *w,
			    struct context context)
{
	uint32_t kind = !context.interrupt	  ? STRING_TASK
			: w->waker == THREAD_IDLE ? STRING_IDLE
						  : STRING_INTERRUPT;
	uint32_t value;

	if (put_arg(p, arg, w->waker_stack, kind, &value))
		tell_stack(p, value, stack_text_waker(p->names, w, context));
}

/* "NAME (tid 123)" */
static void put_thread(struct writer *p, enum perfetto_arg arg, uint32_t thread, uint64_t at_ns)
{
	uint32_t text = names_thread(p->names, thread, at_ns), value;
	struct text_buf s = { 0 };
	char tid[24];

	if (!put_arg(p, arg, text, STRING_THREADS + thread, &value))
		return;
	snprintf(tid, sizeof(tid), " (tid %u)", timelines_thread(p->timelines, thread)->tid);
	text_puts(&s, names_text(p->names, text));
	text_puts(&s, tid);
	p->out_of_memory |= !text || s.failed;
	if (!s.failed)
		tell(p, value, s.p, s.len);
	text_free(&s);
}

/* "[interrupt] handler" */
static void put_handler(struct writer *p, const struct wait *w, struct context context)
{
	uint32_t kstack = timelines_pair(p->timelines, w->waker_stack).kstack;
	uint32_t kind = w->waker == THREAD_IDLE ? STRING_IDLE_HANDLER : STRING_HANDLER;
	uint32_t text, value;
	struct text_buf s = { 0 };

	if (!put_arg(p, PERFETTO_WAKER, kstack, kind, &value))
		return;
	text = names_frame(p->names, handler_frame(p->trace, kstack, context.frames));
	text_puts(&s, "[interrupt] ");
	text_puts(&s, names_text(p->names, text));
	p->out_of_memory |= !text || s.failed;
	if (!s.failed)
		tell(p, value, s.p, s.len);
	text_free(&s);
}

static void put_state(struct writer *p, const struct wait *w)
{
	uint32_t value;

	if (w->state != '?' &&
	    put_arg(p, PERFETTO_STATE, (uint32_t)(unsigned char)w->state, STRING_STATE, &value))
		tell(p, value, &w->state, 1);
}

static void put_flags(struct writer *p, const struct wait *w)
{
	char s[80] = "";
	unsigned int told = 0;
	uint32_t value;

	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		told |= w->flags & f->flag;
	if (!told || !put_arg(p, PERFETTO_FLAGS, told, STRING_FLAGS, &value))
		return;
	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		if (told & f->flag) {
			strcat(s, *s ? "," : "");
			strcat(s, f->name);
		}
	tell(p, value, s, strlen(s));
}

/* ---- slices and arrows ---------------------------------------------------------------------- */

static bool has_waker(const struct wait *w)
{
	return w->kind == WAIT_SLEEP && w->waker != THREAD_NONE && !(w->flags & WAIT_NOT_WOKEN);
}

static struct context context_of_waking(struct writer *p, const struct wait *w)
{
	return context_of(p->contexts, timelines_pair(p->timelines, w->waker_stack).kstack,
			  w->waker == THREAD_IDLE);
}

/* A slice without arguments, as far as it lies in what is shown. */
static void put_slice(struct writer *p, uint64_t track, enum perfetto_name name, uint64_t from_ns,
		      uint64_t to_ns, uint64_t flow)
{
	if (from_ns < p->from_ns)
		from_ns = p->from_ns;
	if (to_ns > p->to_ns)
		to_ns = p->to_ns;
	if (from_ns >= to_ns)
		return;
	perfetto_begin_slice(p->perfetto, track, from_ns, name, flow);
	perfetto_end(p->perfetto);
	perfetto_end_slice(p->perfetto, track, to_ns);
}

static void put_blocked(struct writer *p, uint64_t track, uint32_t thread, const struct wait *w,
			const struct shown *s)
{
	if (s->blocked_from_ns >= s->blocked_to_ns)
		return;
	perfetto_begin_slice(p->perfetto, track, s->blocked_from_ns, PERFETTO_BLOCKED, 0);
	put_off_cpu(p, thread, w);
	put_state(p, w);
	put_flags(p, w);
	if (has_waker(w)) {
		struct context context = context_of_waking(p, w);

		if (context.interrupt)
			put_handler(p, w, context);
		else
			put_thread(p, PERFETTO_WAKER, w->waker, w->wake_ns);
		put_waker_stack(p, PERFETTO_WAKER_STACK, w, context);
	}
	perfetto_end(p->perfetto);
	perfetto_end_slice(p->perfetto, track, s->blocked_to_ns);
}

static void put_preempted(struct writer *p, uint64_t track, uint32_t thread, const struct wait *w,
			  const struct shown *s)
{
	if (s->off_from_ns >= s->off_to_ns)
		return;
	perfetto_begin_slice(p->perfetto, track, s->off_from_ns, PERFETTO_PREEMPTED, 0);
	put_off_cpu(p, thread, w);
	perfetto_end(p->perfetto);
	perfetto_end_slice(p->perfetto, track, s->off_to_ns);
}

/* The waking that ended w: an instant where the waker was at work. */
static void put_waking(struct writer *p, uint32_t thread, const struct wait *w, uint64_t flow)
{
	struct context context = context_of_waking(p, w);
	uint64_t track = context.interrupt ? interrupts_track(p) : track_of(p, w->waker);
	uint32_t text = names_thread(p->names, thread, w->wake_ns), name;
	struct text_buf s = { 0 };
	bool is_new;

	name = perfetto_string(p->perfetto, PERFETTO_EVENT_NAMES, text, 0, &is_new);
	perfetto_begin_instant(p->perfetto, track, w->wake_ns, name, flow);
	if (is_new) {
		text_puts(&s, "wakes ");
		text_puts(&s, names_text(p->names, text));
		p->out_of_memory |= !text || s.failed;
		if (!s.failed)
			perfetto_tell(p->perfetto, PERFETTO_EVENT_NAMES, name, s.p, s.len);
		text_free(&s);
	}
	put_thread(p, PERFETTO_WAKEE, thread, w->wake_ns);
	if (context.interrupt)
		put_handler(p, w, context);
	put_waker_stack(p, PERFETTO_STACK, w, context);
	perfetto_end(p->perfetto);
}

/* Whether the thread is seen running right after its k-th stretch. */
static bool runs_after(const struct writer *p, const struct thread *th, uint32_t k)
{
	uint64_t in_ns = th->waits[k].in_ns;

	return in_ns >= p->from_ns && in_ns < p->to_ns && in_ns < th->end_ns &&
	       (k + 1 == th->n_waits || th->waits[k + 1].out_ns > in_ns);
}

/* Its k-th stretch. Returns the flow that the slice after it ends, 0 if none. */
static uint64_t put_wait(struct writer *p, uint64_t track, uint32_t thread, uint32_t k)
{
	const struct thread *th = timelines_thread(p->timelines, thread);
	const struct wait *w = &th->waits[k];
	struct shown s;
	uint64_t flow = 0;

	if (w->kind == WAIT_UNKNOWN) {
		put_slice(p, track, PERFETTO_UNKNOWN, w->out_ns, w->in_ns, 0);
		return 0;
	}
	if (!selection_wait(p->selection, thread, w, &s))
		return 0;
	if (w->kind == WAIT_PREEMPTED) {
		put_preempted(p, track, thread, w, &s);
		return 0;
	}
	put_blocked(p, track, thread, w, &s);
	put_slice(p, track, PERFETTO_RUNNABLE, s.off_from_ns, s.off_to_ns, 0);
	if (has_waker(w) && w->wake_ns >= p->from_ns && w->wake_ns < p->to_ns) {
		if (runs_after(p, th, k))
			flow = ++p->flows;
		put_waking(p, thread, w, flow);
	}
	return flow;
}

static void put_thread_track(struct writer *p, uint32_t thread)
{
	const struct thread *th = timelines_thread(p->timelines, thread);
	uint64_t track = track_of(p, thread), at_ns = th->begin_ns, flow = 0;

	for (uint32_t k = thread_position(th, p->from_ns); k < th->n_waits && !ferror(p->out);
	     k++) {
		if (th->waits[k].out_ns >= p->to_ns)
			break;
		put_slice(p, track, PERFETTO_RUNNING, at_ns, th->waits[k].out_ns, flow);
		flow = put_wait(p, track, thread, k);
		at_ns = th->waits[k].in_ns;
	}
	put_slice(p, track, PERFETTO_RUNNING, at_ns, th->end_ns, flow);
}

static int put_threads(struct writer *p)
{
	const struct timelines *tl = p->timelines;

	for (uint32_t i = 0; i < timelines_threads(tl) && !ferror(p->out); i++) {
		const struct thread *th = timelines_thread(tl, i);

		if (th->begin_ns < p->to_ns && th->end_ns > p->from_ns &&
		    selection_thread(p->selection, th) && selection_name(p->selection, i))
			put_thread_track(p, i);
		if (p->out_of_memory)
			return -ENOMEM;
	}
	return perfetto_finish(p->perfetto);
}

static int write_perfetto(const struct format_input *in, FILE *out)
{
	struct options o = *in->options;
	uint64_t start_ns = timelines_start_ns(in->timelines);
	struct writer p = { .out = out, .timelines = in->timelines, .trace = in->trace };
	int err = -ENOMEM;

	if (!(o.given & GIVEN_STATE))
		o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	p.names = names_new(in->timelines, &o);
	p.selection = p.names ? selection_new(in->timelines, &o, p.names) : NULL;
	p.contexts = contexts_new(in->trace);
	p.processes = processes_new(in->timelines);
	p.perfetto = perfetto_new(out, start_ns, trace_info(in->trace)->wall_ns);
	p.told = calloc((size_t)timelines_threads(in->timelines) * 2 + 4, sizeof(*p.told));
	if (p.selection && p.contexts && p.processes && p.perfetto && p.told) {
		selection_window(p.selection, &p.from_ns, &p.to_ns);
		err = put_threads(&p);
	}
	free(p.told);
	perfetto_free(p.perfetto);
	processes_free(p.processes);
	contexts_free(p.contexts);
	selection_free(p.selection);
	names_free(p.names);
	return err;
}

const struct format format_perfetto = {
	.name = "perfetto",
	.summary = "a trace for the Perfetto UI",
	.wants_timelines = true,
	.refuses = GIVEN_DEPTH | GIVEN_MODE | GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_ANNOTATE |
		   GIVEN_BLOCKED_STACKS | GIVEN_UNIT | GIVEN_TOP | GIVEN_VIEW | GIVEN_BY_NAME,
	.write = write_perfetto,
};
