// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_story.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/queued_windows.h"
#include "common/xalloc.h"
#include "words/lock_holder.h"
#include "words/place.h"
#include "words/request_words.h"
#include "format.h"
#include "paragraph.h"

/* What is shorter than so much of the request is not told by itself. */
#define SHORTEST 50

/* Columns of the times, and of what is below a line. */
#define TIME_WIDTH 15
#define LEFT (2 * TIME_WIDTH + 4)
#define LEFT_SCREEN 8

/* Other requests of the same trace that are told, at most, and those that are looked at. */
#define PARTS_MOST 20
#define PARTS_LOOKED_AT 10000

/* The requests of the trace id, in the order of their arrivals, and where the story is in them. */
struct parts {
	const uint32_t *of;
	size_t n, at;
	uint64_t told, left_out;
};

struct story {
	struct chain_text *text;
	const struct chosen_wait *wait;
	const struct request *request;
	struct parts *parts;
	struct story_list *list;     /* NULL: lines are written; else these are noted */
	uint64_t zero_ns;	     /* times are since then */
	unsigned int level;	     /* 0: what was asked for; of a part of it that much more */
	const struct thread *writer; /* NULL: not known */
	bool with_chains;
	uint64_t from_ns, to_ns; /* what is told of it */
	uint64_t shortest_ns;
	uint64_t told_ns;  /* all before it has been told */
	uint64_t n_untold; /* waits since then */
};

/* ---- lines ---------------------------------------------------------------------------------- */

static void put_column(const struct story *s, const char *before, uint64_t ns)
{
	char number[TEXT_MS_SIZE], text[TEXT_MS_SIZE + 8];

	snprintf(text, sizeof(text), "%s%s %s", before, format_time(number, s->text->options, ns),
		 format_time_unit(s->text->options));
	fprintf(s->text->out, "%*s", TIME_WIDTH, text);
}

static void tell_parts(struct story *s, uint64_t until_ns);

static void note_line(struct story *s, uint64_t at_ns, uint64_t ns)
{
	struct story_list *l = s->list;
	uint64_t since_ns = at_ns > s->zero_ns ? at_ns - s->zero_ns : 0;

	XAPPEND(l->at, l->n, l->cap) =
		(struct story_line) { since_ns, ns, (size_t)ftell(s->text->out) };
}

/* When it was, and how long it took; 0: a moment. After the parts that arrived before. */
static void begin_line(struct story *s, uint64_t at_ns, uint64_t ns)
{
	if (s->list) {
		note_line(s, at_ns, ns);
		return;
	}
	tell_parts(s, at_ns);
	put_column(s, at_ns < s->zero_ns ? "-" : "+",
		   at_ns < s->zero_ns ? s->zero_ns - at_ns : at_ns - s->zero_ns);
	if (ns)
		put_column(s, "", ns);
	else
		fprintf(s->text->out, "%*s", TIME_WIDTH, "");
	fputs("  ", s->text->out);
	for (unsigned int i = 0; i < s->level; i++)
		fputs("| ", s->text->out);
	if (s->text->options->columns)
		fputs(PARAGRAPH_HANG, s->text->out);
}

static void put_thread(struct story *s, uint32_t thread, uint64_t at_ns)
{
	if (thread == THREAD_NONE)
		fputs("a thread that is not known", s->text->out);
	else
		chain_text_who(s->text, thread, names_thread(s->text->names, thread, at_ns), 1);
}

static void put_text(struct story *s, const char *before, uint32_t text)
{
	if (*names_text(s->text->names, text))
		fprintf(s->text->out, "%s%s", before, names_text(s->text->names, text));
}

static void put_place(struct story *s, uint32_t pair)
{
	put_text(s, " in ",
		 place_text(s->text->names, timelines_trace(s->text->timelines), pair, UINT32_MAX,
			    true, true));
}

/* ---- chains --------------------------------------------------------------------------------- */

/*
 * What explains [from_ns, to_ns) of the request: the item of the thread that answered, or of the
 * time in the queue. NULL: there is none.
 */
