// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfetto_requests.h"

#include <inttypes.h>
#include <string.h>

#include "attribute/queued_windows.h"
#include "words/object_names.h"
#include "words/request_words.h"

/* How an event's name is made of that of an endpoint; "wakes NAME" has 0. */
enum event_text { TEXT_ITSELF = 1, TEXT_TAKES, TEXT_ANSWERS, TEXT_BEGINS, TEXT_ENDS };

/* Argument values that are identified by a text of names.h; threads and others have small kinds. */
#define VALUE_TEXT UINT32_MAX

/* ---- texts ---------------------------------------------------------------------------------- */

static uint32_t clean(struct perfetto_requests *r, const char *s)
{
	uint32_t text = names_clean(r->names, s);

	return text;
}

static uint32_t event_name(struct perfetto_requests *r, enum event_text kind, const char *s)
{
	static const char *const verbs[] = { [TEXT_ITSELF] = "",
					     [TEXT_TAKES] = "takes ",
					     [TEXT_ANSWERS] = "answers ",
					     [TEXT_BEGINS] = "begins ",
					     [TEXT_ENDS] = "ends " };
	uint32_t text = clean(r, s), name;
	struct text_buf b = { 0 };
	bool is_new;

	name = perfetto_string(r->perfetto, PERFETTO_EVENT_NAMES, text, kind, &is_new);
	if (!is_new)
		return name;
	text_puts(&b, verbs[kind]);
	text_puts(&b, names_text(r->names, text));
	perfetto_define(r->perfetto, PERFETTO_EVENT_NAMES, name, b.p, b.len);
	text_free(&b);
	return name;
}

static void put_text(struct perfetto_requests *r, enum perfetto_arg arg, uint32_t text)
{
	uint32_t value;
	bool is_new;

	value = perfetto_string(r->perfetto, PERFETTO_ARG_VALUES, text, VALUE_TEXT, &is_new);
	if (is_new)
		perfetto_define(r->perfetto, PERFETTO_ARG_VALUES, value, names_text(r->names, text),
				strlen(names_text(r->names, text)));
	perfetto_arg(r->perfetto, arg, value);
}

/* Nothing if it is empty. */
static void put_arg(struct perfetto_requests *r, enum perfetto_arg arg, const char *s)
{
	if (*s)
		put_text(r, arg, clean(r, s));
}

/* "NAME (tid 123)" */
static void put_thread(struct perfetto_requests *r, enum perfetto_arg arg, uint32_t thread,
		       uint64_t at_ns)
{
	char tid[24];
	struct text_buf b = { 0 };

	if (thread == THREAD_NONE)
		return;
	snprintf(tid, sizeof(tid), " (tid %" PRIu32 ")",
		 timelines_thread(r->timelines, thread)->tid);
	text_puts(&b, names_text(r->names, names_thread(r->names, thread, at_ns)));
	text_puts(&b, tid);
	put_arg(r, arg, b.p);
	text_free(&b);
}

static void put_marks(struct perfetto_requests *r, const struct request *q)
{
	struct text_buf b = { 0 };

	for (const struct request_mark *m = request_marks; m->name; m++) {
		if (!(q->flags & m->flag))
			continue;
		text_puts(&b, b.len ? "," : "");
		text_puts(&b, m->name);
	}
	if (b.len)
		put_arg(r, PERFETTO_MARKS, b.p);
	text_free(&b);
}

/* ---- slices --------------------------------------------------------------------------------- */

/* Inside the request's slice: what a part of it was. */
static void put_part(struct perfetto_requests *r, uint64_t track, uint64_t from_ns, uint64_t to_ns,
		     const char *what)
{
	from_ns = clip_ns(from_ns, r->from_ns, r->to_ns);
	to_ns = clip_ns(to_ns, from_ns, r->to_ns);
	if (from_ns == to_ns)
		return;
	perfetto_begin_request(r->perfetto, track, from_ns, event_name(r, TEXT_ITSELF, what), 0);
	perfetto_end(r->perfetto);
	perfetto_end_slice(r->perfetto, track, to_ns);
}

