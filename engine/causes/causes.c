// SPDX-License-Identifier: GPL-2.0-or-later
#include "causes_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/cpus.h"
#include "common/xalloc.h"
#include "fold/slices.h"
#include "select/wait_nature.h"
#include "words/names.h"

/* Of those for whom a thread worked. */
#define SERVED_SHOWN 2

/* ---- many at once ---------------------------------------------------------------------------- */

static void add_to_batch(struct causes *c, uint32_t head, const struct chosen_wait *p)
{
	uint32_t link;

	c->mode = CAUSES_BATCH;
	link = chain_batch_add(c->batch, head, p->thread, p->wait, p->shown.blocked_from_ns,
			       p->shown.blocked_to_ns);
	if (link)
		pair_table_add(&c->waited, link, p->thread, 1);
}

/* Adds the time in which the wait's own thread was ready, of which a quota may have taken some. */
static void add_own(struct causes *c, uint32_t head, const struct chosen_wait *p)
{
	bool preempted = p->wait->kind == WAIT_PREEMPTED;
	uint32_t sum;

	causes_explain_own(c, head, p);
	if (!timelines_throttled_untold(c->timelines, p->thread, p->wait))
		return;
	sum = causes_known_sum(c, head, preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE);
	if (sum)
		c->at[((struct chain_sum *)c->sums.at)[sum].cause - 1].quota_waits++;
}

static void keep_long(struct causes *c, const struct chosen_wait *p);

/* What is known of a wait at once; its chain goes into the batch, a long one's later. */
static void sum_up_wait(struct causes *c, const struct chosen_wait *p, bool is_long)
{
	const struct shown *s = &p->shown;
	uint64_t blocked_ns = s->blocked_to_ns - s->blocked_from_ns, off_ns;
	enum wait_nature nature = WAIT_FOR_OTHERS;
	uint32_t head, own = 0; /* own: that of what is no pause */
	struct window_sum window = window_sum_of(1, 0, p->wait->in_ns,
						 chain_batch_number(c->batch, p->thread, p->wait));

	off_ns = s->off_to_ns - s->off_from_ns;
	c->windows_now = window;
	c->mode = CAUSES_OWN;
	if (p->wait->kind == WAIT_SLEEP && blocked_ns) {
		nature = wait_filter_nature(c->filter, p->thread, p->wait);
		head = causes_head_of(c, p, nature != WAIT_FOR_OTHERS);
		own = nature == WAIT_FOR_OTHERS ? head : 0;
		if (nature == WAIT_FOR_WORK)
			causes_explain_no_work(c, head, p);
		else if (is_long)
			keep_long(c, p);
		else
			add_to_batch(c, head, p);
	}
	c->mode = CAUSES_OWN;
	c->windows_now = window;
	if (off_ns)
		add_own(c, own ? own : causes_head_of(c, p, false), p);
	causes_count_length(c, off_ns + (nature == WAIT_FOR_OTHERS && p->wait->kind == WAIT_SLEEP
						 ? blocked_ns
						 : 0));
}

/* A wait_visitor's. */
static bool wants(void *arg, const struct thread *th)
{
	const struct causes *c = arg;

	return wait_filter_thread(c->filter, (uint32_t)(th - timelines_thread(c->timelines, 0)));
}

static void keep_long(struct causes *c, const struct chosen_wait *p)
{
	XAPPEND(c->long_waits, c->n_long, c->cap_long) = *p;
}

/* Likewise. */
static void visit(void *arg, uint32_t thread, const struct wait *w, bool is_long)
{
	struct causes *c = arg;
	struct chosen_wait p = { .wait = w, .thread = thread };

	if (!wait_filter_wait(c->filter, thread, w, &p.shown))
		return;
	if (c->batch)
		sum_up_wait(c, &p, is_long);
	else if (p.shown.blocked_to_ns - p.shown.blocked_from_ns > c->long_ns &&
		 wait_filter_nature(c->filter, thread, w) != WAIT_FOR_WORK)
		keep_long(c, &p);
	else
		causes_explain_wait(c, &p);
}

/*
 * No window of a waker's time that is no longer has as many off-CPU intervals as those for which
 * there are running totals.
 */
static uint64_t longest_without_totals(const struct chains *c)
{
	uint64_t ns = UINT64_MAX;
	uint32_t n = c->long_window;

	for (uint32_t i = 0; i < timelines_threads(c->timelines); i++) {
		const struct thread *th = timelines_thread(c->timelines, i);

		for (uint32_t k = n; k <= th->n_waits; k++) {
			uint64_t span = th->waits[k - 1].out_ns - th->waits[k - n].in_ns;

			ns = span < ns ? span : ns;
		}
	}
	return ns;
}

/* By thread, then time. */
static int in_order(const void *pa, const void *pb)
{
	const struct chosen_wait *a = pa, *b = pb;

	if (a->thread != b->thread)
		return compare_numbers(a->thread, b->thread);
	return compare_numbers(a->wait->out_ns, b->wait->out_ns);
}

