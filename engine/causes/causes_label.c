// SPDX-License-Identifier: GPL-2.0-or-later
/* What counts of heads and links, and to which cause a chain belongs. */
#include <inttypes.h>
#include <string.h>

#include "causes_private.h"
#include "base/kernel_functions.h"
#include "common/xalloc.h"
#include "select/wait_nature.h"
#include "words/kernel_waits.h"
#include "words/lock_holder.h"
#include "words/place.h"
#include "words/waited_for.h"

/* ---- texts ---------------------------------------------------------------------------------- */

uint32_t causes_place(struct causes *c, uint32_t pair, uint32_t kernel_frames, bool user,
		      bool kernel)
{
	uint32_t text = place_text(c->names, c->trace, pair, kernel_frames, user, kernel);

	return text;
}

static uint32_t what(struct causes *c, uint32_t pair)
{
	uint32_t text = waited_for_words(c->names, pair);

	return text;
}

uint32_t causes_numbered(struct causes *c, const char *name, uint32_t id)
{
	struct text_buf b = { 0 };
	char number[16];
	uint32_t text;

	snprintf(number, sizeof(number), "/%" PRIu32, id);
	text_puts(&b, name);
	text_puts(&b, number);
	text = names_adopt(c->names, b.p);
	text_free(&b);
	return text;
}

/* Whether the kernel's part of a stack has a function whose name begins so. */
static bool has_function(const struct causes *c, uint32_t pair, const char *begin)
{
	struct trace_stack s = trace_stack(c->trace, timelines_pair(c->timelines, pair).kstack);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(c->trace, s.frames[i]);

		if (f && !strncmp(trace_string(c->trace, f->symbol), begin, strlen(begin)))
			return true;
	}
	return false;
}

/* What a waker did when it woke: "woke the waiter in unlock", "exited"; "" if that is not known. */
static uint32_t woke(struct causes *c, const struct link *l)
{
	uint32_t at;
	char *clause = NULL;
	size_t len;
	FILE *f;

	if (has_function(c, l->stack, "do_exit") || has_function(c, l->stack, "do_group_exit"))
		return names_adopt(c->names, "exited");
	if (has_function(c, l->stack, "complete_signal"))
		return names_adopt(c->names, "sent a signal");
	at = causes_place(c, l->stack, l->kernel_frames, true, false);
	f = xmemstream(&clause, &len);
	if (*names_text(c->names, at))
		fprintf(f, "woke the waiter in %s", names_text(c->names, at));
	xmemstream_close(f, &clause);
	at = clause ? names_adopt(c->names, clause) : 0;
	free(clause);
	return at;
}

/* ---- labels --------------------------------------------------------------------------------- */

/* "the lock of futex_wait | lock < work": of a lock that has no name. */
static uint32_t nameless_lock(struct causes *c, uint32_t pair, uint32_t slept)
{
	uint32_t kstack = timelines_pair(c->timelines, pair).kstack;
	const char *words = kernel_wait_words(c->timelines, kstack, true);
	struct text_buf b = { 0 };
	uint32_t id;

	text_puts(&b, words ? "" : "the lock of ");
	text_puts(&b, words ? words : names_text(c->names, slept));
	id = names_adopt(c->names, b.p);
	text_free(&b);
	return id;
}

/*
 * A thread's name. The kernel's workers of one pool, "kworker/u8:2" and others, are called the
 * same: it is chance which of them does something.
 */
static uint32_t thread_name(struct causes *c, uint32_t string)
{
	const char *name = trace_string(c->trace, string);
	const char *colon = strncmp(name, "kworker/", 8) ? NULL : strchr(name, ':');
	uint32_t text;
	char *pool;

	if (colon) {
		pool = xstrndup(name, (size_t)(colon - name));
		text = names_clean(c->names, pool);
		free(pool);
	} else {
		text = names_string(c->names, string);
	}
	return text;
}

/* The lock without its holder: "futex 7:app+0x10" of "futex 7:app+0x10 held by janitor/77". */
static uint32_t lock_name(struct causes *c, uint32_t what)
{
	char *copy = xstrdup(names_text(c->names, what)), *held = strstr(copy, " held by ");
	uint32_t text;

	if (held)
		*held = 0;
	text = names_adopt(c->names, copy);
	free(copy);
	return text;
}

