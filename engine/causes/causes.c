// SPDX-License-Identifier: GPL-2.0-or-later
#include "causes_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/grow.h"
#include "words/place.h"
#include "words/names.h"

/* Windows of requests with fewer off-CPU intervals are walked. */
#define REQUEST_LONG_WINDOW 4096

static uint32_t place(struct causes *c, uint32_t pair, uint32_t kernel_frames, bool user,
		      bool kernel)
{
	uint32_t text = place_text(c->names, c->trace, pair, kernel_frames, user, kernel);

	c->out_of_memory |= !text;
	return text;
}

static uint32_t what(struct causes *c, uint32_t pair)
{
	uint32_t text = waited_for_words(c->names, pair);

	c->out_of_memory |= !text;
	return text;
}

/* "NAME/ID"; name is a string id. */
static uint32_t numbered(struct causes *c, uint32_t name, uint32_t id)
{
	struct text_buf b = { 0 };
	char number[16];
	uint32_t text;

	names_put(&b, trace_string(c->trace, name));
	snprintf(number, sizeof(number), "/%" PRIu32, id);
	text_puts(&b, number);
	text = b.failed ? 0 : names_adopt(c->names, b.p);
	text_free(&b);
	c->out_of_memory |= !text;
	return text;
}

static void label_process(struct causes *c, struct label *label, uint32_t thread)
{
	const struct thread *th = timelines_thread(c->timelines, thread);
	bool known = process_leader(c->processes, thread) != THREAD_NONE;
	uint32_t name = known ? process_name(c->processes, thread) : th->name;

	label->process_name = names_string(c->names, name);
	label->process = numbered(c, name, th->tgid ? th->tgid : th->tid);
	c->out_of_memory |= !label->process_name;
}

/* 0: out of memory. */
static uint32_t make_label(struct causes *c, const struct link *l)
{
	struct label label = { 0 };

	if (l->flags & LINK_LABEL) {
		label.is_text = 1;
		return intern_id(&c->labels, &label, sizeof(label), NULL);
	}
	if (causes_of_requests(c) && l->waker != THREAD_NONE) {
		label_process(c, &label, l->waker);
		label.thread = numbered(c, l->name, timelines_thread(c->timelines, l->waker)->tid);
	}
	if (!(l->flags & LINK_STARTED)) {
		label.slept = place(c, l->blocked, UINT32_MAX, true, true);
		label.what = what(c, l->blocked);
	}
	if (l->waker != THREAD_NONE) {
		label.who = names_clean(c->names, trace_string(c->trace, l->name));
		label.woke = place(c, l->stack, l->kernel_frames, true, false);
		c->out_of_memory |= !label.who;
	} else {
		uint32_t kstack = timelines_pair(c->timelines, l->stack).kstack;
		uint32_t frame = irq_handler(c->chains.kernel, kstack, l->kernel_frames);

		label.by = frame ? names_frame(c->names, frame) : 0;
	}
	return intern_id(&c->labels, &label, sizeof(label), NULL);
}

static uint32_t label_link(void *arg, const struct link *l)
{
	struct causes *c = arg;
	bool is_new;
	uint32_t id = intern_id(&c->links, l, sizeof(*l), &is_new);

	if (!id || !GROW(c->label_of, id, c->cap_label_of))
		return 0;
	if (is_new)
		c->label_of[id] = make_label(c, l);
	return c->label_of[id];
}

/* Whether the node is that of a chain's first link. */
static bool is_first_link(const struct causes *c, uint32_t node)
{
	const struct pair *nodes = c->chains.nodes.at;

	for (node = nodes[node].a; node && nodes[node].a; node = nodes[node].a)
		if (!causes_label(c, nodes[node].b).is_text)
			return false;
	return true;
}

/* Of requests: the process, and whether its thread answers. */
static struct cause_key key_of_request(const struct causes *c, uint32_t node, struct cause_key key)
{
	const struct pair *nodes = c->chains.nodes.at;

	/* An interrupt: what counts is who slept. */
	if (nodes[node].a && !causes_label(c, nodes[node].b).who)
		node = nodes[node].a;
	key.who = causes_label(c, nodes[node].b).process_name;
	if (key.end == CHAIN_RUNNABLE)
		key.end = CHAIN_RUNNING;
	key.itself = !nodes[node].a;
	key.answers = !key.itself && is_first_link(c, node);
	return key;
}

