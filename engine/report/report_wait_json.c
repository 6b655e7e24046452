// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report's data consists of, and a wait with its chain over time, as JSON. Times are ns from
 * the wait's start. The threads of the chain are shown for a margin before and after the wait, too,
 * for orientation.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "answer/path_processes.h"
#include "attribute/cpu_holders.h"
#include "common/xalloc.h"
#include "formats/named_steps.h"
#include "report_json.h"
#include "timeline/stolen_time.h"
#include "words/names.h"
#include "words/place.h"
#include "words/waited_for.h"

/* ---- numbers, texts, threads and stacks ------------------------------------------------------ */

void report_put_numbers(struct report_writer *w, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_signed(&w->j, NULL, (int64_t)v[i]);
}

static uint32_t number_of(struct pairs *p, uint32_t id)
{
	int is_new;
	uint32_t n = pairs_id_new(p, id, 0, &is_new);

	return n - 1;
}

uint32_t report_string(struct report_writer *w, uint32_t text)
{
	uint32_t n_before = w->strings.n, n = number_of(&w->strings, text);

	if (w->strings.n > n_before)
		w->string_bytes += strlen(names_text(w->r->names, text)) + 4;
	return n;
}

uint32_t report_thread(struct report_writer *w, uint32_t thread)
{
	return number_of(&w->threads, thread);
}

uint32_t report_stack(struct report_writer *w, uint32_t pair, uint32_t frames, bool user)
{
	return report_string(w, names_stack(w->r->names, pair, frames, user));
}

uint32_t report_place(struct report_writer *w, uint32_t pair)
{
	uint32_t *string = pair_table_at(&w->places, pair, 0, sizeof(*string));
	struct names *names = w->r->names;
	uint32_t place, object;
	struct text_buf b = { 0 };

	if (*string)
		return *string - 1;
	place = place_text(names, w->r->in->trace, pair, UINT32_MAX, true, true);
	object = waited_for_words(names, pair);
	text_puts(&b, names_text(names, place));
	if (*names_text(names, object)) {
		text_puts(&b, b.len ? ", for " : "for ");
		text_puts(&b, names_text(names, object));
	}
	if (!b.len) {
		text_puts(&b, timelines_pair(w->r->in->timelines, pair).is_short
				      ? "[short]"
				      : "[unknown stack]");
	}
	*string = 1 + report_string(w, names_adopt(names, b.p));
	text_free(&b);
	return *string - 1;
}

/* ---- a wait ---------------------------------------------------------------------------------- */

/* How a part of a thread's time is drawn; data.js has the same order (STATES). */
enum state {
	STATE_BLOCKED,
	STATE_RUNNABLE,
	STATE_PREEMPTED,
	STATE_UNKNOWN,
	/* Several off-CPU intervals, too short to be drawn one by one; what the thread did most
	   then. */
	STATE_MANY, /* slept */
	STATE_MANY_READY,
	STATE_MANY_RUNS,
	STATE_RUNNING, /* written only where interrupts took some of it: otherwise the rest */
};

#define FINEST 300     /* intervals shorter than 1/300 of the drawn time are joined */
#define COARSE 40      /* outside of what the wait waited for: 1/40 */
#define SAMPLES 150    /* of a lane */
#define SKETCH 4       /* of these a sketch has a fourth */
#define LANES 3	       /* more of them share the intervals and samples that these have */
#define EXACT 50000    /* intervals are told to 1/50000 of the drawn time */
#define LOOKED_AT 32   /* of joined ones, to say what they were */
#define PATH_PARTS 400 /* of a command's path */

struct view {
	const struct report_chain *chain;
	uint64_t zero_ns, from_ns, to_ns; /* the wait's start; the drawn time */
	uint64_t wait_ns;		  /* how long the wait is */
	bool sketch;			  /* see struct report_wait */
	uint64_t unit_ns;		  /* of intervals */
	uint64_t drawn;			  /* where the last interval of a lane ended, in units */
};

/* The shortest time that is drawn of `parts` ones. */
static uint64_t finest_ns(const struct view *f, uint64_t parts)
{
	uint64_t n = f->chain->n_lanes, fewer = n > LANES ? parts * LANES / n : parts;

	return (f->to_ns - f->from_ns) * (f->sketch ? SKETCH : 1) / fewer;
}

/*
 * Up to when intervals from ns on are joined: where the wait waited for the lane, only such as
 * cannot be told apart.
 */
