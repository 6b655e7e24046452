// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_chain.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "remote_wait.h"
#include "words/object_names.h"

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
	return intern_id(&j->links, &l, sizeof(l), NULL);
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

	putc('{', j->words.out);
	if (task) {
		json_put_name(&j->words, "name", l->name);
		putc(',', j->words.out);
		json_put_ids(&j->words, l->waker);
		fputs("\"context\":\"task\",", j->words.out);
	} else {
		struct stack_pair p = timelines_pair(j->words.timelines, l->stack);
		struct text_buf b = { 0 };

		json_add_frame(&j->words, &b,
			       irq_handler(j->wait.chains.kernel, p.kstack, l->kernel_frames));
		j->words.out_of_memory |= b.failed;
		fprintf(j->words.out,
			"\"name\":null,\"tid\":null,\"pid\":null,\"context\":\"interrupt\","
			"\"handler\":%s,",
			b.failed ? "null" : b.p);
		text_free(&b);
	}
	json_put_stack(&j->words, "stack", l->stack, l->kernel_frames, task);
	if (l->blocked) {
		putc(',', j->words.out);
		json_put_stack(&j->words, "blocked_stack", l->blocked, UINT32_MAX, true);
	}
	putc('}', j->words.out);
}

/* Of another control group, or whose quota it was, what that is called, and its path. */
static void put_holder(struct json_chain *j, uint32_t who)
{
	uint32_t group = cpu_holder_group(who) | cpu_holder_quota(who);

	if (group) {
		json_put_string(&j->words, "name",
				names_text(j->words.names, cpu_holder_name(j->words.names, who)));
		putc(',', j->words.out);
		json_put_name(&j->words, "cgroup", group);
	} else if (who < HOLDER_NAMES) {
		json_put_name(&j->words, "name", who);
	} else {
		json_put_string(&j->words, "name", cpu_holder_text(who));
	}
}

/* Writes who had the CPU in a piece of time that waited for one. */
static void put_holders(struct json_chain *j, uint32_t node)
{
	size_t n;
	const struct sum *had = sums_of(&j->wait.had, node, &n);

	fputs(",\"had_cpu\":[", j->words.out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",{" : "{", j->words.out);
		put_holder(j, had[i].key);
		fprintf(j->words.out, ",\"cpu_ns\":%" PRIu64 "}", had[i].amount);
	}
	putc(']', j->words.out);
}

/* What the last waker ran: the stacks of its samples, and how much of the piece each of them is. */
static void put_ran(struct json_chain *j, const struct wait_amount *p)
{
	size_t n;
	struct sum *ran = sums_of(&j->wait.ran, p->place, &n);

	if (!n)
		return;
	j->words.out_of_memory |= sums_share(ran, n, p->ns, j->words.names) < 0;
	fputs(",\"ran\":[", j->words.out);
	for (size_t i = 0; i < n; i++) {
		fprintf(j->words.out, "%s{\"samples\":%" PRIu64 ",\"ran_ns\":%" PRIu64 ",",
			i ? "," : "", ran[i].amount, ran[i].share);
		json_put_stack(&j->words, "stack", ran[i].key, UINT32_MAX, true);
		putc('}', j->words.out);
	}
	putc(']', j->words.out);
}

/* What a device was at while the thread waited for it. */
static void put_disk(struct json_chain *j, struct amount_key key)
{
	struct disk_request_kind k = timelines_disk_request_kind(j->words.timelines, key.value);
	const char *stage = disk_stage_name((enum disk_stage)key.stage);

	putc(',', j->words.out);
	json_put_string(&j->words, "disk", disk_device_name(j->words.trace, k.disk));
	fprintf(j->words.out, ",\"operation\":\"%s\"", disk_op_name(k.op));
	/* Without the brackets. */
	if (stage)
		fprintf(j->words.out, ",\"stage\":\"%.*s\"", (int)strlen(stage) - 2, stage + 1);
	if (key.stage == DISK_HELD && k.group) {
		putc(',', j->words.out);
		json_put_name(&j->words, "cgroup", k.group);
	}
}

/* Whom else the last waker of a piece woke; nothing if nobody. */
static void put_woken(struct json_chain *j, uint32_t node)
{
	size_t n;
	const struct sum *at = sums_of(&j->wait.woken, node, &n);

	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",{" : ",\"served\":[{", j->words.out);
		json_put_name(&j->words, "name", at[i].key);
		fprintf(j->words.out, ",\"wakings\":%" PRIu64 ",\"served_ns\":%" PRIu64 "}",
			at[i].count, at[i].amount);
	}
	fputs(n ? "]" : "", j->words.out);
}

/* What a client's time was, before its links: takes that off the path, of *n. */
static void put_labels(struct json_chain *j, const uint32_t *path, size_t *n)
{
	struct text_buf text = { 0 };
	bool any = false;

	for (; *n; (*n)--, any = true) {
		struct link l = link_of_label(j, path[*n - 1]);
		const char *label = trace_string(j->words.trace, l.name);

		if (!(l.flags & LINK_LABEL))
			break;
		/* Without the brackets, as an end. */
		text.len = j->words.buf.len = 0;
		text_put(&text, label + 1, strlen(label) - 2);
		if (!text.failed)
			json_string(&j->words.buf, text.p);
		j->words.out_of_memory |= text.failed || j->words.buf.failed;
		fprintf(j->words.out, "%s%s", any ? "," : "\"labels\":[",
			text.failed || j->words.buf.failed ? "null" : j->words.buf.p);
	}
	fputs(any ? "]," : "", j->words.out);
	text_free(&text);
}