static const struct tree_item *explain(struct story *s, uint64_t from_ns, uint64_t to_ns)
{
	struct chosen_wait part = *s->wait;
	struct wait_tree *t = &s->text->wait;

	part.shown.blocked_from_ns = from_ns;
	part.shown.blocked_to_ns = to_ns;
	wait_tree_make(t, &part);
	return t->n_items > 1 ? &t->items[1] : NULL;
}

/* Below a sleep: where it was, and who ended it. */
static void put_chain(struct story *s, const struct tree_item *answers, uint32_t pair)
{
	struct chain_text *t = s->text;

	chain_text_indent(t, 0);
	fputs("in ", t->out);
	chain_text_stack(t, pair, UINT32_MAX, true);
	if (answers->ends_ns[CHAIN_UNKNOWN]) {
		chain_text_indent(t, 0);
		fputs("waker unknown: no waking was recorded\n", t->out);
	}
	if (answers->ends_ns[CHAIN_DEPTH]) {
		chain_text_indent(t, 0);
		fputs("(links beyond --depth are left out)\n", t->out);
	}
	chain_text_links(t, answers, 0);
}

/* The same in a few words. */
static void put_ended_by(struct story *s, const struct tree_item *answers)
{
	struct wait_tree *t = &s->text->wait;
	size_t n;
	const struct tree_item **below = wait_tree_below(t, answers, &n);

	if (n && !(t->link[below[0]->label].flags & LINK_STARTED)) {
		fputs(", ended by ", s->text->out);
		chain_text_waker(s->text, below[0]);
	} else if (answers->ends_ns[CHAIN_UNKNOWN]) {
		fputs(", waker unknown", s->text->out);
	}
	free(below);
}

/* ---- what the thread that answered did ------------------------------------------------------ */

/* What has not been told, up to a time: the thread ran, and had short waits. */
static void tell_rest(struct story *s, uint64_t to_ns)
{
	if (to_ns > s->told_ns && (to_ns - s->told_ns >= s->shortest_ns)) {
		begin_line(s, s->told_ns, to_ns - s->told_ns);
		fputs("ran", s->text->out);
		if (s->n_untold)
			fprintf(s->text->out, ", with %" PRIu64 " short wait%s", s->n_untold,
				s->n_untold > 1 ? "s" : "");
		putc('\n', s->text->out);
		if (s->with_chains) {
			const struct tree_item *answers = explain(s, s->told_ns, to_ns);

			if (answers)
				chain_text_ran(s->text, answers, 0);
		}
	}
	s->told_ns = to_ns;
	s->n_untold = 0;
}

/* A sleep, or several that are tries of one wait. */
static void tell_sleep(struct story *s, const struct wait *w, uint32_t tries, uint64_t from_ns,
		       uint64_t to_ns)
{
	const struct tree_item *answers;
	FILE *out = s->text->out;

	tell_rest(s, from_ns);
	begin_line(s, from_ns, to_ns - from_ns);
	fputs("slept", out);
	if (!s->with_chains)
		put_place(s, w->stack);
	put_text(s, " for ",
		 words_of_wait(s->text->names,
			       (uint32_t)(s->writer - timelines_thread(s->text->timelines, 0)), w));
	if (tries > 1)
		fprintf(out, ", in %" PRIu32 " tries", tries);
	answers = explain(s, from_ns, to_ns);
	if (answers && !s->with_chains)
		put_ended_by(s, answers);
	putc('\n', out);
	if (answers && s->with_chains)
		put_chain(s, answers, w->stack);
	s->told_ns = to_ns;
}

static void tell_no_cpu(struct story *s, const struct wait *w, uint64_t from_ns, uint64_t to_ns)
{
	const struct timelines *tl = s->text->timelines;
	uint32_t self = (uint32_t)(s->writer - timelines_thread(tl, 0));
	const struct tree_item *answers;

	begin_line(s, from_ns, to_ns - from_ns);
	fputs("had no CPU", s->text->out);
	if (timelines_throttled_untold(tl, self, w)) {
		fputs(": the quota of its control group was used up", s->text->out);
	} else {
		answers = explain(s, from_ns, to_ns);
		if (answers)
			chain_text_holders(s->text, (uint32_t)(answers - s->text->wait.items));
	}
	putc('\n', s->text->out);
}

