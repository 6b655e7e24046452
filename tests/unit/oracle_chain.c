// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/group_name.h"
#include "oracle_private.h"

static bool allows_softirqs(const char *f)
{
	return !strcmp(f, "__local_bh_enable_ip") || !strcmp(f, "do_softirq") ||
	       !strncmp(f, "do_softirq.", 11);
}

static bool sends_nothing(const char *f)
{
	return !strcmp(f, "__skb_recv_udp") || !strcmp(f, "lock_sock_nested") ||
	       !strcmp(f, "kernel_fpu_end") || !strcmp(f, "copy_fpstate_to_sigframe") ||
	       !strcmp(f, "restore_fpregs_from_user") || !strcmp(f, "fpu_clone");
}

/* Whether one of the first n frames is a softirq that is never for the thread that runs it. */
static bool softirq_of_others(struct world *w, struct trace_stack st, uint32_t n)
{
	static const char *const actions[] = {
		"blk_done_softirq",	   "blk_complete_reqs", "irq_poll_softirq",
		"run_timer_softirq",	   "run_timer_base",	"tmigr_handle_remote",
		"hrtimer_run_softirq",	   "rcu_core",		"rcu_core_si",
		"tasklet_action",	   "tasklet_hi_action", "tasklet_action_common",
		"workqueue_softirq_action"
	};

	for (uint32_t i = 0; i < n; i++) {
		char buf[300];
		const char *f = frame_name(w, st.frames[i], buf, sizeof(buf));

		for (size_t k = 0; k < sizeof(actions) / sizeof(*actions); k++) {
			size_t len = strlen(actions[k]);

			if (!strncmp(f, actions[k], len) && (!f[len] || f[len] == '.'))
				return true;
		}
	}
	return false;
}

/* Whether a frame of these is in the stack behind frame i: what is done on the way out of a call.
 */
static bool done_on_way_out(struct world *w, struct trace_stack st, uint32_t i)
{
	for (i++; i < st.n; i++) {
		char buf[300];
		const char *f = frame_name(w, st.frames[i], buf, sizeof(buf));

		if (!strcmp(f, "task_work_run") || !strcmp(f, "do_exit") ||
		    !strcmp(f, "get_signal") || !strncmp(f, "get_signal.", 11) ||
		    !strncmp(f, "exit_to_user_mode_", 18))
			return true;
	}
	return false;
}

/* Whether a device brought what is received in the first n frames: its own function is polled. */
static bool from_device(struct world *w, struct trace_stack st, uint32_t n)
{
	static const char *const own[] = {
		"__napi_poll",	       "napi_poll",	   "process_backlog",  "netif_receive_skb",
		"__netif_receive_skb", "napi_gro_receive", "gro_receive_skb",  "gro_flush",
		"__gro_flush",	       "napi_gro_flush",   "__napi_gro_flush", "gro_normal_list",
		"veth_poll",	       "tun_napi_poll",	   "gro_cell_poll",    "nsim_poll"
	};

	for (uint32_t i = 1; i < n; i++) {
		char buf[300];
		const char *f = frame_name(w, st.frames[i], buf, sizeof(buf));
		bool is_own = false;

		if (strcmp(f, "net_rx_action") && strcmp(f, "__napi_poll") &&
		    strcmp(f, "napi_poll"))
			continue;
		f = frame_name(w, st.frames[i - 1], buf, sizeof(buf));
		for (size_t k = 0; k < sizeof(own) / sizeof(*own); k++)
			is_own = is_own || !strncmp(f, own[k], strlen(own[k]));
		if (!is_own)
			return true;
	}
	return false;
}