static void explain_long(struct causes *c)
{
	if (c->n_long)
		qsort(c->long_waits, c->n_long, sizeof(*c->long_waits), in_order);
	for (size_t i = 0; i < c->n_long && !c->batch; i++)
		causes_explain_wait(c, &c->long_waits[i]);
	for (size_t i = 0; i < c->n_long && c->batch; i++) {
		const struct chosen_wait *p = &c->long_waits[i];
		enum wait_nature nature = wait_filter_nature(c->filter, p->thread, p->wait);

		add_to_batch(c, causes_head_of(c, p, nature != WAIT_FOR_OTHERS), p);
	}
	if (c->n_long && c->batch)
		chain_batch_run(c->batch);
	attribution_end(&c->chains.attribution);
	causes_end_own(c);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct cause *a = pa, *b = pb;
	const uint32_t ta[] = { a->who, a->where, a->by, a->lock };
	const uint32_t tb[] = { b->who, b->where, b->by, b->lock };
	int order = 0;

	if (a->pause != b->pause)
		return a->pause - b->pause;
	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	if (a->end != b->end)
		return compare_numbers(a->end, b->end);
	if (a->disk != b->disk)
		return compare_numbers(a->disk, b->disk);
	if (a->tcp_timer != b->tcp_timer)
		return compare_numbers(a->tcp_timer, b->tcp_timer);
	for (size_t i = 0; i < 4 && !order; i++)
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

/* like: others of the same trace, which outlive it and share what is only read; NULL: there are
 * none. */
static void begin(struct causes **out, const struct timelines *tl, const struct options *o,
		  struct names *names, const struct cpu_holders *cpu_holders,
		  const struct causes *like, bool in_batch)
{
	struct causes *c = xcalloc(1, sizeof(*c));
	struct chain_user user;

	*out = c;
	c->timelines = tl;
	c->trace = timelines_trace(tl);
	c->names = names;
	c->cpu_holders = cpu_holders;
	user = (struct chain_user) { .sink = { c, causes_add_amount, causes_add_window,
					       causes_begin_piece,
					       in_batch ? causes_note_windows : NULL },
				     .label = causes_label_link,
				     .labels_by_name = true,
				     .identity = chain_identity_is_label,
				     .wants = 1u << AMOUNT_CPU_HOLDER | 1u << AMOUNT_SAMPLES,
				     .cpu_holders = cpu_holders };
	chains_init(&c->chains, tl, o, &user);
	attribution_sum_up(&c->chains.attribution, causes_key_of_holders, causes_add_holder);
	if (in_batch)
		chain_batch_new(&c->batch, &c->chains);
	else if (like)
		woken_meanwhile_share(&c->wakings, like->wakings);
	else
		woken_meanwhile_new(&c->wakings, tl, c->chains.kernel);
}

uint64_t causes_shown(const struct options *o)
{
	return o->top ? o->top : 10;
}

/* Whether nobody can do anything about it, as events are missing. */
static bool is_unknown(const struct causes *c, const struct cause *of)
{
	return of->end == CHAIN_UNKNOWN || !strcmp(names_text(c->names, of->who), "[unknown]");
}

/* Of those that are shown, which stay the same ones. */
static void put_unknown_last(struct causes *c, const struct options *o)
{
	size_t n = causes_without_pauses(c), known = 0;
	struct cause *sorted;

	n = n < causes_shown(o) ? n : (size_t)causes_shown(o);
	sorted = xcalloc(n + 1, sizeof(*sorted));
	for (int unknown = 0; unknown < 2; unknown++)
		for (size_t i = 0; i < n; i++)
			if (is_unknown(c, &c->at[i]) == unknown)
				sorted[known++] = c->at[i];
	if (n)
		memcpy(c->at, sorted, n * sizeof(*sorted));
	free(sorted);
}

/* When all waits are explained. */
static void end(struct causes *c, const struct options *o)
{
	size_t kept = 0;

	if (c->batch)
		causes_sum_chains(c);
	if (c->batch)
		causes_explain_some(c, o);
	causes_sum_names(c);
	causes_describe(c);
	if (c->n)
		qsort_r(c->at, c->n, sizeof(*c->at), most_time_first, c->names);
	/* All of their time is that of other causes. */
	for (size_t i = 0, n = c->n; i < n; i++)
		if (c->at[i].ns)
			c->at[kept++] = c->at[i];
	c->n = kept;
	put_unknown_last(c, o);
	causes_choose_examples(c);
}

void causes_new(struct causes **out, const struct timelines *tl, const struct options *o,
		struct names *names, struct wait_filter *f, const struct cpu_holders *cpu_holders)
{
	causes_new_in_cells(out, tl, o, names, f, cpu_holders, (struct causes_cells) { 0 });
}

/* One thread's share of the waits; the first one has the sums of all at last. */
struct worker {
	struct causes *causes;
	struct slices *slices;
	struct names *names; /* of others than the first one: its own, and so is the filter */
	struct wait_filter *filter;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	slices_walk(w->slices, (struct wait_visitor) { w->causes, wants, visit });
	w->causes->mode = w->causes->batch ? CAUSES_BATCH : CAUSES_EACH;
	if (w->causes->batch)
		chain_batch_run(w->causes->batch);
	attribution_end(&w->causes->chains.attribution);
	causes_end_own(w->causes);
	return NULL;
}

/* Makes one like the first. */
static void add_worker(struct worker *w, const struct worker *first, const struct options *o)
{
	const struct timelines *tl = first->causes->timelines;

	w->slices = first->slices;
	names_new(&w->names, tl, o);
	wait_filter_like(&w->filter, first->causes->filter, NULL, w->names);
	begin(&w->causes, tl, o, w->names, first->causes->cpu_holders, first->causes,
	      first->causes->batch);
	w->causes->filter = w->filter;
	w->causes->long_ns = first->causes->long_ns;
	w->causes->cells = first->causes->cells;
}

static void join_worker(const struct worker *first, struct worker *w)
{
	causes_join(first->causes, w->causes);
	causes_free(w->causes);
	wait_filter_free(w->filter);
	names_free(w->names);
}

/* Explains all waits. */
static void explain_all(struct causes *c, const struct options *o)
{
	struct worker workers[CPUS_USED_MAX] = { { .causes = c } };
	uint32_t n = cpus_usable(CPUS_USED_MAX);
	struct slices slices;

	slices_init(&slices, c->timelines, wait_filter_of_requests(c->filter));
	workers[0].slices = &slices;
	c->long_ns = c->batch ? 0 : longest_without_totals(&c->chains);
	if (n > slices.n)
		n = slices.n;
	for (uint32_t i = 1; i < n; i++)
		add_worker(&workers[i], &workers[0], o);
	workers_run(workers, sizeof(workers[0]), n, work);
	for (uint32_t i = 1; i < n; i++)
		join_worker(&workers[0], &workers[i]);
	slices_free(&slices);
	explain_long(c);
}

void causes_new_in_cells(struct causes **out, const struct timelines *tl, const struct options *o,
			 struct names *names, struct wait_filter *f,
			 const struct cpu_holders *cpu_holders, struct causes_cells cells)
{
	/* Of clients it is to be known what each wait has. */
	bool in_batch = o->mode == MODE_EXACT && !cells.one_by_one && !wait_filter_of_requests(f) &&
			!tl->remote;

	begin(out, tl, o, names, cpu_holders, NULL, in_batch);
	(*out)->cells = cells;
	(*out)->filter = f;
	explain_all(*out, o);
	end(*out, o);
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	chain_batch_free(c->batch);
	pair_table_free(&c->waited);
	chains_free(&c->chains);
	intern_free(&c->links);
	free(c->label_of);
	intern_free(&c->labels);
	pair_table_free(&c->heads);
	pair_table_free(&c->cell_heads);
	pair_table_free(&c->in_cells);
	intern_free(&c->keys);
	free(c->at);
	pair_table_free(&c->sums);
	woken_meanwhile_free(c->wakings);
	sums_free(&c->woken);
	free(c->windows);
	free(c->long_waits);
	sums_free(&c->had);
	sums_free(&c->wheres);
	sums_free(&c->whats);
	sums_free(&c->wakee_whats);
	sums_free(&c->threads);
	sums_free(&c->samples);
	free(c->part);
	free(c->sum_of);
	pair_table_free(&c->of_threads);
	sums_free(&c->by_length);
	sums_free(&c->victims);
	for (size_t i = 1; i < c->examples.cap; i++)
		free(((struct cause_examples *)c->examples.at)[i].at);
	pair_table_free(&c->examples);
	pair_table_free(&c->of_names);
	sums_free(&c->lock_parts);
	sums_free(&c->operations);
	free(c->touched);
	free(c);
}

const struct pair_table *causes_cells(const struct causes *c)
{
	return &c->in_cells;
}

const struct cause *causes_list(const struct causes *c, size_t *n)
{
	*n = c->n;
	return c->at;
}

void causes_put_served(const struct causes *c, const struct cause *of, FILE *out)
{
	size_t n;
	const struct sum *at = sums_of(&c->woken, of->id, &n);

	for (size_t i = 0; i < n && i < SERVED_SHOWN && 20 * at[i].amount >= of->windows_ns; i++)
		fprintf(out, "%c %.0f %% for %s",
			!i && *names_text(c->names, of->ran_ways) ? ';' : ',',
			100 * (double)at[i].amount / (double)of->windows_ns,
			names_text(c->names, at[i].text));
}

const struct sum *causes_victims(const struct causes *c, const struct cause *of, size_t *n)
{
	return sums_of(&c->victims, of->id, n);
}

size_t causes_without_pauses(const struct causes *c)
{
	size_t n = 0;

	while (n < c->n && !c->at[n].pause)
		n++;
	return n;
}
