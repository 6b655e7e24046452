// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_steps.h"

#include <stdlib.h>
#include <string.h>

#include "attribute/event_loops.h"
#include "base/compare.h"
#include "base/kernel_functions.h"
#include "common/lower_bound.h"
#include "common/xalloc.h"
#include "words/code_frames.h"
#include "words/kernel_calls.h"
#include "words/lock_holder.h"
#include "words/object_names.h"
#include "words/request_words.h"
#include "goroutine_waits.h"
#include "joint_users.h"
#include "polled_children.h"
#include "quota_users.h"
#include "step_samples.h"
#include "words/own_code.h"

/* ---- what is summed up ----------------------------------------------------------------------- */

/* Of a link, or of a head. Has no padding: equal ones are equal bytes. Texts; 0: there is none. */
struct label {
	uint32_t who;	/* the thread; 0: an interrupt, or no link */
	uint32_t queue; /* no link: JOINT_QUEUE, or JOINT_BUSY below that, with what */
	uint32_t slept; /* whether the next four are known: the thread before it waited */
	uint32_t at, what, kind;
};

/* What tells steps below the same one apart. Has no padding. */
struct step_key {
	uint32_t who, at, what, kind;
	uint32_t end; /* 0: it is none; else 1 + enum chain_end, with THROTTLED and STAGE */
};

#define THROTTLED 0x100u
/* Of CHAIN_NETWORK: its stage (attributed_time.h), multiplied by this. */
#define STAGE 0x200u
/* Without these. */
#define END_MASK 0xffu

/* What a stack pair says of a wait: texts. */
struct place {
	uint32_t known, at, what, kind;
};

struct chain_steps {
	const struct timelines *timelines;
	const struct trace *trace;
	struct names *names;
	const struct chain_known *known;
	struct chains chains;
	struct intern labels;		/* struct label */
	struct pair_table places;	/* struct place, by (stack pair, 0) */
	struct pair_table thread_names; /* uint32_t: what thread_name() makes of (string, 0) */
	struct pair_table heads;  /* uint32_t: head_at()'s node by (name, whether of a client) */
	struct intern keys;	  /* struct step_key */
	struct pairs numbers;	  /* (step above, key): the step's number */
	struct chain_step *steps; /* by number */
	size_t cap_steps;
	struct pair_table ends; /* uint32_t: end_step()'s by (node, end with flags) */
	uint32_t *step_of;	/* by node of chains: 1 + its step; 0: not made yet */
	size_t cap_step_of;
	/*
	 * By step: who had the CPU or whose quota it was; the stack pairs of samples; what disks
	 * did, or who held the lock, texts.
	 */
	struct sums had, ran, did;
	/* By step: for which requests who had a lock worked, routes. */
	struct sums served;
	/* By stack pair: for which requests who ended such sleeps worked, routes. */
	struct sums ended_for;
	uint32_t queued; /* so many requests were in a reader's queue, at most */
	/* By step: who used up the quota, texts; of so many times so far. */
	struct sums used;
	uint32_t quotas;
	uint32_t readers, loops; /* of requests; of these: who read them in an event loop */
	uint32_t reader;	 /* the last one, + 1 */
	bool reader_is_loop;
	uint64_t total_ns;
	chain_steps_holder_fn is_watched; /* NULL: none are */
	void *watcher;
	uint64_t held_ns; /* in which such ones had the CPU */
	/* The current piece: whose time it is, and of which wait; NULL: not known; when. */
	uint32_t piece_thread;
	const struct wait *piece_wait;
	uint64_t piece_ns;
	const struct request *answered; /* which is explained; NULL: none */
	uint32_t lent_to; /* the route of who had the connection for which the request waits; 0 */
	uint32_t goroutines; /* so many times samples of others were looked for */
	uint32_t crowds; /* so many times it was asked whether all threads of a kind waited so */
};

/* ---- labels ---------------------------------------------------------------------------------- */

/*
 * What threads of one kind are called: numbers at the end of a word are "*", "order-*" and
 * "pool-*-thread-*", as it is chance which of them it is.
 */
static uint32_t thread_name(struct chain_steps *s, uint32_t string)
{
	uint32_t *known = pair_table_at(&s->thread_names, string, 0, sizeof(*known)), text;
	const char *name = trace_string(s->trace, string);
	struct text_buf b = { 0 };

	if (*known)
		return *known;
	for (const char *p = name; *p;) {
		size_t digits = p > name && strchr("-_/:# ", p[-1]) ? strspn(p, "0123456789") : 0;

		if (digits && (!p[digits] || strchr("-_/:# ", p[digits])))
			text_puts(&b, "*");
		else
			text_put(&b, p, digits = 1);
		p += digits;
	}
	text = names_clean(s->names, b.len ? b.p : "");
	text_free(&b);
	*known = text;
	return text;
}

/* Where a thread with the stack pair waited, and for what. */
static const struct place *place_at(struct chain_steps *s, uint32_t pair)
{
	struct place *p = pair_table_at(&s->places, pair, 0, sizeof(*p)), made = { .known = 1 };
	struct joint j;

	if (p->known)
		return p;
	j = joint_of(s->timelines, s->chains.kernel, s->names, s->known, pair);
	made.at = own_place(s->names, s->trace, pair);
	made.what = j.text;
	made.kind = j.kind;
	*p = made;
	return p;
}