static uint64_t joined_until(const struct view *f, uint32_t lane, uint64_t ns)
{
	uint64_t until = ns + finest_ns(f, COARSE), finest = finest_ns(f, FINEST);

	for (size_t i = 0; i < f->chain->n_windows; i++) {
		const struct report_window *w = &f->chain->windows[i];

		if (w->lane != lane || w->to_ns <= ns)
			continue;
		if (w->from_ns <= ns)
			return ns + finest;
		if (w->from_ns < until)
			until = w->from_ns;
	}
	return until;
}

/* As the time since the one before, and its length, in units from what is drawn on. */
static void put_stretch(struct report_writer *w, struct view *f, uint64_t from, uint64_t to,
			enum state what, uint64_t more)
{
	from = (from - f->from_ns) / f->unit_ns;
	to = (to - f->from_ns) / f->unit_ns;
	report_put(w, from - f->drawn, to - from, what, more);
	f->drawn = to;
}

/* slept: the stack pair of what is shown as one sleep; 0: none. */
static void put_interval(struct report_writer *w, struct view *f, uint64_t from, uint64_t to,
			 enum state what, uint32_t slept)
{
	from = clip_ns(from, f->from_ns, f->to_ns);
	to = clip_ns(to, f->from_ns, f->to_ns);
	if (from < to)
		put_stretch(w, f, from, to, what, slept ? report_place(w, slept) : REPORT_NONE);
}

/* The thread ran: says what interrupts took of that. */
static void put_running(struct report_writer *w, struct view *f, uint32_t thread, uint64_t from,
			uint64_t to)
{
	const struct stolen_time *interrupts = timelines_interrupts(w->r->in->timelines);
	uint64_t ns;

	from = clip_ns(from, f->from_ns, f->to_ns);
	to = clip_ns(to, f->from_ns, f->to_ns);
	ns = stolen_time_of_thread(interrupts, thread, from, to);
	if (ns)
		put_stretch(w, f, from, to, STATE_RUNNING, ns);
}

/* Who had the CPU most of that time, as words after "as"; REPORT_NONE: nobody, or not known. */
static uint64_t had_cpu(struct report_writer *w, uint32_t thread, const struct wait *s,
			uint64_t from, uint64_t to)
{
	struct names *names = w->r->names;
	struct sums had = { .n = 0 };
	struct text_buf b = { 0 };
	uint64_t string = REPORT_NONE;
	const struct sum *most;
	uint32_t quota;
	size_t n;

	cpu_holders_share(w->r->cpu_holders, thread, s, from, to, cpu_holders_add, &had);
	sums_sort(&had, names, cpu_holder_name);
	most = sums_of(&had, 0, &n);
	if (n && most->text && most->amount * 2 >= to - from) {
		quota = cpu_holder_quota(most->key);
		text_puts(&b, quota ? "the CPU quota of " : "");
		text_puts(&b,
			  names_text(names, quota ? names_group_path(names, quota) : most->text));
		text_puts(&b, quota ? " was used up" : " had the CPU");
		string = report_string(w, names_adopt(names, b.p));
		text_free(&b);
	}
	sums_free(&had);
	return string;
}

/* The thread was ready, and had no CPU. */
static void put_ready(struct report_writer *w, struct view *f, uint32_t thread,
		      const struct wait *s, uint64_t from, enum state what)
{
	uint64_t since = clip_ns(from, f->from_ns, f->to_ns);
	uint64_t to = clip_ns(s->in_ns, f->from_ns, f->to_ns);

	if (since < to)
		put_stretch(w, f, since, to, what, had_cpu(w, thread, s, since, to));
}

static void put_one(struct report_writer *w, struct view *f, uint32_t thread, const struct wait *s)
{
	switch (s->kind) {
	case WAIT_SLEEP:
		put_interval(w, f, s->out_ns, s->wake_ns, STATE_BLOCKED, s->stack);
		put_ready(w, f, thread, s, s->wake_ns, STATE_RUNNABLE);
		break;
	case WAIT_PREEMPTED:
		put_ready(w, f, thread, s, s->out_ns, STATE_PREEMPTED);
		break;
	default:
		put_interval(w, f, s->out_ns, s->in_ns, STATE_UNKNOWN, 0);
	}
}

/* The stack of the longest sleep among some of the n waits at w, evenly spaced; 0: none. */
static uint32_t typical_stack(const struct wait *w, uint32_t n)
{
	uint32_t step = n / LOOKED_AT + 1, stack = 0;
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i += step) {
		if (w[i].kind != WAIT_SLEEP || w[i].wake_ns - w[i].out_ns <= most)
			continue;
		most = w[i].wake_ns - w[i].out_ns;
		stack = w[i].stack;
	}
	return stack;
}