/* The cause to which a chain's end belongs: who is responsible, and where. */
static struct cause_key key_of(const struct causes *c, uint32_t node, uint32_t end, uint32_t disk)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct label last = causes_label(c, nodes[node].b);
	struct cause_key key = { .end = end, .disk = disk };

	for (; last.is_text; last = causes_label(c, nodes[node].b))
		node = nodes[node].a;
	if (causes_of_requests(c))
		return key_of_request(c, node, key);
	key.who = last.who;
	if (!last.who) { /* an interrupt: what counts is who slept, and where */
		node = nodes[node].a;
		key.who = causes_label(c, nodes[node].b).who;
		key.where = last.slept;
		key.by = last.by;
	} else if (!nodes[node].a && (end == CHAIN_NOT_WOKEN || end == CHAIN_UNKNOWN)) {
		key.where = last.slept;
	}
	key.itself = !nodes[node].a;
	return key;
}

/* 1 + the index of the cause; 0: out of memory. */
static uint32_t find_cause(struct causes *c, uint32_t node, uint32_t end, uint32_t disk)
{
	struct cause_key key = key_of(c, node, end, disk);
	bool is_new;
	uint32_t id = intern_id(&c->keys, &key, sizeof(key), &is_new);

	if (!id || !is_new)
		return id;
	if (!GROW(c->at, c->n, c->cap))
		return 0;
	c->at[c->n++] = (struct cause) {
		.id = id,
		.end = (enum chain_end)(key.end & ~THROTTLED),
		.throttled = key.end & THROTTLED,
		.disk = disk,
		.who = key.who,
		.where = key.where,
		.by = key.by,
		.itself = key.itself,
		.answers = key.answers,
	};
	return id;
}

/* Adds ns of the current wait to a cause's part of it. */
static void add_part(struct causes *c, uint32_t cause, uint64_t ns)
{
	size_t had = c->cap_parts;

	if (!GROW(c->touched, c->n_touched, c->cap_touched) ||
	    !GROW(c->part_ns, cause, c->cap_parts)) {
		c->out_of_memory = true;
		return;
	}
	if (c->cap_parts > had)
		memset(c->part_ns + had, 0, (c->cap_parts - had) * sizeof(*c->part_ns));
	if (!c->part_ns[cause])
		c->touched[c->n_touched++] = cause;
	c->part_ns[cause] += ns;
}

/* The sum for a chain, with its cause; NULL: out of memory. */
static struct chain_sum *sum_at(struct causes *c, uint32_t node, uint32_t end, uint32_t disk)
{
	uint32_t key = disk ? 2 * THROTTLED + disk : end;
	struct chain_sum *s = pair_table_at(&c->sums, node, key, sizeof(*s));

	if (s && !s->cause) {
		s->node = node;
		s->end = end;
		s->disk = disk;
		s->cause = find_cause(c, node, end, disk);
	}
	if (s && s->cause)
		return s;
	c->out_of_memory = true;
	return NULL;
}

static void add_time(struct causes *c, uint32_t node, uint32_t end, uint32_t disk, uint64_t ns)
{
	struct chain_sum *s = sum_at(c, node, end, disk);

	if (!s)
		return;
	s->ns += ns;
	if (ns)
		add_part(c, s->cause, ns);
}

/*
 * Notes who had the CPU in ns of the time that add_time() gets. Time that a quota took is moved to
 * a cause of its own.
 */
static void add_had(struct causes *c, uint32_t node, uint32_t end, uint32_t who, uint64_t ns)
{
	struct chain_sum *s = sum_at(c, node, end, 0);

	if (!s)
		return;
	if (who != HOLDER_THROTTLED) {
		sums_add(&c->had, s->cause, who, ns);
		return;
	}
	add_time(c, node, end, 0, -ns);
	add_time(c, node, end | THROTTLED, 0, ns);
}

static void add_samples(struct causes *c, uint32_t node, uint32_t end, uint32_t pair, uint64_t n)
{
	struct chain_sum *s = sum_at(c, node, end, 0);

	if (s)
		sums_add(&c->samples, s->cause, pair, n);
}