uint32_t oracle_interrupt_frames(struct world *w, const struct sleep *s)
{
	struct trace_stack st = trace_stack(w->t, s->waker_kstack);
	uint32_t idle_at = st.n;

	if (s->of_client)
		return 0;
	for (uint32_t i = 0; i < st.n; i++) {
		char buf[300];
		const char *f = frame_name(w, st.frames[i], buf, sizeof(buf));

		if (s->waker != IDLE && allows_softirqs(f)) {
			uint32_t k = i;

			if (softirq_of_others(w, st, i) || from_device(w, st, i))
				return 2 + i;
			if ((s->not_sent || s->put_off.which) && !done_on_way_out(w, st, i) &&
			    !strcmp(oracle_said_by(w, s, i + 1), "network"))
				return 2 + i;
			while (k < st.n &&
			       allows_softirqs(frame_name(w, st.frames[k], buf, sizeof(buf))))
				k++;
			f = k < st.n ? frame_name(w, st.frames[k], buf, sizeof(buf)) : "";
			return sends_nothing(f) && !strcmp(oracle_said_by(w, s, i + 1), "network")
				       ? 2 + i
				       : 0;
		}
		if (s->waker != IDLE &&
		    (!strcmp(f, "task_work_run") || !strcmp(f, "arch_do_signal_or_restart") ||
		     !strncmp(f, "exit_to_user_mode_", 18) ||
		     !strcmp(f, "irqentry_exit_to_user_mode") || !strcmp(f, "do_notify_resume")))
			return 0;
		if (s->waker != IDLE &&
		    (!strcmp(f, "run_ksoftirqd") || !strcmp(f, "run_backlog_napi") ||
		     !strncmp(f, "napi_threaded_poll", 18)) &&
		    !strcmp(oracle_said_by(w, s, i + 1), "network"))
			return 2 + i;
		if (idle_at == st.n && (!strcmp(f, "do_idle") || !strcmp(f, "cpu_startup_entry")))
			idle_at = i;
		if (!strncmp(f, "asm_sysvec_", 11) || !strncmp(f, "sysvec_", 7) ||
		    !strcmp(f, "asm_common_interrupt") || !strcmp(f, "common_interrupt") ||
		    !strcmp(f, "asm_exc_nmi") || !strcmp(f, "exc_nmi") ||
		    !strncmp(f, "fred_sysvec_", 12) || !strcmp(f, "fred_extint")) {
			for (i++; i < st.n; i++) {
				f = frame_name(w, st.frames[i], buf, sizeof(buf));
				if (!strstr(f, "sysvec_") && !strstr(f, "common_interrupt") &&
				    !strstr(f, "exc_nmi") && strcmp(f, "fred_extint"))
					break;
			}
			if (s->waker == IDLE && idle_at < i)
				return 1 + idle_at;
			return 1 + i;
		}
	}
	return s->waker == IDLE ? 1 + idle_at : 0;
}

const char *oracle_said_by(struct world *w, const struct sleep *s, uint32_t n)
{
	static const struct {
		const char *name, *end;
	} names[] = {
		{ "hrtimer_interrupt", "timer" },
		{ "__hrtimer_run_queues", "timer" },
		{ "hrtimer_run_queues", "timer" },
		{ "hrtimer_run_softirq", "timer" },
		{ "call_timer_fn", "timer" },
		{ "expire_timers", "timer" },
		{ "__run_timers", "timer" },
		{ "__run_timer_base", "timer" },
		{ "run_timer_base", "timer" },
		{ "run_timer_softirq", "timer" },
		{ "timer_expire_remote", "timer" },
		{ "tick_handle_periodic", "timer" },
		{ "net_rx_action", "network" },
		{ "__napi_poll", "network" },
		{ "napi_poll", "network" },
		{ "process_backlog", "network" },
		{ "gro_receive_skb", "network" },
		{ "blk_update_request", "disk" },
		{ "blk_mq_end_request", "disk" },
		{ "blk_complete_request", "disk" },
		{ "blk_mq_end_request_batch", "disk" },
	};
	struct trace_stack st = trace_stack(w->t, s->waker_kstack);

	for (uint32_t i = 0; i < n; i++) {
		char buf[300];
		const char *f = frame_name(w, st.frames[i], buf, sizeof(buf));
		size_t len = strcspn(f, ".");

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strlen(names[k].name) == len && !strncmp(f, names[k].name, len))
				return strcmp(names[k].end, "disk") || s->done.known ? names[k].end
										     : "interrupt";
		if (strstr(f, "netif_receive_skb") == f || strstr(f, "__netif_receive_skb") == f ||
		    strstr(f, "napi_gro_receive") == f)
			return "network";
	}
	return "interrupt";
}

