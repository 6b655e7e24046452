// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for other programs: one JSON object a line, described in the manual page. Thread by thread
 * in order of time, or with --top the longest ones.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "format.h"
#include "json_words.h"
#include "remote_wait.h"
#include "wait_amounts.h"
#include "words/lock_holder.h"
#include "words/object_names.h"

/* ---- a wait's chain: its pieces, also those on other machines (chain-semantics, section 16) -- */

struct json_chain {
	struct wait_amounts wait; /* the current one, by node; comes first: it is a sink's arg */
	struct json_words words;
	struct intern links;	    /* struct link; their ids are the labels */
	struct json_remote *remote; /* NULL: no other machines */
};

/* What other machines did: each hop of a chain needs a chain of its own, made when it is needed. */
struct json_remote {
	const struct joined_host *hosts;
	uint32_t n;
	uint32_t hops; /* of the chain that is being written */
	struct json_chain *chains[];
};

static uint32_t label_link(void *arg, const struct link *link)
{
	struct json_chain *j = arg;
	struct link l = *link;

	l.flags &= LINK_IDLE | LINK_LABEL; /* the other flags are not written */
	return xintern(&j->links, &l, sizeof(l), NULL);
}

static struct link link_of_label(const struct json_chain *j, uint32_t label)
{
	struct link l;
	size_t len;

	memcpy(&l, intern_bytes(&j->links, label, &len), sizeof(l));
	return l;
}

/* A client's wait has up to two labels before its links. */
#define PATH_MAX_NODES (OPTIONS_DEPTH_MAX + 2)

/* The labels of a chain's links, the last link first, without the head; returns how many. */
static size_t path_of(const struct json_chain *j, uint32_t node, uint32_t path[PATH_MAX_NODES])
{
	const struct pair *nodes = j->wait.chains.nodes.at;
	size_t n = 0;

	for (; nodes[node].a && n < PATH_MAX_NODES; node = nodes[node].a)
		path[n++] = nodes[node].b;
	return n;
}

/* By the contents of the links: their numbers depend on the waits explained before. */
static int by_links(const struct json_chain *j, uint32_t a, uint32_t b)
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

static void put_link(struct json_chain *j, const struct link *l)
{
	bool task = l->waker != THREAD_NONE;
	struct json_object *to = j->words.to;

	json_begin(to, NULL, '{');
	if (task) {
		json_put_name(&j->words, "name", l->name);
		json_put_ids(&j->words, l->waker);
		json_exact(to, "context", "task");
	} else {
		struct stack_pair p = timelines_pair(j->words.timelines, l->stack);

		json_exact(to, "name", NULL);
		json_exact(to, "tid", NULL);
		json_exact(to, "pid", NULL);
		json_exact(to, "context", "interrupt");
		json_put_frame(&j->words, to, "handler",
			       irq_handler(j->wait.chains.kernel, p.kstack, l->kernel_frames));
	}
	json_put_stack(&j->words, "stack", l->stack, l->kernel_frames, task);
	if (l->blocked)
		json_put_stack(&j->words, "blocked_stack", l->blocked, UINT32_MAX, true);
	json_end(to, '}');
}

/* Of another control group, or whose quota it was, what that is called, and its path. */
static void put_holder(struct json_chain *j, uint32_t who)
{
	uint32_t group = cpu_holder_group(who) | cpu_holder_quota(who);

	if (group) {
		json_exact(j->words.to, "name",
			   names_text(j->words.names, cpu_holder_name(j->words.names, who)));
		json_put_name(&j->words, "cgroup", group);
	} else if (who < HOLDER_NAMES) {
		json_put_name(&j->words, "name", who);
	} else {
		json_exact(j->words.to, "name", cpu_holder_text(who));
	}
}

