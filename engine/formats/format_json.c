// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for other programs: one JSON object a line, described in the manual page. Thread by thread
 * in order of time, or with --top the longest ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "grow.h"
#include "base/text.h"
#include "intern.h"
#include "chain/top_waits.h"
#include "chain/who_sums.h"

struct piece {
	uint64_t ns;
	uint32_t node;
	uint32_t end; /* enum chain_end */
};

struct writer {
	FILE *out;
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct names *names;
	struct intern texts;
	uint32_t *of_frame; /* text by frame id, as JSON; 0: not made yet */
	struct text_buf buf;
	struct chains chains;
	struct intern links;  /* struct link; their ids are the labels */
	struct piece *pieces; /* of the current wait */
	size_t n_pieces, cap_pieces;
	struct who_ran *who_ran;     /* NULL: not known */
	struct pair_table who;	     /* of the current wait: ns by (node, who) */
	struct who_sums who_had_cpu; /* of the piece at hand */
	bool out_of_memory;
};

static uint32_t label_link(void *arg, const struct link *link)
{
	struct writer *j = arg;
	struct link l = *link;

	l.flags &= LINK_IDLE; /* the other flags are not written */
	return intern_id(&j->links, &l, sizeof(l), NULL);
}

static struct link link_at(const struct writer *j, uint32_t label)
{
	struct link l;
	size_t len;

	memcpy(&l, intern_bytes(&j->links, label, &len), sizeof(l));
	return l;
}

static void add(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct writer *j = arg;
	struct piece *p = grow_array(j->pieces, j->n_pieces, &j->cap_pieces, sizeof(*p));

	if (!p) {
		j->out_of_memory = true;
		return;
	}
	j->pieces = p;
	p[j->n_pieces++] = (struct piece) { ns, node, end };
}

static void add_who(void *arg, uint32_t node, uint32_t who, uint64_t ns)
{
	struct writer *j = arg;
	uint64_t *sum = pair_table_at(&j->who, node, who, sizeof(*sum));

	if (sum)
		*sum += ns;
	else
		j->out_of_memory = true;
}

/* The wait's own time: the node of its head. */
static void add_own_who(void *arg, uint32_t who, uint64_t ns)
{
	struct writer *j = arg;

	add_who(j, chains_head(&j->chains, 1), who, ns);
}