/*
 * A chain_sink's. The time that a request waits in the queue and the time for which the device has
 * it are one cause. So is the network for all sockets: a cause says what its sleep was mostly for.
 */
static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	if (key.kind == AMOUNT_TIME)
		add_time(arg, node, key.end, key.end == CHAIN_DISK ? key.value : 0, amount);
	else if (key.kind == AMOUNT_CPU_HOLDER)
		add_had(arg, node, key.end, key.value, amount);
	else if (key.kind == AMOUNT_SAMPLES)
		add_samples(arg, node, key.end, key.value, amount);
}

/* A chain_sink's. */
static void add_window(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns, uint64_t to_ns)
{
	struct causes *c = arg;

	if (!GROW(c->windows, c->n_windows, c->cap_windows)) {
		c->out_of_memory = true;
		return;
	}
	c->windows[c->n_windows++] = (struct window) { node, waker, from_ns, to_ns };
}

/* Counts whom else the last wakers in the chains of the current wait woke meanwhile. */
static void count_woken(struct causes *c)
{
	for (size_t i = 0; i < c->n_windows && !c->out_of_memory; i++) {
		const struct window *w = &c->windows[i];
		uint32_t ran = pairs_find(&c->sums.keys, w->node, CHAIN_RUNNING);
		uint32_t sum = ran ? ran : pairs_find(&c->sums.keys, w->node, CHAIN_RUNNABLE);
		uint32_t cause = sum ? ((const struct chain_sum *)c->sums.at)[sum].cause : 0;

		if (cause && cause < c->cap_parts && c->part_ns[cause])
			woken_meanwhile_add(&c->woken, cause, c->wakings, w->waker, w->from_ns,
					    w->to_ns);
	}
	c->n_windows = 0;
}

/* Whether the wait is nine tenths of the thread's life in the trace, or more. */
static bool is_whole_life(const struct causes *c, const struct chosen_wait *p)
{
	const struct thread *th = timelines_thread(c->timelines, p->thread);
	uint64_t life = th->end_ns - th->begin_ns;

	return p->wait->in_ns - p->wait->out_ns >= life - life / 10;
}

static bool better_example(const struct causes *c, const struct cause *cause, uint64_t ns,
			   const struct chosen_wait *p)
{
	const struct chosen_wait *best = &cause->example;
	bool whole = is_whole_life(c, p);

	if (!best->wait)
		return true;
	if (whole != is_whole_life(c, best))
		return !whole;
	if (ns != cause->example_ns)
		return ns > cause->example_ns;
	if (p->wait->out_ns != best->wait->out_ns)
		return p->wait->out_ns < best->wait->out_ns;
	return p->thread < best->thread;
}

/* Adds up the parts of the current wait. */
static void count_wait(struct causes *c, const struct chosen_wait *p)
{
	for (size_t i = 0; i < c->n_touched; i++) {
		struct cause *cause = &c->at[c->touched[i] - 1];
		uint64_t ns = c->part_ns[c->touched[i]];

		c->part_ns[c->touched[i]] = 0;
		if (!ns) /* it was moved to another cause */
			continue;
		cause->ns += ns;
		cause->waits++;
		cause->quota_waits += !cause->throttled && cause->itself && wait_throttled(p->wait);
		if (cause->longest_ns < ns)
			cause->longest_ns = ns;
		if (!better_example(c, cause, ns, p))
			continue;
		cause->example = *p;
		cause->example_ns = ns;
	}
	c->n_touched = 0;
}

/* Keeps the parts of the current wait, of which the typical ones are to be found. */
static void keep_parts(struct causes *c, const struct chosen_wait *p)
{
	for (size_t i = 0; i < c->n_touched; i++) {
		uint32_t cause = c->touched[i];

		if (!c->part_ns[cause])
			continue;
		if (!GROW(c->parts, c->n_parts, c->cap_parts_of_waits)) {
			c->out_of_memory = true;
			return;
		}
		c->parts[c->n_parts++] = (struct cause_part) { cause, c->part_ns[cause], *p };
	}
}