/* The sleep that a link ended, or that of a head. */
static void label_sleep(struct causes *c, struct label *label, uint32_t pair)
{
	label->slept = causes_place(c, pair, UINT32_MAX, true, true);
	label->what = what(c, pair);
	label->idle = kernel_stack_wait_flags(c->chains.kernel,
					      timelines_pair(c->timelines, pair).kstack) &
		      KFUNC_AWAITS_WORK;
	if (pair && wait_is_at_lock(c->timelines, c->chains.kernel, pair))
		label->lock = *names_text(c->names, label->what)
				      ? lock_name(c, label->what)
				      : nameless_lock(c, pair, label->slept);
}

static uint32_t make_label(struct causes *c, const struct link *l)
{
	struct label label = { 0 };

	if (l->flags & LINK_LABEL) {
		label.is_text = 1;
		return xintern(&c->labels, &label, sizeof(label), NULL);
	}
	if (!(l->flags & LINK_STARTED))
		label_sleep(c, &label, l->blocked);
	if (l->waker != THREAD_NONE) {
		label.who = thread_name(c, l->name);
		label.woke = woke(c, l);
	} else {
		uint32_t kstack = timelines_pair(c->timelines, l->stack).kstack;
		uint32_t frame = irq_handler(c->chains.kernel, kstack, l->kernel_frames);

		label.by = frame ? names_frame(c->names, frame) : 0;
	}
	return xintern(&c->labels, &label, sizeof(label), NULL);
}

uint32_t causes_label_link(void *arg, const struct link *l)
{
	struct causes *c = arg;
	bool is_new;
	uint32_t id = xintern(&c->links, l, sizeof(*l), &is_new);

	XGROW(c->label_of, id, c->cap_label_of);
	if (is_new)
		c->label_of[id] = make_label(c, l);
	return c->label_of[id];
}

static uint32_t make_head(struct causes *c, uint32_t thread, const struct wait *w, bool pause)
{
	struct label label = { .who = thread_name(c,
						  timelines_name(c->timelines, thread, w->out_ns)),
			       .pause = pause };

	label_sleep(c, &label, w->stack);
	/* Whoever has the lock then is why nobody woke it. */
	if (w->flags & WAIT_NOT_WOKEN) {
		label.what = words_of_wait(c->names, thread, w);
	}
	if (!label.who)
		return 0;
	return xintern(&c->labels, &label, sizeof(label), NULL);
}

static uint32_t new_head(struct causes *c, uint32_t thread, const struct wait *w, bool pause)
{
	return chains_head(&c->chains, make_head(c, thread, w, pause));
}

/* The node of a head, whatever its cell. */
static uint32_t known_head(struct causes *c, uint32_t thread, const struct wait *w, bool pause)
{
	uint32_t *node;
	struct head_nodes *of;

	if (w->flags & WAIT_NOT_WOKEN)
		return new_head(c, thread, w, pause);
	of = pair_table_at(&c->heads, timelines_name(c->timelines, thread, w->out_ns), w->stack,
			   sizeof(*of));
	node = pause ? &of->pause : &of->others;
	if (!*node)
		*node = new_head(c, thread, w, pause);
	return *node;
}

uint32_t causes_head_of(struct causes *c, const struct chosen_wait *p, bool pause)
{
	uint32_t all = known_head(c, p->thread, p->wait, pause), *node;
	struct label label;

	if (!c->cells.of || !all)
		return all;
	label = causes_label(c, c->chains.nodes.at[all].b);
	label.cell = c->cells.of(c->cells.arg, p);
	node = pair_table_at(&c->cell_heads, all, label.cell, sizeof(*node));
	if (!*node)
		*node = chains_head(&c->chains, xintern(&c->labels, &label, sizeof(label), NULL));
	return *node;
}

bool causes_node_pauses(const struct causes *c, uint32_t node)
{
	const struct pair *nodes = c->chains.nodes.at;

	while (nodes[node].a)
		node = nodes[node].a;
	/* What running totals are relative to has no label. */
	return nodes[node].b <= c->labels.n && causes_label(c, nodes[node].b).pause;
}

/* ---- causes --------------------------------------------------------------------------------- */