static void label_wait(struct chain_steps *s, struct label *label, uint32_t pair)
{
	const struct place *p = place_at(s, pair);

	label->slept = 1;
	label->at = p->at;
	label->what = p->what;
	label->kind = p->kind;
}

static uint32_t label_id(struct chain_steps *s, const struct label *label)
{
	return xintern(&s->labels, label, sizeof(*label), NULL);
}

/* With what a reader is busy, by what "[for tcp :80 /cart]" is called: the route, if it is known.
 */
static uint32_t busy_with(struct chain_steps *s, uint32_t for_it)
{
	uint32_t n;
	const struct request_endpoint *e = timelines_endpoints(s->timelines, &n), *end = e + n;
	const char *route;

	while (e < end && (e->for_it != for_it || !e->route))
		e++;
	route = e < end ? trace_string(s->trace, trace_object(s->trace, e->route)->name) : "";
	return route_says_what(route) ? names_clean(s->names, route)
				      : names_adopt(s->names, "others");
}

/* A chain_user's. */
static uint32_t label_link(void *arg, const struct link *l)
{
	struct chain_steps *s = arg;
	struct label label = { 0 };

	if (l->flags & LINK_LABEL) {
		label.queue = l->name == timelines_queued(s->timelines) ? JOINT_QUEUE : JOINT_BUSY;
		if (label.queue == JOINT_BUSY)
			label.what = busy_with(s, l->name);
		return label_id(s, &label);
	}
	if (l->waker != THREAD_NONE)
		label.who = thread_name(s, l->name);
	/* A client waits for an answer, which its server's step says. */
	if (!(l->flags & LINK_STARTED) && !timelines_pair(s->timelines, l->blocked).of_client)
		label_wait(s, &label, l->blocked);
	if (label.slept && l->waker != THREAD_NONE) {
		struct joint j = { (enum joint_kind)label.kind, label.what };

		joint_take_answer(s->timelines, s->names, l->blocked, l->waker, &j);
		label.what = j.text;
	}
	/* So shells wait for any of their children. */
	if (label.kind == JOINT_CHILD && joint_ended_by_child(s->timelines, l->blocked, l->stack))
		label.what = names_adopt(s->names, JOINT_ITS_CHILD);
	return label_id(s, &label);
}

static struct label label_of(const struct chain_steps *s, uint32_t node)
{
	struct label l;
	size_t len;