/* Writes who had the CPU in a piece of time that waited for one. */
static void put_holders(struct json_chain *j, uint32_t node)
{
	size_t n;
	const struct sum *had = sums_of(&j->wait.had, node, &n);
	struct json_object *to = j->words.to;

	json_begin(to, "had_cpu", '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(to, NULL, '{');
		put_holder(j, had[i].key);
		json_number(to, "cpu_ns", had[i].amount);
		json_end(to, '}');
	}
	json_end(to, ']');
}

/* What the last waker ran: the stacks of its samples, and how much of the piece each of them is. */
static void put_ran(struct json_chain *j, const struct wait_amount *p)
{
	size_t n;
	struct sum *ran = sums_of(&j->wait.ran, p->place, &n);
	struct json_object *to = j->words.to;

	if (!n)
		return;
	sums_share(ran, n, p->ns, j->words.names);
	json_begin(to, "ran", '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(to, NULL, '{');
		json_number(to, "samples", ran[i].amount);
		json_number(to, "ran_ns", ran[i].share);
		json_put_stack(&j->words, "stack", ran[i].key, UINT32_MAX, true);
		json_end(to, '}');
	}
	json_end(to, ']');
}

/* A name without its brackets, as those of ends. */
static void put_inner(struct json_chain *j, const char *key, const char *name)
{
	struct text_buf *b = &j->words.buf;

	b->len = 0;
	text_put(b, name + 1, strlen(name) - 2);
	json_exact(j->words.to, key, b->p);
}

/* What a device was at while the thread waited for it. */
static void put_disk(struct json_chain *j, struct amount_key key)
{
	struct disk_request_kind k = timelines_disk_request_kind(j->words.timelines, key.value);
	const char *stage = disk_stage_name((enum disk_stage)key.stage);
	struct json_object *to = j->words.to;

	json_exact(to, "disk", disk_device_name(j->words.trace, k.disk));
	json_exact(to, "operation", disk_op_name(k.op));
	if (stage)
		put_inner(j, "stage", stage);
	if (key.stage == DISK_HELD && k.group)
		json_put_name(&j->words, "cgroup", k.group);
}

/* Whom else the last waker of a piece woke; nothing if nobody. */
static void put_woken(struct json_chain *j, uint32_t node)
{
	size_t n;
	const struct sum *at = sums_of(&j->wait.woken, node, &n);
	struct json_object *to = j->words.to;

	if (!n)
		return;
	json_begin(to, "served", '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(to, NULL, '{');
		json_put_name(&j->words, "name", at[i].key);
		json_number(to, "wakings", at[i].count);
		json_number(to, "served_ns", at[i].amount);
		json_end(to, '}');
	}
	json_end(to, ']');
}

/* What a client's time was, before its links: takes that off the path, of *n. */
static void put_labels(struct json_chain *j, const uint32_t *path, size_t *n)
{
	bool any = false;

	for (; *n; (*n)--, any = true) {
		struct link l = link_of_label(j, path[*n - 1]);

		if (!(l.flags & LINK_LABEL))
			break;
		if (!any)
			json_begin(j->words.to, "labels", '[');
		put_inner(j, NULL, trace_string(j->words.trace, l.name));
	}
	if (any)
		json_end(j->words.to, ']');
}

/* ---- other machines ------------------------------------------------------------------------- */

static void json_chain_init(struct json_chain *j, struct json_object *to,
			    const struct timelines *tl, const struct options *o);

static struct json_chain *chain_of(struct json_remote *r, uint32_t host,
				   const struct json_chain *above)
{
	struct json_chain **at = &r->chains[r->hops * r->n + host], *chain = *at;

	if (chain)
		return chain;
	*at = chain = xmalloc(sizeof(*chain));
	json_chain_init(chain, above->words.to, r->hosts[host].timelines, above->words.options);
	chain->remote = r;
	return chain;
}

static void put_pieces(struct json_chain *j);

/* What another machine did for the time of a piece. */
static void put_remote(struct json_chain *j, uint32_t part)
{
	struct json_remote *r = j->remote;
	struct remote_wait w;
	struct json_chain *there;

	if (!r || r->hops == REMOTE_HOPS_MAX ||
	    !remote_wait_find(&w, r->hosts, r->n, j->words.timelines, part))
		return;
	there = chain_of(r, w.host, j);
	wait_amounts_make(&there->wait, &w.wait);
	json_begin(j->words.to, "remote", '{');
	json_exact(j->words.to, "host", r->hosts[w.host].name);
	json_number(j->words.to, "start",
		    w.wait.shown.blocked_from_ns - timelines_start_ns(there->words.timelines));
	json_put_request(&there->words, timelines_request_of(there->words.timelines, w.wait.wait));
	r->hops++;
	put_pieces(there);
	r->hops--;
	json_end(j->words.to, '}');
}

/* For which socket the packets were, and what was done by who sent them. */
static void put_network(struct json_chain *j, const struct wait_amount *p)
{
	bool is_remote = p->key.stage == NETWORK_REMOTE;
	const char *timer = network_stage_name(p->key.stage);

	if (timer)
		json_exact(j->words.to, "stage", timer);
	json_put_object(
		&j->words, "socket",
		is_remote ? remote_answers_part_at(j->words.timelines->remote, p->key.value).socket
			  : p->key.value,
		0);
	if (is_remote)
		put_remote(j, p->key.value);
}

/* ---- pieces --------------------------------------------------------------------------------- */

static void put_piece(struct json_chain *j, const struct wait_amount *p)
{
	uint32_t path[PATH_MAX_NODES];
	size_t n = path_of(j, p->place, path);
	struct json_object *to = j->words.to;

	json_begin(to, NULL, '{');
	put_labels(j, path, &n);
	json_begin(to, "links", '[');
	while (n-- > 0) {
		struct link l = link_of_label(j, path[n]);

		put_link(j, &l);
	}
	json_end(to, ']');
	json_exact(to, "end", chain_end_word((enum chain_end)p->key.end));
	json_number(to, "ns", p->ns);
	if (p->key.end == CHAIN_DISK)
		put_disk(j, p->key);
	if (p->key.end == CHAIN_NETWORK)
		put_network(j, p);
	if (j->wait.cpu_holders && (p->key.end == CHAIN_RUNNABLE || p->key.end == CHAIN_PREEMPTED))
		put_holders(j, p->place);
	if (p->key.end == CHAIN_RUNNING) {
		if (timelines_interrupts(j->words.timelines))
			json_number(to, "interrupts_ns", p->interrupted_ns);
		put_ran(j, p);
	}
	if (p->key.end == CHAIN_RUNNABLE || p->key.end == CHAIN_RUNNING)
		put_woken(j, p->place);
	json_end(to, '}');
}

static void put_pieces(struct json_chain *j)
{
	size_t n;
	struct wait_amount *pieces = wait_amounts_list(&j->wait, &n);

	json_begin(j->words.to, "pieces", '[');
	if (n)
		qsort_r(pieces, n, sizeof(*pieces), widest_first, j);
	for (size_t i = 0; i < n; i++)
		put_piece(j, &pieces[i]);
	json_end(j->words.to, ']');
}

/* ---- a writer of chains -------------------------------------------------------------------------
 */

static void json_chain_init(struct json_chain *j, struct json_object *to,
			    const struct timelines *tl, const struct options *o)
{
	*j = (struct json_chain) { .remote = NULL };
	json_words_init(&j->words, to, tl, o);
	wait_amounts_init(&j->wait, tl, o, j->words.names, false, label_link, NULL);
}

/* Has it go on at other machines; the n hosts must outlive it. */
static void json_chain_join(struct json_chain *j, const struct joined_host *hosts, uint32_t n)
{
	j->remote = xcalloc(1, sizeof(*j->remote) +
				       (size_t)n * REMOTE_HOPS_MAX * sizeof(j->remote->chains[0]));
	j->remote->hosts = hosts;
	j->remote->n = n;
}

static void free_chain(struct json_chain *j)
{
	wait_amounts_free(&j->wait);
	intern_free(&j->links);
	json_words_free(&j->words);
}

static void json_chain_free(struct json_chain *j)
{
	for (uint32_t i = 0; j->remote && i < j->remote->n * REMOTE_HOPS_MAX; i++) {
		if (j->remote->chains[i])
			free_chain(j->remote->chains[i]);
		free(j->remote->chains[i]);
	}
	free(j->remote);
	free_chain(j);
}

/* ---- a wait ---------------------------------------------------------------------------------- */

struct writer {
	struct json_chain chain;
	struct json_object json; /* of the current wait */
	const struct format_input *in;
	FILE *out;
};

/* The control group in which the thread was, if that is known: its path, and what it is called. */
static void put_group(struct json_words *j, uint32_t path)
{
	if (!path)
		return;
	json_put_name(j, "cgroup", path);
	json_exact(j->to, "cgroup_name", names_text(j->names, names_group_path(j->names, path)));
}

static void put_flags(struct json_object *to, const struct wait *w)
{
	json_begin(to, "flags", '[');
	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		if (w->flags & f->flag)
			json_exact(to, NULL, f->name);
	if (wait_throttled(w))
		json_exact(to, NULL, "throttled");
	if (wait_killed(w))
		json_exact(to, NULL, "killed");
	json_end(to, ']');
}

/* What the thread waited for, and of several what was ready; nothing if that is not known. */
static void put_objects(struct json_words *j, uint32_t thread, const struct wait *w)
{
	struct object_names *objects = names_objects(j->names);
	struct shown_objects s = names_shown_objects(j->names, w->stack);
	uint32_t held_by = object_names_holder(objects, s.object);
	uint32_t holder = lock_holder(objects, thread, w);

	if (!held_by && holder != THREAD_NONE)
		held_by = timelines_thread(j->timelines, holder)->tid;
	json_put_object(j, "object", s.object, held_by);
	json_put_object(j, "ready", s.ready, 0);
}

/* All but the pieces. */
static void put_head(const struct format_input *in, struct json_words *j,
		     const struct chosen_wait *p)
{
	struct json_object *to = j->to;
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	uint64_t start_ns = timelines_start_ns(j->timelines);
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;
	bool preempted = w->kind == WAIT_PREEMPTED;
	char state[] = { (char)w->state, 0 };

	json_begin(to, NULL, '{');
	if (in->key)
		json_exact(to, in->key, in->label);
	json_put_ids(j, p->thread);
	put_group(j, timelines_group(j->timelines, p->thread, w->out_ns));
	json_put_name(j, "name", timelines_name(j->timelines, p->thread, w->out_ns));
	json_number(to, "start", w->out_ns - start_ns);
	if (!preempted && wait_has_waking(w))
		json_number(to, "wake", w->wake_ns - start_ns);
	else
		json_exact(to, "wake", NULL);
	json_number(to, "end", w->in_ns - start_ns);
	json_exact(to, "kind", preempted ? "preempted" : "sleep");
	json_exact(to, "state", w->state == '?' ? NULL : state);
	put_flags(to, w);
	json_number(to, "blocked", s->blocked_to_ns - s->blocked_from_ns);
	json_number(to, "runnable", preempted ? 0 : off_ns);
	json_number(to, "preempted", preempted ? off_ns : 0);
	put_objects(j, p->thread, w);
	if (timelines_is_client(j->timelines, p->thread))
		json_put_request(j, timelines_request_of(j->timelines, w));
	json_put_stack(j, "stack", w->stack, UINT32_MAX, true);
}

static bool write_wait(void *arg, const struct chosen_wait *p)
{
	struct writer *w = arg;

	wait_amounts_make(&w->chain.wait, p);
	put_head(w->in, &w->chain.words, p);
	put_pieces(&w->chain);
	json_end(&w->json, '}');
	text_puts(&w->json.b, "\n");
	json_flush(&w->json, w->out);
	/* The caller reports a write error; continuing would be pointless. */
	return !ferror(w->out);
}

static int write_json(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct writer w = { .in = in, .out = out };

	json_chain_init(&w.chain, &w.json, in->timelines, o);
	if (in->n_hosts)
		json_chain_join(&w.chain, in->hosts, in->n_hosts);
	format_each_wait(in, o, w.chain.words.names, o->top, write_wait, &w);
	json_chain_free(&w.chain);
	text_free(&w.json.b);
	return 0;
}

const struct format format_json = {
	.name = "json",
	.summary = "one JSON object a line for each wait, with its chain",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_KEYED,
	.joins = true,
	.takes = GIVEN_OF_CHAINS | GIVEN_ATTRIBUTED | GIVEN_ROOT | GIVEN_TOP,
	.write = write_json,
};