/* What a thread did most in and between some of the n waits at w, evenly spaced. */
static enum state typical_state(const struct wait *w, uint32_t n)
{
	uint32_t step = n / LOOKED_AT + 1;
	uint64_t slept = 0, ready = 0, ran = 0;

	for (uint32_t i = 0; i < n; i += step) {
		uint64_t ready_from = w[i].kind == WAIT_SLEEP	    ? w[i].wake_ns
				      : w[i].kind == WAIT_PREEMPTED ? w[i].out_ns
								    : w[i].in_ns;

		slept += ready_from - w[i].out_ns;
		ready += w[i].in_ns - ready_from;
		if (i + 1 < n)
			ran += w[i + 1].out_ns - w[i].in_ns;
	}
	if (ready >= slept && ready >= ran)
		return STATE_MANY_READY;
	return ran > slept ? STATE_MANY_RUNS : STATE_MANY;
}

/* n waits as one interval. */
static void put_many(struct report_writer *w, struct view *f, const struct wait *s, uint32_t n)
{
	enum state what = typical_state(s, n);

	put_interval(w, f, s->out_ns, s[n - 1].in_ns, what,
		     what == STATE_MANY ? typical_stack(s, n) : 0);
}

/* Skips short intervals by binary search: there may be millions. */
static void put_stretches(struct report_writer *w, struct view *f, uint32_t lane)
{
	uint32_t thread = f->chain->lanes[lane].thread;
	const struct thread *th = timelines_thread(w->r->in->timelines, thread);
	uint64_t ran_from = th->begin_ns;
	uint32_t i = thread_position(th, f->from_ns);

	f->drawn = 0;
	if (i)
		ran_from = th->waits[i - 1].in_ns;

	while (i < th->n_waits && th->waits[i].out_ns < f->to_ns) {
		const struct wait *s = &th->waits[i];
		uint64_t until = joined_until(f, lane, s->out_ns);
		uint32_t next = i + 1;

		if (s->in_ns < until) {
			next = thread_position(th, until);
			/* An interval that ends after that is long enough to be drawn. */
			if (next <= i)
				next = i + 1;
		}
		put_running(w, f, thread, ran_from, s->out_ns);
		ran_from = th->waits[next - 1].in_ns;
		if (next == i + 1)
			put_one(w, f, thread, s);
		else
			put_many(w, f, s, next - i);
		i = next;
	}
	put_running(w, f, thread, ran_from, th->end_ns);
}

/*
 * What a thread ran. Samples too near to each other to be drawn are one, with the first's stacks,
 * and are skipped by binary search.
 */
static void put_samples(struct report_writer *w, const struct view *f, uint32_t thread)
{
	const struct sample *end, *next;
	const struct sample *s = timelines_samples(w->r->in->timelines, thread, &end);
	uint64_t finest = finest_ns(f, SAMPLES);

	if (!s)
		return;
	json_begin(&w->j, "samples", '[');
	end = sample_at(s, end, f->to_ns);
	for (s = sample_at(s, end, f->from_ns); s < end; s = next) {
		next = s + 1;
		if (!s->pair)
			continue;
		next = sample_at(next, end, s->ns + finest);
		report_put(w, s->ns - f->zero_ns, (size_t)(next - s),
			   report_stack(w, s->pair, UINT32_MAX, true));
	}
	json_end(&w->j, ']');
}

/* A client does nothing but wait, and of its waits this one alone is shown. */
static void put_client(struct report_writer *w, struct view *f)
{
	json_begin(&w->j, "life", '[');
	report_put(w, 0, f->wait_ns);
	json_end(&w->j, ']');
	json_begin(&w->j, "stretches", '[');
	f->drawn = 0;
	put_stretch(w, f, f->zero_ns, f->zero_ns + f->wait_ns, STATE_BLOCKED, REPORT_NONE);
	json_end(&w->j, ']');
	json_number(&w->j, "interrupted", 0);
	json_end(&w->j, '}');
}