/* "[network];[tcp]", where it is known to which socket packets came; why is between the two. */
static void put_network(struct world *w, const char *chain, const struct sleep *s, const char *why,
			uint64_t ns)
{
	const struct trace_object *object = trace_object(w->t, s->object), *ready;
	char *longer;

	ready = object ? trace_object(w->t, s->ready) : NULL;
	object = ready ? ready : object;
	if (!object || !*trace_string(w->t, object->own)) {
		if (asprintf(&longer, *why ? "%s;[network]" : "%s", chain) < 0)
			abort();
		line_put(w, longer, *why ? why : "network", ns);
		free(longer);
		return;
	}
	if (asprintf(&longer, *why ? "%s;[network];[%s]" : "%s;[network]", chain, why) < 0)
		abort();
	line_put(w, longer, trace_string(w->t, object->class), ns);
	free(longer);
}

static const char *const disk_ops[] = { "read", "write", "flush", "discard", "zero", "other" };

/* In ns of the time the disk was not asked yet. */
static void put_held(struct world *w, const char *chain, const struct sleep *s, uint64_t ns)
{
	const struct trace_object *disk = trace_object(w->t, s->done.disk);
	char *longer, *end, name[GROUP_NAME_LEN] = "";

	if (s->done.group)
		group_name(trace_string(w->t, s->done.group), name);
	if (asprintf(&longer, "%s;[disk %s %s]", chain, trace_string(w->t, disk->name),
		     disk_ops[s->done.op]) < 0 ||
	    asprintf(&end, "throttled%s%s", *name ? " " : "", name) < 0)
		abort();
	line_put(w, longer, end, ns);
	free(longer);
	free(end);
}

/* [from, to) ended with an interrupt; timed: also when a disk got what it was asked for counts. */
static void put_interrupted(struct world *w, const char *chain, const struct sleep *s, uint32_t n,
			    uint64_t from, uint64_t to, bool timed)
{
	const char *end = w->plain_ends ? "interrupt" : oracle_said_by(w, s, n);
	const struct trace_object *disk = trace_object(w->t, s->done.disk);
	static const char *const why[] = { "tcp delayed ack", "tcp retransmit",
					   "tcp accept queue full" };
	uint64_t issued = s->done.issued, held = s->done.held;
	char *longer;

	if (!strcmp(end, "network") && timed && s->put_off.which) {
		uint64_t since = s->put_off.since, at = s->put_off.at;

		since = since < from ? from : since > to ? to : since;
		at = at < since ? since : at > to ? to : at;
		put_network(w, chain, s, "", since - from);
		put_network(w, chain, s, why[s->put_off.which - 1], at - since);
		put_network(w, chain, s, "", to - at);
		return;
	}
	if (!strcmp(end, "network")) {
		put_network(w, chain, s, "", to - from);
		return;
	}
	if (strcmp(end, "disk")) {
		line_put(w, chain, end, to - from);
		return;
	}
	if (held && timed) {
		held = held < from ? from : held > to ? to : held;
		put_held(w, chain, s, held - from);
		from = held;
	}
	if (!issued || !timed) {
		if (asprintf(&longer, "disk %s %s", trace_string(w->t, disk->name),
			     disk_ops[s->done.op]) < 0)
			abort();
		line_put(w, chain, longer, to - from);
		free(longer);
		return;
	}
	if (asprintf(&longer, "%s;[disk %s %s]", chain, trace_string(w->t, disk->name),
		     disk_ops[s->done.op]) < 0)
		abort();
	issued = issued < from ? from : issued > to ? to : issued;
	line_put(w, longer, "queued", issued - from);
	line_put(w, longer, "device", to - issued);
	free(longer);
}