	memcpy(&l, intern_bytes(&s->labels, s->chains.nodes.at[node].b, &len), sizeof(l));
	return l;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The step with this key below another. */
static uint32_t step_at(struct chain_steps *s, uint32_t above, const struct step_key *key)
{
	uint32_t id = xintern(&s->keys, key, sizeof(*key), NULL), number;
	int is_new;

	number = pairs_id_new(&s->numbers, above, id, &is_new);
	XGROW(s->steps, number, s->cap_steps);
	if (is_new)
		s->steps[number] = (struct chain_step) {
			.above = above,
			.who = key->who,
			.at = key->at,
			.what = key->what,
			.kind = (enum joint_kind)key->kind,
			.is_end = key->end,
			.end = key->end ? (enum chain_end)((key->end & END_MASK) - 1) : CHAIN_ENDS,
		};
	return number;
}

/* The name of the last thread in the chain of a node; 0: there is none. */
static uint32_t who_of(const struct chain_steps *s, uint32_t node)
{
	for (; node; node = s->chains.nodes.at[node].a) {
		struct label l = label_of(s, node);

		if (l.who || l.queue)
			return l.who;
	}
	return 0;
}

/* Whether the step of a thread's wait says nothing that those beside it do not say. */
static bool adds_nothing(const struct chain_steps *s, uint32_t above, const struct step_key *key,
			 uint32_t by_thread)
{
	const struct chain_step *up = above ? &s->steps[above] : NULL;

	/* It was idle until it was asked. */
	if (key->kind == JOINT_WORK)
		return true;
	/*
	 * It passes on what another one did, or did what another one of its kind does; but that
	 * there is a lock says something, and who has it where nobody's place is known.
	 */
	if (by_thread && key->kind != JOINT_LOCK && !*names_text(s->names, key->at) &&
	    (up ? up->kind != JOINT_LOCK || *names_text(s->names, up->at) : by_thread == key->who))
		return true;
	/* A wrapper's wait for its child, and that one's for its own. */
	if (up && up->kind == JOINT_CHILD && key->kind == JOINT_CHILD && by_thread)
		return true;
	/* Others at the lock, who got it before; but of a table it says much what they wanted it
	 * for. */
	return up && up->who == key->who && up->what == key->what && key->kind == JOINT_LOCK &&
	       !joint_is_of_table(names_text(s->names, key->what));
}

/* The step of this key in the chain down to a step, where it says the same again; 0: there is none.
 */
static uint32_t said_before(const struct chain_steps *s, uint32_t step, const struct step_key *key)
{
	while (step && (s->steps[step].who != key->who || s->steps[step].at != key->at ||
			s->steps[step].what != key->what || s->steps[step].is_end))
		step = s->steps[step].above;
	return step;
}

/* The step of a thread's wait below another one; that one, if it adds nothing. */
static uint32_t step_of_wait(struct chain_steps *s, uint32_t above, const struct step_key *key,
			     uint32_t by_thread)
{
	uint32_t same = said_before(s, above, key);

	if (same)
		return same;
	return adds_nothing(s, above, key, by_thread) ? above : step_at(s, above, key);
}

static uint32_t step_of_queue(struct chain_steps *s, uint32_t above, const struct label *l)
{
	struct step_key key = { .kind = l->queue, .what = l->what };

	/* That it worked for others says more. */
	if (l->queue == JOINT_BUSY && above)
		above = s->steps[above].above;
	return step_at(s, above, &key);
}

/* The step to which a node's chain leads: the last wait that is over. 0: none yet. */
static uint32_t step_of(struct chain_steps *s, uint32_t node)
{
	uint32_t above_node = s->chains.nodes.at[node].a, step;
	struct label l = label_of(s, node);

	if (node < s->cap_step_of && s->step_of[node])
		return s->step_of[node] - 1;
	step = above_node ? step_of(s, above_node) : 0;
	if (l.queue) {
		step = step_of_queue(s, step, &l);
	} else if (above_node && l.slept && who_of(s, above_node)) {
		struct step_key key = { who_of(s, above_node), l.at, l.what, l.kind, 0 };

		step = step_of_wait(s, step, &key, l.who);
	}
	XGROW_ZEROED(s->step_of, node, s->cap_step_of);
	s->step_of[node] = 1 + step;
	return step;
}

/* Of a sleep that nobody ended, which has no link: the step of that. */
static uint32_t step_of_sleeper(struct chain_steps *s, uint32_t node, uint32_t above)
{
	const struct place *p = place_at(s, s->piece_wait->stack);
	struct step_key key = { .who = who_of(s, node) };

	if (!key.who)
		return above;
	key.at = p->at;
	key.what = p->what;
	key.kind = p->kind;
	return step_of_wait(s, above, &key, 0);
}

static uint32_t make_end_step(struct chain_steps *s, uint32_t node, uint32_t end, uint32_t flags)
{
	struct step_key key = { .end = (1 + end) | flags };
	uint32_t above = step_of(s, node);

	/* What it had to do takes so long, with a CPU and without one; a quota is somebody's
	 * choice. */
	if (end == CHAIN_PREEMPTED || end == CHAIN_RUNNABLE)
		key.end = flags ? (1 + CHAIN_RUNNABLE) | flags : 1 + CHAIN_RUNNING;
	/* That a request was in the queue as nobody might run says nothing more. */
	if (key.end & THROTTLED && end != CHAIN_DISK && above &&
	    s->steps[above].kind == JOINT_QUEUE)
		above = s->steps[above].above;
	if (end == CHAIN_NOT_WOKEN && s->piece_wait)
		above = step_of_sleeper(s, node, above);
	/* What an interrupt ended, or nobody did, is said of the wait itself. */
	if (end == CHAIN_NOT_WOKEN && above)
		return step_at(s, above, &key);
	if (!chain_end_is_interrupt((enum chain_end)end) || !above)
		key.who = who_of(s, node);
	return step_at(s, above, &key);
}

/* The step for the end of a node's chain. */
static uint32_t end_step(struct chain_steps *s, uint32_t node, uint32_t end, uint32_t flags)
{
	uint32_t *known;

	/* Where the piece's thread sleeps. */
	if (end == CHAIN_NOT_WOKEN)
		return make_end_step(s, node, end, flags);
	known = pair_table_at(&s->ends, node, end | flags, sizeof(*known));
	if (!*known)
		*known = make_end_step(s, node, end, flags);
	return *known;
}

/* ---- adding up ------------------------------------------------------------------------------ */

/* Who holds the lock at which a thread sleeps that nobody woke. */
static void add_lock_holder(struct chain_steps *s, uint32_t step, uint64_t ns)
{
	struct object_names *objects = names_objects(s->names);
	uint32_t holder =
		s->piece_wait ? lock_holder(objects, s->piece_thread, s->piece_wait) : THREAD_NONE;
	uint32_t text = holder == THREAD_NONE
				? 0
				: thread_name(s, timelines_name(s->timelines, holder,
								timelines_end_ns(s->timelines)));

	if (text)
		sums_add(&s->did, step, text, ns);
}

/* So many waits are looked at for others that wait so. */
#define CROWDS_MOST 200

/* Whether a thread of the process that is called so waits at that place at a time. -1: it is none.
 */
static int waits_so(struct chain_steps *s, uint32_t thread, uint32_t tgid, uint32_t name,
		    const struct place *place, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(s->timelines, thread);
	const struct place *p;
	const struct wait *w;
	uint32_t i;

	if (th->tgid != tgid || th->begin_ns > at_ns || th->end_ns <= at_ns ||
	    thread_name(s, timelines_name(s->timelines, thread, at_ns)) != name)
		return -1;
	i = thread_position(th, at_ns);
	w = i < th->n_waits ? &th->waits[i] : NULL;
	if (!w || w->kind != WAIT_SLEEP || w->out_ns > at_ns)
		return 0;
	p = place_at(s, w->stack);
	return p->at == place->at && p->what == place->what;
}

/*
 * The current piece's thread waits until its time is over. If all threads of its process that are
 * called as it is wait at the same place then, and there are several: how many; else 0.
 */
static uint32_t all_wait_so(struct chain_steps *s)
{
	const struct place *at = place_at(s, s->piece_wait->stack);
	struct place place = *at;
	uint32_t tgid = timelines_thread(s->timelines, s->piece_thread)->tgid, n = 0;
	uint32_t name = thread_name(s, timelines_name(s->timelines, s->piece_thread, s->piece_ns));

	if (place.kind == JOINT_SLEEP || place.kind == JOINT_EVENT || place.kind == JOINT_WORK ||
	    s->crowds++ >= CROWDS_MOST)
		return 0;
	for (uint32_t i = 0; i < timelines_threads(s->timelines); i++) {
		int so = waits_so(s, i, tgid, name, &place, s->piece_ns);

		if (!so)
			return 0;
		n += so > 0;
	}
	return n > 1 ? n : 0;
}

static void add_crowd(struct chain_steps *s, uint32_t step, uint64_t ns)
{
	uint32_t all = s->piece_wait && s->piece_wait->kind == WAIT_SLEEP ? all_wait_so(s) : 0;

	if (!all)
		return;
	s->steps[step].all_wait_ns += ns;
	s->steps[step].all = all;
}

static bool is_at_lock(const struct chain_steps *s, uint32_t step)
{
	uint32_t above = s->steps[step].above;

	return above && s->steps[above].kind == JOINT_LOCK;
}

/* A step, or one above it, is the first one that has what somebody waits for: for which requests.
 */
static void add_served(struct chain_steps *s, uint32_t step, uint64_t ns)
{
	if (!s->lent_to)
		return;
	while (step && !is_at_lock(s, step))
		step = s->steps[step].above;
	if (step)
		sums_add(&s->served, step, s->lent_to, ns);
}

static void add_time(struct chain_steps *s, uint32_t node, struct amount_key key, uint64_t ns)
{
	uint32_t flags = key.end == CHAIN_DISK && key.stage == DISK_HELD ? THROTTLED
			 : key.end == CHAIN_NETWORK && network_stage_name(key.stage)
				 ? STAGE * key.stage
				 : 0;
	uint32_t step = end_step(s, node, key.end, flags), text;
	struct text_buf b = { 0 };

	s->steps[step].ns += ns;
	if (key.end == CHAIN_RUNNABLE || key.end == CHAIN_PREEMPTED)
		s->steps[step].no_cpu_ns += ns;
	s->total_ns += ns;
	add_served(s, step, ns);
	if (key.end == CHAIN_NOT_WOKEN || (key.end == CHAIN_TIMER && is_at_lock(s, step)))
		add_lock_holder(s, step, ns);
	if (key.end == CHAIN_TIMER)
		add_crowd(s, step, ns);
	if (key.end != CHAIN_DISK || !key.value)
		return;
	if (flags) {
		sums_add(&s->had, step,
			 disk_limit_holder(timelines_disk_request_kind(s->timelines, key.value)),
			 ns);
		return;
	}
	disk_names_put(s->trace, timelines_disk_request_kind(s->timelines, key.value).disk,
		       timelines_disk_request_kind(s->timelines, key.value).op, &b);
	text = names_clean(s->names, b.len ? b.p : "");
	text_free(&b);
	sums_add(&s->did, step, text, ns);
}

/* So many times that a quota was used up are looked at. */
#define QUOTAS_MOST 200

struct quota_use {
	struct chain_steps *steps;
	uint32_t step;
	uint64_t at_ns;
};

static void add_user(void *arg, uint32_t thread, uint64_t ns)
{
	struct quota_use *use = arg;
	struct chain_steps *s = use->steps;
	uint32_t text = thread_name(s, timelines_name(s->timelines, thread, use->at_ns));

	if (text)
		sums_add(&s->used, use->step, text, ns);
}

/* Who used up the quota for which the current piece's thread waits. */
static void add_users(struct chain_steps *s, uint32_t step, uint32_t path)
{
	size_t n = 0;
	const struct throttle *t =
		s->piece_wait
			? timelines_throttles(s->timelines, s->piece_thread, s->piece_wait, &n)
			: NULL;

	for (size_t i = 0; i < n && s->quotas < QUOTAS_MOST; i++) {
		struct quota_use use = { s, step, t[i].from_ns };

		if (t[i].group != path)
			continue;
		s->quotas++;
		quota_users(s->timelines, path, t[i].from_ns, add_user, &use);
	}
}

/* The stack pair of what a thread ran last before at_ns, but since it got the CPU; 0: not known. */
static uint32_t sampled_before(const struct chain_steps *s, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(s->timelines, thread);
	const struct sample *end, *first = timelines_samples(s->timelines, thread, &end);
	uint32_t before = thread_position(th, at_ns);
	uint64_t in_ns = before ? th->waits[before - 1].in_ns : th->begin_ns;
	size_t n = (size_t)(end - first), i = LOWER_BOUND(k, n, first[k].ns <= at_ns);

	return i && first[i - 1].ns >= in_ns ? first[i - 1].pair : 0;
}

/*
 * Where the current piece's thread is that may not run: what it ran before, where it had slept, or
 * where it answers the request then. 0: not known.
 */
static uint32_t held_up_in(const struct chain_steps *s)
{
	const struct wait *w = s->piece_wait;
	uint32_t pair = 0;

	if (!w)
		return 0;
	if (w->kind == WAIT_SLEEP)
		return w->stack;
	pair = sampled_before(s, s->piece_thread, w->out_ns);
	return pair || !s->answered || s->answered->writer != s->piece_thread ? pair
									      : s->answered->pair;
}

/* For attribution_sum_up(): who had the CPU is known by step. */
static uint32_t key_of_holders(void *arg, uint32_t node, enum chain_end end)
{
	return end_step(arg, node, end, 0);
}

static void add_holder(void *arg, uint32_t step, uint32_t who, uint64_t ns)
{
	struct chain_steps *s = arg;

	if (s->is_watched && s->is_watched(s->watcher, who)) {
		s->held_ns += ns;
		s->steps[step].held_ns += ns;
	}
	sums_add(&s->had, step, who, ns);
}

/* Who had the CPU; time that a quota took is a step of its own. */
static void add_had(struct chain_steps *s, uint32_t node, uint32_t end, uint32_t who, uint64_t ns)
{
	uint32_t step = end_step(s, node, end, 0), of_quota;

	if (!cpu_holder_throttled(who)) {
		add_holder(s, step, who, ns);
		return;
	}
	of_quota = end_step(s, node, end, THROTTLED);
	s->steps[step].ns -= ns;
	s->steps[step].no_cpu_ns -= ns;
	s->steps[of_quota].ns += ns;
	sums_add(&s->ran, of_quota, held_up_in(s), ns);
	if (cpu_holder_quota(who))
		add_users(s, of_quota, cpu_holder_quota(who));
	sums_add(&s->had, of_quota, who, ns);
}

static void add_sample(struct chain_steps *s, uint32_t node, uint32_t end, uint32_t pair,
		       uint64_t n)
{
	uint32_t step = end_step(s, node, end, 0);

	sums_add(&s->ran, step, pair, n);
}

/* A chain_sink's: the piece whose time comes next. */
static void begin_piece(void *arg, const struct chain_piece *p)
{
	struct chain_steps *s = arg;

	s->piece_thread = p->thread;
	s->piece_wait = p->thread == THREAD_NONE ? NULL : p->wait;
	s->piece_ns = p->from_ns + (p->to_ns - p->from_ns) / 2;
}

/* A chain_sink's. */
static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	if (key.kind == AMOUNT_TIME)
		add_time(arg, node, key, amount);
	else if (key.kind == AMOUNT_CPU_HOLDER)
		add_had(arg, node, key.end, key.value, amount);
	else if (key.kind == AMOUNT_SAMPLES)
		add_sample(arg, node, key.end, key.value, amount);
}