static int by_chain(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* The labels of a chain's links, the last link first, without the head, which has no parent. */
static size_t path_of(const struct writer *j, uint32_t node, uint32_t path[OPTIONS_DEPTH_MAX])
{
	const struct pair *nodes = j->chains.nodes.at;
	size_t n = 0;

	for (; nodes[node].a && n < OPTIONS_DEPTH_MAX; node = nodes[node].a)
		path[n++] = nodes[node].b;
	return n;
}

/* By the contents of the links: their numbers depend on the waits explained before. */
static int by_links(const struct writer *j, uint32_t a, uint32_t b)
{
	uint32_t path_a[OPTIONS_DEPTH_MAX], path_b[OPTIONS_DEPTH_MAX];
	size_t n_a = path_of(j, a, path_a), n_b = path_of(j, b, path_b);

	while (n_a && n_b) {
		struct link la = link_at(j, path_a[--n_a]), lb = link_at(j, path_b[--n_b]);
		int order = memcmp(&la, &lb, offsetof(struct link, flags));

		if (order)
			return order;
	}
	return n_a ? 1 : n_b ? -1 : 0;
}

static int widest_first(const void *pa, const void *pb, void *writer)
{
	const struct piece *a = pa, *b = pb;
	int order;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	order = a->node == b->node ? 0 : by_links(writer, a->node, b->node);
	return order ? order : by_chain(pa, pb);
}

/* One piece for each chain and end, the widest first. */
static void merge_pieces(struct writer *j)
{
	size_t n = 0;

	if (!j->n_pieces)
		return;
	qsort(j->pieces, j->n_pieces, sizeof(*j->pieces), by_chain);
	for (size_t i = 0; i < j->n_pieces; i++) {
		if (n && !by_chain(&j->pieces[n - 1], &j->pieces[i]))
			j->pieces[n - 1].ns += j->pieces[i].ns;
		else
			j->pieces[n++] = j->pieces[i];
	}
	j->n_pieces = n;
	qsort_r(j->pieces, n, sizeof(*j->pieces), widest_first, j);
}

static void put_string(struct writer *j, const char *key, const char *s)
{
	j->buf.len = 0;
	json_string(&j->buf, s);
	j->out_of_memory |= j->buf.failed;
	fprintf(j->out, "\"%s\":%s", key, j->buf.failed ? "null" : j->buf.p);
}

/* A thread's name; an unknown one is written as in folded lines. */
static void put_name(struct writer *j, const char *key, uint32_t string)
{
	const char *name = trace_string(j->trace, string);

	put_string(j, key, *name ? name : "[unknown]");
}

static void put_ids(struct writer *j, uint32_t thread)
{
	const struct thread *th = timelines_thread(j->timelines, thread);

	fprintf(j->out, "\"tid\":%" PRIu32 ",\"pid\":", th->tid);
	if (th->tgid)
		fprintf(j->out, "%" PRIu32 ",", th->tgid);
	else
		fputs("null,", j->out);
}

/* As JSON: as names_frame(), but not cleaned; then " (FILE:LINE)" if known. 0: out of memory. */
static uint32_t make_frame(struct writer *j, uint32_t frame)
{
	struct raw_frame raw = names_raw_frame(j->trace, frame);
	struct text_buf text = { 0 };
	const char *file;
	uint32_t line = trace_frame_line(j->trace, frame, &file);
	char number[16];

	text_puts(&text, raw.brackets ? "[" : "");
	text_puts(&text, *raw.text ? raw.text : "[unknown]");
	text_puts(&text, raw.brackets ? "]" : "");
	if (line) {
		snprintf(number, sizeof(number), ":%" PRIu32 ")", line);
		text_puts(&text, " (");
		text_puts(&text, file);
		text_puts(&text, number);
	}
	j->buf.len = 0;
	if (!text.failed)
		json_string(&j->buf, text.p);
	j->buf.failed |= text.failed;
	text_free(&text);
	return j->buf.failed ? 0 : intern_id(&j->texts, j->buf.p, j->buf.len, NULL);
}

static void put_frame(struct writer *j, uint32_t frame)
{
	uint32_t *slot = &j->of_frame[frame < trace_frames_end(j->trace) ? frame : 0];

	if (!*slot)
		*slot = make_frame(j, frame);
	j->out_of_memory |= !*slot;
	fputs(*slot ? intern_text(&j->texts, *slot) : "null", j->out);
}

static void put_frames(struct writer *j, const char *key, struct trace_stack s)
{
	fprintf(j->out, "\"%s\":[", key);
	for (uint32_t i = s.n; i-- > 0;) {
		put_frame(j, s.frames[i]);
		if (i)
			putc(',', j->out);
	}
	putc(']', j->out);
}

/* Both parts root first, so that they read on as one. */
static void put_stack(struct writer *j, const char *key, uint32_t pair, uint32_t kernel_frames,
		      bool with_user)
{
	struct shown_stack s = names_shown_stack(j->names, pair, kernel_frames, with_user);
	const struct options *o = j->options;

	fprintf(j->out, "\"%s\":{", key);
	if (o->user)
		put_frames(j, "user", s.user);
	if (o->user && o->kernel)
		putc(',', j->out);
	if (o->kernel)
		put_frames(j, "kernel", s.kernel);
	putc('}', j->out);
}

static void put_link(struct writer *j, const struct link *l)
{
	bool task = l->waker != THREAD_NONE;

	putc('{', j->out);
	if (task) {
		put_name(j, "name", l->name);
		putc(',', j->out);
		put_ids(j, l->waker);
		fputs("\"context\":\"task\",", j->out);
	} else {
		struct stack_pair p = timelines_pair(j->timelines, l->stack);

		fputs("\"name\":null,\"tid\":null,\"pid\":null,\"context\":\"interrupt\","
		      "\"handler\":",
		      j->out);
		put_frame(j, irq_handler(j->chains.kernel, p.kstack, l->kernel_frames));
		putc(',', j->out);
	}
	put_stack(j, "stack", l->stack, l->kernel_frames, task);
	if (l->blocked) {
		putc(',', j->out);
		put_stack(j, "blocked_stack", l->blocked, UINT32_MAX, true);
	}
	putc('}', j->out);
}

/* Who had the CPU in a piece that waited for one. */
static void put_who(struct writer *j, uint32_t node)
{
	struct who_sums *s = &j->who_had_cpu;

	who_sums_clear(s);
	for (uint32_t id = 1; id <= j->who.keys.n; id++)
		if (j->who.keys.at[id].a == node)
			who_sums_add(s, j->who.keys.at[id].b, ((const uint64_t *)j->who.at)[id]);
	who_sums_sort(s, j->names);
	j->out_of_memory |= s->out_of_memory;
	fputs(",\"had_cpu\":[", j->out);
	for (size_t i = 0; i < s->n; i++) {
		uint32_t who = s->sorted[i].who;
		const char *text = who < WHO_NAMES ? trace_string(j->trace, who) : who_text(who);

		j->buf.len = 0;
		if (text)
			json_string(&j->buf, *text ? text : "[unknown]");
		else
			text_puts(&j->buf, "null");
		j->out_of_memory |= j->buf.failed;
		fprintf(j->out, "%s{\"name\":%s,\"cpu_ns\":%" PRIu64 "}", i ? "," : "",
			j->buf.failed ? "null" : j->buf.p, s->sorted[i].ns);
	}
	putc(']', j->out);
}

static void put_piece(struct writer *j, const struct piece *p)
{
	const char *end = chain_end_name((enum chain_end)p->end);
	uint32_t path[OPTIONS_DEPTH_MAX];
	size_t n = path_of(j, p->node, path);

	fputs("{\"links\":[", j->out);
	while (n-- > 0) {
		struct link l = link_at(j, path[n]);

		put_link(j, &l);
		if (n)
			putc(',', j->out);
	}
	/* Without the brackets, which distinguish an end from a frame. */
	fprintf(j->out, "],\"end\":\"%.*s\",\"ns\":%" PRIu64, (int)strlen(end) - 2, end + 1, p->ns);
	if (j->who_ran && (p->end == CHAIN_RUNNABLE || p->end == CHAIN_PREEMPTED))
		put_who(j, p->node);
	putc('}', j->out);
}

static void put_flags(struct writer *j, const struct wait *w)
{
	int n = 0;

	fputs("\"flags\":[", j->out);
	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		if (w->flags & f->flag)
			fprintf(j->out, "%s\"%s\"", n++ ? "," : "", f->name);
	if (wait_throttled(w))
		fprintf(j->out, "%s\"throttled\"", n ? "," : "");
	fputs("],", j->out);
}

/* What the thread waited for; nothing if that is not known. */
static void put_object(struct writer *j, uint32_t pair)
{
	const struct trace_object *o = trace_object(j->trace, names_shown_object(j->names, pair));

	if (!o)
		return;
	fputs("\"object\":{", j->out);
	put_string(j, "class", trace_string(j->trace, o->class));
	putc(',', j->out);
	put_string(j, "name", trace_string(j->trace, o->name));
	if (o->peer)
		fprintf(j->out, ",\"peer\":%" PRIu32, o->peer);
	fputs("},", j->out);
}

static void put_wait(struct writer *j, const struct chosen_wait *p)
{
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	uint64_t start_ns = timelines_start_ns(j->timelines);
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;
	bool preempted = w->kind == WAIT_PREEMPTED;
	bool woken = !preempted && !(w->flags & (WAIT_NOT_WOKEN | WAIT_NO_WAKING));

	putc('{', j->out);
	put_ids(j, p->thread);
	put_name(j, "name", timelines_name(j->timelines, p->thread, w->out_ns));
	fprintf(j->out, ",\"start\":%" PRIu64 ",\"wake\":", w->out_ns - start_ns);
	if (woken)
		fprintf(j->out, "%" PRIu64, w->wake_ns - start_ns);
	else
		fputs("null", j->out);
	fprintf(j->out, ",\"end\":%" PRIu64 ",\"kind\":\"%s\",\"state\":", w->in_ns - start_ns,
		preempted ? "preempted" : "sleep");
	if (w->state == '?')
		fputs("null,", j->out);
	else
		fprintf(j->out, "\"%c\",", w->state);
	put_flags(j, w);
	fprintf(j->out,
		"\"blocked\":%" PRIu64 ",\"runnable\":%" PRIu64 ",\"preempted\":%" PRIu64 ",",
		s->blocked_to_ns - s->blocked_from_ns, preempted ? 0 : off_ns,
		preempted ? off_ns : 0);
	put_object(j, w->stack);
	put_stack(j, "stack", w->stack, UINT32_MAX, true);
	fputs(",\"pieces\":[", j->out);
	for (size_t i = 0; i < j->n_pieces; i++) {
		if (i)
			putc(',', j->out);
		put_piece(j, &j->pieces[i]);
	}
	fputs("]}\n", j->out);
}

static int write_wait(void *arg, const struct chosen_wait *p)
{
	struct writer *j = arg;
	const struct shown *s = &p->shown;
	uint32_t head = chains_head(&j->chains, 1);
	bool preempted = p->wait->kind == WAIT_PREEMPTED;

	j->n_pieces = 0;
	pair_table_clear(&j->who, sizeof(uint64_t));
	if (!preempted)
		chains_explain(&j->chains, head, p->thread, p->wait, s->blocked_from_ns,
			       s->blocked_to_ns);
	if (s->off_to_ns > s->off_from_ns)
		add(j, head, preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE,
		    s->off_to_ns - s->off_from_ns);
	if (j->who_ran)
		who_ran_share(j->who_ran, p->thread, p->wait, s->off_from_ns, s->off_to_ns,
			      add_own_who, j);
	if (j->out_of_memory || j->chains.out_of_memory)
		return -ENOMEM;
	merge_pieces(j);
	put_wait(j, p);
	if (j->out_of_memory)
		return -ENOMEM;
	/* The caller reports a write error; continuing would be pointless. */
	return ferror(j->out) ? 1 : 0;
}

static int write_json(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct names *names = names_new(in->timelines, o);
	struct wait_filter *s = names ? wait_filter_new(in->timelines, o, names) : NULL;
	struct writer j = {
		.out = out,
		.timelines = in->timelines,
		.trace = in->trace,
		.options = o,
		.names = names,
	};
	int err = chains_init(&j.chains, in->timelines, o,
			      (struct chain_user) { &j, label_link, add });

	j.of_frame = calloc((size_t)trace_frames_end(in->trace) + 1, sizeof(*j.of_frame));
	if (!s || !j.of_frame)
		err = -ENOMEM;
	if (!err)
		err = who_ran_new(&j.who_ran, in->timelines);
	chains_ask_who(&j.chains, j.who_ran, add_who);
	if (!err)
		err = top_waits_walk(in->timelines, s, o->top, write_wait, &j);
	chains_free(&j.chains);
	who_ran_free(j.who_ran);
	pair_table_free(&j.who);
	who_sums_free(&j.who_had_cpu);
	intern_free(&j.links);
	intern_free(&j.texts);
	free(j.of_frame);
	text_free(&j.buf);
	free(j.pieces);
	wait_filter_free(s);
	names_free(names);
	return err < 0 ? err : 0;
}

const struct format format_json = {
	.name = "json",
	.summary = "one JSON object a line for each wait, with its chain",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_KEYED,
	.refuses = GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_ANNOTATE | GIVEN_UNIT | GIVEN_VIEW |
		   GIVEN_BY_NAME | GIVEN_WHO_RAN,
	.write = write_json,
};
