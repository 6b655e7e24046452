// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=events: every event as a line of text; with -v its stacks follow. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/attributed_time.h"
#include "words/object_names.h"
#include "words/program_words.h"
#include "format.h"
#include "base/text.h"

/* A thread's name and process at the time of the current event. */
struct identity {
	uint32_t name; /* string id */
	uint32_t tgid; /* 0: unknown */
};

struct printer {
	const struct trace *t;
	const struct options *o;
	FILE *out;
	struct identity *threads; /* by tid */
};

static const char *const kind_names[EVENT_KINDS] = {
	[EVENT_SWITCH] = "switch", [EVENT_WAKING] = "waking", [EVENT_WAKING_NEW] = "new",
	[EVENT_FORK] = "fork",	   [EVENT_EXEC] = "exec",     [EVENT_RENAME] = "rename",
	[EVENT_EXIT] = "exit",	   [EVENT_LOST] = "lost",
#define EVENT(NAME, number, record, slices, shown, key, fields) [EVENT_##NAME] = shown,
#define UNRECORDED(NAME, number, shown, key, fields) [EVENT_##NAME] = shown,
#include "events.def"
#include "common/xalloc.h"
};

static const char *thread_name(const struct printer *p, uint32_t tid)
{
	return tid ? trace_string(p->t, p->threads[tid].name) : "swapper";
}

static void put_thread(const struct printer *p, uint32_t tid)
{
	const char *name = thread_name(p, tid);

	print_clean(p->out, *name ? name : "[unknown]");
	fprintf(p->out, "/%u", tid);
}

/* Updates the identities from an event: before it is printed, but after it for a rename. */
static void update_identity(struct printer *p, const struct event *ev)
{
	if (ev->kind == EVENT_FORK) {
		p->threads[ev->other].name = ev->string;
		p->threads[ev->other].tgid = ev->tgid;
	} else if (ev->kind == EVENT_RENAME) {
		p->threads[ev->tid].name = ev->string;
	} else if (ev->kind == EVENT_EXEC && ev->other != ev->tid) {
		/* The thread that called exec takes over the leader's tid. */
		p->threads[ev->tid] = p->threads[ev->other];
		p->threads[ev->tid].tgid = ev->tid;
	}
}

static void put_work(const struct printer *p, const struct event *ev)
{
	uint64_t ago_ns = ev->time_ns - ev->work.queued_ns;

	if (ev->work.what == CHAINLOG_WORK_NONE) {
		fputs(" executes no work item", p->out);
	} else if (ev->work.what > CHAINLOG_WORK_QUEUED) {
		fprintf(p->out, " has executed a work item for %" PRIu64 " ns", ago_ns);
	} else {
		fputs(" executes what ", p->out);
		put_thread(p, ev->other);
		fprintf(p->out, " queued %" PRIu64 " ns ago", ago_ns);
	}
}

static bool thread_selected(const struct printer *p, uint32_t tid)
{
	const struct options *o = p->o;

	if (o->tids.n && !id_list_has(&o->tids, tid))
		return false;
	/* If the process is unknown, the thread may be its leader. */
	if (o->processes.ids.n &&
	    !id_list_has(&o->processes.ids, p->threads[tid].tgid ? p->threads[tid].tgid : tid))
		return false;
	return !o->names.n || regex_list_match(&o->names, thread_name(p, tid));
}

/* An event is shown if one of its threads is selected; a loss is shown with any selection. */
static bool event_selected(const struct printer *p, const struct event *ev)
{
	uint64_t at_ns = ev->time_ns - trace_info(p->t)->start_ns;

	if (at_ns >= p->o->to_ns)
		return false;
	if (ev->kind == EVENT_LOST)
		return ev->lost.last_ns - trace_info(p->t)->start_ns >= p->o->from_ns;
	if (at_ns < p->o->from_ns)
		return false;
	if (!(p->o->given & GIVEN_WHO))
		return true;
	return thread_selected(p, ev->tid) ||
	       (event_has_other(ev->kind) && thread_selected(p, ev->other));
}

