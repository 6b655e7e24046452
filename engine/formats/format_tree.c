// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for reading, one by one: when and how long, where, and below that each link of the chain
 * under the thread that it woke, with what the waker did in the meantime. What several pieces of a
 * chain have in common (the same waker, from the same stack) is one line with the sum of their
 * times. In order of time, thread by thread; or the longest waits, with --top.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "words/lock_holder.h"
#include "chain_text.h"
#include "format.h"
#include "paragraph.h"
#include "request_story.h"
#include "words/names.h"
#include "words/waited_for.h"
#include "remote_wait.h"
#include "common/xalloc.h"

/* ---- other machines -------------------------------------------------------------------------- */

/*
 * What other machines did for a wait (chain-semantics, section 16), in the text of
 * chain_text.h.
 */

/* The text of one machine, made when it is needed: each hop of a chain needs one of its own. */
struct host_text {
	struct names *names;
	struct chain_text text;
	bool made;
};

struct remote_texts {
	const struct joined_host *hosts;
	const struct options *options;
	uint32_t n;
	uint32_t hops; /* of the chain that is being put */
	struct host_text texts[];
};

/* hosts and o, as for chain_text_init(), must outlive it. */
static void remote_texts_new(struct remote_texts **out, const struct joined_host *hosts, uint32_t n,
			     const struct options *o)
{
	struct remote_texts *r =
		xcalloc(1, sizeof(*r) + (size_t)n * REMOTE_HOPS_MAX * sizeof(r->texts[0]));

	*out = r;
	r->hosts = hosts;
	r->options = o;
	r->n = n;
}

static void remote_texts_free(struct remote_texts *r)
{
	for (uint32_t i = 0; r && i < r->n * REMOTE_HOPS_MAX; i++) {
		if (!r->texts[i].made)
			continue;
		chain_text_free(&r->texts[i].text);
		names_free(r->texts[i].names);
	}
	free(r);
}

static struct chain_text *text_of(struct remote_texts *r, uint32_t host, struct chain_text *above)
{
	struct host_text *h = &r->texts[r->hops * r->n + host];
	const struct timelines *tl = r->hosts[host].timelines;

	if (!h->made) {
		h->made = true;
		names_new(&h->names, tl, r->options);
		chain_text_init(&h->text, above->out, tl, r->options, h->names);
		h->text.of_client = true;
	}
	return &h->text;
}

static void remote_texts_use(struct remote_texts *r, struct chain_text *t);

/* "of that hostb had the request for 680.000 us: [request tcp :80] S", and who answered it. */
static void put_remote(void *arg, struct chain_text *above, uint32_t number, uint64_t ns,
		       unsigned int level)
{
	struct remote_texts *r = arg;
	struct remote_wait w;
	struct chain_text *t;
	uint32_t name;

	if (r->hops == REMOTE_HOPS_MAX ||
	    !remote_wait_find(&w, r->hosts, r->n, above->timelines, number))
		return;
	t = text_of(r, w.host, above);
	chain_text_indent(above, level);
	fputs("of that ", above->out);
	print_clean(above->out, r->hosts[w.host].name);
	fputs(" had the request for ", above->out);
	chain_text_time(above, ns);
	name = names_thread(t->names, w.wait.thread, w.wait.wait->out_ns);
	fprintf(above->out, ": %s\n", names_text(t->names, name));
	t->left = above->left + (int)(2 * (level + 1));
	r->hops++;
	remote_texts_use(r, t);
	wait_tree_make(&t->wait, &w.wait);
	if (t->wait.n_items) {
		if (t->wait.items[0].ends_ns[CHAIN_UNKNOWN]) {
			chain_text_indent(t, 0);
			fputs("who answered is not known\n", t->out);
		}
		chain_text_links(t, &t->wait.items[0], 0);
	}
	r->hops--;
}

/* Has t put what other machines did. */
static void remote_texts_use(struct remote_texts *r, struct chain_text *t)
{
	t->put_remote = put_remote;
	t->remote_arg = r;
}

/* ---- waits ------------------------------------------------------------------------------------
 */

struct tree {
	struct chain_text text;
	/* What the last heading was for; a thread that was renamed gets a new one. */
	uint32_t thread, name;
};

/* Whether the heading holds for this thread, too: so it does for clients of one endpoint. */
static bool is_headed(const struct tree *t, uint32_t thread, uint32_t name)
{
	const struct timelines *tl = t->text.timelines;

	if (t->thread == THREAD_NONE || name != t->name)
		return false;
	return thread == t->thread ||
	       (timelines_is_client(tl, thread) &&
		timelines_thread(tl, thread)->tid == timelines_thread(tl, t->thread)->tid);
}

/* The heading: whose waits follow. */
static void put_thread(struct chain_text *t, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(t->timelines, thread);

	chain_text_who(t, thread, names_thread(t->names, thread, at_ns), 1);
	if (th->tgid && th->tgid != th->tid)
		fprintf(t->out, " of process %" PRIu32, th->tgid);
	putc('\n', t->out);
}