void chain_steps_new(struct chain_steps **out, const struct timelines *tl, const struct options *o,
		     struct names *names, const struct chain_known *known)
{
	struct chain_steps *s = xcalloc(1, sizeof(*s));
	struct chain_user user;

	*out = s;
	s->timelines = tl;
	s->trace = timelines_trace(tl);
	s->names = names;
	s->known = known;
	user = (struct chain_user) { .sink = { .arg = s, .add = add, .piece = begin_piece },
				     .label = label_link,
				     .labels_by_name = true,
				     .identity = chain_identity_is_label,
				     .wants = 1u << AMOUNT_CPU_HOLDER | 1u << AMOUNT_SAMPLES,
				     .cpu_holders = known->cpu_holders };
	chains_init(&s->chains, tl, o, &user);
	attribution_sum_up(&s->chains.attribution, key_of_holders, add_holder);
}

void chain_steps_free(struct chain_steps *s)
{
	if (!s)
		return;
	chains_free(&s->chains);
	intern_free(&s->labels);
	intern_free(&s->keys);
	pair_table_free(&s->places);
	pair_table_free(&s->thread_names);
	pair_table_free(&s->heads);
	pair_table_free(&s->ends);
	pairs_free(&s->numbers);
	free(s->steps);
	free(s->step_of);
	sums_free(&s->had);
	sums_free(&s->ran);
	sums_free(&s->did);
	sums_free(&s->served);
	sums_free(&s->ended_for);
	sums_free(&s->used);
	free(s);
}