/* chain and one more link, to be freed. */
static char *linked(struct world *w, const char *chain, const struct sleep *s, uint32_t irq)
{
	struct trace_stack k = trace_stack(w->t, s->waker_kstack);
	struct trace_stack u = trace_stack(w->t, s->waker_ustack);
	char *to;

	if (w->path)
		return path_linked(w, chain, s, irq);
	to = strdup(chain);
	text_append(&to, "--");
	if (irq) {
		if (irq == 1)
			text_append(&to, "[unknown stack]");
		text_append_frames(w, &to, s->waker_kstack, irq - 1, true);
		return to;
	}
	if (!k.n && !u.n && !s->waker_short)
		text_append(&to, "[unknown stack]");
	text_append_frames(w, &to, s->waker_kstack, UINT32_MAX, true);
	if (k.n && (u.n || s->waker_short))
		text_append(&to, "-");
	if (s->waker_short)
		text_append(&to, "[short]");
	text_append_frames(w, &to, s->waker_ustack, UINT32_MAX, true);
	text_append_name(w, &to, s->waker, s->woken_ns);
	return to;
}

/* ---- links that repeat the one before them --------------------------------------------------- */

/*
 * With fold_repeats, a chain has after each waker's name what the link has in common with those
 * that repeat it, between IDENTITY and COUNT, and how many these are so far, before DONE. In the
 * end that becomes " x 3", for the most that any line of this chain has, or nothing.
 */
#define IDENTITY '\x02'
#define COUNT '\x03'
#define DONE '\x04'
#define HOPS_MAX 1000

/* Where a chain is at. */
struct hop {
	const char *chain;
	const char *identity; /* of its last link; NULL: it has none */
	unsigned int hops, counted, run;
};

static char *identity_of(struct world *w, const struct sleep *s)
{
	char *text = linked(w, "", s, 0);
	const struct trace_object *object = trace_object(w->t, s->object);
	struct trace_stack k = trace_stack(w->t, s->kstack), u = trace_stack(w->t, s->ustack);
	char peer[20];

	if (s->is_birth) {
		text_append(&text, "is started");
		return text;
	}
	text_append(&text, s->of_client ? "a client" : "asleep in");
	if (s->is_short)
		text_append(&text, "[short]");
	else if (!k.n && !u.n)
		text_append(&text, "[unknown stack]");
	text_append_frames(w, &text, s->ustack, UINT32_MAX, false);
	text_append(&text, "-");
	text_append_frames(w, &text, s->kstack, UINT32_MAX, false);
	if (!object)
		return text;
	text_append_class(w, &text, object);
	text_append(&text, trace_string(w->t, object->name));
	snprintf(peer, sizeof(peer), "%u", object->peer);
	text_append(&text, peer);
	return text;
}

/*
 * One link further, or why not: *why. The result's chain and identity are to be freed, unless there
 * is a reason. irq as oracle_interrupt_frames().
 */
static struct hop hop_on(struct world *w, const struct hop *at, const struct sleep *s, uint32_t irq,
			 const char **why)
{
	struct hop next = { .hops = at->hops + 1, .counted = at->counted + 1, .run = 1 };
	char *identity = w->fold_repeats && !irq ? identity_of(w, s) : NULL;
	bool repeats = identity && at->identity && !strcmp(identity, at->identity);
	char *longer, *with;

	*why = NULL;
	if ((at->counted == w->depth && !repeats) || at->hops == HOPS_MAX) {
		*why = "depth limit";
		free(identity);
		return next;
	}
	if (repeats) {
		next.run = at->run + 1;
		next.counted--;
	}
	longer = repeats ? strndup(at->chain, (size_t)(strrchr(at->chain, IDENTITY) - at->chain))
			 : linked(w, at->chain, s, irq);
	next.chain = longer;
	next.identity = identity;
	if (!identity)
		return next;
	if (asprintf(&with, "%s%c%s%c%u%c", longer, IDENTITY, identity, COUNT, next.run, DONE) < 0)
		abort();
	free(longer);
	next.chain = with;
	return next;
}

