// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=perfetto: a trace for the Perfetto UI. Each thread has a track with its states as
 * slices. Each waking is an instant on the waker's track, with an arrow to the slice in which the
 * wakee runs. Interrupts have a track of their own. Samples of running threads are on their tracks.
 * Written thread by thread, each in the order of time.
 *
 * Requests have tracks of their own: see perfetto_requests.h.
 *
 * All parts of a thread's time are shown unless --state selects some. A wait that is not selected
 * is a gap; a waker that is not selected has a track with its wakings only.
 */
#include <stdlib.h>
#include <string.h>

#include "words/kernel_stacks.h"
#include "formats/format.h"
#include "perfetto.h"
#include "perfetto_requests.h"
#include "attribute/chain.h"
#include "timeline/processes.h"
#include "select/wait_filter.h"
#include "words/object_names.h"
#include "words/names.h"
#include "words/waited_for.h"
#include "common/xalloc.h"

/* An interned string is identified by one of these kinds and a number. */
enum string_kind {
	STRING_OFF_CPU, /* number: stack pair */
	/* Number: stack pair of a waker. Which of its frames are shown depends on the context: */
	STRING_TASK,
	STRING_INTERRUPT,
	STRING_IDLE,	     /* an interrupt in the idle loop */
	STRING_STATE,	     /* number: letter */
	STRING_FLAGS,	     /* number: flags, or-ed */
	STRING_HANDLER,	     /* number: kernel stack */
	STRING_IDLE_HANDLER, /* likewise, in the idle loop */
	STRING_OBJECT,	     /* number: stack pair */
	STRING_END,	     /* number: enum chain_end */
	STRING_DISK,	     /* number: kind of disk request */
	STRING_SOCKET,	     /* number: object */
	STRING_THREADS,	     /* + the thread's index; number: its name */
};

#define TRACK_INTERRUPTS 1u

struct writer {
	FILE *out;
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct names *names;
	struct wait_filter *filter;
	struct kernel_stacks *kernel;
	struct processes *processes;
	struct perfetto *perfetto;
	bool *described; /* by track */
	uint64_t flows;
	uint64_t from_ns, to_ns; /* the window of time that is shown */
	uint32_t *frames;	 /* of the callstack in the making */
	size_t n_frames, cap_frames;
};

/* ---- tracks --------------------------------------------------------------------------------- */

/* Two numbers for each thread: it may be the leader by which its process is identified. */
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

	return names_text(p->names, text);
}

/* Only a process whose leader was seen has a name and a track; 0: it has none. */
static uint64_t describe_process(void *arg, uint32_t thread)
{
	struct writer *p = arg;
	uint32_t leader = process_leader(p->processes, thread);
	uint64_t track = leader == THREAD_NONE ? 0 : process_track(leader);
	uint32_t name, path, group = 0;
	const struct thread *th;

	if (!track || p->described[track])
		return track;
	p->described[track] = true;
	th = timelines_thread(p->timelines, leader);
	/* Both are made first, as making a text moves others. */
	name = names_clean(p->names, trace_string(p->trace, process_name(p->processes, thread)));
	path = timelines_group(p->timelines, leader, th->end_ns);
	if (path)
		group = names_group_path(p->names, path);
	perfetto_track(p->perfetto, track, th->tgid, 0, names_text(p->names, name),
		       group ? names_text(p->names, group) : NULL);
	return track;
}

/* A thread whose process is not known is shown as one of its own. */
static uint32_t pid_of(const struct writer *p, uint32_t thread)
{
	const struct thread *th = timelines_thread(p->timelines, thread);

	return th->tgid ? th->tgid : th->tid;
}

/* The thread's track, described before it is first used. */
static uint64_t track_of(void *arg, uint32_t thread)
{
	struct writer *p = arg;
	const struct thread *th = timelines_thread(p->timelines, thread);
	uint64_t track = thread_track(thread);

	if (p->described[track])
		return track;
	p->described[track] = true;
	(void)describe_process(p, thread);
	perfetto_track(p->perfetto, track, pid_of(p, thread), th->tid,
		       clean(p, timelines_nth_name(p->timelines, thread, th->renames)), NULL);
	return track;
}