/*
 * The last of the sleeps from w on, one after the other, that one waking explains: the tries of one
 * wait. *tries: how many there are.
 */
static const struct wait *last_try(const struct story *s, const struct wait *w, uint32_t *tries)
{
	const struct timelines *tl = s->text->timelines;
	const struct wait *end = s->writer->waits + s->writer->n_waits, *last = w;

	*tries = 1;
	for (const struct wait *next = w + 1; w->goes_on && next < end; next++) {
		if (next->kind == WAIT_PREEMPTED)
			continue;
		if (next->kind != WAIT_SLEEP || timelines_ended(tl, next) != timelines_ended(tl, w))
			break;
		last = next;
		++*tries;
	}
	return last;
}

/* What is left of an interval behind its sleep, which ended at `wake`: the thread had no CPU. */
static void tell_runnable(struct story *s, const struct wait *w, uint64_t wake, uint64_t in)
{
	s->told_ns = wake;
	if (in > wake && in - wake >= s->shortest_ns) {
		tell_no_cpu(s, w, wake, in);
		s->told_ns = in;
	} else if (in > wake) { /* with what it runs next */
		s->n_untold++;
	}
}

/* One of the thread's intervals, as far as it is in [told, to). Returns the last that was told. */
static const struct wait *tell_wait(struct story *s, const struct wait *w)
{
	uint32_t tries;
	const struct wait *last = last_try(s, w, &tries);
	uint64_t out = clip_ns(w->out_ns, s->told_ns, s->to_ns);
	uint64_t wake = clip_ns(last->wake_ns, out, s->to_ns);
	uint64_t in = clip_ns(last->in_ns, wake, s->to_ns);

	if (in - out < s->shortest_ns) {
		s->n_untold += tries;
		return last;
	}
	if (w->kind == WAIT_SLEEP && wake > out)
		tell_sleep(s, w, tries, out, wake);
	else
		tell_rest(s, out);
	if (w->kind == WAIT_UNKNOWN) {
		begin_line(s, out, in - out);
		fputs("unknown: events are missing\n", s->text->out);
		s->told_ns = in;
	} else {
		tell_runnable(s, w, wake, in);
	}
	return last;
}

/* ---- many sleeps at one place --------------------------------------------------------------- */

/*
 * So many sleeps at one place are one step, if they are at least so much of its time, in percent,
 * and at most so many other waits are between two.
 */
#define REPEATED_LEAST 3
#define REPEATED_PERCENT 50
#define OTHERS_MOST 8

/* Sleeps at one place, the last one, and shorter waits between them. */
struct repeated {
	const struct wait *last;
	uint32_t times, others;
	uint64_t slept_ns;
};

/* When the next request of the same trace arrives, which is told before what comes then. */
static uint64_t next_part_ns(const struct story *s)
{
	const struct parts *p = s->parts;

	return p->at < p->n ? timelines_request(s->text->timelines, p->of[p->at])->arrival_ns
			    : UINT64_MAX;
}

/* The sleeps at w's place from w on, as far as only shorter waits elsewhere are between them. */
static struct repeated repeated_from(const struct story *s, const struct wait *w)
{
	const struct wait *end = s->writer->waits + s->writer->n_waits;
	struct repeated r = { .last = w };
	uint64_t until_ns = next_part_ns(s);
	uint32_t others = 0;

	until_ns = until_ns < s->to_ns ? until_ns : s->to_ns;
	for (const struct wait *x = w; x < end && x->in_ns <= until_ns && !x->goes_on; x++) {
		if (x->kind == WAIT_SLEEP && x->stack == w->stack) {
			r.last = x;
			r.times++;
			r.slept_ns += x->wake_ns - x->out_ns;
			r.others += others;
			others = 0;
		} else if (x->kind == WAIT_UNKNOWN || x->in_ns - x->out_ns >= s->shortest_ns ||
			   ++others > OTHERS_MOST) {
			break;
		}
	}
	return r;
}