static void hop_free(struct hop *h)
{
	free((char *)h->chain);
	free((char *)h->identity);
}

/* The chain up to a COUNT, with the counts before that left out. To be freed. */
static char *without_counts(const char *line, const char *to)
{
	char *text = malloc((size_t)(to - line) + 1), *end = text;

	for (const char *c = line; c < to; c++) {
		if (*c == COUNT)
			c = strchr(c, DONE);
		else
			*end++ = *c;
	}
	*end = '\0';
	return text;
}

struct most {
	char *chain;
	unsigned int run;
};

/* Where the chain's most is, of n; one is added if there is room, else NULL. */
static struct most *most_of(struct most *all, size_t *n, char *chain, bool add)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(all[i].chain, chain)) {
			free(chain);
			return &all[i];
		}
	if (!add) {
		free(chain);
		return NULL;
	}
	all[*n] = (struct most) { chain, 0 };
	return &all[(*n)++];
}

static void write_counts(char **line, struct most *all, size_t n)
{
	char *text = NULL, *old = *line;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (const char *c = old; *c; c++) {
		const char *count = *c == IDENTITY ? strchr(c, COUNT) : NULL;
		struct most *m;

		if (!count) {
			putc(*c, out);
			continue;
		}
		m = most_of(all, &n, without_counts(old, count), false);
		if (m && m->run > 1)
			fprintf(out, " x %u", m->run);
		c = strchr(count, DONE);
	}
	fclose(out);
	free(old);
	*line = text;
}

static void resolve_counts(struct world *w)
{
	struct most *all = NULL;
	size_t n = 0;

	for (size_t i = 0; i < w->n_lines; i++)
		for (const char *c = w->lines[i]; !w->bases[i] && (c = strchr(c, COUNT)); c++) {
			unsigned int run = (unsigned int)strtoul(c + 1, NULL, 10);
			struct most *m;

			all = more(all, n, sizeof(*all));
			m = most_of(all, &n, without_counts(w->lines[i], c), true);
			m->run = m->run < run ? run : m->run;
		}
	for (size_t i = 0; i < w->n_lines; i++) {
		write_counts(&w->lines[i], all, n);
		if (w->bases[i])
			write_counts(&w->bases[i], all, n);
	}
	for (size_t i = 0; i < n; i++)
		free(all[i].chain);
	free(all);
}

/* ---- explaining ------------------------------------------------------------------------------ */

static bool among(const int *chain, unsigned int n, int thread)
{
	for (unsigned int i = 0; i < n; i++)
		if (chain[i] == thread)
			return true;
	return false;
}

static void explain(struct world *w, const struct hop *at, int *members, const struct sleep *s,
		    uint64_t from, uint64_t to);

/* [from, to) of a sleep of the thread that ended woke. */
static void explain_sleep(struct world *w, const struct hop *at, int *members,
			  const struct sleep *woke, int piece, uint64_t from, uint64_t to)
{
	const struct life *l = &w->lives[woke->waker];
	const struct sleep *own = &l->sleeps[l->pieces[piece].sleep];
	struct sleep joined = oracle_goes_on_in(w, woke->waker, woke, piece);

	if (joined.woken_ns != own->woken_ns || joined.passed_on) {
		if (joined.passed_on) {
			joined.kstack = own->kstack;
			joined.ustack = own->ustack;
			joined.pair = own->pair;
			joined.object = own->object;
			joined.ready = own->ready;
			joined.state = own->state;
		}
		joined.acted_ns = joined.woken_ns;
		joined.woken_ns = own->woken_ns;
		own = &joined;
	}
	explain(w, at, members, own, from, to);
}

