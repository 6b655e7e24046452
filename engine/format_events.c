// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=events: every event as a line of text, with its stacks if verbose. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "print.h"

/* What is known of a thread at the time of the event at hand. */
struct who {
	uint32_t name; /* string id */
	uint32_t tgid; /* 0: not known */
};

struct printer {
	const struct trace *t;
	const struct options *o;
	FILE *out;
	struct who *who; /* by tid */
};

static const char *const kind_names[] = {
	[EVENT_SWITCH] = "switch", [EVENT_WAKING] = "waking", [EVENT_WAKING_NEW] = "new",
	[EVENT_FORK] = "fork",	   [EVENT_EXEC] = "exec",     [EVENT_RENAME] = "rename",
	[EVENT_EXIT] = "exit",	   [EVENT_LOST] = "lost",
};

static const char *thread_name(const struct printer *p, uint32_t tid)
{
	return tid ? trace_string(p->t, p->who[tid].name) : "swapper";
}

static void put_thread(const struct printer *p, uint32_t tid)
{
	const char *name = thread_name(p, tid);

	print_clean(p->out, *name ? name : "[unknown]");
	fprintf(p->out, "/%u", tid);
}

/* Follows what an event says about who a thread is; before it is printed, or after (rename). */
static void learn(struct printer *p, const struct event *ev)
{
	if (ev->kind == EVENT_FORK) {
		p->who[ev->other].name = ev->string;
		p->who[ev->other].tgid = ev->tgid;
	} else if (ev->kind == EVENT_RENAME) {
		p->who[ev->tid].name = ev->string;
	} else if (ev->kind == EVENT_EXEC && ev->other != ev->tid) {
		/* The thread that called exec takes the leader's tid over. */
		p->who[ev->tid] = p->who[ev->other];
		p->who[ev->tid].tgid = ev->tid;
	}
}

static bool has_id(const struct id_list *l, uint32_t id)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->ids[i] == id)
			return true;
	return false;
}

static bool wanted_thread(const struct printer *p, uint32_t tid)
{
	const struct options *o = p->o;

	if (o->tids.n && !has_id(&o->tids, tid))
		return false;
	/* Where the process is not known, the thread may at least be its leader. */
	if (o->pids.n && !has_id(&o->pids, p->who[tid].tgid ? p->who[tid].tgid : tid))
		return false;
	return !o->names.n || regex_list_match(&o->names, thread_name(p, tid));
}

/* An event is shown if any thread in it is wanted; a loss concerns all. */
static bool wanted(const struct printer *p, const struct event *ev)
{
	uint64_t at_ns = ev->time_ns - trace_info(p->t)->start_ns;

	if (at_ns >= p->o->to_ns)
		return false;
	if (ev->kind == EVENT_LOST)
		return ev->last_ns - trace_info(p->t)->start_ns >= p->o->from_ns;
	if (at_ns < p->o->from_ns)
		return false;
	if (!(p->o->given & GIVEN_WHO))
		return true;
	return wanted_thread(p, ev->tid) || (ev->kind <= EVENT_FORK && wanted_thread(p, ev->other));
}

static void put_stack(const struct printer *p, uint32_t id)
{
	struct trace_stack s = trace_stack(p->t, id);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(p->t, s.frames[i]);

		if (!f) {
			fputs("\t[unknown]\n", p->out);
			continue;
		}
		fprintf(p->out, "\t%16llx ", (unsigned long long)f->addr);
		if (f->symbol) {
			print_clean(p->out, trace_string(p->t, f->symbol));
			fprintf(p->out, "+0x%llx", (unsigned long long)f->offset);
		} else {
			fputs("[unknown]", p->out);
		}
		if (f->module) {
			fputs(" (", p->out);
			print_clean(p->out, trace_module_path(p->t, f->module));
			putc(')', p->out);
		}
		putc('\n', p->out);
	}
	if (s.cut)
		fputs("\t[cut]\n", p->out);
}