/* "slept 37 times for tcp ..., in all 80.100 ms": with what the thread did between them. */
static void tell_repeated(struct story *s, const struct wait *w, const struct repeated *r)
{
	struct chain_text *t = s->text;
	uint32_t self = (uint32_t)(s->writer - timelines_thread(t->timelines, 0));
	uint64_t end_ns = r->last->wake_ns;
	const struct tree_item *answers;
	int n = 0;

	tell_rest(s, w->out_ns);
	begin_line(s, w->out_ns, end_ns - w->out_ns);
	fprintf(t->out, "slept %" PRIu32 " times", r->times);
	if (!s->with_chains)
		put_place(s, w->stack);
	put_text(s, " for ", words_of_wait(t->names, self, w));
	fputs(", ", t->out);
	chain_text_clause(t, &n, "in all ", r->slept_ns, "");
	answers = explain(s, w->out_ns, end_ns);
	if (answers) {
		chain_text_clause(t, &n, "ran ", answers->ends_ns[CHAIN_RUNNING], "");
		chain_text_clause(t, &n, "was runnable ", answers->ends_ns[CHAIN_RUNNABLE], "");
	}
	if (r->others)
		fprintf(t->out, "; with %" PRIu32 " short wait%s elsewhere", r->others,
			r->others > 1 ? "s" : "");
	if (answers && !s->with_chains)
		put_ended_by(s, answers);
	putc('\n', t->out);
	if (answers && s->with_chains)
		put_chain(s, answers, w->stack);
	tell_runnable(s, r->last, end_ns, r->last->in_ns);
}

/* What begins with w, which is behind what was told. Returns the last interval that was told. */
static const struct wait *tell_from(struct story *s, const struct wait *w)
{
	struct repeated r = { .times = 0 };
	uint64_t ns = 0;

	if (w->kind == WAIT_SLEEP && w->out_ns >= s->told_ns)
		r = repeated_from(s, w);
	if (r.times >= REPEATED_LEAST)
		ns = r.last->wake_ns - w->out_ns;
	if (!ns || ns < s->shortest_ns || r.slept_ns < ns / 100 * REPEATED_PERCENT)
		return tell_wait(s, w);
	tell_repeated(s, w, &r);
	return r.last;
}

static void tell_answering(struct story *s)
{
	const struct thread *th = s->writer;
	const struct wait *end = thread_interval(th, th->n_waits), *w;

	if (th->begin_ns > s->told_ns && th->begin_ns < s->to_ns) {
		begin_line(s, th->begin_ns, 0);
		fputs("this thread was started\n", s->text->out);
		s->told_ns = th->begin_ns;
	}
	w = thread_interval(th, thread_position(th, s->told_ns));
	while (w < end && w->out_ns < s->to_ns)
		w = tell_from(s, w) + 1;
	tell_rest(s, s->to_ns);
}

/* ---- the queue ------------------------------------------------------------------------------ */

/* In how much of the time in the queue the reader worked for one other request. */
static uint64_t worked_for_other_ns(const struct story *s, uint64_t to_ns)
{
	const struct request *q = s->request;
	const struct request_span *end = NULL, *at = NULL;
	uint64_t ns = 0;

	if (q->reader != THREAD_NONE)
		at = served_span_at(s->text->timelines, q->reader, s->from_ns, &end);
	for (; at < end && at->from_ns < to_ns; at++)
		ns += clip_ns(at->to_ns, s->from_ns, to_ns) -
		      clip_ns(at->from_ns, s->from_ns, to_ns);
	return ns;
}

static void tell_queue(struct story *s)
{
	const struct request *q = s->request;
	uint64_t to = clip_ns(q->taken_ns, s->from_ns, s->to_ns), ns;
	const struct tree_item *queued = NULL;
	FILE *out = s->text->out;

	begin_line(s, s->from_ns, to - s->from_ns);
	if (s->from_ns > q->arrival_ns)
		fputs(q->connection ? "was still queued" : "was queued", out);
	else if (q->connection)
		fprintf(out, "arrived on connection %" PRIu64, q->connection);
	else
		fputs("arrived", out);
	if (to > s->from_ns && s->from_ns == q->arrival_ns)
		fputs(", and was queued", out);
	if (to > s->from_ns)
		queued = s->with_chains ? explain(s, s->from_ns, to) : NULL;
	ns = s->with_chains ? 0 : worked_for_other_ns(s, to);
	if (ns) {
		fputs("; for ", out);
		chain_text_time(s->text, ns);
		fputs(" of that the reader worked for other requests", out);
	}
	putc('\n', out);
	if (queued)
		chain_text_links(s->text, queued, 0);
}