static void explain(struct world *w, const struct hop *at, int *members, const struct sleep *s,
		    uint64_t from, uint64_t to)
{
	struct sleep asked;
	struct life *l;
	struct hop next;
	const char *why;
	uint32_t irq;
	uint64_t covered = 0;

	if (s->never && w->path) {
		char *chain = path_linked(w, at->chain, s, false);

		line_put(w, chain, "not woken", to - from);
		free(chain);
		return;
	}
	if (s->never || s->waker == NOBODY) {
		line_put(w, at->chain, s->never ? "not woken" : "unknown", to - from);
		return;
	}
	irq = oracle_interrupt_frames(w, s);
	next = hop_on(w, at, s, irq, &why);
	if (why) {
		line_put(w, at->chain, why, to - from);
		return;
	}
	if (irq || among(members, next.hops, s->waker)) {
		if (irq)
			put_interrupted(w, next.chain, s, irq - 1, from, to, true);
		else
			line_put(w, next.chain, "loop", to - from);
		hop_free(&next);
		return;
	}
	if (!s->of_client &&
	    oracle_asked(w, s->waker, s->acted_ns ? s->acted_ns : s->woken_ns, &asked) &&
	    from < asked.woken_ns) {
		uint64_t b = asked.woken_ns < to ? asked.woken_ns : to;

		members[next.hops] = NOBODY;
		explain(w, &next, members, &asked, from, b);
		from = b;
	}
	if (from == to) {
		hop_free(&next);
		return;
	}
	members[next.hops] = s->waker;
	l = &w->lives[s->waker];
	if (l->process_ended != NOBODY && l->sleeps[l->process_ended].woken_ns <= s->woken_ns &&
	    oracle_was_ending(w, s)) {
		struct sleep killed = l->sleeps[l->process_ended];
		uint64_t b = killed.woken_ns < to ? killed.woken_ns : to;

		killed.never = false;
		if (from < b)
			explain(w, &next, members, &killed, from, b);
		from = from < b ? b : from;
	} else if (from < l->begin && l->n_pieces && l->pieces[0].what == WOKEN &&
		   l->sleeps[l->pieces[0].sleep].is_birth) {
		uint64_t b = l->begin < to ? l->begin : to;

		covered += b - from;
		explain(w, &next, members, &l->sleeps[l->pieces[0].sleep], from, b);
	}
	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		uint64_t a = p->from > from ? p->from : from, b = p->to < to ? p->to : to;

		if (a >= b)
			continue;
		covered += b - a;
		if (p->what == SLEEPS)
			explain_sleep(w, &next, members, s, i, a, b);
		else if (p->what == RUNS || p->what == UNKNOWN)
			line_put(w, next.chain, p->what == RUNS ? "running" : "unknown", b - a);
		else
			line_put_ready(w, next.chain, "runnable", s->waker, p, a, b);
		if (p->what == RUNS && !w->path)
			line_put_spots(w, next.chain, "running", l, a, b);
	}
	line_put(w, next.chain, "unknown", to - from - covered);
	hop_free(&next);
}

/* The sleep that a thread woke from last and was over, it running again, before at. */
static const struct sleep *woke_last(struct life *l, uint64_t at)
{
	for (int i = l->n_pieces - 1; i >= 0; i--) {
		const struct piece *p = &l->pieces[i], *next = p + 1;
		bool waits_on = p->what == SLEEPS && i + 1 < l->n_pieces && next->what == WOKEN &&
				next->sleep == p->sleep;

		if (p->to > at || (waits_on && next->to > at))
			continue;
		if (p->what == RUNS || p->what == PREEMPTED)
			continue;
		return p->what == UNKNOWN ? NULL : &l->sleeps[p->sleep];
	}
	return NULL;
}