uint32_t causes_lock_link(const struct causes *c, uint32_t node)
{
	const struct pair *nodes = c->chains.nodes.at;

	for (; node && nodes[node].a; node = nodes[node].a) {
		struct label l = causes_label(c, nodes[node].b);

		if (l.lock && l.who)
			return node;
	}
	return 0;
}

uint32_t causes_sleeper(const struct causes *c, uint32_t node, struct label *link)
{
	const struct pair *nodes = c->chains.nodes.at;

	*link = causes_label(c, nodes[node].b);
	node = nodes[node].a;
	while (link->idle && nodes[node].a && causes_label(c, nodes[node].b).who) {
		*link = causes_label(c, nodes[node].b);
		node = nodes[node].a;
	}
	return node;
}

/* The cause to which a chain's end belongs: who is responsible, and where. */
static struct cause_key key_of(struct causes *c, uint32_t node, uint32_t end, uint32_t disk)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct label last = causes_label(c, nodes[node].b);
	struct cause_key key = { .end = end };
	uint32_t lock;

	if (disk)
		key.disk = 1 + timelines_disk_request_kind(c->timelines, disk).disk;
	for (; last.is_text; last = causes_label(c, nodes[node].b))
		node = nodes[node].a;
	lock = end & PAUSE ? 0 : causes_lock_link(c, node);
	if (lock) {
		last = causes_label(c, nodes[lock].b);
		return (struct cause_key) { .end = CHAIN_RUNNING,
					    .who = last.who,
					    .lock = last.lock };
	}
	if (causes_end(end) == CHAIN_PREEMPTED)
		key.end = (end & (THROTTLED | PAUSE)) | CHAIN_RUNNABLE;
	key.who = last.who;
	if (!last.who) { /* an interrupt: what counts is who slept, and where */
		node = causes_sleeper(c, node, &last);
		key.who = causes_label(c, nodes[node].b).who;
		/* What a device did is one cause, wherever it was waited for. */
		key.where = disk ? 0 : last.slept;
		key.by = key.end == CHAIN_INTERRUPT ? last.by : 0;
	} else if (end == (CHAIN_ENDS | PAUSE)) {
		key.where = last.slept;
	} else if (end == CHAIN_NOT_WOKEN && c->piece_wait) {
		key.where = causes_place(c, c->piece_wait->stack, UINT32_MAX, true, true);
		key.itself = true;
	} else if (!nodes[node].a && end == CHAIN_UNKNOWN) {
		key.where = last.slept;
		key.itself = true;
	}
	return key;
}

void causes_keep_never_woken(struct cause *cause, const struct wait *w)
{
	if (!cause->never_woken || w->out_ns < cause->never_woken->out_ns)
		cause->never_woken = w;
}

/* Room for the parts of causes up to this number. */
static void reserve_parts(struct causes *c, uint32_t cause)
{
	size_t had = c->cap_parts;

	XGROW(c->touched, cause, c->cap_touched);
	XGROW(c->part, cause, c->cap_parts);
	if (c->cap_parts > had)
		memset(c->part + had, 0, (c->cap_parts - had) * sizeof(*c->part));
}

uint32_t causes_of_key(struct causes *c, const struct cause_key *key)
{
	bool is_new;
	uint32_t id = xintern(&c->keys, key, sizeof(*key), &is_new);

	if (!is_new)
		return id;
	XGROW(c->at, c->n, c->cap);
	reserve_parts(c, id);
	c->at[c->n++] = (struct cause) {
		.id = id,
		.end = causes_end(key->end),
		.throttled = key->end & THROTTLED,
		.pause = key->end & PAUSE,
		.tcp_timer = key->end / TCP_TIMER,
		.disk = key->disk,
		.who = key->who,
		.where = key->where,
		.by = key->by,
		.lock = key->lock,
		.itself = key->itself,
	};
	return id;
}

uint32_t causes_find(struct causes *c, uint32_t node, uint32_t end, uint32_t disk)
{
	struct cause_key key = key_of(c, node, end, disk);
	uint32_t id = causes_of_key(c, &key);

	if (key.end == CHAIN_NOT_WOKEN && key.itself && c->piece_wait)
		causes_keep_never_woken(&c->at[id - 1], c->piece_wait);
	return id;
}