/* The time in the queue, and in it that in which the reader worked for one other request. */
static void put_queued(struct perfetto_requests *r, uint64_t track, const struct request *q)
{
	const struct request_span *end = NULL, *at = NULL;
	uint64_t from_ns = clip_ns(q->arrival_ns, r->from_ns, r->to_ns);
	uint64_t to_ns = clip_ns(q->taken_ns, from_ns, r->to_ns);
	const struct request_endpoint *e;
	uint32_t n;

	if (from_ns == to_ns)
		return;
	perfetto_begin_request(r->perfetto, track, from_ns, event_name(r, TEXT_ITSELF, "queued"),
			       0);
	perfetto_end(r->perfetto);
	e = timelines_endpoints(r->timelines, &n);
	if (q->reader != THREAD_NONE)
		at = served_span_at(r->timelines, q->reader, from_ns, &end);
	for (; at < end && at->from_ns < to_ns; at++) {
		const struct request *other = timelines_request(r->timelines, at->request);
		const char *name =
			trace_string(timelines_trace(r->timelines), e[other->endpoint].for_it);
		struct text_buf b = { 0 };

		/* Without the brackets. */
		text_put(&b, name + 1, strlen(name) - 2);
		put_part(r, track, clip_ns(at->from_ns, from_ns, to_ns),
			 clip_ns(at->to_ns, from_ns, to_ns), b.p);
		text_free(&b);
	}
	perfetto_end_slice(r->perfetto, track, to_ns);
}

/* A thread's part in it: an instant on the thread's track, to which the request's arrow leads. */
static void put_serving(struct perfetto_requests *r, uint32_t thread, uint64_t at_ns,
			enum event_text does, bool is_last, const char *endpoint, uint64_t flow)
{
	if (thread == THREAD_NONE || at_ns < r->from_ns || at_ns >= r->to_ns)
		return;
	perfetto_begin_serving(r->perfetto, r->thread_track(r->arg, thread), at_ns,
			       event_name(r, does, endpoint), flow, is_last);
	perfetto_end(r->perfetto);
}

static void put_request(struct perfetto_requests *r, uint64_t track, const struct wait *w,
			const struct shown *s)
{
	const struct timelines *tl = r->timelines;
	const struct request *q = timelines_request_of(tl, w);
	const struct context *context = timelines_context(tl, q);
	const char *endpoint = request_endpoint_name(tl, q);
	uint32_t stack = timelines_plain_pair(tl, q->pair);
	char trace[TRACE_ID_SIZE], span[SPAN_ID_SIZE], connection[24] = "";
	uint64_t flow = ++*r->flows;
	bool probed = q->flags & REQUEST_PROBED;

	if (q->connection)
		snprintf(connection, sizeof(connection), "%" PRIu64, q->connection);
	perfetto_begin_request(r->perfetto, track, s->blocked_from_ns,
			       event_name(r, TEXT_ITSELF, endpoint), flow);
	if (stack)
		put_text(r, PERFETTO_STACK, names_off_cpu(r->names, stack));
	put_arg(r, PERFETTO_CONNECTION, connection);
	put_thread(r, PERFETTO_READER, q->reader, q->taken_ns);
	put_thread(r, PERFETTO_WRITER, q->writer, q->answer_ns);
	put_arg(r, PERFETTO_LABEL, request_label(tl, q));
	put_arg(r, PERFETTO_ROUTE, request_route(tl, q));
	put_arg(r, PERFETTO_TRACE_ID, trace_id_text(trace, context));
	put_arg(r, PERFETTO_SPAN_ID, span_id_text(span, context));
	put_marks(r, q);
	perfetto_end(r->perfetto);
	put_queued(r, track, q);
	perfetto_end_slice(r->perfetto, track, s->blocked_to_ns);
	put_serving(r, q->reader, q->taken_ns, probed ? TEXT_BEGINS : TEXT_TAKES, false, endpoint,
		    flow);
	put_serving(r, q->writer, q->answer_ns, probed ? TEXT_ENDS : TEXT_ANSWERS, true, endpoint,
		    flow);
}

void perfetto_requests_put(struct perfetto_requests *r, uint32_t client, uint64_t track)
{
	const struct thread *th = timelines_thread(r->timelines, client);
	bool is_described = false;
	struct shown s;

	for (uint32_t k = thread_position(th, r->from_ns); k < th->n_waits; k++) {
		const struct wait *w = &th->waits[k];
		uint64_t process;

		if (w->out_ns >= r->to_ns)
			break;
		if (!wait_filter_wait(r->filter, client, w, &s) ||
		    s.blocked_from_ns >= s.blocked_to_ns)
			continue;
		process = !is_described && th->parent != THREAD_NONE
				  ? r->process_track(r->arg, th->parent)
				  : 0;
		if (!is_described)
			perfetto_child_track(
				r->perfetto, track, process,
				names_text(r->names, clean(r, request_endpoint_name(
								      r->timelines,
								      timelines_request_of(
									      r->timelines, w)))));
		is_described = true;
		put_request(r, track, w, &s);
	}
}