/* ---- other machines ------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct json_chain *chain_of(struct json_remote *r, uint32_t host,
				   const struct json_chain *above)
{
	struct json_chain **at = &r->chains[r->hops * r->n + host], *chain = *at;

	if (chain)
		return chain;
	*at = chain = malloc(sizeof(*chain));
	if (!chain)
		return NULL;
	if (json_chain_init(chain, above->words.out, r->hosts[host].timelines,
			    above->words.options))
		chain->words.out_of_memory = true;
	chain->remote = r;
	return chain;
}

static void put_pieces(struct json_chain *j);

/* What another machine did for the time of a piece, after a comma. */
static void put_remote(struct json_chain *j, uint32_t part)
{
	struct json_remote *r = j->remote;
	struct remote_wait w;
	struct json_chain *there;

	if (!r || r->hops == REMOTE_HOPS_MAX ||
	    !remote_wait_find(&w, r->hosts, r->n, j->words.timelines, part))
		return;
	there = chain_of(r, w.host, j);
	if (!there || there->words.out_of_memory || wait_amounts_make(&there->wait, &w.wait)) {
		j->words.out_of_memory = true;
		return;
	}
	fputs(",\"remote\":{", j->words.out);
	json_put_string(&j->words, "host", r->hosts[w.host].name);
	fprintf(j->words.out, ",\"start\":%" PRIu64,
		w.wait.shown.blocked_from_ns - timelines_start_ns(there->words.timelines));
	json_put_request(&there->words, timelines_request_of(there->words.timelines, w.wait.wait));
	r->hops++;
	putc(',', j->words.out);
	put_pieces(there);
	r->hops--;
	putc('}', j->words.out);
	j->words.out_of_memory |= there->words.out_of_memory;
}

/* For which socket the packets were, and what was done by who sent them. */
static void put_network(struct json_chain *j, const struct wait_amount *p)
{
	bool is_remote = p->key.stage == NETWORK_REMOTE;
	const char *timer = network_stage_name(p->key.stage);

	if (timer)
		fprintf(j->words.out, ",\"stage\":\"%s\"", timer);
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

	putc('{', j->words.out);
	put_labels(j, path, &n);
	fputs("\"links\":[", j->words.out);
	while (n-- > 0) {
		struct link l = link_of_label(j, path[n]);

		put_link(j, &l);
		if (n)
			putc(',', j->words.out);
	}
	fprintf(j->words.out, "],\"end\":\"%s\",\"ns\":%" PRIu64,
		chain_end_word((enum chain_end)p->key.end), p->ns);
	if (p->key.end == CHAIN_DISK)
		put_disk(j, p->key);
	if (p->key.end == CHAIN_NETWORK)
		put_network(j, p);
	if (j->wait.cpu_holders && (p->key.end == CHAIN_RUNNABLE || p->key.end == CHAIN_PREEMPTED))
		put_holders(j, p->place);
	if (p->key.end == CHAIN_RUNNING) {
		if (timelines_interrupts(j->words.timelines))
			fprintf(j->words.out, ",\"interrupts_ns\":%" PRIu64, p->interrupted_ns);
		put_ran(j, p);
	}
	if (p->key.end == CHAIN_RUNNABLE || p->key.end == CHAIN_RUNNING)
		put_woken(j, p->place);
	putc('}', j->words.out);
}

static void put_pieces(struct json_chain *j)
{
	size_t n;
	struct wait_amount *pieces = wait_amounts_list(&j->wait, &n);

	fputs("\"pieces\":[", j->words.out);
	if (n)
		qsort_r(pieces, n, sizeof(*pieces), widest_first, j);
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc(',', j->words.out);
		put_piece(j, &pieces[i]);
	}
	putc(']', j->words.out);
}

/* ---- for the caller ------------------------------------------------------------------------- */

int json_chain_init(struct json_chain *j, FILE *out, const struct timelines *tl,
		    const struct options *o)
{
	int err;

	*j = (struct json_chain) { .remote = NULL };
	err = json_words_init(&j->words, out, tl, o);
	return err ? err
		   : wait_amounts_init(&j->wait, tl, o, j->words.names, false, label_link, NULL);
}

int json_chain_join(struct json_chain *j, const struct joined_host *hosts, uint32_t n)
{
	j->remote = calloc(1, sizeof(*j->remote) +
				      (size_t)n * REMOTE_HOPS_MAX * sizeof(j->remote->chains[0]));
	if (!j->remote)
		return -ENOMEM;
	j->remote->hosts = hosts;
	j->remote->n = n;
	return 0;
}

static void free_chain(struct json_chain *j)
{
	wait_amounts_free(&j->wait);
	intern_free(&j->links);
	json_words_free(&j->words);
}

void json_chain_free(struct json_chain *j)
{
	for (uint32_t i = 0; j->remote && i < j->remote->n * REMOTE_HOPS_MAX; i++) {
		if (j->remote->chains[i])
			free_chain(j->remote->chains[i]);
		free(j->remote->chains[i]);
	}
	free(j->remote);
	free_chain(j);
}

int json_chain_make(struct json_chain *j, const struct chosen_wait *p)
{
	return wait_amounts_make(&j->wait, p);
}

int json_chain_put(struct json_chain *j)
{
	put_pieces(j);
	return j->words.out_of_memory ? -ENOMEM : 0;
}
