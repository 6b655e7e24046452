// SPDX-License-Identifier: GPL-2.0-or-later
#include "attributed_time.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "timeline/stolen_time.h"

static const struct {
	const char *word, *name;
} ends[] = {
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) \
	[number] = { name, "[" name "]" },
#include "ends.def"
};

_Static_assert(sizeof(ends) / sizeof(ends[0]) == CHAIN_ENDS,
	       "a number stands twice, or is left out");

const char *chain_end_word(enum chain_end end)
{
	return ends[end].word;
}

const char *chain_end_name(enum chain_end end)
{
	return ends[end].name;
}

size_t chain_ends_by_size(const uint64_t ns[CHAIN_ENDS], enum chain_end order[CHAIN_ENDS])
{
	size_t n = 0;

	for (int end = 0; end < CHAIN_ENDS; end++) {
		size_t at = n;

		if (!ns[end])
			continue;
		for (; at && ns[order[at - 1]] < ns[end]; at--)
			order[at] = order[at - 1];
		order[at] = (enum chain_end)end;
		n++;
	}
	return n;
}

const char *disk_stage_name(enum disk_stage stage)
{
	static const char *const names[DISK_STAGES] = {
		[DISK_QUEUED] = "[queued]", [DISK_DEVICE] = "[device]", [DISK_HELD] = "[throttled]"
	};

	return names[stage];
}

const char *network_stage_name(uint64_t stage)
{
	static const char *const names[CHAINLOG_TCP_TIMERS] = {
		[CHAINLOG_TCP_DELAYED_ACK] = "tcp delayed ack",
		[CHAINLOG_TCP_RETRANSMIT] = "tcp retransmit",
		[CHAINLOG_TCP_ACCEPT_QUEUE] = "tcp accept queue full",
	};

	return stage > NETWORK_TIMER && stage - NETWORK_TIMER < CHAINLOG_TCP_TIMERS
		       ? names[stage - NETWORK_TIMER]
		       : NULL;
}

uint64_t disk_request_held_ns(const struct timelines *tl, const struct disk_request *r)
{
	return timelines_disk_request_kind(tl, r->kind).held ? r->asked_ns : 0;
}

uint32_t disk_limit_holder(struct disk_request_kind held)
{
	return held.group ? HOLDER_QUOTA | held.group : HOLDER_THROTTLED;
}

const struct disk_request *disk_request_of(const struct timelines *tl, const struct wait *w)
{
	return timelines_disk_request(tl, timelines_pair(tl, w->waker_stack).request);
}

uint32_t socket_of_wait(const struct timelines *tl, const struct options *o, const struct wait *w)
{
	struct stack_pair slept = timelines_pair(tl, w->stack);
	uint32_t id = slept.ready ? slept.ready : slept.object;
	const struct trace_object *socket = trace_object(timelines_trace(tl), id);

	/* Sockets of the network have an address of their own. */
	return socket && socket->own && o->objects != OBJECTS_NONE ? id : 0;
}

void attribution_init(struct attribution *a, const struct timelines *tl, const struct options *o,
		      struct chain_sink to, unsigned int wants,
		      const struct cpu_holders *cpu_holders)
{
	*a = (struct attribution) { .to = to, .timelines = tl, .options = o };
	if (wants & 1u << AMOUNT_CPU_HOLDER)
		a->cpu_holders = cpu_holders;
	if (wants & 1u << AMOUNT_INTERRUPTED)
		a->interrupts = timelines_interrupts(tl);
	if (wants & 1u << AMOUNT_SAMPLES && timelines_sampled(tl))
		a->sample_hints =
			xcalloc((size_t)timelines_threads(tl) + 1, sizeof(*a->sample_hints));
}

void attribution_free(struct attribution *a)
{
	free(a->sample_hints);
	a->sample_hints = NULL;
	cpu_holders_sums_free(a->holders_later);
	a->holders_later = NULL;
}

void attribution_sum_up(struct attribution *a, attribution_key_fn key, cpu_holders_sums_fn add)
{
	a->holders_key = key;
	if (a->cpu_holders)
		cpu_holders_sums_new(&a->holders_later, a->cpu_holders, add, a->to.arg);
}

void attribution_end(struct attribution *a)
{
	if (a->holders_later)
		cpu_holders_sums_end(a->holders_later);
}

/* ---- what is known of a piece --------------------------------------------------------------- */

struct holders_of {
	const struct attribution *attribution;
	const struct chain_piece *piece;
};

static void add_holder(void *arg, uint32_t who, uint64_t ns)
{
	const struct holders_of *h = arg;
	struct amount_key key = { .kind = AMOUNT_CPU_HOLDER,
				  .end = (uint8_t)h->piece->end,
				  .value = who };

	h->attribution->to.add(h->attribution->to.arg, h->piece->node, key,
			       ns * (uint64_t)h->piece->count);
}

void attribute_cpu_holders(const struct attribution *a, const struct chain_piece *p)
{
	struct holders_of h = { a, p };
	size_t n;

	if (!a->cpu_holders || p->from_ns >= p->to_ns)
		return;
	if (a->only_quotas && !wait_throttled(p->wait)) {
		timelines_throttles(a->timelines, p->thread, p->wait, &n);
		if (!n)
			return;
	}
	if (a->holders_later)
		cpu_holders_sums_add(
			a->holders_later,
			&(struct ready_time) { a->holders_key(a->to.arg, p->node, p->end),
					       p->thread, p->wait, p->from_ns, p->to_ns, p->count },
			add_holder, &h);
	else
		cpu_holders_share(a->cpu_holders, p->thread, p->wait, p->from_ns, p->to_ns,
				  add_holder, &h);
}