/* The node for the thread's name then; of a client for none. */
static uint32_t head_at(struct chain_steps *s, uint32_t thread, uint64_t at_ns)
{
	bool is_client = timelines_is_client(s->timelines, thread);
	uint32_t name = is_client ? 0 : timelines_name(s->timelines, thread, at_ns);
	uint32_t *head = pair_table_at(&s->heads, name, is_client, sizeof(*head));

	if (!*head) {
		struct label label = { .who = is_client ? 0 : thread_name(s, name) };

		*head = chains_head(&s->chains, label_id(s, &label));
	}
	return *head;
}

/* Of a client's wait: who read the request. */
static void note_reader(struct chain_steps *s, const struct wait *w)
{
	uint32_t reader = timelines_request_of(s->timelines, w)->reader, queued;

	if (reader == THREAD_NONE)
		return;
	if (s->reader != reader + 1)
		s->reader_is_loop = event_loop_serves(s->timelines, reader);
	s->reader = reader + 1;
	s->readers++;
	s->loops += s->reader_is_loop;
	queued = joint_users_queued(s->timelines, timelines_request_of(s->timelines, w));
	s->queued = queued > s->queued ? queued : s->queued;
}

/* The head of the time in which a request waited for a connection: a step of who took it. */
static uint32_t head_of_pool(struct chain_steps *s, const struct request *q, struct pool_wait pool)
{
	const struct trace *t = s->trace;
	const struct trace_object *o = trace_object(t, pool.endpoint->object);
	const char *port = o ? strrchr(trace_string(t, o->name), ':') : NULL;
	struct label label = { .slept = 1, .at = names_adopt(s->names, ""), .kind = JOINT_LOCK };
	uint32_t head = head_at(s, q->reader, q->taken_ns);
	struct text_buf server = { 0 };

	names_put(&server, trace_string(t, pool.endpoint->process));
	if (port) {
		text_puts(&server, " ");
		names_put(&server, port);
	}
	label.what = joint_of_connections(s->names, pool.connections, server.p);
	text_free(&server);
	return chains_link_node(&s->chains, head, label_id(s, &label));
}

