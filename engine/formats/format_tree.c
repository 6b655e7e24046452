// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for reading, one by one: when and how long, where, and below that each link of the chain
 * under the thread that it woke, with what the waker did in the meantime. What several pieces of a
 * chain have in common (the same waker, from the same stack) is one line with the sum of their
 * times. In order of time, thread by thread; or the longest waits, with --top.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "words/object_names.h"
#include "format.h"
#include "words/names.h"
#include "wait_tree.h"

/* Links shown below one link: the widest ones. */
#define LINKS_SHOWN 8

/* Stacks shown of what a waker ran: the most frequent ones. */
#define STACKS_SHOWN 3

struct tree {
	FILE *out;
	const struct timelines *timelines;
	const struct options *options;
	struct names *names;
	struct wait_tree wait; /* the current one */
	/* What the last heading was for; a thread that was renamed gets a new one. */
	uint32_t thread, name;
	bool of_client; /* the current one is for a request */
	bool out_of_memory;
};

static void put_time(const struct tree *t, uint64_t ns)
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

/* name: the id of a text. times: of a waker, how many in a row are meant; the first is thread. */
static void put_who(struct tree *t, uint32_t thread, uint32_t name, uint32_t times)
{
	const struct thread *th = timelines_thread(t->timelines, thread);

	t->out_of_memory |= !name;
	fputs(names_text(t->names, name), t->out);
	if (times > 1)
		fprintf(t->out, " x %" PRIu32 " (%" PRIu32 " and others)", times, th->tid);
	else
		fprintf(t->out, " (%" PRIu32 ")", th->tid);
}

static void indent(const struct tree *t, unsigned int level)
{
	fprintf(t->out, "%*s", (int)(4 + 2 * level), "");
}

static void put_stack(struct tree *t, uint32_t pair, uint32_t kernel_frames, bool with_user)
{
	uint32_t text = names_stack(t->names, pair, kernel_frames, with_user);

	t->out_of_memory |= !text;
	fputs(names_text(t->names, text), t->out);
	putc('\n', t->out);
}

/* One clause of a list: "ran 2.000 ms". */
static void put_clause(const struct tree *t, int *n, const char *before, uint64_t ns,
		       const char *after)
{
	if (!ns)
		return;
	fprintf(t->out, "%s%s", (*n)++ ? ", " : "", before);
	put_time(t, ns);
	fputs(after, t->out);
}

#define WHO_SHOWN 4

/* Ends a clause with those who had the CPU. */
static void put_holders(struct tree *t, uint32_t item)
{
	sums_write(&t->wait.amounts.had, t->names, item, WHO_SHOWN, ": ", "[unknown]", t->out);
}

static void put_links(struct tree *t, const struct tree_item *above, unsigned int level);

/* What interrupts took of a time, if it is at least one percent. */
static void put_interrupted(const struct tree *t, uint64_t of_ns, uint64_t ns)
{
	if (!ns || ns < of_ns / 100)
		return;
	fputs(" (", t->out);
	put_time(t, ns);
	fputs(" of it in interrupts)", t->out);
}

/* What the waker did while the wakee slept. */
static void put_meanwhile(struct tree *t, const struct tree_item *i)
{
	const uint64_t *end = i->ends_ns;
	const struct wait_tree *w = &t->wait;
	uint32_t self = (uint32_t)(i - w->items);
	uint64_t slept = i->total_ns, unborn = 0;
	int n = 0;

	for (int e = 0; e < CHAIN_ENDS; e++)
		if (e != CHAIN_DEPTH)
			slept -= end[e];
	for (size_t k = self + 1; k < w->n_items; k++)
		if (w->items[k].parent == self && w->link[w->items[k].label].flags & LINK_STARTED)
			unborn += w->items[k].total_ns;
	slept -= unborn;
	put_clause(t, &n, "ran ", end[CHAIN_RUNNING], "");
	put_interrupted(t, end[CHAIN_RUNNING], i->interrupted_ns);
	put_clause(t, &n, "was runnable ", end[CHAIN_RUNNABLE], "");
	if (end[CHAIN_RUNNABLE])
		put_holders(t, self);
	put_clause(t, &n, "was not started yet for ", unborn, "");
	put_clause(t, &n, "did something unknown for ", end[CHAIN_UNKNOWN],
		   " (events are missing)");
	put_clause(t, &n, "is in this chain already, for ", end[CHAIN_LOOP], "");
	put_clause(t, &n, "slept until the trace's end for ", end[CHAIN_NOT_WOKEN], "");
	put_clause(t, &n, "slept ", slept,
		   end[CHAIN_DEPTH] ? " (links beyond --depth are left out)" : "");
	woken_meanwhile_write(&w->amounts.woken, t->names, self, i->total_ns,
			      "; meanwhile it woke ", t->out);
}

