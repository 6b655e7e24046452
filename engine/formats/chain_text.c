// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "words/object_names.h"
#include "words/waited_for.h"
#include "common/xalloc.h"

#define LEFT 4

/* Links shown below one link: the widest ones. */
#define LINKS_SHOWN 8

/* Stacks shown of what a waker ran: the most frequent ones. */
#define STACKS_SHOWN 3

void chain_text_time(const struct chain_text *t, uint64_t ns)
{
	if (t->options->unit == UNIT_NS)
		fprintf(t->out, "%" PRIu64 " ns", ns);
	else if (ns >= 1000000000)
		fprintf(t->out, "%" PRIu64 ".%06" PRIu64 " s", ns / 1000000000,
			ns % 1000000000 / 1000);
	else if (ns >= 1000000)
		fprintf(t->out, "%" PRIu64 ".%03" PRIu64 " ms", ns / 1000000, ns % 1000000 / 1000);
	else
		fprintf(t->out, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
}

void chain_text_who(struct chain_text *t, uint32_t thread, uint32_t name, uint32_t times)
{
	const struct thread *th = timelines_thread(t->timelines, thread);

	fputs(names_text(t->names, name), t->out);
	if (times > 1)
		fprintf(t->out, " x %" PRIu32 " (%" PRIu32 " and others)", times, th->tid);
	else
		fprintf(t->out, " (%" PRIu32 ")", th->tid);
}

void chain_text_indent(const struct chain_text *t, unsigned int level)
{
	fprintf(t->out, "%*s", t->left + (int)(2 * level), "");
}

void chain_text_stack(struct chain_text *t, uint32_t pair, uint32_t kernel_frames, bool with_user)
{
	uint32_t text = names_stack(t->names, pair, kernel_frames, with_user);

	fputs(names_text(t->names, text), t->out);
	putc('\n', t->out);
}

void chain_text_clause(const struct chain_text *t, int *n, const char *before, uint64_t ns,
		       const char *after)
{
	if (!ns)
		return;
	fprintf(t->out, "%s%s", (*n)++ ? ", " : "", before);
	chain_text_time(t, ns);
	fputs(after, t->out);
}

#define WHO_SHOWN 4

void chain_text_holders(struct chain_text *t, uint32_t item)
{
	sums_write(&t->wait.amounts.had, t->names, item, WHO_SHOWN, ": ", "[unknown]", t->out);
}

/* What interrupts took of a time, if it is at least one percent. */
static void put_interrupted(const struct chain_text *t, uint64_t of_ns, uint64_t ns)
{
	if (!ns || ns < of_ns / 100)
		return;
	fputs(" (", t->out);
	chain_text_time(t, ns);
	fputs(" of it in interrupts)", t->out);
}

/* What the waker did while the wakee slept. */
static void put_meanwhile(struct chain_text *t, const struct tree_item *i)
{
	const uint64_t *end = i->ends_ns;
	const struct wait_tree *w = &t->wait;
	uint32_t self = (uint32_t)(i - w->items);
	uint64_t slept = i->total_ns, unborn = 0, unasked = 0;
	int n = 0;

	for (int e = 0; e < CHAIN_ENDS; e++)
		if (e != CHAIN_DEPTH)
			slept -= end[e];
	for (size_t k = self + 1; k < w->n_items; k++) {
		uint32_t flags = w->link[w->items[k].label].flags;

		if (w->items[k].parent == self && flags & LINK_ASKED)
			unasked += w->items[k].total_ns;
		else if (w->items[k].parent == self && flags & LINK_STARTED)
			unborn += w->items[k].total_ns;
	}
	slept -= unborn + unasked;
	chain_text_clause(t, &n, "ran ", end[CHAIN_RUNNING], "");
	put_interrupted(t, end[CHAIN_RUNNING], i->interrupted_ns);
	chain_text_clause(t, &n, "was runnable ", end[CHAIN_RUNNABLE], "");
	if (end[CHAIN_RUNNABLE])
		chain_text_holders(t, self);
	chain_text_clause(t, &n, "was not started yet for ", unborn, "");
	chain_text_clause(t, &n, "was not asked yet for ", unasked, "");
	chain_text_clause(t, &n, "did something unknown for ", end[CHAIN_UNKNOWN],
			  " (events are missing)");
	chain_text_clause(t, &n, "is in this chain already, for ", end[CHAIN_LOOP], "");
	chain_text_clause(t, &n, "slept, and nobody woke it, for ", end[CHAIN_NOT_WOKEN], "");
	chain_text_clause(t, &n, "slept ", slept,
			  end[CHAIN_DEPTH] ? " (links beyond --depth are left out)" : "");
	woken_meanwhile_write(&w->amounts.woken, t->names, self, i->total_ns,
			      "; meanwhile it woke ", t->out);
}

/*
 * --mode=classic says nothing of what a waker did meanwhile: a link is its most recent wakeup,
 * however old. What can be said is why there is no further link.
 */
static void put_classic_end(const struct chain_text *t, const struct tree_item *i)
{
	if (i->ends_ns[CHAIN_UNKNOWN])
		fputs(", whose own last waking is not in the trace", t->out);
	else if (i->ends_ns[CHAIN_LOOP])
		fputs(", which is in this chain already", t->out);
	else if (i->ends_ns[CHAIN_DEPTH])
		fputs(" (links beyond --depth are left out)", t->out);
}

static void put_handler(struct chain_text *t, const struct link *l)
{
	uint32_t kstack = timelines_pair(t->timelines, l->stack).kstack;
	uint32_t frame = irq_handler(t->wait.amounts.chains.kernel, kstack, l->kernel_frames);

	if (frame)
		fprintf(t->out, " (%s)", names_text(t->names, names_frame(t->names, frame)));
}

void chain_text_ran(struct chain_text *t, const struct tree_item *item, unsigned int level)
{
	size_t n;
	const struct sum *ran = sums_of(&t->wait.amounts.ran, (uint32_t)(item - t->wait.items), &n);
	uint64_t samples = 0, rest = 0;

	for (size_t i = 0; i < n; i++) {
		samples += ran[i].amount;
		if (i >= STACKS_SHOWN)
			rest += ran[i].amount;
	}
	for (size_t i = 0; i < n && i < STACKS_SHOWN; i++) {
		chain_text_indent(t, level);
		fprintf(t->out, "ran %.0f %% in ", 100.0 * (double)ran[i].amount / (double)samples);
		chain_text_stack(t, ran[i].key, UINT32_MAX, true);
	}
	if (rest) {
		chain_text_indent(t, level);
		fprintf(t->out, "ran %.0f %% in %zu more stacks\n",
			100.0 * (double)rest / (double)samples, n - STACKS_SHOWN);
	}
}

static bool is_label(const struct chain_text *t, uint32_t item)
{
	return item && t->wait.link[t->wait.items[item].label].flags & LINK_LABEL;
}

/* Whether it is what a reader did while a request was queued, of which the line above speaks. */
static bool is_queued(const struct chain_text *t, const struct tree_item *i)
{
	return t->is_part && is_label(t, i->parent);
}

/* How the thread above came to run; or who served a client. */
static const char *woken_by(const struct chain_text *t, const struct tree_item *i,
			    unsigned int level)
{
	const struct link *l = &t->wait.link[i->label];

	if (is_queued(t, i))
		return "meanwhile ";
	if (t->of_client && is_label(t, i->parent))
		return "read by ";
	if (t->of_client && !i->parent)
		return "answered by ";
	if (l->flags & LINK_ASKED)
		return "asked by ";
	if (l->flags & LINK_STARTED)
		return "started by ";
	return t->options->mode == MODE_CLASSIC && level ? "last woken by " : "woken by ";
}

/* "disk vda read", for each that a link stands for. */
static void put_disks(struct chain_text *t, const struct tree_item *item)
{
	struct pairs kinds = { 0 };
	size_t n;
	const struct wait_amount *a = wait_amounts_list(&t->wait.amounts, &n);

	for (size_t i = 0; i < n; i++) {
		struct disk_request_kind k;
		struct text_buf s = { 0 };
		int is_new;

		if (a[i].place != item - t->wait.items || a[i].key.end != CHAIN_DISK)
			continue;
		k = timelines_disk_request_kind(t->timelines, a[i].key.value);
		pairs_id_new(&kinds, k.disk, k.op, &is_new);
		if (!is_new)
			continue;
		disk_names_put(timelines_trace(t->timelines), k.disk, k.op, &s);
		fputs(kinds.n > 1 ? ", " : "", t->out);
		print_clean(t->out, s.p);
		text_free(&s);
	}
	pairs_free(&kinds);
}

/* How long a device's requests were queued, and at the device. */
static void put_stages(struct chain_text *t, const struct tree_item *item)
{
	uint64_t ns[DISK_STAGES] = { 0 };
	int n_put = 0;
	size_t n;
	const struct wait_amount *a = wait_amounts_list(&t->wait.amounts, &n);

	for (size_t i = 0; i < n; i++)
		if (a[i].place == item - t->wait.items && a[i].key.end == CHAIN_DISK)
			ns[a[i].key.stage] += a[i].ns;
	if (!ns[DISK_QUEUED] && !ns[DISK_DEVICE] && !ns[DISK_HELD])
		return;
	fputs(" (", t->out);
	chain_text_clause(t, &n_put, "held back by an I/O limit ", ns[DISK_HELD], "");
	chain_text_clause(t, &n_put, "queued ", ns[DISK_QUEUED], "");
	chain_text_clause(t, &n_put, "device ", ns[DISK_DEVICE], "");
	putc(')', t->out);
}

/* " (tcp delayed ack 40.012 ms)": how long timers of TCP had put off what came. */
static void put_tcp_timers(struct chain_text *t, const struct tree_item *item)
{
	int n_put = 0;
	size_t n;
	const struct wait_amount *a = wait_amounts_list(&t->wait.amounts, &n);

	for (uint32_t which = 1; which < CHAINLOG_TCP_TIMERS; which++) {
		uint64_t ns = 0;
		char name[32];

		for (size_t i = 0; i < n; i++)
			if (a[i].place == item - t->wait.items && a[i].key.end == CHAIN_NETWORK &&
			    a[i].key.stage == NETWORK_TIMER + which)
				ns += a[i].ns;
		if (!ns)
			continue;
		fputs(n_put ? "" : " (", t->out);
		snprintf(name, sizeof(name), "%s ", network_stage_name(NETWORK_TIMER + which));
		chain_text_clause(t, &n_put, name, ns, "");
	}
	fputs(n_put ? ")" : "", t->out);
}

/* The socket for which packets came, an object; 0: none. */
static uint32_t socket_of(const struct chain_text *t, const struct wait_amount *a)
{
	if (a->key.end != CHAIN_NETWORK || !a->key.value)
		return 0;
	return a->key.stage == NETWORK_REMOTE
		       ? remote_answers_part_at(t->timelines->remote, a->key.value).socket
		       : a->key.value;
}

/*
 * " for tcp 10.0.0.5:5432 client/77": the socket to which packets came, of several the one with the
 * most time; nothing if it is not known.
 */
static void put_socket(struct chain_text *t, const struct tree_item *item)
{
	const struct wait_amount *most = NULL;
	uint32_t others = 0, text, socket = 0;
	size_t n;
	const struct wait_amount *a = wait_amounts_list(&t->wait.amounts, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t of = socket_of(t, &a[i]);

		if (a[i].place != item - t->wait.items || !of)
			continue;
		others += socket && socket != of;
		if (!most || a[i].ns > most->ns) {
			most = &a[i];
			socket = of;
		}
	}
	if (!most)
		return;
	text = words_of_object(t->names, socket);
	fprintf(t->out, " for %s", names_text(t->names, text));
	if (others)
		fprintf(t->out, " and %" PRIu32 " more", others);
}

/* What the interrupt of a link was. */
static void put_interrupt(struct chain_text *t, const struct tree_item *i)
{
	if (i->ends_ns[CHAIN_DISK])
		put_disks(t, i);
	else if (i->ends_ns[CHAIN_TIMER])
		fputs("a timer", t->out);
	else
		fputs(i->ends_ns[CHAIN_NETWORK] ? "the network" : "an interrupt", t->out);
}

/* What a client's time was, "[queued]" or "[for tcp :80]", without the brackets. */
static void put_label(struct chain_text *t, const struct tree_item *i, unsigned int level)
{
	const struct link *l = &t->wait.link[i->label];
	uint32_t label = names_string(t->names, l->name);
	const char *text = names_text(t->names, label);

	chain_text_indent(t, level);
	fprintf(t->out, "%.*s: ", (int)strlen(text) - 2, text + 1);
	chain_text_time(t, i->total_ns);
	fputs(i->ends_ns[CHAIN_UNKNOWN] ? "; who read it is not known\n" : "\n", t->out);
	chain_text_links(t, i, level + 1);
}

void chain_text_waker(struct chain_text *t, const struct tree_item *i)
{
	const struct link *l = &t->wait.link[i->label];
	bool classic = t->options->mode == MODE_CLASSIC;

	if (l->waker == THREAD_NONE) {
		put_interrupt(t, i);
		put_handler(t, l);
		put_socket(t, i);
		if (!classic) {
			fputs(": ", t->out);
			chain_text_time(t, i->total_ns);
			put_stages(t, i);
			put_tcp_timers(t, i);
		}
		return;
	}
	chain_text_who(t, l->waker,
		       names_clean(t->names, trace_string(timelines_trace(t->timelines), l->name)),
		       i->times);
	if (classic) {
		put_classic_end(t, i);
	} else {
		fputs(is_queued(t, i) ? " " : ", which ", t->out);
		put_meanwhile(t, i);
	}
}

static int longest_amount_first(const void *pa, const void *pb)
{
	const struct wait_amount *a = pa, *b = pb;

	return a->ns != b->ns ? compare_numbers(b->ns, a->ns)
			      : compare_numbers(a->key.value, b->key.value);
}

/* What other machines did for the time of a link. */
static void put_remote(struct chain_text *t, const struct tree_item *item, unsigned int level)
{
	size_t n, n_parts = 0;
	const struct wait_amount *a = wait_amounts_list(&t->wait.amounts, &n);
	struct wait_amount *parts = t->put_remote ? xmalloc((n + 1) * sizeof(*parts)) : NULL;
	uint64_t rest_ns = 0;

	for (size_t i = 0; i < n && parts; i++)
		if (a[i].place == item - t->wait.items && a[i].key.end == CHAIN_NETWORK &&
		    a[i].key.stage == NETWORK_REMOTE)
			parts[n_parts++] = a[i];
	if (n_parts)
		qsort(parts, n_parts, sizeof(*parts), longest_amount_first);
	for (size_t i = 0; i < n_parts; i++) {
		if (i < LINKS_SHOWN)
			t->put_remote(t->remote_arg, t, parts[i].key.value, parts[i].ns, level);
		else
			rest_ns += parts[i].ns;
	}
	if (rest_ns) {
		chain_text_indent(t, level);
		fprintf(t->out, "and for %zu more requests, ", n_parts - LINKS_SHOWN);
		chain_text_time(t, rest_ns);
		fputs(" in all\n", t->out);
	}
	free(parts);
}

/* The waker and what it did meanwhile; on the next line the stack from which it woke. */
static void put_link(struct chain_text *t, const struct tree_item *i, unsigned int level)
{
	const struct link *l = &t->wait.link[i->label];

	if (l->flags & LINK_LABEL) {
		put_label(t, i, level);
		return;
	}
	if (l->flags & LINK_SHOWS_BLOCKED && !(t->is_part && !level)) {
		chain_text_indent(t, level);
		fputs("asleep in ", t->out);
		chain_text_stack(t, l->blocked, UINT32_MAX, true);
	}
	chain_text_indent(t, level);
	fputs(woken_by(t, i, level), t->out);
	chain_text_waker(t, i);
	putc('\n', t->out);
	/* Where a request was read is not recorded. */
	if (!is_label(t, i->parent)) {
		chain_text_indent(t, level + 1);
		fputs("in ", t->out);
		chain_text_stack(t, l->stack, l->kernel_frames, l->waker != THREAD_NONE);
	}
	chain_text_ran(t, i, level + 1);
	put_remote(t, i, level + 1);
	chain_text_links(t, i, level + 1);
}

void chain_text_links(struct chain_text *t, const struct tree_item *above, unsigned int level)
{
	uint64_t rest_ns = 0;
	size_t n;
	const struct tree_item **below = wait_tree_below(&t->wait, above, &n);

	for (size_t i = 0; i < n; i++) {
		if (i < LINKS_SHOWN)
			put_link(t, below[i], level);
		else
			rest_ns += below[i]->total_ns;
	}
	if (rest_ns) {
		chain_text_indent(t, level);
		fprintf(t->out, "and %zu more, ", n - LINKS_SHOWN);
		chain_text_time(t, rest_ns);
		fputs(" in all\n", t->out);
	}
	free(below);
}

void chain_text_init(struct chain_text *t, FILE *out, const struct timelines *tl,
		     const struct options *o, struct names *names)
{
	*t = (struct chain_text) {
		.out = out, .timelines = tl, .options = o, .names = names, .left = LEFT
	};
	wait_tree_init(&t->wait, tl, o, names);
}

void chain_text_free(struct chain_text *t)
{
	wait_tree_free(&t->wait);
}
