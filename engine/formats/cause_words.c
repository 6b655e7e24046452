// SPDX-License-Identifier: GPL-2.0-or-later
#include "cause_words.h"

#include <inttypes.h>

#include "words/object_names.h"

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

/* What a device had to do until the sleep was over. */
static void put_disk(FILE *out, const struct format_input *in, uint32_t disk)
{
	struct disk_request_kind kind = timelines_disk_request_kind(in->timelines, disk);
	struct text_buf s = { 0 };

	disk_names_put(in->trace, kind.disk, kind.op, &s);
	fputs(", until done: ", out);
	print_clean(out, s.failed ? "disk" : s.p);
	text_free(&s);
}

static void put_no_cpu(FILE *out, const struct names *n, const struct cause *c)
{
	fprintf(out, " was %s",
		c->throttled		   ? "throttled"
		: c->end == CHAIN_RUNNABLE ? "runnable"
					   : "preempted");
	put_text(out, n, " in ", c->where);
	put_text(out, n, ": ", c->had);
	if (c->throttled)
		fputs(": " USED_UP, out);
	else if (c->quota_waits)
		fprintf(out, "; in %" PRIu64 " of these waits " USED_UP, c->quota_waits);
}

void causes_put_did(FILE *out, const struct format_input *in, const struct names *n,
		    const struct cause *c)
{
	switch (c->end) {
	case CHAIN_RUNNING:
		fputs(" ran", out);
		put_text(out, n, ", until it woke in ", c->where);
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
		put_disk(out, in, c->disk);
		break;
	case CHAIN_NETWORK:
		put_slept(out, n, c);
		fputs(", until a packet arrived", out);
		break;
	case CHAIN_NOT_WOKEN:
		put_slept(out, n, c);
		fputs(", and nobody woke it", out);
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
	case CHAIN_ON_CPU: /* no wait: only folded lines have it */
	case CHAIN_ENDS:
		break;
	}
}
