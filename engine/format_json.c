// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for other programs: one JSON object a line, described in the manual page. Thread by thread
 * in order of time; or the longest ones, with --top.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "grow.h"
#include "handler.h"
#include "json.h"
#include "picks.h"

/* What a link's label stands for: (who, stacks). */
struct link_label {
	uint32_t waker;	   /* thread, or THREAD_NONE: an interrupt */
	uint32_t name;	   /* string id: the waker's, at that time */
	uint32_t stack;	   /* the waker's: stack pair */
	uint32_t n_kernel; /* leaf-most frames of its kernel stack that are its own */
	uint32_t blocked;  /* stack pair: where the one slept that it woke; 0: not asked for */
};

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
	struct texts texts;
	uint32_t *of_frame; /* text by frame id, as JSON; 0: not made yet */
	struct text_buf buf;
	struct chains chains;
	struct pairs who;    /* (thread, or why none; name) */
	struct pairs stacks; /* (waker's, blocked) */
	struct pairs labels;
	struct link_label *label;
	size_t cap_label;
	struct piece *pieces; /* of the wait at hand */
	size_t n_pieces, cap_pieces;
	bool out_of_memory;
};

static uint32_t label_link(void *arg, const struct wait *w, struct context context, bool first)
{
	struct writer *j = arg;
	bool task = !context.interrupt;
	uint32_t name = task ? timelines_name(j->timelines, w->waker, w->wake_ns) : 0;
	bool with_blocked = chain_shows_sleep(j->options, w, first);
	uint32_t blocked = with_blocked ? w->stack : 0;
	/* What is an interrupt's own differs between the idle loop and any other thread. */
	uint32_t who =
		pairs_id(&j->who, task || w->waker == THREAD_IDLE ? w->waker : THREAD_NONE, name);
	uint32_t stacks = pairs_id(&j->stacks, w->waker_stack, blocked);
	struct link_label *p;
	uint32_t id;
	int is_new;

	if (!who || !stacks)
		return 0;
	id = pairs_id_new(&j->labels, who, stacks, &is_new);
	if (!id || !is_new)
		return id;
	p = grow_array(j->label, id, &j->cap_label, sizeof(*p));
	if (!p) {
		j->out_of_memory = true;
		return 0;
	}
	j->label = p;
	p[id] = (struct link_label) { task ? w->waker : THREAD_NONE, name, w->waker_stack,
				      task ? UINT32_MAX : context.frames, blocked };
	return id;
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

static int by_chain(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* The labels of a chain's links, its last one first; the head, which has no parent, is none. */
static size_t path_of(const struct writer *j, uint32_t node, uint32_t path[OPTIONS_DEPTH_MAX])
{
	const struct pair *nodes = j->chains.nodes.at;
	size_t n = 0;

	for (; nodes[node].a && n < OPTIONS_DEPTH_MAX; node = nodes[node].a)
		path[n++] = nodes[node].b;
	return n;
}

/* By what the links are: their numbers depend on what was looked at before. */
static int by_links(const struct writer *j, uint32_t a, uint32_t b)
{
	uint32_t path_a[OPTIONS_DEPTH_MAX], path_b[OPTIONS_DEPTH_MAX];
	size_t n_a = path_of(j, a, path_a), n_b = path_of(j, b, path_b);

	while (n_a && n_b) {
		const struct link_label *la = &j->label[path_a[--n_a]];
		const struct link_label *lb = &j->label[path_b[--n_b]];
		int order = memcmp(la, lb, sizeof(*la));

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

/* A thread's name; one that the trace does not tell is written as in folded lines. */
static void put_name(struct writer *j, const char *key, uint32_t string)
{
	const char *name = trace_string(j->trace, string);

	j->buf.len = 0;
	json_string(&j->buf, *name ? name : "[unknown]");
	j->out_of_memory |= j->buf.failed;
	fprintf(j->out, "\"%s\":%s", key, j->buf.failed ? "null" : j->buf.p);
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

/* As JSON: the symbol; without one "[module]"; else "[unknown]". 0: out of memory. */
static uint32_t make_frame(struct writer *j, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(j->trace, frame);
	const char *symbol = f ? trace_string(j->trace, f->symbol) : "";
	const char *path = f && f->module ? trace_module_path(j->trace, f->module) : "";
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct text_buf module = { 0 };

	if (!*symbol && *base) {
		text_puts(&module, "[");
		text_puts(&module, base);
		text_puts(&module, "]");
		symbol = module.p;
	} else if (!*symbol) {
		symbol = "[unknown]";
	}
	j->buf.len = 0;
	if (!module.failed)
		json_string(&j->buf, symbol);
	j->buf.failed |= module.failed;
	text_free(&module);
	return j->buf.failed ? 0 : texts_id(&j->texts, j->buf.p, j->buf.len);
}

static void put_frame(struct writer *j, uint32_t frame)
{
	uint32_t *slot = &j->of_frame[frame < trace_frames_end(j->trace) ? frame : 0];

	if (!*slot)
		*slot = make_frame(j, frame);
	j->out_of_memory |= !*slot;
	fputs(*slot ? texts_get(&j->texts, *slot) : "null", j->out);
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

/* Both parts root first, so that they read on as one; of the kernel's n_kernel from the leaf. */
static void put_stack(struct writer *j, const char *key, uint32_t pair, uint32_t n_kernel,
		      bool user)
{
	struct stack_pair p = timelines_pair(j->timelines, pair);
	struct trace_stack k = trace_stack(j->trace, p.kstack);
	const struct options *o = j->options;

	if (k.n > n_kernel)
		k.n = n_kernel;
	fprintf(j->out, "\"%s\":{", key);
	if (o->user)
		put_frames(j, "user",
			   user ? trace_stack(j->trace, p.ustack) : (struct trace_stack) { 0 });
	if (o->user && o->kernel)
		putc(',', j->out);
	if (o->kernel)
		put_frames(j, "kernel", k);
	putc('}', j->out);
}

static void put_link(struct writer *j, const struct link_label *l)
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
		put_frame(j, handler_frame(j->trace, p.kstack, l->n_kernel));
		putc(',', j->out);
	}
	put_stack(j, "stack", l->stack, l->n_kernel, task);
	if (l->blocked) {
		putc(',', j->out);
		put_stack(j, "blocked_stack", l->blocked, UINT32_MAX, true);
	}
	putc('}', j->out);
}

static void put_piece(struct writer *j, const struct piece *p)
{
	const char *end = chain_end_name((enum chain_end)p->end);
	uint32_t path[OPTIONS_DEPTH_MAX];
	size_t n = path_of(j, p->node, path);

	fputs("{\"links\":[", j->out);
	while (n-- > 0) {
		put_link(j, &j->label[path[n]]);
		if (n)
			putc(',', j->out);
	}
	/* Without the brackets that make an end stand out among frames. */
	fprintf(j->out, "],\"end\":\"%.*s\",\"ns\":%" PRIu64 "}", (int)strlen(end) - 2, end + 1,
		p->ns);
}

static void put_flags(struct writer *j, const struct wait *w)
{
	int n = 0;

	fputs("\"flags\":[", j->out);
	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		if (w->flags & f->flag)
			fprintf(j->out, "%s\"%s\"", n++ ? "," : "", f->name);
	fputs("],", j->out);
}

static void put_wait(struct writer *j, const struct pick *p)
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
	put_stack(j, "stack", w->stack, UINT32_MAX, true);
	fputs(",\"pieces\":[", j->out);
	for (size_t i = 0; i < j->n_pieces; i++) {
		if (i)
			putc(',', j->out);
		put_piece(j, &j->pieces[i]);
	}
	fputs("]}\n", j->out);
}

static int write_wait(void *arg, const struct pick *p)
{
	struct writer *j = arg;
	const struct shown *s = &p->shown;
	uint32_t head = chains_head(&j->chains, 1);
	bool preempted = p->wait->kind == WAIT_PREEMPTED;

	j->n_pieces = 0;
	if (!preempted)
		chains_explain(&j->chains, head, p->thread, p->wait, s->blocked_from_ns,
			       s->blocked_to_ns);
	if (s->off_to_ns > s->off_from_ns)
		add(j, head, preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE,
		    s->off_to_ns - s->off_from_ns);
	if (j->out_of_memory || j->chains.out_of_memory)
		return -ENOMEM;
	merge_pieces(j);
	put_wait(j, p);
	if (j->out_of_memory)
		return -ENOMEM;
	/* A write error is the caller's to find: there is no point in going on, though. */
	return ferror(j->out) ? 1 : 0;
}

static int write_json(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct names *names = names_new(in->timelines, o);
	struct selection *s = names ? selection_new(in->timelines, o, names) : NULL;
	struct writer j = {
		.out = out, .timelines = in->timelines, .trace = in->trace, .options = o
	};
	int err = chains_init(&j.chains, in->timelines, o->mode, o->depth,
			      (struct chain_user) { &j, label_link, add });

	j.of_frame = calloc((size_t)trace_frames_end(in->trace) + 1, sizeof(*j.of_frame));
	if (!s || !j.of_frame)
		err = -ENOMEM;
	if (!err)
		err = picks_walk(in->timelines, s, o->top, write_wait, &j);
	chains_free(&j.chains);
	pairs_free(&j.who);
	pairs_free(&j.stacks);
	pairs_free(&j.labels);
	texts_free(&j.texts);
	free(j.of_frame);
	text_free(&j.buf);
	free(j.label);
	free(j.pieces);
	selection_free(s);
	names_free(names);
	return err < 0 ? err : 0;
}

const struct format format_json = {
	.name = "json",
	.summary = "one JSON object a line for each wait, with its chain",
	.wants_timelines = true,
	.several = SEVERAL_KEYED,
	.refuses = GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_ANNOTATE | GIVEN_UNIT | GIVEN_VIEW |
		   GIVEN_BY_NAME,
	.write = write_json,
};