static uint64_t interrupts_track(struct writer *p)
{
	if (!p->described[TRACK_INTERRUPTS])
		perfetto_track(p->perfetto, TRACK_INTERRUPTS, 0, 0, "[interrupt]", NULL);
	p->described[TRACK_INTERRUPTS] = true;
	return TRACK_INTERRUPTS;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* Writes an argument. True: its value is new, and the caller must define it. */
static bool put_arg(struct writer *p, enum perfetto_arg arg, uint32_t key, uint32_t kind,
		    uint32_t *value)
{
	bool is_new;

	*value = perfetto_string(p->perfetto, PERFETTO_ARG_VALUES, key, kind, &is_new);
	perfetto_arg(p->perfetto, arg, *value);
	return is_new;
}

static void define(struct writer *p, uint32_t value, const char *s, size_t len)
{
	perfetto_define(p->perfetto, PERFETTO_ARG_VALUES, value, s, len);
}

static void define_text(struct writer *p, uint32_t value, uint32_t text)
{
	const char *s = names_text(p->names, text);

	define(p, value, s, strlen(s));
}

/* Defines prefix, text and suffix, joined, as a string of the set. */
static void define_joined(struct writer *p, enum perfetto_set set, uint32_t id, const char *prefix,
			  uint32_t text, const char *suffix)
{
	struct text_buf s = { 0 };

	text_puts(&s, prefix);
	text_puts(&s, names_text(p->names, text));
	text_puts(&s, suffix);
	perfetto_define(p->perfetto, set, id, s.p, s.len);
	text_free(&s);
}

/* The stack in which w's thread slept. */
static void put_off_cpu(struct writer *p, const struct wait *w)
{
	uint32_t value;

	if (put_arg(p, PERFETTO_STACK, w->stack, STRING_OFF_CPU, &value))
		define_text(p, value, names_off_cpu(p->names, w->stack));
}

static void put_object(struct writer *p, const struct wait *w)
{
	uint32_t value;

	if (names_shown_objects(p->names, w->stack).object &&
	    put_arg(p, PERFETTO_OBJECT, w->stack, STRING_OBJECT, &value))
		define_text(p, value, waited_for_words(p->names, w->stack));
}

/* The stack from which it was woken. */
static void put_waker_stack(struct writer *p, enum perfetto_arg arg, const struct wait *w,
			    struct waker_context context)
{
	uint32_t kind = !context.interrupt	  ? STRING_TASK
			: w->waker == THREAD_IDLE ? STRING_IDLE
						  : STRING_INTERRUPT;
	uint32_t value;

	if (put_arg(p, arg, w->waker_stack, kind, &value))
		define_text(p, value, names_waker_stack(p->names, w->waker_stack, context));
}

/* "[disk vda read]" */
static void put_disk(struct writer *p, const struct wait *w)
{
	uint32_t kind = disk_request_of(p->timelines, w)->kind, value;
	struct disk_request_kind k = timelines_disk_request_kind(p->timelines, kind);
	struct text_buf name = { 0 };
	uint32_t text;

	if (!put_arg(p, PERFETTO_END, kind, STRING_DISK, &value))
		return;
	text_puts(&name, "[");
	disk_names_put(p->trace, k.disk, k.op, &name);
	text_puts(&name, "]");
	text = names_clean(p->names, name.p);
	define_text(p, value, text);
	text_free(&name);
}

/* "[network] tcp 10.0.0.5:5432 server/77" */
static void put_network(struct writer *p, uint32_t socket)
{
	char end[24];
	uint32_t value;

	if (!put_arg(p, PERFETTO_END, socket, STRING_SOCKET, &value))
		return;
	snprintf(end, sizeof(end), "%s ", chain_end_name(CHAIN_NETWORK));
	define_joined(p, PERFETTO_ARG_VALUES, value, end, words_of_object(p->names, socket), "");
}

/* What ended a wait, if that was an interrupt. */
static void put_end(struct writer *p, const struct wait *w)
{
	struct waker_context context;
	enum chain_end end =
		chain_next(p->timelines, p->kernel, p->options, w, UINT32_MAX, &context);
	uint32_t socket = 0, value;

	if (!chain_end_is_interrupt(end))
		return;
	if (end == CHAIN_NETWORK)
		socket = socket_of_wait(p->timelines, p->options, w);
	if (end == CHAIN_DISK)
		put_disk(p, w);
	else if (socket)
		put_network(p, socket);
	else if (put_arg(p, PERFETTO_END, end, STRING_END, &value))
		define(p, value, chain_end_name(end), strlen(chain_end_name(end)));
}

/* "NAME (tid 123)" */
static void put_thread(struct writer *p, enum perfetto_arg arg, uint32_t thread, uint64_t at_ns)
{
	uint32_t text = names_thread(p->names, thread, at_ns), value;
	char tid[24];

	if (!put_arg(p, arg, text, STRING_THREADS + thread, &value))
		return;
	snprintf(tid, sizeof(tid), " (tid %u)", timelines_thread(p->timelines, thread)->tid);
	define_joined(p, PERFETTO_ARG_VALUES, value, "", text, tid);
}

/* "[interrupt] handler" */
static void put_handler(struct writer *p, const struct wait *w, struct waker_context context)
{
	uint32_t kstack = timelines_pair(p->timelines, w->waker_stack).kstack;
	uint32_t kind = w->waker == THREAD_IDLE ? STRING_IDLE_HANDLER : STRING_HANDLER;
	uint32_t text, value;

	if (!put_arg(p, PERFETTO_WAKER, kstack, kind, &value))
		return;
	text = names_frame(p->names, irq_handler(p->kernel, kstack, context.frames));
	define_joined(p, PERFETTO_ARG_VALUES, value, "[interrupt] ", text, "");
}

static void put_state(struct writer *p, const struct wait *w)
{
	uint32_t value;

	const char state = (char)w->state;

	if (state != '?' && put_arg(p, PERFETTO_STATE, w->state, STRING_STATE, &value))
		define(p, value, &state, 1);
}

static void put_flags(struct writer *p, const struct wait *w)
{
	char s[80] = "";
	unsigned int flags = 0;
	uint32_t value;

	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		flags |= w->flags & f->flag;
	if (!flags || !put_arg(p, PERFETTO_FLAGS, flags, STRING_FLAGS, &value))
		return;
	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		if (flags & f->flag) {
			strcat(s, *s ? "," : "");
			strcat(s, f->name);
		}
	define(p, value, s, strlen(s));
}

/* ---- slices and arrows ---------------------------------------------------------------------- */

static bool has_waker(const struct wait *w)
{
	return w->kind == WAIT_SLEEP && w->waker != THREAD_NONE && !(w->flags & WAIT_NOT_WOKEN);
}

static struct waker_context context_of_waking(struct writer *p, const struct wait *w)
{
	return waker_context(p->kernel, p->timelines, w);
}

/* A slice without arguments, clipped to the window. */
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

static void put_blocked(struct writer *p, uint64_t track, const struct wait *w,
			const struct shown *s)
{
	if (s->blocked_from_ns >= s->blocked_to_ns)
		return;
	perfetto_begin_slice(p->perfetto, track, s->blocked_from_ns, PERFETTO_BLOCKED, 0);
	put_off_cpu(p, w);
	put_object(p, w);
	put_state(p, w);
	put_flags(p, w);
	if (has_waker(w)) {
		struct waker_context context = context_of_waking(p, w);

		put_end(p, w);
		if (context.interrupt)
			put_handler(p, w, context);
		else
			put_thread(p, PERFETTO_WAKER, w->waker, w->wake_ns);
		put_waker_stack(p, PERFETTO_WAKER_STACK, w, context);
	}
	perfetto_end(p->perfetto);
	perfetto_end_slice(p->perfetto, track, s->blocked_to_ns);
}

static void put_preempted(struct writer *p, uint64_t track, const struct wait *w,
			  const struct shown *s)
{
	if (s->off_from_ns >= s->off_to_ns)
		return;
	perfetto_begin_slice(p->perfetto, track, s->off_from_ns, PERFETTO_PREEMPTED, 0);
	put_off_cpu(p, w);
	perfetto_end(p->perfetto);
	perfetto_end_slice(p->perfetto, track, s->off_to_ns);
}

/* ---- samples -------------------------------------------------------------------------------- */

/* The number of a text in a set, in which it is identified by id. */
static uint32_t string_of(struct writer *p, enum perfetto_set set, uint32_t id, const char *text)
{
	bool is_new;
	uint32_t string = perfetto_string(p->perfetto, set, id, 0, &is_new);

	if (is_new)
		perfetto_define(p->perfetto, set, string, text, strlen(text));
	return string;
}

/* The path of a module, cleaned; that of no module is empty. */
static const char *path_of(struct writer *p, uint32_t module)
{
	uint32_t text = module ? names_clean(p->names, trace_module_path(p->trace, module)) : 0;

	return text ? names_text(p->names, text) : "";
}

/* A frame of a callstack; the delimiter is none. */
static void add_frame(void *arg, uint32_t text, const struct trace_frame *frame)
{
	struct writer *p = arg;
	uint32_t module = frame ? frame->module : 0, function, path;
	const char *name = names_text(p->names, text);
	if (!frame && !strcmp(name, "-"))
		return;
	XGROW(p->frames, p->n_frames, p->cap_frames);
	function = string_of(p, PERFETTO_FUNCTIONS, text, name);
	path = string_of(p, PERFETTO_PATHS, module, path_of(p, module));
	p->frames[p->n_frames++] = perfetto_frame(p->perfetto, function, path);
}

static void put_callstack(struct writer *p, uint32_t pair)
{
	uint32_t callstack, text = names_off_cpu(p->names, pair);
	bool is_new;

	/* -K and -U can hide all of it. */
	if (!*names_text(p->names, text))
		return;
	callstack = perfetto_string(p->perfetto, PERFETTO_CALLSTACKS, pair, 0, &is_new);
	perfetto_callstack(p->perfetto, callstack);
	if (!is_new)
		return;
	p->n_frames = 0;
	names_put_own_stack(p->names, pair, (struct frame_sink) { .put = add_frame, .arg = p });
	perfetto_define_callstack(p->perfetto, callstack, p->frames, p->n_frames);
}

static void put_sample(struct writer *p, uint32_t pid, uint32_t tid, const struct sample *s)
{
	perfetto_begin_sample(p->perfetto, pid, tid, s->cpu, s->ns);
	put_callstack(p, s->pair);
	perfetto_end(p->perfetto);
}

/* Time in which the thread ran, and its samples. */
static void put_running(struct writer *p, uint64_t track, uint32_t thread, uint64_t from_ns,
			uint64_t to_ns, uint64_t flow)
{
	uint32_t tid = timelines_thread(p->timelines, thread)->tid, pid = pid_of(p, thread);
	const struct sample *end, *s = timelines_samples(p->timelines, thread, &end);

	put_slice(p, track, PERFETTO_RUNNING, from_ns, to_ns, flow);
	from_ns = clip_ns(from_ns, p->from_ns, p->to_ns);
	to_ns = clip_ns(to_ns, p->from_ns, p->to_ns);
	if (s < end)
		s = sample_at(s, end, from_ns);
	for (; s < end && s->ns < to_ns; s++)
		put_sample(p, pid, tid, s);
}

/* ---- wakings -------------------------------------------------------------------------------- */

/* The waking that ended w: an instant on the waker's track. */
static void put_waking(struct writer *p, uint32_t thread, const struct wait *w, uint64_t flow)
{
	struct waker_context context = context_of_waking(p, w);
	uint64_t track = context.interrupt ? interrupts_track(p) : track_of(p, w->waker);
	uint32_t text = names_thread(p->names, thread, w->wake_ns), name;
	bool is_new;

	name = perfetto_string(p->perfetto, PERFETTO_EVENT_NAMES, text, 0, &is_new);
	perfetto_begin_instant(p->perfetto, track, w->wake_ns, name, flow);
	if (is_new)
		define_joined(p, PERFETTO_EVENT_NAMES, name, "wakes ", text, "");
	put_thread(p, PERFETTO_WAKEE, thread, w->wake_ns);
	if (context.interrupt)
		put_handler(p, w, context);
	put_waker_stack(p, PERFETTO_STACK, w, context);
	perfetto_end(p->perfetto);
}

/* True if the thread is shown running right after its k-th off-CPU interval. */
static bool runs_after(const struct writer *p, const struct thread *th, uint32_t k)
{
	uint64_t in_ns = th->waits[k].in_ns;

	return in_ns >= p->from_ns && in_ns < p->to_ns && in_ns < th->end_ns &&
	       (k + 1 == th->n_waits || th->waits[k + 1].out_ns > in_ns);
}

/* Writes the k-th off-CPU interval. Returns the flow that the next slice ends, 0 if none. */
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
	if (!wait_filter_wait(p->filter, thread, w, &s))
		return 0;
	if (w->kind == WAIT_PREEMPTED) {
		put_preempted(p, track, w, &s);
		return 0;
	}
	put_blocked(p, track, w, &s);
	put_slice(p, track, PERFETTO_RUNNABLE, s.off_from_ns, s.off_to_ns, 0);
	/* What ended a sleep that goes on is shown at its end: the waker woke the thread later. */
	if (has_waker(w) && !w->goes_on && w->wake_ns >= p->from_ns && w->wake_ns < p->to_ns) {
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
		put_running(p, track, thread, at_ns, th->waits[k].out_ns, flow);
		flow = put_wait(p, track, thread, k);
		at_ns = th->waits[k].in_ns;
	}
	put_running(p, track, thread, at_ns, th->end_ns, flow);
}