static int by_cause_and_size(const void *pa, const void *pb)
{
	const struct cause_part *a = pa, *b = pb;

	if (a->cause != b->cause)
		return compare_numbers(a->cause, b->cause);
	if (a->ns != b->ns)
		return compare_numbers(a->ns, b->ns);
	if (a->wait.wait->out_ns != b->wait.wait->out_ns)
		return compare_numbers(a->wait.wait->out_ns, b->wait.wait->out_ns);
	return compare_numbers(a->wait.thread, b->wait.thread);
}

/* The example of each cause: the wait with the part in the middle. */
static void choose_typical(struct causes *c)
{
	size_t end;

	if (c->n_parts)
		qsort(c->parts, c->n_parts, sizeof(*c->parts), by_cause_and_size);
	for (size_t i = 0; i < c->n_parts; i = end) {
		struct cause *cause = &c->at[c->parts[i].cause - 1];
		const struct cause_part *typical;

		for (end = i; end < c->n_parts && c->parts[end].cause == c->parts[i].cause;)
			end++;
		typical = &c->parts[i + (end - i - 1) / 2];
		cause->example = typical->wait;
		cause->example_ns = typical->ns;
	}
}

/* Where the thread was when it lost its CPU: the last sample of the time that it ran before. */
static void say_where_it_ran(struct causes *c, uint32_t node, const struct chosen_wait *p)
{
	const struct thread *th = timelines_thread(c->timelines, p->thread);
	const struct sample *end, *at = timelines_samples(c->timelines, p->thread, &end), *last;
	uint64_t since_ns = p->wait > th->waits ? p->wait[-1].in_ns : th->begin_ns;

	last = at ? sample_at(at, end, p->wait->out_ns) : NULL;
	if (!last || last == at || last[-1].ns < since_ns)
		return;
	for (int throttled = 0; throttled < 2; throttled++) {
		uint32_t sum = pairs_find(&c->sums.keys, node,
					  CHAIN_PREEMPTED | (throttled ? THROTTLED : 0));
		const struct chain_sum *sums = c->sums.at;

		if (sum)
			sums_add(&c->wheres, sums[sum].cause,
				 place(c, last[-1].pair, UINT32_MAX, true, false),
				 chosen_wait_ns(p));
	}
}

/* The time of a wait in which its thread was ready itself. */
static void explain_own(struct causes *c, uint32_t head, const struct chosen_wait *p)
{
	const struct shown *s = &p->shown;
	bool preempted = p->wait->kind == WAIT_PREEMPTED;

	if (s->off_to_ns <= s->off_from_ns)
		return;
	chains_explain_own(&c->chains, head, p->thread, p->wait, s->off_from_ns, s->off_to_ns);
	/* A trace that does not say what CPUs ran may still say that there was a quota. */
	if (!c->cpu_holders && wait_throttled(p->wait))
		add_had(c, head, preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE, HOLDER_THROTTLED,
			s->off_to_ns - s->off_from_ns);
	if (preempted)
		say_where_it_ran(c, head, p);
}

static int explain_wait(void *arg, const struct chosen_wait *p)
{
	struct causes *c = arg;
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	struct label label = { .who = names_thread(c->names, p->thread, w->out_ns),
			       .slept = place(c, w->stack, UINT32_MAX, true, true),
			       .what = what(c, w->stack) };
	uint32_t head = chains_head(&c->chains, intern_id(&c->labels, &label, sizeof(label), NULL));

	if (!head || !label.who || c->out_of_memory)
		return -ENOMEM;
	if (w->kind == WAIT_SLEEP)
		chains_explain(&c->chains, head, p->thread, w, s->blocked_from_ns,
			       s->blocked_to_ns);
	explain_own(c, head, p);
	count_woken(c);
	if (causes_of_requests(c))
		keep_parts(c, p);
	count_wait(c, p);
	return c->out_of_memory || c->chains.out_of_memory ? -ENOMEM : 0;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct cause *a = pa, *b = pb;
	const uint32_t ta[] = { a->who, a->where, a->by }, tb[] = { b->who, b->where, b->by };
	int order = 0;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	if (a->end != b->end)
		return compare_numbers(a->end, b->end);
	if (a->disk != b->disk)
		return compare_numbers(a->disk, b->disk);
	for (size_t i = 0; i < 3 && !order; i++)
		order = strcmp(names_text(names, ta[i]), names_text(names, tb[i]));
	return order ? order : a->throttled != b->throttled ? a->throttled : a->itself - b->itself;
}