static void put_label(struct story *s, uint32_t label)
{
	const struct trace *t = timelines_trace(s->text->timelines);
	const struct trace_object *o = trace_object(t, label);
	struct text_buf name = { 0 };

	if (!o)
		return;
	names_put(&name, trace_string(t, o->name));
	fprintf(s->text->out, ", for %s", name.p);
	text_free(&name);
}

/* Who got it. What probes mark is not queued. */
static void tell_reading(struct story *s)
{
	const struct request *q = s->request;

	begin_line(s, q->taken_ns, 0);
	fputs(q->flags & REQUEST_PROBED ? "began on " : "read by ", s->text->out);
	put_thread(s, q->reader, q->taken_ns);
	put_label(s, q->label);
	if (q->reader != q->writer) {
		fputs(q->flags & REQUEST_PROBED ? "; ended on " : "; answered by ", s->text->out);
		put_thread(s, q->writer, q->answer_ns);
		fputs(s->writer ? ", which until then" : "", s->text->out);
	}
	putc('\n', s->text->out);
}

static void tell_answer(struct story *s)
{
	const struct request *q = s->request;
	uint32_t pair = timelines_plain_pair(s->text->timelines, q->pair);

	begin_line(s, q->answer_ns, 0);
	fputs(q->flags & REQUEST_PROBED ? "ended" : "answered", s->text->out);
	if (s->with_chains && pair) {
		fputs(" in ", s->text->out);
		chain_text_stack(s->text, pair, UINT32_MAX, true);
		return;
	}
	put_text(s, " in ",
		 place_text(s->text->names, timelines_trace(s->text->timelines), pair, UINT32_MAX,
			    true, false));
	putc('\n', s->text->out);
}

static void tell(struct story *s)
{
	const struct request *q = s->request;

	if (s->from_ns <= q->taken_ns) {
		if (!(q->flags & REQUEST_PROBED))
			tell_queue(s);
		if (q->taken_ns < s->to_ns)
			tell_reading(s);
	}
	if (s->writer && q->taken_ns < s->to_ns)
		tell_answering(s);
	if (s->to_ns == q->answer_ns)
		tell_answer(s);
}

static void put_endpoint(struct story *s, const struct request *q)
{
	uint32_t n;
	const struct request_endpoint *e =
		&timelines_endpoints(s->text->timelines, &n)[q->endpoint];
	uint32_t text = names_string(s->text->names, e->client);

	fputs(names_text(s->text->names, text), s->text->out);
}

static struct story story_of(struct chain_text *t, const struct chosen_wait *p)
{
	const struct request *q = timelines_request_of(t->timelines, p->wait);
	uint64_t from = p->shown.blocked_from_ns, to = p->shown.blocked_to_ns;

	return (struct story) { .text = t,
				.wait = p,
				.request = q,
				.zero_ns = q->arrival_ns,
				.writer = q->writer == THREAD_NONE
						  ? NULL
						  : timelines_thread(t->timelines, q->writer),
				.from_ns = from,
				.to_ns = to,
				.told_ns = clip_ns(q->taken_ns, from, to) };
}

/* Another request of the same trace. */
static void tell_part(struct story *s, uint32_t number)
{
	struct chosen_wait p = { .thread = THREAD_NONE };
	struct story part;

	p.wait = timelines_wait_for(s->text->timelines, number, &p.thread);
	if (!p.wait)
		return;
	p.shown.blocked_from_ns = p.wait->out_ns;
	p.shown.blocked_to_ns = p.wait->wake_ns;
	part = story_of(s->text, &p);
	part.parts = s->parts;
	part.zero_ns = s->zero_ns;
	part.level = s->level + 1;
	part.shortest_ns = s->shortest_ns;
	begin_line(&part, part.from_ns, part.to_ns - part.from_ns);
	put_endpoint(&part, part.request);
	fputs(", of the same trace\n", s->text->out);
	tell(&part);
}