/* What requests ask for that had the connection. */
static uint32_t route_of(struct chain_steps *s, const struct request *q)
{
	const char *route = q ? request_route(s->timelines, q) : "";

	return *route ? names_clean(s->names, route) : 0;
}

/* A joint_alike's. */
static bool are_alike(void *arg, uint32_t pair, uint32_t other)
{
	const struct place p = *place_at(arg, pair), *o = place_at(arg, other);

	return p.kind == JOINT_LOCK && p.at == o->at && p.what == o->what;
}

/*
 * The head of the time in which a request waited for another goroutine: a step of who took it, and
 * one of who asked for what that one waited for.
 */
static uint32_t head_of_goroutine(struct chain_steps *s, const struct request *q,
				  const struct goroutine_wait *w)
{
	uint32_t head = head_at(s, q->writer, q->taken_ns);
	struct label label = { .slept = 1, .at = names_adopt(s->names, "") };

	label.kind = w->is_shared ? JOINT_LOCK : JOINT_OTHER;
	label.what =
		names_adopt(s->names, w->is_shared ? "a lock or a channel" : "another goroutine");
	if (w->asked) {
		struct label asks = label_of(s, head);

		asks.slept = 0;
		label.who = asks.who;
		head = chains_link_node(&s->chains, head, label_id(s, &label));
		label_wait(s, &asks, w->sleep);
		asks.at = own_place(s->names, s->trace, w->asked);
		asks.who = 0;
		return chains_link_node(&s->chains, head, label_id(s, &asks));
	}
	return chains_link_node(&s->chains, head, label_id(s, &label));
}

/* The threads of the process are looked for so many times. */
#define GOROUTINES_MOST 4096

/* A time in which a request waited for what others had. */
struct lent {
	uint64_t from_ns, to_ns;
	uint32_t head; /* of its chains */
};

/* For a connection, or for another goroutine; from_ns is to_ns: for none. */
static struct lent lent_to(struct chain_steps *s, const struct request *q, struct pool_wait pool,
			   uint64_t from_ns, uint64_t to_ns)
{
	struct goroutine_wait w = { .to_ns = 0 };

	if (pool.connections)
		return (struct lent) { clip_ns(pool.from_ns, from_ns, to_ns),
				       clip_ns(pool.to_ns, from_ns, to_ns),
				       head_of_pool(s, q, pool) };
	if (s->goroutines < GOROUTINES_MOST)
		w = goroutine_waits_of(s->timelines, q, &s->goroutines);
	if (!w.to_ns)
		return (struct lent) { to_ns, to_ns, 0 };
	return (struct lent) { clip_ns(q->taken_ns, from_ns, to_ns),
			       clip_ns(w.to_ns, from_ns, to_ns), head_of_goroutine(s, q, &w) };
}

/* Explains [from_ns, to_ns) of a client's wait; what of it was for what others had is a step. */
static void explain_request(struct chain_steps *s, uint32_t head, const struct chosen_wait *p)
{
	const struct joint_alike alike = { are_alike, s };
	const struct request *q = timelines_request_of(s->timelines, p->wait);
	uint64_t from_ns = p->shown.blocked_from_ns, to_ns = p->shown.blocked_to_ns;
	struct pool_wait pool = pool_waits_of(s->known->pool_waits, q);
	struct lent lent = lent_to(s, q, pool, from_ns, to_ns);

	s->answered = q;
	if (from_ns < lent.from_ns)
		chains_explain(&s->chains, head, p->thread, p->wait, from_ns, lent.from_ns);
	if (lent.from_ns < lent.to_ns) {
		s->lent_to = route_of(s, pool.holder);
		chains_explain(&s->chains, lent.head, p->thread, p->wait, lent.from_ns, lent.to_ns);
		s->lent_to = 0;
		if (pool.connections)
			s->steps[step_of(s, lent.head)].waiting = pool.waiting;
	}
	if (lent.to_ns < to_ns)
		chains_explain(&s->chains, head, p->thread, p->wait, lent.to_ns, to_ns);
	s->answered = NULL;
	joint_users_add_routes(&s->ended_for, s->timelines, s->names, q, &alike);
}

void chain_steps_add(struct chain_steps *s, const struct chosen_wait *p)
{
	const struct shown *shown = &p->shown;
	uint32_t head = head_at(s, p->thread, p->wait->out_ns);

	if (timelines_is_client(s->timelines, p->thread)) {
		note_reader(s, p->wait);
		explain_request(s, head, p);
		return;
	}
	if (p->wait->kind == WAIT_SLEEP)
		chains_explain(&s->chains, head, p->thread, p->wait, shown->blocked_from_ns,
			       shown->blocked_to_ns);
	if (shown->off_to_ns > shown->off_from_ns)
		chains_explain_own(&s->chains, head, p->thread, p->wait, shown->off_from_ns,
				   shown->off_to_ns);
}

/* For polled_life_explain(). */
static uint32_t head_of_life(void *arg, uint32_t thread, uint64_t at_ns)
{
	return head_at(arg, thread, at_ns);
}