void attribute_samples(const struct attribution *a, const struct chain_piece *p)
{
	const struct sample *end, *first, *at;
	uint32_t *hint;

	if (!a->sample_hints)
		return;
	first = timelines_samples(a->timelines, p->thread, &end);
	if (first == end)
		return;
	hint = &a->sample_hints[p->thread];
	at = first + *hint;
	if ((at > first && at[-1].ns >= p->from_ns) || (at < end && at->ns < p->from_ns)) {
		at = sample_at(first, end, p->from_ns);
		*hint = (uint32_t)(at - first);
	}
	for (; at < end && at->ns < p->to_ns; at++)
		attribute_sample(a, p->node, at->pair, p->count);
}

void attribute_run(const struct attribution *a, const struct chain_piece *p)
{
	struct amount_key key = { .kind = AMOUNT_INTERRUPTED, .end = CHAIN_RUNNING };
	uint64_t ns = stolen_time_of_thread(a->interrupts, p->thread, p->from_ns, p->to_ns);

	if (ns)
		a->to.add(a->to.arg, p->node, key, ns * (uint64_t)p->count);
	attribute_samples(a, p);
}

void attribute_to_device(const struct attribution *a, uint32_t node, enum chain_end end,
			 const struct wait *w, unsigned int stage, uint64_t ns)
{
	struct amount_key key = { .end = (uint8_t)end, .stage = (uint16_t)stage };

	key.value = end == CHAIN_DISK ? disk_request_of(a->timelines, w)->kind
				      : socket_of_wait(a->timelines, a->options, w);
	if (ns)
		a->to.add(a->to.arg, node, key, ns);
}

/* A piece that ended with the request, stage by stage. */
static void attribute_disk(const struct attribution *a, const struct chain_piece *p)
{
	const struct disk_request *r = disk_request_of(a->timelines, p->wait);
	uint64_t held_to_ns = clip_ns(disk_request_held_ns(a->timelines, r), p->from_ns, p->to_ns);
	uint64_t queued_to_ns = clip_ns(r->issued_ns, held_to_ns, p->to_ns);

	attribute_interrupt(a, p->node, p->end, p->wait, DISK_HELD,
			    (held_to_ns - p->from_ns) * (uint64_t)p->count);
	if (r->issued_ns)
		attribute_interrupt(a, p->node, p->end, p->wait, DISK_QUEUED,
				    (queued_to_ns - held_to_ns) * (uint64_t)p->count);
	attribute_interrupt(a, p->node, p->end, p->wait, r->issued_ns ? DISK_DEVICE : DISK_WHOLE,
			    (p->to_ns - (r->issued_ns ? queued_to_ns : held_to_ns)) *
				    (uint64_t)p->count);
}

/* [from_ns, to_ns) of a piece that packets ended: a timer of TCP may have put off some of it. */
static void attribute_packets(const struct attribution *a, const struct chain_piece *p,
			      uint64_t from_ns, uint64_t to_ns)
{
	const struct tcp_timer *t = timelines_tcp_timer(a->timelines, p->wait);
	uint64_t since_ns = t ? clip_ns(t->since_ns, from_ns, to_ns) : to_ns;
	uint64_t at_ns = t ? clip_ns(t->at_ns, since_ns, to_ns) : to_ns;

	attribute_interrupt(a, p->node, p->end, p->wait, 0,
			    (since_ns - from_ns + (to_ns - at_ns)) * (uint64_t)p->count);
	if (t)
		attribute_interrupt(a, p->node, p->end, p->wait, NETWORK_TIMER + t->which,
				    (at_ns - since_ns) * (uint64_t)p->count);
}

/*
 * A piece that packets ended: the time in which another machine had the request, of which there is
 * a trace, is explained there.
 */
static void attribute_network(const struct attribution *a, const struct chain_piece *p)
{
	const struct remote_answer *answer = timelines_remote(a->timelines, p->wait);
	struct amount_key key = { .end = CHAIN_NETWORK, .stage = NETWORK_REMOTE };
	uint64_t from_ns = p->to_ns, to_ns = p->to_ns;

	if (answer) {
		from_ns = clip_ns(answer->from_ns, p->from_ns, p->to_ns);
		to_ns = clip_ns(answer->to_ns, from_ns, p->to_ns);
		key.value = from_ns < to_ns
				    ? remote_answers_part(
					      a->timelines->remote, answer, from_ns, to_ns,
					      socket_of_wait(a->timelines, a->options, p->wait))
				    : 0;
		if (key.value)
			a->to.add(a->to.arg, p->node, key, (to_ns - from_ns) * (uint64_t)p->count);
		else
			from_ns = to_ns = p->to_ns;
	}
	attribute_packets(a, p, p->from_ns, from_ns);
	attribute_packets(a, p, to_ns, p->to_ns);
}

void attribute_piece(const struct attribution *a, const struct chain_piece *p)
{
	uint64_t ns = p->to_ns - p->from_ns - p->gaps_ns;

	if (p->from_ns >= p->to_ns || !ns)
		return;
	if (a->to.piece)
		a->to.piece(a->to.arg, p);
	switch (p->end) {
	case CHAIN_DISK:
		attribute_disk(a, p);
		return;
	case CHAIN_NETWORK:
		attribute_network(a, p);
		return;
	case CHAIN_RUNNABLE:
	case CHAIN_PREEMPTED:
		attribute_cpu_holders(a, p);
		break;
	case CHAIN_RUNNING:
		attribute_run(a, p);
		break;
	default:
		break;
	}
	attribute_time(a, p->node, p->end, ns * (uint64_t)p->count);
}