/*
 * The parts that arrived before that time; of a part those that were answered before it was, as
 * others may be its siblings.
 */
static void tell_parts(struct story *s, uint64_t until_ns)
{
	const struct timelines *tl = s->text->timelines;
	struct parts *parts = s->parts;

	while (parts->at < parts->n) {
		uint32_t number = parts->of[parts->at];
		const struct request *q = timelines_request(tl, number);

		if (q->arrival_ns >= until_ns || (s->level && q->answer_ns > s->request->answer_ns))
			return;
		parts->at++;
		if (q == s->request || q->arrival_ns < s->zero_ns || q->flags & REQUEST_UNEXPLAINED)
			continue;
		if (q->answer_ns - q->arrival_ns < s->shortest_ns || parts->told == PARTS_MOST) {
			parts->left_out++;
			continue;
		}
		parts->told++;
		tell_part(s, number);
	}
}

static void put_blank(const struct story *s)
{
	fprintf(s->text->out, "%*s", 2 * TIME_WIDTH + 2, "");
}

/* Of which trace it is, and which requests of that it is a part of. */
static void put_trace(struct story *s)
{
	const struct timelines *tl = s->text->timelines;
	const struct request *q = s->request;
	const struct context *c = timelines_context(tl, q);
	char trace[TRACE_ID_SIZE], span[SPAN_ID_SIZE];

	if (!c || !*trace_id_text(trace, c))
		return;
	put_blank(s);
	fprintf(s->text->out, "trace %s", trace);
	if (*span_id_text(span, c))
		fprintf(s->text->out, ", span %s", span);
	putc('\n', s->text->out);
	for (size_t i = 0; i < s->parts->n && i < PARTS_LOOKED_AT; i++) {
		const struct request *whole = timelines_request(tl, s->parts->of[i]);

		if (whole->arrival_ns > q->arrival_ns)
			break;
		if (whole == q || whole->flags & REQUEST_UNEXPLAINED ||
		    whole->answer_ns < q->answer_ns)
			continue;
		put_blank(s);
		fputs("a part of ", s->text->out);
		put_endpoint(s, whole);
		fputs(", which arrived ", s->text->out);
		chain_text_time(s->text, q->arrival_ns - whole->arrival_ns);
		fputs(" before and took ", s->text->out);
		chain_text_time(s->text, whole->answer_ns - whole->arrival_ns);
		putc('\n', s->text->out);
	}
}

void request_story_put(struct chain_text *t, const struct chosen_wait *p, bool with_chains)
{
	struct story s = story_of(t, p);
	struct parts parts = { .n = 0 };
	int left = t->left;

	parts.of = timelines_requests_of_trace(t->timelines, s.request, &parts.n);
	s.parts = &parts;
	s.with_chains = with_chains;
	s.shortest_ns = (s.to_ns - s.from_ns) / SHORTEST + 1;
	t->is_part = true;
	t->left = t->options->columns ? LEFT_SCREEN : LEFT;
	put_trace(&s);
	tell(&s);
	if (parts.left_out) {
		put_blank(&s);
		fprintf(t->out, "%" PRIu64 " more requests of the same trace, most of them short\n",
			parts.left_out);
	}
	t->is_part = false;
	t->left = left;
}

void request_story_list(struct story_list *list, struct chain_text *t, const struct chosen_wait *p,
			uint64_t shortest_ns)
{
	struct story s = story_of(t, p);
	struct parts parts = { .n = 0 };
	FILE *out = t->out;
	size_t len;

	*list = (struct story_list) { .n = 0 };
	t->out = xmemstream(&list->text, &len);
	s.parts = &parts;
	s.list = list;
	s.shortest_ns = shortest_ns;
	tell(&s);
	xmemstream_close(t->out, &list->text);
	t->out = out;
	for (char *end = list->text; end && (end = strchr(end, '\n'));)
		*end++ = 0;
}

void story_list_free(struct story_list *list)
{
	free(list->at);
	free(list->text);
}
