// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_story.h"

#include <errno.h>
#include <inttypes.h>

#include "common/lower_bound.h"
#include "words/place.h"

/* What is shorter than so much of the request is not told by itself. */
#define SHORTEST 50

struct story {
	FILE *out;
	const struct timelines *timelines;
	const struct options *options;
	struct names *names;
	struct waker_names *wakers;
	const struct request *request;
	uint64_t shortest_ns;
	uint64_t told_ns;  /* all before it has been told */
	uint64_t n_untold; /* waits since then */
	bool out_of_memory;
};

/* When it was, and how long it took; 0: a moment. */
static void begin_line(const struct story *s, uint64_t at_ns, uint64_t ns)
{
	char at[TEXT_MS_SIZE], took[TEXT_MS_SIZE] = "";

	format_time(at, s->options, at_ns - s->request->arrival_ns);
	if (ns)
		format_time(took, s->options, ns);
	fprintf(s->out, "%14s %10s  ", at, took);
}

static void put_thread(const struct story *s, uint32_t thread, uint64_t at_ns)
{
	if (thread == THREAD_NONE) {
		fputs("a thread that is not known", s->out);
		return;
	}
	print_clean(s->out, trace_string(timelines_trace(s->timelines),
					 timelines_name(s->timelines, thread, at_ns)));
	fprintf(s->out, "/%" PRIu32, timelines_thread(s->timelines, thread)->tid);
}

/* What has not been told, up to a time: the thread ran, and had short waits. */
static void tell_rest(struct story *s, uint64_t to_ns)
{
	if (to_ns > s->told_ns && (to_ns - s->told_ns >= s->shortest_ns)) {
		begin_line(s, s->told_ns, to_ns - s->told_ns);
		fputs("ran", s->out);
		if (s->n_untold)
			fprintf(s->out, ", with %" PRIu64 " short wait%s", s->n_untold,
				s->n_untold > 1 ? "s" : "");
		putc('\n', s->out);
	}
	s->told_ns = to_ns;
	s->n_untold = 0;
}

static void put_text(struct story *s, const char *before, uint32_t text)
{
	s->out_of_memory |= !text;
	if (*names_text(s->names, text))
		fprintf(s->out, "%s%s", before, names_text(s->names, text));
}

static void tell_sleep(struct story *s, const struct wait *w, uint64_t from_ns, uint64_t to_ns)
{
	tell_rest(s, from_ns);
	begin_line(s, from_ns, to_ns - from_ns);
	fputs("slept", s->out);
	put_text(s, " in ",
		 place_text(s->names, timelines_trace(s->timelines), w->stack, UINT32_MAX, true,
			    true));
	put_text(s, " for ", waited_for_words(s->names, w->stack));
	put_text(s, ", ended by ", waker_name(s->wakers, w));
	putc('\n', s->out);
	s->told_ns = to_ns;
}

/* One of the thread's intervals, as far as it is in [told, to). */
static void tell_wait(struct story *s, const struct wait *w, uint64_t to_ns)
{
	uint64_t out = clip_ns(w->out_ns, s->told_ns, to_ns);
	uint64_t wake = clip_ns(w->wake_ns, out, to_ns), in = clip_ns(w->in_ns, wake, to_ns);

	if (in - out < s->shortest_ns) {
		s->n_untold++;
		return;
	}
	if (w->kind == WAIT_SLEEP && wake > out)
		tell_sleep(s, w, out, wake);
	else
		tell_rest(s, out);
	if (w->kind == WAIT_UNKNOWN) {
		begin_line(s, out, in - out);
		fputs("unknown: events are missing\n", s->out);
	} else if (in > wake && in - wake >= s->shortest_ns) {
		begin_line(s, wake, in - wake);
		fprintf(s->out, "had no CPU%s\n",
			wait_throttled(w) ? ": the quota of its control group was used up" : "");
	} else if (in > wake) { /* with what it runs next */
		s->told_ns = wake;
		s->n_untold++;
		return;
	}
	s->told_ns = in;
}

/* In how much of the time in the queue the reader worked for one other request. */
static void tell_queue(struct story *s)
{
	const struct request *q = s->request;
	const struct request_span *at = NULL;
	uint64_t ns = 0;
	size_t n = 0;

	if (q->reader != THREAD_NONE)
		at = timelines_spans_served(s->timelines, q->reader, &n);
	for (size_t i = LOWER_BOUND(k, n, at[k].to_ns <= q->arrival_ns);
	     i < n && at[i].from_ns < q->taken_ns; i++)
		ns += clip_ns(at[i].to_ns, q->arrival_ns, q->taken_ns) -
		      clip_ns(at[i].from_ns, q->arrival_ns, q->taken_ns);
	begin_line(s, q->arrival_ns, q->taken_ns - q->arrival_ns);
	fprintf(s->out, "arrived on connection %" PRIu64, q->connection);
	if (q->taken_ns > q->arrival_ns)
		fputs(", and was queued", s->out);
	if (ns) {
		char text[TEXT_MS_SIZE];

		fprintf(s->out, "; for %s of that the reader worked for another request",
			format_time(text, s->options, ns));
	}
	putc('\n', s->out);
}

int request_story_put(FILE *out, const struct format_input *in, struct names *names,
		      struct waker_names *wakers, const struct chosen_wait *p)
{
	const struct request *q = timelines_request_of(in->timelines, p->wait);
	struct story s = { .out = out,
			   .timelines = in->timelines,
			   .options = in->options,
			   .names = names,
			   .wakers = wakers,
			   .request = q,
			   .shortest_ns = request_took_ns(p) / SHORTEST + 1,
			   .told_ns = q->taken_ns };
	const struct thread *th =
		q->writer != THREAD_NONE ? timelines_thread(in->timelines, q->writer) : NULL;

	tell_queue(&s);
	begin_line(&s, q->taken_ns, 0);
	fputs("read by ", out);
	put_thread(&s, q->reader, q->taken_ns);
	if (q->reader != q->writer) {
		fputs("; answered by ", out);
		put_thread(&s, q->writer, q->answer_ns);
		fputs(", which until then", out);
	}
	putc('\n', out);
	if (th && th->begin_ns > q->taken_ns) {
		begin_line(&s, th->begin_ns, 0);
		fputs("this thread was started\n", out);
		s.told_ns = th->begin_ns;
	}
	for (uint32_t i = th ? thread_position(th, q->taken_ns) : 0;
	     th && i < th->n_waits && th->waits[i].out_ns < q->answer_ns; i++)
		tell_wait(&s, &th->waits[i], q->answer_ns);
	if (th)
		tell_rest(&s, q->answer_ns);
	begin_line(&s, q->answer_ns, 0);
	fputs("answered", out);
	put_text(&s, " in ",
		 place_text(names, timelines_trace(in->timelines),
			    timelines_plain_pair(in->timelines, q->pair), UINT32_MAX, true, false));
	putc('\n', out);
	return s.out_of_memory ? -ENOMEM : 0;
}