static void put_stack(const struct printer *p, uint32_t id)
{
	struct trace_stack s = trace_stack(p->t, id);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(p->t, s.frames[i]);
		const char *file;
		uint32_t line;

		if (!f) {
			fputs("\t[unknown]\n", p->out);
			continue;
		}
		fprintf(p->out, "\t%16llx ", (unsigned long long)f->addr);
		if (f->symbol) {
			print_clean(p->out, trace_string(p->t, f->symbol));
			if (!f->code)
				fprintf(p->out, "+0x%llx", (unsigned long long)f->offset);
		} else {
			fputs("[unknown]", p->out);
		}
		if (f->module) {
			fputs(" (", p->out);
			print_clean(p->out, trace_module_path(p->t, f->module));
			putc(')', p->out);
		}
		line = trace_frame_line(p->t, s.frames[i], &file);
		if (line) {
			putc(' ', p->out);
			print_clean(p->out, file);
			fprintf(p->out, ":%u", line);
		}
		putc('\n', p->out);
	}
	if (s.cut)
		fputs("\t[cut]\n", p->out);
}

/* The name of the kind whose events an EVENT_AUX_LOST reports as lost. */
static const char *more_name(const struct event *ev)
{
	uint32_t kind = EVENT_AUX + ev->other;

	return kind < EVENT_KINDS && kind_names[kind] ? kind_names[kind] : "unknown";
}

static void put_object(const struct printer *p, const char *verb, const struct trace_object *o)
{
	fputs(verb, p->out);
	if (!o) {
		fputs("something unknown", p->out);
		return;
	}
	print_clean(p->out, trace_string(p->t, o->class));
	if (o->name) {
		putc(' ', p->out);
		print_clean(p->out, trace_string(p->t, o->name));
	}
	if (o->peer)
		fprintf(p->out, "%s %u",
			strcmp(trace_string(p->t, o->class), "futex") ? " of process"
								      : " held by thread",
			o->peer);
}

/* What was done, for whom it was asked, and when. */
static void put_disk_done(const struct printer *p, const struct event *ev)
{
	struct text_buf what = { 0 };

	putc(' ', p->out);
	disk_names_put(p->t, ev->disk_done.disk, (unsigned int)(ev->disk_done.what & 7), &what);
	print_clean(p->out, what.p);
	text_free(&what);
	fprintf(p->out, " %" PRIu64 " bytes", ev->disk_done.what >> 3);
	if (ev->disk_done.asked_ns)
		fprintf(p->out, ", asked %" PRIu64 " ns ago", ev->time_ns - ev->disk_done.asked_ns);
	if (ev->disk_done.issued_ns)
		fprintf(p->out, ", at the device for %" PRIu64 " ns",
			ev->time_ns - ev->disk_done.issued_ns);
}

/* What the events of requests have in common: connection and marks. */
static void put_connection(const struct printer *p, const struct event *ev)
{
	static const char *const marks[] = { "first",	   "pipelined", "old",	 "unsent",
					     "no-arrival", "probed",	"stream" };

	if (ev->request.connection)
		fprintf(p->out, " connection %" PRIu64, ev->request.connection);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (ev->request.flags >> i & 1)
			fprintf(p->out, " %s", marks[i]);
}

/* The thread is who wrote; of a request that was not answered, who read. */
static void put_request(const struct printer *p, const struct event *ev)
{
	if (ev->kind == EVENT_REQUEST_MORE) {
		fputs(" wrote more,", p->out);
	} else {
		put_object(p, ev->kind == EVENT_REQUEST ? " answers " : " read ",
			   trace_object(p->t, ev->request.endpoint));
		putc(',', p->out);
	}
	put_connection(p, ev);
	if (ev->kind == EVENT_REQUEST && ev->other != ev->tid) {
		fputs(", read by ", p->out);
		put_thread(p, ev->other);
	}
	if (ev->kind == EVENT_REQUEST_MORE)
		fprintf(p->out, ", first %" PRIu64 " ns ago", ev->time_ns - ev->request.arrival_ns);
	else
		fprintf(p->out, ", arrived %" PRIu64 " ns ago, taken %" PRIu64 " ns ago",
			ev->time_ns - ev->request.arrival_ns, ev->time_ns - ev->request.taken_ns);
	if (ev->kind != EVENT_REQUEST_MORE && ev->request.label &&
	    !(ev->request.flags & CHAINLOG_REQUEST_PROBED))
		put_object(p, ", ", trace_object(p->t, ev->request.label));
	if (ev->kind == EVENT_REQUEST_OPEN)
		return;
	fprintf(p->out, ", answered %" PRIu64 " ns ago", ev->time_ns - ev->request.answer_ns);
	if (ev->request.flags & CHAINLOG_REQUEST_PROBED) {
		if (ev->request.label)
			put_object(p, ", ", trace_object(p->t, ev->request.label));
		return;
	}
	if (ev->kind == EVENT_REQUEST)
		fprintf(p->out, ", %" PRIu64 " bytes read", ev->request.bytes_read);
	fprintf(p->out, ", %" PRIu64 " bytes written", ev->request.bytes_written);
}