static void put_lane(struct report_writer *w, struct view *f, uint32_t lane, uint64_t at_ns)
{
	const struct report_lane *l = &f->chain->lanes[lane];
	const struct timelines *tl = w->r->in->timelines;
	struct names *names = w->r->names;
	const struct thread *th;

	json_begin(&w->j, NULL, '{');
	if (l->thread == THREAD_NONE) {
		json_signed(&w->j, "handler",
			    l->handler ? (int64_t)report_string(w, names_frame(names, l->handler))
				       : -1);
		json_number(&w->j, "end", l->end);
		json_end(&w->j, '}');
		return;
	}
	th = timelines_thread(tl, l->thread);
	json_number(&w->j, "thread", report_thread(w, l->thread));
	json_number(&w->j, "name", report_string(w, names_thread(names, l->thread, at_ns)));
	if (timelines_is_client(tl, l->thread)) {
		put_client(w, f);
		return;
	}
	json_begin(&w->j, "life", '[');
	report_put(w, th->begin_ns - f->zero_ns, th->end_ns - f->zero_ns);
	json_end(&w->j, ']');
	json_begin(&w->j, "stretches", '[');
	put_stretches(w, f, lane);
	json_end(&w->j, ']');
	json_number(&w->j, "interrupted", l->interrupted_ns);
	put_samples(w, f, l->thread);
	json_end(&w->j, '}');
}

/* The time of a lane's first waking, for the thread's name at that time; otherwise if none. */
static uint64_t met_ns(const struct report_chain *c, uint32_t lane, uint64_t otherwise)
{
	for (size_t i = 0; i < c->n_wakes; i++)
		if (c->wakes[i].waker == lane)
			return c->wakes[i].at_ns;
	return otherwise;
}

/* Where the wakee had slept: a string, or why there is none; timeline.js has the same numbers. */
static uint64_t slept_of(struct report_writer *w, const struct report_wake *p)
{
	if (p->served)
		return p->served == REPORT_READ ? UINT64_MAX - 1 : UINT64_MAX - 2;
	return p->wait->flags & WAIT_NEW ? REPORT_NONE
					 : report_stack(w, p->wait->stack, UINT32_MAX, true);
}

static void put_chain(struct report_writer *w, const struct report_chain *c, struct view *f)
{
	json_begin(&w->j, "lanes", '[');
	for (uint32_t i = 0; i < c->n_lanes; i++)
		put_lane(w, f, i, met_ns(c, i, f->zero_ns));
	json_end(&w->j, ']');
	json_begin(&w->j, "windows", '[');
	for (size_t i = 0; i < c->n_windows; i++) {
		const struct report_window *p = &c->windows[i];

		report_put(w, p->lane, p->from_ns - f->zero_ns, p->to_ns - p->from_ns);
	}
	json_end(&w->j, ']');
	json_begin(&w->j, "wakes", '[');
	for (size_t i = 0; i < c->n_wakes; i++) {
		const struct report_wake *p = &c->wakes[i];
		struct stack_pair at = timelines_pair(w->r->in->timelines, p->link.stack);
		bool known = !p->served || at.kstack || at.ustack;

		report_put(w, p->at_ns - f->zero_ns, p->waker, p->wakee);
		report_put(w, known ? report_stack(w, p->link.stack, p->link.kernel_frames,
						   p->link.waker != THREAD_NONE)
				    : REPORT_NONE);
		report_put(w, slept_of(w, p));
	}
	json_end(&w->j, ']');
	json_begin(&w->j, "parts", '[');
	for (size_t i = 0; i < c->n_parts; i++) {
		const struct report_part *p = &c->parts[i];

		report_put(w, p->lane, p->end, p->ns, p->n,
			   p->stack ? report_place(w, p->stack) : REPORT_NONE);
	}
	json_end(&w->j, ']');
}

/* The main stacks of what the lanes ran, and how many samples there are. */
static void put_ran(struct report_writer *w, const struct report_chain *c)
{
	json_begin(&w->j, "ran", '[');
	for (uint32_t lane = 0; lane < c->n_lanes; lane++) {
		size_t n;
		const struct sum *ran = sums_of(&c->ran, lane, &n);
		uint64_t samples = 0;

		for (size_t i = 0; i < n; i++)
			samples += ran[i].amount;
		for (size_t i = 0; i < n && i < REPORT_STACKS; i++) {
			report_put(w, lane, ran[i].amount, samples,
				   report_stack(w, ran[i].key, UINT32_MAX, true));
		}
	}
	json_end(&w->j, ']');
}

/* What is drawn, and said of it. */
static void put_drawn(struct report_writer *w, struct view *f)
{
	json_begin(&w->j, "drawn", '[');
	report_put(w, f->from_ns - f->zero_ns, f->to_ns - f->zero_ns);
	json_end(&w->j, ']');
	json_number(&w->j, "unit", f->unit_ns);
	put_chain(w, f->chain, f);
	put_ran(w, f->chain);
}

