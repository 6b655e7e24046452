// SPDX-License-Identifier: GPL-2.0-or-later
#include "cause_words.h"

#include <inttypes.h>
#include <string.h>

#include "command_word.h"
#include "style.h"
#include "words/waited_for.h"

/* From this part on it is said that a thread ran in the kernel. */
#define LEAST_KERNEL 0.5
/* What a holder ran is said from this part of the time on. */
#define LEAST_RAN 0.25
#define USED_UP "the quota of its control group was used up"

/* A text, if there is any. */
static void put_text(FILE *out, const struct names *names, const char *before, uint32_t where)
{
	const char *text = names_text(names, where);

	if (*text)
		fprintf(out, "%s%s", before, text);
}

static void put_slept(FILE *out, const struct names *n, const struct cause *c)
{
	fputs(" slept", out);
	put_text(out, n, " in ", c->where);
	put_text(out, n, " for ", c->what);
}

static void put_until(FILE *out, const struct names *n, const struct cause *c, const char *what)
{
	put_slept(out, n, c);
	fprintf(out, ", until %s", what);
	put_text(out, n, ": ", c->by);
}

/*
 * " 95 % in deflate < compress", " in srv: 52 % spin_cheap, 46 % spin_dear": by samples, and what
 * of it is in the kernel.
 */
static void put_ran(FILE *out, const struct names *n, const struct cause *c)
{
	bool parts = *names_text(n, c->ran_ways);

	if (!*names_text(n, c->ran) && !parts)
		return;
	if (c->ran_part < 0.995 && !parts)
		fprintf(out, " %.0f %%", 100 * c->ran_part);
	put_text(out, n, " in ", c->ran);
	put_text(out, n, ": ", c->ran_ways);
	if (c->kernel_part >= LEAST_KERNEL) {
		fprintf(out, "%c %.0f %% in the kernel", parts ? ';' : ',', 100 * c->kernel_part);
		put_text(out, n, ": ", c->kernel);
	}
}

static void put_held(FILE *out, const struct names *n, const struct cause *c)
{
	put_text(out, n, " held ", c->lock);
	put_text(out, n, ": ", c->held);
	if (names_text(n, c->ran)[0] + names_text(n, c->ran_ways)[0] && c->held_ran >= LEAST_RAN) {
		fputs("; it ran", out);
		put_ran(out, n, c);
	} else if (!strstr(names_text(n, c->held), " in ")) {
		put_text(out, n, ", then ", c->where);
	}
}

static void put_no_cpu(FILE *out, const struct names *n, const struct cause *c)
{
	fputs(c->throttled ? " was throttled" : " had no CPU", out);
	put_text(out, n, ", in ", c->where);
	put_text(out, n, ": ", c->had);
	if (c->quota_waits)
		fprintf(out, "; in %" PRIu64 " of these waits " USED_UP, c->quota_waits);
}

/* For what a timer of TCP let a thread wait. */
static const char *const put_off[CHAINLOG_TCP_TIMERS] = {
	[CHAINLOG_TCP_NONE] = "a packet arrived",
	[CHAINLOG_TCP_DELAYED_ACK] = "TCP sent a delayed ACK",
	[CHAINLOG_TCP_RETRANSMIT] = "TCP sent again what was lost",
	[CHAINLOG_TCP_ACCEPT_QUEUE] = "TCP tried again, as the accept queue was full",
};

static void put_did(FILE *out, const struct names *n, const struct causes *all,
		    const struct cause *c)
{
	if (c->lock) {
		put_held(out, n, c);
		return;
	}
	switch (c->end) {
	case CHAIN_RUNNING:
		fputs(" ran", out);
		put_ran(out, n, c);
		causes_put_served(all, c, out);
		put_text(out, n, ", then ", c->where);
		break;
	case CHAIN_RUNNABLE:
	case CHAIN_PREEMPTED:
		put_no_cpu(out, n, c);
		break;
	case CHAIN_INTERRUPT:
		put_until(out, n, c, "an interrupt");
		break;
	case CHAIN_TIMER:
		put_until(out, n, c, "a timer");
		break;
	case CHAIN_DISK:
		put_slept(out, n, c);
		put_text(out, n, c->throttled ? ", held back: " : ", until done: ", c->operations);
		if (c->throttled)
			put_text(out, n, ": ", c->had);
		break;
	case CHAIN_NETWORK:
		put_slept(out, n, c);
		fprintf(out, ", until %s", put_off[c->tcp_timer]);
		break;
	case CHAIN_NOT_WOKEN:
		put_slept(out, n, c);
		fprintf(out, ", %s",
			c->never_woken ? words_not_woken(n, c->never_woken) : "and nobody woke it");
		break;
	case CHAIN_UNKNOWN:
		fputs(c->itself ? " slept" : "", out);
		put_text(out, n, " in ", c->where);
		fputs(c->itself ? ", waker unknown: no waking was recorded"
				: ": unknown (events are missing)",
		      out);
		break;
	case CHAIN_DEPTH:
		fputs(" slept (links beyond --depth are left out)", out);
		break;
	case CHAIN_LOOP:
		fputs(", which is in the chain already", out);
		break;
	case CHAIN_ENDS:
		put_slept(out, n, c);
		fputs(", for lack of work", out);
		break;
	case CHAIN_ON_CPU: /* no wait: only folded lines have it */
		break;
	}
}