static void put_context(const struct printer *p, const struct event *ev)
{
	if (!ev->context.trace_high && !ev->context.trace_low && !ev->context.span &&
	    !ev->context.route) {
		fputs(" works for no trace", p->out);
		return;
	}
	fprintf(p->out, " works for trace %016" PRIx64 "%016" PRIx64 " span %016" PRIx64,
		ev->context.trace_high, ev->context.trace_low, ev->context.span);
	if (ev->context.route)
		put_object(p, ", ", trace_object(p->t, ev->context.route));
}

static void put_event(const struct printer *p, const struct event *ev)
{
	uint64_t start_ns = trace_info(p->t)->start_ns, at_ns = ev->time_ns - start_ns;
	const char *timer;
	FILE *out = p->out;

	fprintf(out, "%6llu.%09llu ", (unsigned long long)at_ns / 1000000000,
		(unsigned long long)at_ns % 1000000000);
	if (ev->cpu == EVENT_CPU_UNKNOWN)
		fputs("[???]", out);
	else
		fprintf(out, "[%03u]", ev->cpu);
	fprintf(out, " %-6s ", kind_names[ev->kind]);
	if (ev->kind == EVENT_LOST || ev->kind == EVENT_AUX_LOST) {
		uint64_t last_ns = ev->lost.last_ns - start_ns;

		if (ev->kind == EVENT_AUX_LOST)
			fprintf(out, "%llu %s events", (unsigned long long)ev->lost.n,
				more_name(ev));
		else if (ev->lost.n)
			fprintf(out, "%llu events", (unsigned long long)ev->lost.n);
		else
			fputs("perhaps events", out);
		fprintf(out, " until %llu.%09llu\n", (unsigned long long)last_ns / 1000000000,
			(unsigned long long)last_ns % 1000000000);
		return;
	}
	if (ev->flags & CHAINLOG_F_NO_WAKER)
		putc('?', out);
	else if ((event_has_tid(ev->kind) || ev->kind == EVENT_WAITS_FOR) &&
		 (ev->kind != EVENT_GROUP || ev->tid)) /* a group's own */
		put_thread(p, ev->tid);
	switch (ev->kind) {
	case EVENT_SWITCH:
		fprintf(out, " %c -> ", ev->state);
		put_thread(p, ev->other);
		break;
	case EVENT_WAKING:
	case EVENT_WAKING_NEW:
		fputs(" -> ", out);
		put_thread(p, ev->other);
		if (ev->flags & CHAINLOG_F_OFF_QUEUE)
			fputs(" off its queue", out);
		break;
	case EVENT_FORK:
		fputs(" -> ", out);
		put_thread(p, ev->other);
		fprintf(out, " of process %u", ev->tgid);
		break;
	case EVENT_EXEC:
		putc(' ', out);
		program_put(out, trace_string(p->t, ev->string));
		if (ev->other != ev->tid)
			fprintf(out, " (was thread %u)", ev->other);
		break;
	case EVENT_RENAME:
		fputs(" -> ", out);
		print_clean(out, trace_string(p->t, ev->string));
		break;
	case EVENT_QUEUE:
		fprintf(out, " -> CPU %" PRIu64 "%s", ev->queue.place / 2,
			ev->queue.place & 1 ? " (woken)" : "");
		break;
	case EVENT_DISK_DONE:
		put_disk_done(p, ev);
		break;
	case EVENT_REQUEST:
	case EVENT_REQUEST_MORE:
	case EVENT_REQUEST_OPEN:
		put_request(p, ev);
		break;
	case EVENT_CONTEXT:
		put_context(p, ev);
		break;
	case EVENT_INTERRUPTS:
	case EVENT_STEAL:
		fprintf(out, "took %" PRIu64 " ns since the last switch", ev->stolen.ns);
		break;
	case EVENT_RECORDER:
		fprintf(out, "had the CPU for the last %" PRIu64 " ns", ev->stolen.ns);
		break;
	case EVENT_WAITS_FOR:
		put_object(p, " waits for ", trace_object(p->t, ev->awaited.object));
		break;
	case EVENT_HOLDER:
		fputs(" waits for a lock of ", out);
		put_thread(p, ev->other);
		break;
	case EVENT_GROUP:
		put_object(p,
			   !ev->tid	       ? "a group is now called"
			   : ev->group.process ? " and its process are in"
					       : " is in",
			   trace_object(p->t, ev->group.object));
		break;
	case EVENT_UNTHROTTLED:
		fprintf(out, " could not run for %" PRIu64 " ns, until %" PRIu64 " ns ago",
			ev->unthrottled.until_ns - ev->unthrottled.since_ns,
			ev->time_ns - ev->unthrottled.until_ns);
		if (ev->unthrottled.why == CHAINLOG_QUOTA_DEADLINE)
			fputs(": its runtime of SCHED_DEADLINE was used up", out);
		else if (ev->unthrottled.why == CHAINLOG_QUOTA_REALTIME)
			fputs(": that of realtime threads was used up", out);
		else if (ev->unthrottled.group)
			put_object(p, ": the quota was that of ",
				   trace_object(p->t, ev->unthrottled.group));
		break;
	case EVENT_OWN_ID:
		fprintf(out, " is %u in its PID namespace", ev->other);
		break;
	case EVENT_STREAM:
		if (ev->stream.object)
			put_object(p, " at ", trace_object(p->t, ev->stream.object));
		fprintf(out, "%s next byte written %" PRIu64 ", received %" PRIu64,
			ev->stream.object ? "," : " at a TCP connection,", ev->stream.written,
			ev->stream.received);
		break;
	case EVENT_NOT_SENT:
		fputs(" got what its waker had not sent", out);
		break;
	case EVENT_TCP_TIMER:
		timer = network_stage_name(NETWORK_TIMER + ev->tcp_timer.which);
		fprintf(out, " waited for %s for %" PRIu64 " ns, until %" PRIu64 " ns ago",
			timer ? timer : "TCP", ev->tcp_timer.at_ns - ev->tcp_timer.since_ns,
			ev->time_ns - ev->tcp_timer.at_ns);
		break;
	case EVENT_STACKS_FROM:
		fprintf(out, "from %" PRIu64 " ns on, of sleeps %s", ev->stacks_from.ns,
			ev->stacks_from.timers ? "until a timer" : "until anything else");
		break;
	case EVENT_WORK:
		put_work(p, ev);
		break;
	case EVENT_READY:
		put_object(p, " was woken for ", trace_object(p->t, ev->awaited.object));
		break;
	default:
		break;
	}
	putc('\n', out);
	if (!p->o->verbose)
		return;
	if (p->o->kernel)
		put_stack(p, ev->kstack);
	if (p->o->user)
		put_stack(p, ev->ustack);
}

