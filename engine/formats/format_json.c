// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for other programs: one JSON object a line, described in the manual page. Thread by thread
 * in order of time, or with --top the longest ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "base/compare.h"
#include "base/text.h"
#include "words/lock_holder.h"
#include "words/request_words.h"
#include "wait_amounts.h"

struct writer {
	struct wait_amounts wait; /* the current one, by node */
	struct intern links;	  /* struct link; their ids are the labels */
	const struct format_input *in;
	FILE *out;
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct names *names;
	struct intern texts;
	struct pair_table of_stack; /* as JSON, by (stack pair, kernel frames << 1 | with user) */
	struct text_buf buf;
	bool out_of_memory;
};

static uint32_t label_link(void *arg, const struct link *link)
{
	struct writer *j = arg;
	struct link l = *link;

	l.flags &= LINK_IDLE | LINK_LABEL; /* the other flags are not written */
	return intern_id(&j->links, &l, sizeof(l), NULL);
}

static struct link link_of_label(const struct writer *j, uint32_t label)
{
	struct link l;
	size_t len;

	memcpy(&l, intern_bytes(&j->links, label, &len), sizeof(l));
	return l;
}

/* A client's wait has up to two labels before its links. */
#define PATH_MAX_NODES (OPTIONS_DEPTH_MAX + 2)

/* The labels of a chain's links, the last link first, without the head; returns how many. */
static size_t path_of(const struct writer *j, uint32_t node, uint32_t path[PATH_MAX_NODES])
{
	const struct pair *nodes = j->wait.chains.nodes.at;
	size_t n = 0;

	for (; nodes[node].a && n < PATH_MAX_NODES; node = nodes[node].a)
		path[n++] = nodes[node].b;
	return n;
}

/* By the contents of the links: their numbers depend on the waits explained before. */
static int by_links(const struct writer *j, uint32_t a, uint32_t b)
{
	uint32_t path_a[PATH_MAX_NODES], path_b[PATH_MAX_NODES];
	size_t n_a = path_of(j, a, path_a), n_b = path_of(j, b, path_b);

	while (n_a && n_b) {
		struct link la = link_of_label(j, path_a[--n_a]),
			    lb = link_of_label(j, path_b[--n_b]);
		int order = memcmp(&la, &lb, offsetof(struct link, flags));

		if (order)
			return order;
	}
	return n_a ? 1 : n_b ? -1 : 0;
}