/*
 * --mode=classic says nothing of what a waker did meanwhile: a link is its most recent wakeup,
 * however old. What can be said is why there is no further link.
 */
static void put_classic_end(const struct tree *t, const struct tree_item *i)
{
	if (i->ends_ns[CHAIN_UNKNOWN])
		fputs(", whose own last waking is not in the trace", t->out);
	else if (i->ends_ns[CHAIN_LOOP])
		fputs(", which is in this chain already", t->out);
	else if (i->ends_ns[CHAIN_DEPTH])
		fputs(" (links beyond --depth are left out)", t->out);
}

static void put_handler(struct tree *t, const struct link *l)
{
	uint32_t kstack = timelines_pair(t->timelines, l->stack).kstack;
	uint32_t frame = irq_handler(t->wait.amounts.chains.kernel, kstack, l->kernel_frames);

	if (frame)
		fprintf(t->out, " (%s)", names_text(t->names, names_frame(t->names, frame)));
}

/* What the waker ran: the most frequent stacks of its samples. */
static void put_ran(struct tree *t, const struct tree_item *item, unsigned int level)
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
		indent(t, level);
		fprintf(t->out, "ran %.0f %% in ", 100.0 * (double)ran[i].amount / (double)samples);
		put_stack(t, ran[i].key, UINT32_MAX, true);
	}
	if (rest) {
		indent(t, level);
		fprintf(t->out, "ran %.0f %% in %zu more stacks\n",
			100.0 * (double)rest / (double)samples, n - STACKS_SHOWN);
	}
}

static bool is_label(const struct tree *t, uint32_t item)
{
	return item && t->wait.link[t->wait.items[item].label].flags & LINK_LABEL;
}

/* How the thread above came to run; or who served a client. */
static const char *woken_by(const struct tree *t, const struct tree_item *i, unsigned int level)
{
	const struct link *l = &t->wait.link[i->label];

	if (t->of_client && is_label(t, i->parent))
		return "read by ";
	if (t->of_client && !i->parent)
		return "answered by ";
	if (l->flags & LINK_STARTED)
		return "started by ";
	return t->options->mode == MODE_CLASSIC && level ? "last woken by " : "woken by ";
}

/* "disk vda read", for each that a link stands for. */
static void put_disks(struct tree *t, const struct tree_item *item)
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
		t->out_of_memory |= !pairs_id_new(&kinds, a[i].key.value, 0, &is_new);
		if (!is_new)
			continue;
		k = timelines_disk_request_kind(t->timelines, a[i].key.value);
		disk_names_put(timelines_trace(t->timelines), k.disk, k.op, &s);
		t->out_of_memory |= s.failed;
		fputs(kinds.n > 1 ? ", " : "", t->out);
		if (!s.failed)
			print_clean(t->out, s.p);
		text_free(&s);
	}
	pairs_free(&kinds);
}

/* How long a device's requests were queued, and at the device. */
static void put_stages(struct tree *t, const struct tree_item *item)
{
	uint64_t ns[DISK_STAGES] = { 0 };
	int n_put = 0;
	size_t n;
	const struct wait_amount *a = wait_amounts_list(&t->wait.amounts, &n);

	for (size_t i = 0; i < n; i++)
		if (a[i].place == item - t->wait.items && a[i].key.end == CHAIN_DISK)
			ns[a[i].key.stage] += a[i].ns;
	if (!ns[DISK_QUEUED] && !ns[DISK_DEVICE])
		return;
	fputs(" (", t->out);
	put_clause(t, &n_put, "queued ", ns[DISK_QUEUED], "");
	put_clause(t, &n_put, "device ", ns[DISK_DEVICE], "");
	putc(')', t->out);
}