static int write_events(const struct format_input *in, FILE *out)
{
	struct printer p = { .t = in->trace, .o = in->options, .out = out };
	const struct trace_thread *threads;
	struct trace_cursor *c;
	struct event ev;
	size_t n;
	int err = trace_cursor_new(&c, p.t);

	p.threads = xcalloc(trace_info(p.t)->tids_end, sizeof(*p.threads));
	if (err)
		goto out;
	threads = trace_threads(p.t, &n);
	for (size_t i = 0; i < n; i++)
		p.threads[threads[i].tid] = (struct identity) { threads[i].name, threads[i].tgid };
	while (!ferror(out) && trace_cursor_next(c, &ev)) {
		if (ev.kind != EVENT_RENAME)
			update_identity(&p, &ev);
		if (event_selected(&p, &ev))
			put_event(&p, &ev);
		if (ev.kind == EVENT_RENAME)
			update_identity(&p, &ev);
	}
	err = trace_cursor_error(c);
out:
	free(p.threads);
	trace_cursor_free(c);
	return err;
}

const struct format format_events = {
	.name = "events",
	.summary = "every event as text, with its stacks if -v",
	.several = SEVERAL_HEADED,
	.takes = GIVEN_OF_THREADS | GIVEN_NATIVE | GIVEN_ENDED | GIVEN_STACKS,
	.write = write_events,
};