static int widest_first(const void *pa, const void *pb, void *writer)
{
	const struct wait_amount *a = pa, *b = pb;
	int order;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	order = a->place == b->place ? 0 : by_links(writer, a->place, b->place);
	if (order)
		return order;
	if (a->place != b->place)
		return compare_numbers(a->place, b->place);
	if (a->key.end != b->key.end)
		return compare_numbers(a->key.end, b->key.end);
	if (a->key.value != b->key.value)
		return compare_numbers(a->key.value, b->key.value);
	return compare_numbers(a->key.stage, b->key.stage);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* s NULL: not known. */
static void put_string(struct writer *j, const char *key, const char *s)
{
	j->buf.len = 0;
	if (s)
		json_string(&j->buf, s);
	j->out_of_memory |= j->buf.failed;
	fprintf(j->out, "\"%s\":%s", key, !s || j->buf.failed ? "null" : j->buf.p);
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

/* The control group in which the thread was, if that is known: its path, and what it is called. */
static void put_group(struct writer *j, uint32_t path)
{
	if (!path)
		return;
	put_name(j, "cgroup", path);
	putc(',', j->out);
	put_string(j, "cgroup_name", names_text(j->names, names_group_path(j->names, path)));
	putc(',', j->out);
}

/* Adds a frame: as names_frame(), but not cleaned; then " (FILE:LINE)" if known. */
static void add_frame(struct writer *j, struct text_buf *b, uint32_t frame)
{
	struct raw_frame raw = names_raw_frame(j->trace, frame);

	j->buf.len = 0;
	text_puts(&j->buf, raw.brackets ? "[" : "");
	text_puts(&j->buf, *raw.text ? raw.text : "[unknown]");
	text_puts(&j->buf, raw.brackets ? "]" : "");
	names_put_source(j->trace, frame, true, &j->buf);
	b->failed |= j->buf.failed;
	if (!b->failed)
		json_string(b, j->buf.p);
}

static void add_frames(struct writer *j, struct text_buf *b, const char *key, struct trace_stack s)
{
	text_puts(b, b->len > 1 ? ",\"" : "\"");
	text_puts(b, key);
	text_puts(b, "\":[");
	for (uint32_t i = s.n; i-- > 0;) {
		add_frame(j, b, s.frames[i]);
		text_puts(b, i ? "," : "");
	}
	text_puts(b, "]");
}

/* As JSON, both parts root first, so that they read on as one. 0: out of memory. */
static uint32_t make_stack(struct writer *j, uint32_t pair, uint32_t kernel_frames, bool with_user)
{
	struct shown_stack s = names_shown_stack(j->names, pair, kernel_frames, with_user);
	struct text_buf b = { 0 };
	uint32_t text;

	text_puts(&b, "{");
	if (j->options->user)
		add_frames(j, &b, "user", s.user);
	if (j->options->kernel)
		add_frames(j, &b, "kernel", s.kernel);
	text_puts(&b, "}");
	text = b.failed ? 0 : intern_id(&j->texts, b.p, b.len, NULL);
	text_free(&b);
	return text;
}

static void put_stack(struct writer *j, const char *key, uint32_t pair, uint32_t kernel_frames,
		      bool with_user)
{
	uint32_t *slot =
		pair_table_at(&j->of_stack, pair, kernel_frames << 1 | with_user, sizeof(*slot));

	if (slot && !*slot)
		*slot = make_stack(j, pair, kernel_frames, with_user);
	j->out_of_memory |= !slot || !*slot;
	fprintf(j->out, "\"%s\":", key);
	fputs(slot && *slot ? intern_text(&j->texts, *slot) : "null", j->out);
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
		struct text_buf b = { 0 };

		add_frame(j, &b, irq_handler(j->wait.chains.kernel, p.kstack, l->kernel_frames));
		j->out_of_memory |= b.failed;
		fprintf(j->out,
			"\"name\":null,\"tid\":null,\"pid\":null,\"context\":\"interrupt\","
			"\"handler\":%s,",
			b.failed ? "null" : b.p);
		text_free(&b);
	}
	put_stack(j, "stack", l->stack, l->kernel_frames, task);
	if (l->blocked) {
		putc(',', j->out);
		put_stack(j, "blocked_stack", l->blocked, UINT32_MAX, true);
	}
	putc('}', j->out);
}

/* Of another control group what that is called, and its path. */
static void put_holder(struct writer *j, uint32_t who)
{
	uint32_t group = cpu_holder_group(who);

	if (group) {
		put_string(j, "name", names_text(j->names, names_group_path(j->names, group)));
		putc(',', j->out);
		put_name(j, "cgroup", group);
	} else if (who < HOLDER_NAMES) {
		put_name(j, "name", who);
	} else {
		put_string(j, "name", cpu_holder_text(who));
	}
}

/* Writes who had the CPU in a piece of time that waited for one. */
static void put_holders(struct writer *j, uint32_t node)
{
	size_t n;
	const struct sum *had = sums_of(&j->wait.had, node, &n);

	fputs(",\"had_cpu\":[", j->out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",{" : "{", j->out);
		put_holder(j, had[i].key);
		fprintf(j->out, ",\"cpu_ns\":%" PRIu64 "}", had[i].amount);
	}
	putc(']', j->out);
}

/* What the last waker ran: the stacks of its samples, and how much of the piece each of them is. */
static void put_ran(struct writer *j, const struct wait_amount *p)
{
	size_t n;
	struct sum *ran = sums_of(&j->wait.ran, p->place, &n);

	if (!n)
		return;
	j->out_of_memory |= sums_share(ran, n, p->ns, j->names) < 0;
	fputs(",\"ran\":[", j->out);
	for (size_t i = 0; i < n; i++) {
		fprintf(j->out, "%s{\"samples\":%" PRIu64 ",\"ran_ns\":%" PRIu64 ",", i ? "," : "",
			ran[i].amount, ran[i].share);
		put_stack(j, "stack", ran[i].key, UINT32_MAX, true);
		putc('}', j->out);
	}
	putc(']', j->out);
}

/* What a device was at while the thread waited for it. */
static void put_disk(struct writer *j, struct amount_key key)
{
	struct disk_request_kind k = timelines_disk_request_kind(j->timelines, key.value);
	const char *stage = disk_stage_name((enum disk_stage)key.stage);

	putc(',', j->out);
	put_string(j, "disk", disk_device_name(j->trace, k.disk));
	fprintf(j->out, ",\"operation\":\"%s\"", disk_op_name(k.op));
	/* Without the brackets. */
	if (stage)
		fprintf(j->out, ",\"stage\":\"%.*s\"", (int)strlen(stage) - 2, stage + 1);
}

/*
 * An object as a member, after a comma: what was waited for. Nothing if it is not known. holder:
 * the thread (tid) that had it; 0: not known.
 */