/* What a thread waits for that a timer of TCP lets wait. */
static const char *const for_timer[CHAINLOG_TCP_TIMERS] = {
	[CHAINLOG_TCP_DELAYED_ACK] = "a delayed ACK",
	[CHAINLOG_TCP_RETRANSMIT] = "a retransmit",
	[CHAINLOG_TCP_ACCEPT_QUEUE] = "room in an accept queue",
};

/* " waits for this, of that, in its function": of a line that is cut the beginning is left. */
static void put_waits(FILE *out, const struct names *n, const struct cause *c, const char *what,
		      const char *more)
{
	fprintf(out, *what ? " waits for %s" : " waits", what);
	if (*more)
		fprintf(out, ", %s", more);
	put_text(out, n, ", in ", c->where);
}

/* What the threads of c did, in so few words that a line of a screen has what matters. */
static void put_short_did(FILE *out, const struct names *n, const struct causes *all,
			  const struct cause *c)
{
	const char *what = names_text(n, c->what);
	bool is_lock = c->lock;

	if (!is_lock && c->end == CHAIN_RUNNING && *names_text(n, c->function)) {
		fprintf(out, " ran %s", names_text(n, c->function));
		causes_put_served(all, c, out);
	} else if (!is_lock && c->end == CHAIN_NETWORK && for_timer[c->tcp_timer]) {
		put_waits(out, n, c, for_timer[c->tcp_timer], what);
	} else if (!is_lock && c->end == CHAIN_NETWORK && *what) {
		put_waits(out, n, c, what, "");
	} else if (!is_lock && c->end == CHAIN_DISK && !c->throttled) {
		put_waits(out, n, c, names_text(n, c->operations), "");
	} else if (!is_lock && c->end == CHAIN_NOT_WOKEN && *what) {
		put_waits(out, n, c, what,
			  c->never_woken ? words_not_woken(n, c->never_woken) : "nobody wakes it");
	} else {
		put_did(out, n, all, c);
	}
}

void causes_put_sentence(FILE *out, const struct names *n, const struct causes *all,
			 const struct cause *c)
{
	fputs(names_text(n, c->thread ? c->thread : c->who), out);
	if (c->threads > 1)
		fprintf(out, " and %zu other%s", c->threads - 1, c->threads > 2 ? "s" : "");
	put_did(out, n, all, c);
}

void causes_put_short(FILE *out, const struct names *n, const struct causes *all,
		      const struct cause *c, bool color)
{
	style_name(out, color, names_text(n, c->who));
	if (c->threads > 1)
		fprintf(out, " x %zu", c->threads);
	put_short_did(out, n, all, c);
}

bool causes_put_way(FILE *out, const struct names *n, const struct cause *c)
{
	const char *path = names_text(n, c->path);

	if (!*names_text(n, c->victims))
		return false;
	put_text(out, n, "made ", c->victims);
	if (strstr(path, " <- "))
		put_text(out, n, ": ", c->path);
	put_text(out, n, ", for ", c->lock ? 0 : c->wakee_what);
	return true;
}

void causes_put_example(FILE *out, const struct format_input *in, const struct cause *c)
{
	const struct chosen_wait *e = &c->example;
	uint64_t start_ns = timelines_start_ns(in->timelines);
	uint64_t from = (e->wait->out_ns - start_ns) / 1000,
		 to = (e->wait->in_ns - start_ns) / 1000;
	bool preempted = e->wait->kind == WAIT_PREEMPTED;
	uint32_t tid = timelines_thread(in->timelines, e->thread)->tid;

	fputs("chainwalk -f tree", out);
	if (!timelines_is_client(in->timelines, e->thread))
		fprintf(out, "%s -t %" PRIu32, preempted ? " --state all" : "", tid);
	else if (tid)
		fprintf(out, " --requests -p %" PRIu32, tid);
	else
		fputs(" --requests", out);
	/* Rounded outwards, so that the wait is in it whole. */
	fprintf(out, " --from %" PRIu64 ".%06" PRIu64 " --to %" PRIu64 ".%06" PRIu64,
		from / 1000000, from % 1000000, (to + 1) / 1000000, (to + 1) % 1000000);
	if (in->path) {
		putc(' ', out);
		command_put_word(out, in->path);
	}
}