/* For polled_life_explain(): below a link to the child, for which the sleep was. */
static uint32_t head_of_child(void *arg, const struct polled_child *of, uint32_t parent,
			      uint64_t at_ns)
{
	struct chain_steps *s = arg;
	uint32_t head = head_at(s, parent, of->wait->out_ns);
	struct label label = { .who = thread_name(s,
						  timelines_name(s->timelines, of->child, at_ns)) };

	label_wait(s, &label, of->wait->stack);
	label.what = names_adopt(s->names, JOINT_ITS_CHILD);
	label.kind = JOINT_CHILD;
	return chains_link_node(&s->chains, head, label_id(s, &label));
}

void chain_steps_add_life(struct chain_steps *s, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct polled_heads heads = { s, head_of_life, head_of_child };

	struct polled_children *children;

	polled_children_new(&children, &s->chains, thread);
	polled_life_explain(&s->chains, children, from_ns, to_ns, &heads);
	polled_children_free(children);
}

/* ---- in the end ----------------------------------------------------------------------------- */

static const char *word_of_end(const struct chain_step *e)
{
	switch (e->end) {
	case CHAIN_RUNNING:
	case CHAIN_ON_CPU:
		return "ran";
	case CHAIN_RUNNABLE:
	case CHAIN_PREEMPTED:
		return e->throttled ? "its quota was used up" : "had no CPU";
	case CHAIN_TIMER:
		return "slept (timer)";
	case CHAIN_NETWORK:
		return "waits for a packet";
	case CHAIN_DISK:
		return e->throttled ? "an I/O limit" : "the disk";
	case CHAIN_INTERRUPT:
		return "waits for an interrupt";
	case CHAIN_NOT_WOKEN:
		return "never woken";
	case CHAIN_UNKNOWN:
		return "unknown: events are missing";
	case CHAIN_DEPTH:
		return "links beyond --depth";
	case CHAIN_LOOP:
		return "waits for a thread named above";
	case CHAIN_ENDS:
		break;
	}
	return "";
}

/* The group whose quota, or I/O limit, was used up; 0: not known, or it is a thread's own. */
static uint32_t group_of_quota(struct chain_steps *s, uint32_t number)
{
	size_t n;
	const struct sum *of = sums_of(&s->had, number, &n);
	uint32_t path = n ? cpu_holder_quota(of->key) : 0;

	return path ? names_group_path(s->names, path) : 0;
}

/* Who or what had part in an end: by the sums of its step. */
static uint32_t by_whom(struct chain_steps *s, uint32_t number)
{
	const struct chain_step *e = &s->steps[number];

	if (e->throttled)
		return group_of_quota(s, number);
	if (e->end == CHAIN_RUNNING)
		return e->no_cpu_ns ? sums_dominant_text(&s->had, number) : 0;
	return sums_dominant_text(&s->did, number);
}

static void describe_quota(struct chain_steps *s, uint32_t number)
{
	struct chain_step *e = &s->steps[number];
	size_t n;
	const struct sum *of = sums_of(&s->used, number, &n);
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += of[i].amount;
	e->used_by = n ? of->text : 0;
	e->used_percent = n ? (unsigned int)(100 * of->amount / all) : 0;
}

static void describe_end(struct chain_steps *s, uint32_t number)
{
	struct chain_step *e = &s->steps[number];
	struct step_key key;
	const struct sum *of;
	size_t len, n;

	memcpy(&key, intern_bytes(&s->keys, s->numbers.at[number].b, &len), sizeof(key));
	e->throttled = key.end & THROTTLED;
	e->what = names_adopt(s->names, key.end / STAGE ? network_stage_name(key.end / STAGE)
					: e->end == CHAIN_TIMER && is_at_lock(s, number)
						? "tried again and again"
						: word_of_end(e));
	if (e->end == CHAIN_RUNNING || e->throttled) {
		struct step_ran ran = { 0 };

		of = sums_of(&s->ran, number, &n);
		step_samples_say(&ran, s->names, s->trace, of, n);
		e->at = ran.at;
		e->call = e->throttled ? 0 : ran.call;
	}
	e->by = by_whom(s, number);
	if (e->throttled)
		describe_quota(s, number);
	if (2 * e->all_wait_ns < e->ns)
		e->all = 0;
}

/* Whether it is the step of a wait, the first one, for what somebody has. */
static bool is_first_joint(const struct chain_steps *s, uint32_t step)
{
	return step && !s->steps[step].above && s->steps[step].kind == JOINT_LOCK;
}

/* The first step of waits at a place; 0: there is none. */
static uint32_t first_joint_at(const struct chain_steps *s, const struct place *p)
{
	for (uint32_t i = 1; p->known && p->kind == JOINT_LOCK && i <= s->numbers.n; i++)
		if (is_first_joint(s, i) && s->steps[i].at == p->at && s->steps[i].what == p->what)
			return i;
	return 0;
}

/* Whether a step is of who has what a step above it waits for, and not one of who is next. */
static bool has_what_joint_says(const struct chain_steps *s, uint32_t step, uint32_t joint)
{
	const struct chain_step *of = &s->steps[joint], *at = &s->steps[step];

	if (at->kind == JOINT_LOCK && at->what == of->what)
		return false;
	for (step = at->above; step != joint; step = s->steps[step].above)
		if (!step || s->steps[step].kind != JOINT_LOCK || s->steps[step].what != of->what)
			return false;
	return true;
}

/* For joint_users_count(). */
static bool is_called_as(void *arg, uint32_t step, uint32_t name)
{
	struct chain_steps *s = arg;

	return thread_name(s, name) == s->steps[step].who;
}