static void put_object(struct writer *j, const char *name, uint32_t object, uint32_t holder)
{
	const struct trace_object *o = trace_object(j->trace, object);
	uint32_t peer = object_names_peer(names_objects(j->names), object);

	if (!o)
		return;
	fprintf(j->out, ",\"%s\":{", name);
	put_string(j, "class", trace_string(j->trace, o->class));
	putc(',', j->out);
	put_string(j, "name", trace_string(j->trace, o->name));
	if (o->inode)
		fprintf(j->out, ",\"device\":\"%" PRIu32 ":%" PRIu32 "\",\"inode\":%" PRIu64,
			o->device >> 20, o->device & 0xfffff, o->inode);
	if (peer)
		fprintf(j->out, ",\"peer\":%" PRIu32, peer);
	if (holder)
		fprintf(j->out, ",\"held_by\":%" PRIu32, holder);
	putc('}', j->out);
}

/* Whom else the last waker of a piece woke; nothing if nobody. */
static void put_woken(struct writer *j, uint32_t node)
{
	size_t n;
	const struct sum *at = sums_of(&j->wait.woken, node, &n);

	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",{" : ",\"served\":[{", j->out);
		put_name(j, "name", at[i].key);
		fprintf(j->out, ",\"wakings\":%" PRIu64 ",\"served_ns\":%" PRIu64 "}", at[i].count,
			at[i].amount);
	}
	fputs(n ? "]" : "", j->out);
}

/* What a client's time was, before its links: takes that off the path, of *n. */
static void put_labels(struct writer *j, const uint32_t *path, size_t *n)
{
	struct text_buf text = { 0 };
	bool any = false;

	for (; *n; (*n)--, any = true) {
		struct link l = link_of_label(j, path[*n - 1]);
		const char *label = trace_string(j->trace, l.name);

		if (!(l.flags & LINK_LABEL))
			break;
		/* Without the brackets, as an end. */
		text.len = j->buf.len = 0;
		text_put(&text, label + 1, strlen(label) - 2);
		if (!text.failed)
			json_string(&j->buf, text.p);
		j->out_of_memory |= text.failed || j->buf.failed;
		fprintf(j->out, "%s%s", any ? "," : "\"labels\":[",
			text.failed || j->buf.failed ? "null" : j->buf.p);
	}
	fputs(any ? "]," : "", j->out);
	text_free(&text);
}

static void put_piece(struct writer *j, const struct wait_amount *p)
{
	const char *end = chain_end_name((enum chain_end)p->key.end);
	uint32_t path[PATH_MAX_NODES];
	size_t n = path_of(j, p->place, path);

	putc('{', j->out);
	put_labels(j, path, &n);
	fputs("\"links\":[", j->out);
	while (n-- > 0) {
		struct link l = link_of_label(j, path[n]);

		put_link(j, &l);
		if (n)
			putc(',', j->out);
	}
	/* Without the brackets, which distinguish an end from a frame. */
	fprintf(j->out, "],\"end\":\"%.*s\",\"ns\":%" PRIu64, (int)strlen(end) - 2, end + 1, p->ns);
	if (p->key.end == CHAIN_DISK)
		put_disk(j, p->key);
	if (p->key.end == CHAIN_NETWORK)
		put_object(j, "socket", p->key.value, 0);
	if (j->wait.cpu_holders && (p->key.end == CHAIN_RUNNABLE || p->key.end == CHAIN_PREEMPTED))
		put_holders(j, p->place);
	if (p->key.end == CHAIN_RUNNING) {
		if (timelines_interrupts(j->timelines))
			fprintf(j->out, ",\"interrupts_ns\":%" PRIu64, p->interrupted_ns);
		put_ran(j, p);
	}
	if (p->key.end == CHAIN_RUNNABLE || p->key.end == CHAIN_RUNNING)
		put_woken(j, p->place);
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
	if (wait_killed(w))
		fprintf(j->out, "%s\"killed\"", n ? "," : "");
	fputs("],", j->out);
}

/* What the thread waited for, and of several what was ready; nothing if that is not known. */
static void put_objects(struct writer *j, uint32_t thread, const struct wait *w)
{
	struct object_names *objects = names_objects(j->names);
	struct shown_objects s = names_shown_objects(j->names, w->stack);
	uint32_t held_by = object_names_holder(objects, s.object);
	uint32_t holder = lock_holder(objects, thread, w);

	if (!held_by && holder != THREAD_NONE)
		held_by = timelines_thread(j->timelines, holder)->tid;
	put_object(j, "object", s.object, held_by);
	put_object(j, "ready", s.ready, 0);
}

/* A member with a text, after a comma; nothing if it is empty. */
static void put_known(struct writer *j, const char *key, const char *s)
{
	if (!*s)
		return;
	putc(',', j->out);
	put_string(j, key, s);
}