struct options causes_options(const struct options *given)
{
	struct options o = *given;

	o.blocked_stacks = o.fold_repeats = true;
	if (!(o.given & GIVEN_DEPTH))
		o.depth = CAUSES_DEPTH;
	if (!(o.given & GIVEN_PARTS))
		o.parts |= PART_PREEMPTED;
	return o;
}

struct options causes_request_options(const struct options *given)
{
	struct options o = causes_options(given);

	o.requests = true;
	if (!(o.given & GIVEN_DEPTH))
		o.depth = CAUSES_REQUEST_DEPTH;
	return o;
}

/* Allocates causes, of requests or of other waits. */
static int begin(struct causes **out, const struct timelines *tl, const struct options *o,
		 struct names *names, bool of_requests)
{
	struct causes *c = calloc(1, sizeof(*c));
	struct chain_user user;
	int err;

	*out = c;
	if (!c)
		return -ENOMEM;
	c->timelines = tl;
	c->trace = timelines_trace(tl);
	c->names = names;
	err = cpu_holders_new(&c->cpu_holders, tl, true);
	if (!err && of_requests)
		err = processes_new(&c->processes, tl);
	if (err)
		return err;
	user = (struct chain_user) { .sink = { c, add, add_window },
				     .label = label_link,
				     .wants = 1u << AMOUNT_CPU_HOLDER,
				     .cpu_holders = c->cpu_holders };
	if (of_requests)
		user.wants |= 1u << AMOUNT_SAMPLES;
	else
		user.identity = chain_identity_is_label;
	err = chains_init(&c->chains, tl, o, &user);
	/* Samples are not found in windows for which there are running totals. */
	if (of_requests)
		c->chains.long_window = REQUEST_LONG_WINDOW;
	return err ? err : woken_meanwhile_new(&c->wakings, tl, c->chains.kernel);
}

/* When all waits are explained. */
static int end(struct causes *c)
{
	int err;

	choose_typical(c);
	err = causes_describe(c);
	if (!err && c->n)
		qsort_r(c->at, c->n, sizeof(*c->at), most_time_first, c->names);
	/* All of their time is that of other causes. */
	while (c->n && !c->at[c->n - 1].ns)
		c->n--;
	return err ? err : c->out_of_memory ? -ENOMEM : 0;
}

int causes_new(struct causes **out, const struct timelines *tl, const struct options *o,
	       struct names *names, struct wait_filter *f)
{
	int err = begin(out, tl, o, names, false);

	if (!err)
		err = top_waits_walk(tl, f, 0, explain_wait, *out);
	return err ? err : end(*out);
}

int causes_new_of_requests(struct causes **out, const struct timelines *tl, const struct options *o,
			   struct names *names, struct requests_taken of)
{
	int err = begin(out, tl, o, names, true);

	for (size_t i = 0; i < of.n && !err; i++)
		err = explain_wait(*out, &of.at[i]);
	return err ? err : end(*out);
}

bool causes_equal(const struct cause *a, const struct cause *b)
{
	return a->end == b->end && a->disk == b->disk && a->who == b->who &&
	       a->throttled == b->throttled && a->itself == b->itself && a->answers == b->answers;
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	chains_free(&c->chains);
	intern_free(&c->links);
	free(c->label_of);
	intern_free(&c->labels);
	intern_free(&c->keys);
	free(c->at);
	pair_table_free(&c->sums);
	cpu_holders_free(c->cpu_holders);
	woken_meanwhile_free(c->wakings);
	sums_free(&c->woken);
	free(c->windows);
	sums_free(&c->had);
	sums_free(&c->wheres);
	sums_free(&c->whats);
	sums_free(&c->wakee_whats);
	processes_free(c->processes);
	sums_free(&c->processes_of);
	sums_free(&c->threads);
	sums_free(&c->samples);
	sums_free(&c->wakee_sleeps);
	free(c->parts);
	free(c->part_ns);
	free(c->touched);
	free(c);
}

const struct cause *causes_list(const struct causes *c, size_t *n)
{
	*n = c->n;
	return c->at;
}

void causes_put_woken(const struct causes *c, const struct cause *of, const char *before, FILE *out)
{
	woken_meanwhile_write(&c->woken, c->names, of->id, of->ns, before, out);
}