/*
 * " for tcp 10.0.0.5:5432 client/77": the socket to which packets came, of several the one with the
 * most time; nothing if it is not known.
 */
static void put_socket(struct tree *t, const struct tree_item *item)
{
	const struct wait_amount *most = NULL;
	uint32_t others = 0, text;
	size_t n;
	const struct wait_amount *a = wait_amounts_list(&t->wait.amounts, &n);

	for (size_t i = 0; i < n; i++) {
		if (a[i].place != item - t->wait.items || a[i].key.end != CHAIN_NETWORK ||
		    !a[i].key.value)
			continue;
		others += most != NULL;
		if (!most || a[i].ns > most->ns)
			most = &a[i];
	}
	if (!most)
		return;
	text = words_of_object(t->names, most->key.value);
	t->out_of_memory |= !text;
	fprintf(t->out, " for %s", names_text(t->names, text));
	if (others)
		fprintf(t->out, " and %" PRIu32 " more", others);
}

/* What the interrupt of a link was. */
static void put_interrupt(struct tree *t, const struct tree_item *i)
{
	if (i->ends_ns[CHAIN_DISK])
		put_disks(t, i);
	else if (i->ends_ns[CHAIN_TIMER])
		fputs("a timer", t->out);
	else
		fputs(i->ends_ns[CHAIN_NETWORK] ? "the network" : "an interrupt", t->out);
}

/* What a client's time was, "[queued]" or "[for tcp :80]", without the brackets. */
static void put_label(struct tree *t, const struct tree_item *i, unsigned int level)
{
	const struct link *l = &t->wait.link[i->label];
	uint32_t label = names_string(t->names, l->name);
	const char *text = names_text(t->names, label);

	t->out_of_memory |= !label;
	indent(t, level);
	if (label)
		fprintf(t->out, "%.*s: ", (int)strlen(text) - 2, text + 1);
	put_time(t, i->total_ns);
	fputs(i->ends_ns[CHAIN_UNKNOWN] ? "; who read it is not known\n" : "\n", t->out);
	put_links(t, i, level + 1);
}

/* The waker and what it did meanwhile; on the next line the stack from which it woke. */
static void put_link(struct tree *t, const struct tree_item *i, unsigned int level)
{
	const struct link *l = &t->wait.link[i->label];
	const struct trace *trace = timelines_trace(t->timelines);
	bool classic = t->options->mode == MODE_CLASSIC;

	if (l->flags & LINK_LABEL) {
		put_label(t, i, level);
		return;
	}
	if (l->flags & LINK_SHOWS_BLOCKED) {
		indent(t, level);
		fputs("asleep in ", t->out);
		put_stack(t, l->blocked, UINT32_MAX, true);
	}
	indent(t, level);
	fputs(woken_by(t, i, level), t->out);
	if (l->waker == THREAD_NONE) {
		put_interrupt(t, i);
		put_handler(t, l);
		put_socket(t, i);
		if (!classic) {
			fputs(": ", t->out);
			put_time(t, i->total_ns);
			put_stages(t, i);
		}
	} else {
		put_who(t, l->waker, names_clean(t->names, trace_string(trace, l->name)), i->times);
		if (classic) {
			put_classic_end(t, i);
		} else {
			fputs(", which ", t->out);
			put_meanwhile(t, i);
		}
	}
	putc('\n', t->out);
	/* Where a request was read is not recorded. */
	if (!is_label(t, i->parent)) {
		indent(t, level + 1);
		fputs("in ", t->out);
		put_stack(t, l->stack, l->kernel_frames, l->waker != THREAD_NONE);
	}
	put_ran(t, i, level + 1);
	put_links(t, i, level + 1);
}

static void put_links(struct tree *t, const struct tree_item *above, unsigned int level)
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
		indent(t, level);
		fprintf(t->out, "and %zu more, ", n - LINKS_SHOWN);
		put_time(t, rest_ns);
		fputs(" in all\n", t->out);
	}
	free(below);
}

/* The heading: whose waits follow. */
static void put_thread(struct tree *t, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(t->timelines, thread);

	put_who(t, thread, names_thread(t->names, thread, at_ns), 1);
	if (th->tgid && th->tgid != th->tid)
		fprintf(t->out, " of process %" PRIu32, th->tgid);
	putc('\n', t->out);
}