static void explain_classic(struct world *w, const char *head, int *members, const struct sleep *s,
			    uint64_t ns)
{
	struct hop at = { .chain = strdup(head) }, next;
	struct sleep asked, last;
	const char *end;

	for (;;) {
		uint32_t irq;

		end = !s || (!s->never && s->waker == NOBODY) ? "unknown"
		      : s->never			      ? "not woken"
							      : NULL;
		if (end)
			break;
		irq = oracle_interrupt_frames(w, s);
		next = hop_on(w, &at, s, irq, &end);
		if (end)
			break;
		hop_free(&at);
		at = next;
		if (irq) {
			put_interrupted(w, at.chain, s, irq - 1, 0, ns, false);
			hop_free(&at);
			return;
		}
		end = among(members, at.hops, s->waker) ? "loop" : NULL;
		if (end)
			break;
		members[at.hops] = s->waker;
		if (!s->of_client && oracle_asked(w, s->waker, s->woken_ns, &asked)) {
			last = asked;
			s = &last;
		} else {
			s = woke_last(&w->lives[s->waker], s->woken_ns);
		}
	}
	line_put(w, at.chain, end, ns);
	hop_free(&at);
}

void oracle_explain_by(struct world *w, const char *head, const struct sleep *s, uint64_t from,
		       uint64_t to, bool classic)
{
	int *members = malloc((HOPS_MAX + 2) * sizeof(*members));
	struct sleep client = *s;

	client.of_client = true;
	members[0] = NOBODY;
	if (classic)
		explain_classic(w, head, members, &client, to - from);
	else
		explain(w, &(struct hop) { .chain = head }, members, &client, from, to);
	free(members);
}

void oracle_explain_own(struct world *w, const char *head, int life, const struct sleep *s,
			uint64_t from, uint64_t to)
{
	int *members = malloc((HOPS_MAX + 2) * sizeof(*members));

	members[0] = life;
	explain(w, &(struct hop) { .chain = head }, members, s, from, to);
	free(members);
}

void oracle_finish(struct world *w)
{
	if (w->fold_repeats)
		resolve_counts(w);
}

void oracle_explain_all(struct world *w, bool classic)
{
	int *members = malloc((HOPS_MAX + 2) * sizeof(*members));

	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];

		for (int k = 0; k < l->n_pieces; k++) {
			const struct piece *p = &l->pieces[k];
			const struct trace_object *object;
			const struct sleep *s;
			char *head;

			if ((p->what == RUNS || p->what == UNKNOWN) && w->own && w->sampled &&
			    !l->recorder) {
				const struct piece *first = p;

				/* Under the name that it had when all of this began. */
				while (first > l->pieces && first[-1].what == p->what &&
				       first[-1].to == first->from)
					first--;
				head = strdup("");
				text_append_name(w, &head, i, first->from);
				line_put(w, head, p->what == RUNS ? "on-CPU" : "unknown",
					 p->to - p->from);
				if (p->what == RUNS)
					line_put_spots(w, head, "on-CPU", l, p->from, p->to);
				free(head);
			}
			if (p->what == RUNS || p->what == UNKNOWN ||
			    (w->no_idle && oracle_is_idle(w, i, k)))
				continue;
			s = &l->sleeps[p->sleep];
			head = strdup("");
			text_append_name(w, &head, i, s->out_ns);
			if (s->is_short)
				text_append(&head, "[short]");
			else if (!trace_stack(w->t, s->kstack).n && !trace_stack(w->t, s->ustack).n)
				text_append(&head, "[unknown stack]");
			text_append_frames(w, &head, s->ustack, UINT32_MAX, false);
			object = trace_object(w->t, s->object);
			if (object)
				text_append_class(w, &head, object);
			if (object && trace_object(w->t, s->ready))
				text_append_class(w, &head, trace_object(w->t, s->ready));
			if (trace_stack(w->t, s->kstack).n &&
			    (trace_stack(w->t, s->ustack).n || s->is_short || object))
				text_append(&head, "-");
			text_append_frames(w, &head, s->kstack, UINT32_MAX, false);
			members[0] = i;
			if (p->what == WOKEN)
				line_put_ready(w, head, "runnable", i, p, p->from, p->to);
			else if (p->what == PREEMPTED)
				line_put_ready(w, head, "preempted", i, p, p->from, p->to);
			else if (classic)
				explain_classic(w, head, members, s, p->to - p->from);
			else
				explain(w, &(struct hop) { .chain = head }, members, s, p->from,
					p->to);
			free(head);
		}
	}
	free(members);
	oracle_finish(w);
}