static void put_event(const struct printer *p, const struct event *ev)
{
	uint64_t start_ns = trace_info(p->t)->start_ns, at_ns = ev->time_ns - start_ns;
	FILE *out = p->out;

	fprintf(out, "%6llu.%09llu ", (unsigned long long)at_ns / 1000000000,
		(unsigned long long)at_ns % 1000000000);
	if (ev->cpu == EVENT_CPU_UNKNOWN)
		fputs("[???]", out);
	else
		fprintf(out, "[%03u]", ev->cpu);
	fprintf(out, " %-6s ", kind_names[ev->kind]);
	if (ev->kind == EVENT_LOST) {
		uint64_t last_ns = ev->last_ns - start_ns;

		if (ev->n)
			fprintf(out, "%llu events", (unsigned long long)ev->n);
		else
			fputs("perhaps events", out);
		fprintf(out, " until %llu.%09llu\n", (unsigned long long)last_ns / 1000000000,
			(unsigned long long)last_ns % 1000000000);
		return;
	}
	put_thread(p, ev->tid);
	switch (ev->kind) {
	case EVENT_SWITCH:
		fprintf(out, " %c -> ", ev->state);
		put_thread(p, ev->other);
		break;
	case EVENT_WAKING:
	case EVENT_WAKING_NEW:
		fputs(" -> ", out);
		put_thread(p, ev->other);
		break;
	case EVENT_FORK:
		fputs(" -> ", out);
		put_thread(p, ev->other);
		fprintf(out, " of process %u", ev->tgid);
		break;
	case EVENT_EXEC:
		putc(' ', out);
		print_clean(out, trace_string(p->t, ev->string));
		if (ev->other != ev->tid)
			fprintf(out, " (was thread %u)", ev->other);
		break;
	case EVENT_RENAME:
		fputs(" -> ", out);
		print_clean(out, trace_string(p->t, ev->string));
		break;
	default:
		break;
	}
	putc('\n', out);
	if (!p->o->verbose)
		return;
	if (p->o->kernel)
		put_stack(p, ev->kstack);
	if (p->o->user)
		put_stack(p, ev->ustack);
}

static int write_events(const struct format_input *in, FILE *out)
{
	struct printer p = { .t = in->trace, .o = in->options, .out = out };
	const struct trace_thread *threads;
	struct trace_cursor *c;
	struct event ev;
	int err = -ENOMEM;
	size_t n;

	c = trace_cursor_new(p.t);
	p.who = calloc(trace_info(p.t)->tids_end, sizeof(*p.who));
	if (!c || !p.who)
		goto out;
	threads = trace_threads(p.t, &n);
	for (size_t i = 0; i < n; i++)
		p.who[threads[i].tid] = (struct who) { threads[i].name, threads[i].tgid };
	while (!ferror(out) && trace_cursor_next(c, &ev)) {
		if (ev.kind != EVENT_RENAME)
			learn(&p, &ev);
		if (wanted(&p, &ev))
			put_event(&p, &ev);
		if (ev.kind == EVENT_RENAME)
			learn(&p, &ev);
	}
	err = trace_cursor_error(c);
out:
	free(p.who);
	trace_cursor_free(c);
	return err;
}

const struct format format_events = {
	.name = "events",
	.summary = "every event as text, with its stacks if -v",
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_DEPTH | GIVEN_MODE | GIVEN_WITHIN | GIVEN_WAIT | GIVEN_STATE |
		   GIVEN_NO_KTHREADS | GIVEN_BLOCKED_STACKS | GIVEN_ANNOTATE | GIVEN_NO_ENDS |
		   GIVEN_NO_DELIM | GIVEN_UNIT | GIVEN_TOP | GIVEN_VIEW | GIVEN_NO_IDLE |
		   GIVEN_BY_NAME,
	.write = write_events,
};