/* Of the first steps that wait for what somebody has: how many wait so, and for which requests
 * those work who have it. */
static void describe_first_joints(struct chain_steps *s)
{
	uint32_t *of = xcalloc(trace_stacks_end(s->trace) + 1, sizeof(*of));
	uint32_t *waiting = xcalloc(s->numbers.n + 1, sizeof(*waiting)), pair, joint;
	const struct sum *sum = s->ended_for.table.at;

	for (uint32_t i = 1; i <= s->places.keys.n; i++) {
		pair = s->places.keys.at[i].a;
		joint = first_joint_at(s, (struct place *)s->places.at + i);
		if (joint && !s->steps[joint].waiting)
			of[timelines_pair(s->timelines, pair).ustack] = joint;
	}
	of[0] = 0;
	joint_users_count(s->timelines, of, waiting, is_called_as, s);
	for (uint32_t i = 1; i <= s->numbers.n; i++) {
		struct chain_step *step = &s->steps[i];

		if (!step->above && (step->kind == JOINT_QUEUE || step->kind == JOINT_BUSY))
			step->waiting = s->queued;
		else if (waiting[i])
			step->waiting = waiting[i];
	}
	for (uint32_t k = 1; k <= s->ended_for.table.keys.n; k++) {
		joint = first_joint_at(s, place_at(s, sum[k].thing));
		for (uint32_t i = joint + 1; joint && i <= s->numbers.n; i++)
			if (s->steps[i].who && has_what_joint_says(s, i, joint))
				sums_add(&s->served, i, sum[k].key, sum[k].amount);
	}
	free(of);
	free(waiting);
}

void chain_steps_end(struct chain_steps *s)
{
	attribution_end(&s->chains.attribution);
	if (s->readers)
		describe_first_joints(s);
	sums_sort(&s->had, s->names, cpu_holder_name);
	sums_sort(&s->ran, s->names, names_off_cpu);
	sums_sort(&s->did, s->names, sums_key_is_text);
	sums_sort(&s->served, s->names, sums_key_is_text);
	sums_sort(&s->used, s->names, sums_key_is_text);
	for (uint32_t i = 1; i <= s->numbers.n; i++) {
		s->steps[i].served = sums_dominant_text(&s->served, i);
		if (s->steps[i].served &&
		    !route_says_what(names_text(s->names, s->steps[i].served)))
			s->steps[i].served = 0;
		if (s->steps[i].is_end)
			describe_end(s, i);
	}
	/* A step has a higher number than the one above it. */
	for (uint32_t i = s->numbers.n; i; i--)
		if (s->steps[i].above) {
			s->steps[s->steps[i].above].ns += s->steps[i].ns;
			s->steps[s->steps[i].above].held_ns += s->steps[i].held_ns;
		}
}

const struct chain_step *chain_steps_list(const struct chain_steps *s, uint32_t *n)
{
	*n = s->numbers.n + 1;
	return s->steps;
}

bool chain_steps_in_loop(const struct chain_steps *s)
{
	return 2 * s->loops > s->readers;
}

uint64_t chain_steps_total_ns(const struct chain_steps *s)
{
	return s->total_ns;
}

/* A first step that has less than one of so many parts is no reason of all. */
#define LEAST_PART 3

/* Of requests: whether it is one of those that wait as another one has what they want, and not by
 * their own call. */
static bool is_victim(const struct chain_steps *s, const struct chain_step *step)
{
	return s->readers && !step->above &&
	       (step->kind == JOINT_LOCK || step->kind == JOINT_BUSY) &&
	       LEAST_PART * step->ns >= s->total_ns;
}

static int most_time_first(const void *pa, const void *pb, void *arg)
{
	const struct chain_steps *s = arg;
	const struct chain_step *a = &s->steps[*(const uint32_t *)pa];
	const struct chain_step *b = &s->steps[*(const uint32_t *)pb];
	const uint32_t ta[] = { a->who, a->at, a->what }, tb[] = { b->who, b->at, b->what };
	int order = compare_numbers(is_victim(s, b), is_victim(s, a));

	if (!order)
		order = compare_numbers(b->ns, a->ns);
	for (size_t i = 0; i < 3 && !order; i++)
		order = strcmp(names_text(s->names, ta[i]), names_text(s->names, tb[i]));
	return order ? order : compare_numbers(a->end, b->end);
}

uint32_t *chain_steps_below(const struct chain_steps *s, uint32_t step, size_t *n)
{
	uint32_t *below;

	*n = 0;
	for (uint32_t i = step + 1; i <= s->numbers.n; i++)
		*n += s->steps[i].above == step && s->steps[i].ns;
	below = *n ? xcalloc(*n, sizeof(*below)) : NULL;
	if (!below)
		return NULL;
	*n = 0;
	for (uint32_t i = step + 1; i <= s->numbers.n; i++)
		if (s->steps[i].above == step && s->steps[i].ns)
			below[(*n)++] = i;
	qsort_r(below, *n, sizeof(*below), most_time_first, (void *)s);
	return below;
}

void chain_steps_watch(struct chain_steps *s, chain_steps_holder_fn is, void *arg)
{
	s->is_watched = is;
	s->watcher = arg;
}

uint64_t chain_steps_held_ns(struct chain_steps *s)
{
	attribution_end(&s->chains.attribution);
	return s->held_ns;
}