static void put_threads(struct writer *p)
{
	const struct timelines *tl = p->timelines;

	for (uint32_t i = 0; i < timelines_threads(tl) && !ferror(p->out); i++) {
		const struct thread *th = timelines_thread(tl, i);

		if (th->begin_ns < p->to_ns && th->end_ns > p->from_ns &&
		    wait_filter_thread(p->filter, i) && wait_filter_name(p->filter, i))
			put_thread_track(p, i);
	}
}

/* All of them, or those that the options choose. */
static void put_requests(struct writer *p)
{
	struct options o = *p->options;
	struct perfetto_requests r = {
		.perfetto = p->perfetto,
		.timelines = p->timelines,
		.names = p->names,
		.from_ns = p->from_ns,
		.to_ns = p->to_ns,
		.flows = &p->flows,
		.thread_track = track_of,
		.process_track = describe_process,
		.arg = p,
	};
	uint32_t client, end;

	o.requests = true;
	wait_filter_new(&r.filter, p->timelines, &o, p->names);
	timelines_range(p->timelines, true, &client, &end);
	for (; client < end && !ferror(p->out); client++)
		if (wait_filter_thread(r.filter, client))
			perfetto_requests_put(&r, client, thread_track(client));
	wait_filter_free(r.filter);
}

static int write_perfetto(const struct format_input *in, FILE *out)
{
	struct options o = *in->options;
	uint64_t start_ns = timelines_start_ns(in->timelines);
	struct writer p = {
		.out = out, .timelines = in->timelines, .trace = in->trace, .options = &o
	};

	perfetto_new(&p.perfetto, out, start_ns, trace_info(in->trace)->wall_ns);
	if (!(o.given & GIVEN_STATE))
		o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	/* A sleep that did not end is shown, too: a gap would look like missing data. */
	if (!(o.given & GIVEN_ENDED))
		o.ended = false;
	o.requests = false;
	names_new(&p.names, in->timelines, &o);
	wait_filter_new(&p.filter, in->timelines, &o, p.names);
	processes_new(&p.processes, in->timelines);
	p.described =
		xcalloc((size_t)timelines_clients_end(in->timelines) * 2 + 4, sizeof(*p.described));
	p.kernel = names_kernel_stacks(p.names);
	wait_filter_window(p.filter, &p.from_ns, &p.to_ns);
	put_threads(&p);
	put_requests(&p);
	perfetto_finish(p.perfetto);
	free(p.described);
	free(p.frames);
	perfetto_free(p.perfetto);
	processes_free(p.processes);
	wait_filter_free(p.filter);
	names_free(p.names);
	return 0;
}

const struct format format_perfetto = {
	.name = "perfetto",
	.summary = "a trace for the Perfetto UI",
	.wants_timelines = true,
	.binary = true,
	.takes = GIVEN_OF_WAITS | GIVEN_REQUESTS | GIVEN_STACKS | GIVEN_OBJECTS,
	.write = write_perfetto,
};