static void put_object(struct chain_text *t, const struct chosen_wait *p)
{
	uint32_t text = words_of_wait(t->names, p->thread, p->wait);

	fprintf(t->out, " for %s", names_text(t->names, text));
}

static void put_head(struct chain_text *t, const struct chosen_wait *p)
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
		chain_text_clause(t, &n, "preempted ", off, "");
	} else if (t->of_client) {
		chain_text_clause(t, &n, "took ", slept, "");
	} else {
		chain_text_clause(t, &n, "slept ", slept, "");
		if (slept && w->state != '?')
			fprintf(t->out, " (%c)", w->state);
		if (names_shown_objects(t->names, w->stack).object)
			put_object(t, p);
		chain_text_clause(t, &n, "runnable ", off, "");
	}
	if (!t->of_client)
		chain_text_holders(t, 0);
	if (chosen_wait_ns(p) < s->whole_ns) {
		fputs("; cut by --from or --to, in all ", t->out);
		chain_text_time(t, s->whole_ns);
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
	chain_text_stack(t, w->stack, UINT32_MAX, true);
}

/* "not woken: slept until it was killed, by timeout (811)" */
static void put_not_woken(struct chain_text *t, const struct wait *w)
{
	fprintf(t->out, "    not woken: slept %s", words_not_woken(t->names, w));
	if (wait_killed(w) && w->waker != THREAD_IDLE) {
		uint32_t name = names_thread(t->names, w->waker, w->wake_ns);

		fprintf(t->out, ", by %s (%" PRIu32 ")", names_text(t->names, name),
			timelines_thread(t->timelines, w->waker)->tid);
	}
	putc('\n', t->out);
}

static void put_wait(struct chain_text *t, const struct chosen_wait *p)
{
	const uint64_t *end;

	put_head(t, p);
	if (!t->wait.n_items)
		return;
	end = t->wait.items[0].ends_ns;
	if (end[CHAIN_NOT_WOKEN])
		put_not_woken(t, p->wait);
	if (end[CHAIN_UNKNOWN])
		fputs(t->of_client ? "    who answered is not known\n"
				   : "    waker unknown: no waking was recorded\n",
		      t->out);
	chain_text_links(t, &t->wait.items[0], 0);
}

/* A request is told in the order of time; where --mode=classic has no times, as any wait. */
static void put_any(struct chain_text *t, const struct chosen_wait *p)
{
	if (t->of_client && t->options->mode == MODE_EXACT) {
		put_head(t, p);
		request_story_put(t, p, true);
		return;
	}
	wait_tree_make(&t->wait, p);
	put_wait(t, p);
}

static void put_headed(struct tree *tree, const struct chosen_wait *p)
{
	struct chain_text *t = &tree->text;
	uint64_t at_ns = p->wait->out_ns;
	uint32_t name = names_thread(t->names, p->thread, at_ns);

	if (t->options->top || !is_headed(tree, p->thread, name))
		put_thread(t, p->thread, at_ns);
	tree->thread = p->thread;
	tree->name = name;
	t->of_client = timelines_is_client(t->timelines, p->thread);
	put_any(t, p);
}

/* On a screen its lines are wrapped. */
static bool write_wait(void *arg, const struct chosen_wait *w)
{
	struct tree *tree = arg;
	struct chain_text *t = &tree->text;
	FILE *out = t->out;
	struct paragraph p;

	if (!t->options->columns) {
		put_headed(tree, w);
	} else {
		paragraph_begin(&p);
		p.columns = paragraph_columns(t->options->columns);
		t->out = p.f;
		put_headed(tree, w);
		t->out = out;
		paragraph_end_lines(&p, out);
	}
	/* The caller reports a write error; continuing would be pointless. */
	return !ferror(out);
}

static int write_tree(const struct format_input *in, FILE *out)
{
	struct options o = *in->options;
	struct tree t = { .thread = THREAD_NONE };
	struct remote_texts *remote = NULL;
	struct names *names;

	o.fold_repeats = o.blocked_stacks = true;
	names_new(&names, in->timelines, &o);
	chain_text_init(&t.text, out, in->timelines, &o, names);
	if (in->n_hosts)
		remote_texts_new(&remote, in->hosts, in->n_hosts, &o);
	if (remote)
		remote_texts_use(remote, &t.text);
	format_each_wait(in, &o, names, o.top, write_wait, &t);
	remote_texts_free(remote);
	chain_text_free(&t.text);
	names_free(names);
	return 0;
}

const struct format format_tree = {
	.name = "tree",
	.summary = "waits, each with its chain, for reading",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_HEADED,
	.joins = true,
	.takes = GIVEN_OF_CHAINS | GIVEN_ATTRIBUTED | GIVEN_TOP | GIVEN_UNIT,
	.write = write_tree,
};