static void put_object(struct tree *t, uint32_t stack)
{
	uint32_t text = waited_for_words(t->names, stack);

	t->out_of_memory |= !text;
	fprintf(t->out, " for %s", names_text(t->names, text));
}

static void put_head(struct tree *t, const struct chosen_wait *p)
{
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	uint64_t slept = s->blocked_to_ns - s->blocked_from_ns;
	uint64_t off = s->off_to_ns - s->off_from_ns;
	uint64_t from = slept ? s->blocked_from_ns : s->off_from_ns;
	uint64_t since = from - timelines_start_ns(t->timelines);
	int n = 0;

	fprintf(t->out, "  +%" PRIu64 ".%09" PRIu64 " s  ", since / 1000000000, since % 1000000000);
	if (w->kind == WAIT_PREEMPTED) {
		put_clause(t, &n, "preempted ", off, "");
	} else if (t->of_client) {
		put_clause(t, &n, "took ", slept, "");
	} else {
		put_clause(t, &n, "slept ", slept, "");
		if (slept && w->state != '?')
			fprintf(t->out, " (%c)", w->state);
		if (names_shown_objects(t->names, w->stack).object)
			put_object(t, w->stack);
		put_clause(t, &n, "runnable ", off, "");
	}
	put_holders(t, 0);
	if (chosen_wait_ns(p) < s->whole_ns) {
		fputs("; cut by --from or --to, in all ", t->out);
		put_time(t, s->whole_ns);
	}
	if (w->flags & WAIT_SINCE_START && slept)
		fputs("; asleep since before the trace began", t->out);
	if (w->flags & WAIT_NEW) {
		fputs("; its first run\n", t->out);
		return;
	}
	if (t->of_client) {
		putc('\n', t->out);
		return;
	}
	fputs("\n    in ", t->out);
	put_stack(t, w->stack, UINT32_MAX, true);
}

static void put_wait(struct tree *t, const struct chosen_wait *p)
{
	const uint64_t *end;

	put_head(t, p);
	if (!t->wait.n_items)
		return;
	end = t->wait.items[0].ends_ns;
	if (end[CHAIN_NOT_WOKEN])
		fputs("    not woken: still asleep when the trace ended\n", t->out);
	if (end[CHAIN_UNKNOWN])
		fputs(t->of_client ? "    who answered is not known\n"
				   : "    waker unknown: no waking was recorded\n",
		      t->out);
	put_links(t, &t->wait.items[0], 0);
}

static int write_wait(void *arg, const struct chosen_wait *p)
{
	struct tree *t = arg;
	uint64_t at_ns = p->wait->out_ns;
	uint32_t name = names_thread(t->names, p->thread, at_ns);

	if (t->options->top || p->thread != t->thread || name != t->name)
		put_thread(t, p->thread, at_ns);
	t->thread = p->thread;
	t->name = name;
	t->of_client = timelines_is_client(t->timelines, p->thread);
	if (wait_tree_make(&t->wait, p))
		return -ENOMEM;
	put_wait(t, p);
	if (t->out_of_memory || t->wait.amounts.out_of_memory)
		return -ENOMEM;
	/* The caller reports a write error; continuing would be pointless. */
	return ferror(t->out) ? 1 : 0;
}

static int write_tree(const struct format_input *in, FILE *out)
{
	struct options o = *in->options;
	struct tree t = {
		.out = out, .timelines = in->timelines, .options = &o, .thread = THREAD_NONE
	};
	int err;

	o.fold_repeats = o.blocked_stacks = true;
	t.names = names_new(in->timelines, &o);
	if (!t.names)
		return -ENOMEM;
	err = wait_tree_init(&t.wait, in->timelines, &o, t.names);
	if (!err)
		err = format_each_wait(in, &o, t.names, o.top, write_wait, &t);
	wait_tree_free(&t.wait);
	names_free(t.names);
	return err < 0 ? err : 0;
}

const struct format format_tree = {
	.name = "tree",
	.summary = "waits, each with its chain, for reading",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_ANNOTATE | GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_VIEW | GIVEN_BY_NAME |
		   GIVEN_WHO_RAN | GIVEN_FOLD_REPEATS,
	.write = write_tree,
};