static void put_tid(struct writer *j, const char *key, uint32_t thread)
{
	if (thread == THREAD_NONE)
		fprintf(j->out, ",\"%s\":null", key);
	else
		fprintf(j->out, ",\"%s\":%" PRIu32, key,
			timelines_thread(j->timelines, thread)->tid);
}

/* What a client waits for, after a comma. */
static void put_request(struct writer *j, const struct request *q)
{
	const struct timelines *tl = j->timelines;
	const struct context *c = timelines_context(tl, q);
	char trace[TRACE_ID_SIZE], span[SPAN_ID_SIZE];
	int n = 0;

	fputs(",\"request\":{", j->out);
	put_string(j, "endpoint", request_endpoint_name(tl, q));
	fprintf(j->out, ",\"taken\":%" PRIu64 ",\"first_answer\":%" PRIu64,
		q->taken_ns - timelines_start_ns(tl), q->first_answer_ns - timelines_start_ns(tl));
	if (q->connection)
		fprintf(j->out, ",\"connection\":%" PRIu64, q->connection);
	put_tid(j, "reader", q->reader);
	put_tid(j, "writer", q->writer);
	put_known(j, "trace_id", trace_id_text(trace, c));
	put_known(j, "span_id", span_id_text(span, c));
	put_known(j, "route", request_route(tl, q));
	put_known(j, "label", request_label(tl, q));
	fputs(",\"marks\":[", j->out);
	for (const struct request_mark *m = request_marks; m->name; m++)
		if (q->flags & m->flag)
			fprintf(j->out, "%s\"%s\"", n++ ? "," : "", m->name);
	fputs("]}", j->out);
}

static void put_wait(struct writer *j, const struct chosen_wait *p)
{
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	uint64_t start_ns = timelines_start_ns(j->timelines);
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;
	bool preempted = w->kind == WAIT_PREEMPTED;
	bool woken = !preempted && wait_has_waking(w);
	struct wait_amount *pieces;
	size_t n;

	putc('{', j->out);
	if (j->in->key) {
		put_string(j, j->in->key, j->in->label);
		putc(',', j->out);
	}
	put_ids(j, p->thread);
	put_group(j, timelines_group(j->timelines, p->thread, w->out_ns));
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
	fprintf(j->out, "\"blocked\":%" PRIu64 ",\"runnable\":%" PRIu64 ",\"preempted\":%" PRIu64,
		s->blocked_to_ns - s->blocked_from_ns, preempted ? 0 : off_ns,
		preempted ? off_ns : 0);
	put_objects(j, p->thread, w);
	if (timelines_is_client(j->timelines, p->thread))
		put_request(j, timelines_request_of(j->timelines, w));
	putc(',', j->out);
	put_stack(j, "stack", w->stack, UINT32_MAX, true);
	fputs(",\"pieces\":[", j->out);
	pieces = wait_amounts_list(&j->wait, &n);
	if (n)
		qsort_r(pieces, n, sizeof(*pieces), widest_first, j);
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc(',', j->out);
		put_piece(j, &pieces[i]);
	}
	fputs("]}\n", j->out);
}

static int write_wait(void *arg, const struct chosen_wait *p)
{
	struct writer *j = arg;

	if (wait_amounts_make(&j->wait, p))
		return -ENOMEM;
	put_wait(j, p);
	if (j->out_of_memory)
		return -ENOMEM;
	/* The caller reports a write error; continuing would be pointless. */
	return ferror(j->out) ? 1 : 0;
}

static int write_json(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct writer j = {
		.in = in,
		.out = out,
		.timelines = in->timelines,
		.trace = in->trace,
		.options = o,
	};
	int err = names_new(&j.names, in->timelines, o);

	if (!err)
		err = wait_amounts_init(&j.wait, in->timelines, o, j.names, false, label_link,
					NULL);
	if (!err)
		err = format_each_wait(in, o, j.names, o->top, write_wait, &j);
	wait_amounts_free(&j.wait);
	intern_free(&j.links);
	intern_free(&j.texts);
	pair_table_free(&j.of_stack);
	text_free(&j.buf);
	names_free(j.names);
	return err < 0 ? err : 0;
}

const struct format format_json = {
	.name = "json",
	.summary = "one JSON object a line for each wait, with its chain",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_KEYED,
	.refuses = GIVEN_TABLE | GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_ANNOTATE | GIVEN_UNIT |
		   GIVEN_VIEW | GIVEN_BY_NAME | GIVEN_WHO_RAN | GIVEN_FOLD_REPEATS,
	.write = write_json,
};