void report_put_wait(struct report_writer *w, const char *key, struct report_chain *chain,
		     const struct report_wait *p)
{
	const struct timelines *tl = w->r->in->timelines;
	const struct wait *wait = p->chosen.wait;
	const struct shown *s = &p->chosen.shown;
	uint64_t blocked = s->blocked_to_ns - s->blocked_from_ns;
	uint64_t off = s->off_to_ns - s->off_from_ns;
	uint64_t from = blocked ? s->blocked_from_ns : s->off_from_ns;
	uint64_t to = off ? s->off_to_ns : s->blocked_to_ns, margin = (to - from) / 20;
	uint64_t start = timelines_start_ns(tl), end = timelines_end_ns(tl);
	struct view f = {
		.chain = chain, .zero_ns = from, .wait_ns = to - from, .sketch = p->sketch
	};
	const char state[] = { (char)wait->state, 0 };
	struct json_object *j = &w->j;
	uint32_t place, stack, name;

	f.from_ns = from - start > margin ? from - margin : start;
	f.to_ns = end - to > margin ? to + margin : end;
	f.unit_ns = (f.to_ns - f.from_ns) / EXACT + 1;
	report_chain_explain(chain, p->chosen.thread, wait, s->blocked_from_ns, s->blocked_to_ns);
	json_begin(j, key, '{');
	/* Strings are numbered as they come. */
	place = report_place(w, wait->stack);
	stack = report_stack(w, wait->stack, UINT32_MAX, true);
	name = report_string(w, names_thread(w->r->names, p->chosen.thread, wait->out_ns));
	json_number(j, "thread", report_thread(w, p->chosen.thread));
	json_number(j, "name", name);
	json_number(j, "start", from - start);
	json_number(j, "blocked", blocked);
	json_number(j, "off", off);
	json_number(j, "preempted", wait->kind == WAIT_PREEMPTED);
	json_number(j, "flags", wait->flags & (WAIT_FLAGS ^ WAIT_WAKER_RAN));
	json_exact(j, "state", isalpha((unsigned char)wait->state) ? state : "?");
	json_number(j, "idle", p->idle);
	json_number(j, "stack", stack);
	json_number(j, "place", place);
	put_drawn(w, &f);
	json_end(j, '}');
}

/* The name of the i-th of those stretches, a string, as the list of steps has it. */
static uint64_t process_string(struct report_writer *w, const struct path_stretch *s, size_t i,
			       const uint64_t *before)
{
	uint64_t string;
	char *name;

	if (s[i].leader == THREAD_NONE)
		return REPORT_NONE;
	for (size_t k = 0; k < i; k++)
		if (s[k].leader == s[i].leader)
			return before[k];
	name = named_steps_one(s[i].leader, w->r->in->timelines, w->r->names);
	string = report_string(w, names_clean(w->r->names, name));
	free(name);
	return string;
}

static void put_path(struct report_writer *w, const struct options *o, uint32_t thread,
		     uint64_t from_ns, uint64_t to_ns)
{
	size_t n;
	struct path_stretch *s = path_processes_stretches(w->r->in->timelines, o, thread, from_ns,
							  to_ns, PATH_PARTS, &n);
	uint64_t *names = xcalloc(n, sizeof(*names));

	json_begin(&w->j, "path", '[');
	for (size_t i = 0; i < n; i++) {
		names[i] = process_string(w, s, i, names);
		report_put(w, s[i].from_ns - from_ns, s[i].to_ns - s[i].from_ns, names[i],
			   s[i].end);
	}
	json_end(&w->j, ']');
	free(names);
	free(s);
}

void report_put_life(struct report_writer *w, const char *key, struct report_chain *chain,
		     uint32_t thread, uint64_t from_ns, uint64_t to_ns, bool processes)
{
	struct view f = { .chain = chain,
			  .zero_ns = from_ns,
			  .wait_ns = to_ns - from_ns,
			  .from_ns = from_ns,
			  .to_ns = to_ns,
			  .unit_ns = (to_ns - from_ns) / EXACT + 1 };
	struct json_object *j = &w->j;

	report_chain_explain_life(chain, thread, from_ns, to_ns);
	json_begin(j, key, '{');
	json_number(j, "thread", report_thread(w, thread));
	json_number(j, "start", from_ns - timelines_start_ns(w->r->in->timelines));
	json_number(j, "blocked", to_ns - from_ns);
	json_number(j, "off", 0);
	if (processes)
		put_path(w, chain->options, thread, from_ns, to_ns);
	put_drawn(w, &f);
	json_end(j, '}');
}
