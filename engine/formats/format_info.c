// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=info: what was lost and what the trace holds, as lines of "key: value", in groups below
 * a line "# GROUP" each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "base/text.h"
#include "common/left_out.h"
#include "common/xalloc.h"
#include "timeline/untraced.h"
#include "words/process_notes.h"
#include "words/wall_time.h"

/* Requests by their route, an object of the trace. All zero is none. */
struct info_routes {
	uint64_t *requests; /* by object id; NULL: none has a route */
	uint64_t all;	    /* that probes did not mark */
};

/* How long sleeps must have lasted to have stacks on a CPU, of one of the two kinds. */
struct info_light_cpu {
	uint64_t ns, since_ns; /* ns 0: nothing was told yet */
};

/* By whether timers of the sleepers' own ended them. All zero is none. */
struct info_light {
	struct info_light_cpu *cpus[2];
	size_t n_cpus[2]; /* for which there is room */
	uint64_t most_ns[2];
	uint64_t raised_ns[2]; /* times of all CPUs in which it was more than asked for */
};

struct totals {
	uint64_t threads;      /* distinct tids, without the idle loop */
	uint64_t lost_spans;   /* time spans in which events are missing */
	uint64_t lost_unknown; /* those of them without a count of events */
	uint64_t untraced;     /* switches, see untraced.h */
	uint64_t steal_ns;     /* what a hypervisor took of the CPUs */
	uint64_t stacks, cut_stacks;
	uint64_t ends[CHAINLOG_STACK_ENDS]; /* user stacks */
	uint64_t frames[3], named[3];	    /* kernel, user, interpreted code */
	struct info_routes routes;
	struct info_light light;
};

static void put_words(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s: ", key);
	print_clean(out, *value ? value : "[unknown]");
}

static void put_text(FILE *out, const char *key, const char *value)
{
	put_words(out, key, value);
	putc('\n', out);
}

static void put_number(FILE *out, const char *key, uint64_t v)
{
	fprintf(out, "%s: %llu\n", key, (unsigned long long)v);
}

/* ---- routes of requests ---------------------------------------------------------------------- */

/* An object that is a route, and what asked for it. */
struct named {
	const char *protocol, *name;
	uint64_t requests;
};

/* Of the routes of one protocol. */
struct route_sums {
	uint64_t routes, requests;
};

/* Counts an event, which need not be of a request. */
static void info_routes_event(struct info_routes *r, const struct trace *t, const struct event *ev)
{
	if ((ev->kind != EVENT_REQUEST && ev->kind != EVENT_REQUEST_OPEN) ||
	    ev->request.flags & CHAINLOG_REQUEST_PROBED)
		return;
	r->all++;
	if (!ev->request.label || ev->request.label >= trace_objects_end(t))
		return;
	if (!r->requests)
		r->requests = xcalloc(trace_objects_end(t), sizeof(*r->requests));
	r->requests[ev->request.label]++;
}

static int by_name(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int order = strcmp(a->protocol, b->protocol);

	return order ? order : strcmp(a->name, b->name);
}

/* Those that say what was asked for, or only why that is not told: "[other]". */
static bool is_told(const char *name)
{
	size_t len = strlen(name);

	return *name != '[' && (!len || name[len - 1] != ']');
}

/* All that are asked for, each name of a protocol once. To be freed. */
static struct named *name_all(const struct info_routes *r, const struct trace *t, size_t *n)
{
	uint32_t end = r->requests ? trace_objects_end(t) : 0;
	struct named *all = xmalloc((end + 1) * sizeof(*all));
	size_t kept = 0;

	*n = 0;
	for (uint32_t id = 1; id < end; id++) {
		const struct trace_object *o = r->requests[id] ? trace_object(t, id) : NULL;

		if (o && !strcmp(trace_string(t, o->class), CHAINLOG_CLASS_ROUTE))
			all[(*n)++] = (struct named) { trace_string(t, o->protocol),
						       trace_string(t, o->name), r->requests[id] };
	}
	qsort(all, *n, sizeof(*all), by_name);
	for (size_t i = 0; i < *n; i++) {
		if (kept && !by_name(&all[kept - 1], &all[i]))
			all[kept - 1].requests += all[i].requests;
		else
			all[kept++] = all[i];
	}
	*n = kept;
	return all;
}

static void put_protocol(FILE *out, const char *name, const struct route_sums *s)
{
	put_words(out, "protocol", name);
	fprintf(out, ": %" PRIu64 " routes, %" PRIu64 " requests\n", s->routes, s->requests);
}

/* Writes lines of "key: value": nothing if there was no request. */
static void info_routes_write(const struct info_routes *r, const struct trace *t, FILE *out)
{
	struct route_sums told = { 0 }, same = { 0 };
	uint64_t named = 0;
	size_t n;
	struct named *all;

	if (!r->all)
		return;
	all = name_all(r, t, &n);
	for (size_t i = 0; i < n; i++) {
		named += all[i].requests;
		told.routes += is_told(all[i].name);
		told.requests += is_told(all[i].name) ? all[i].requests : 0;
	}
	fprintf(out, "# routes\nroutes: %" PRIu64 "\n", told.routes);
	fprintf(out, "requests_with_route: %" PRIu64 " (%.1f %%)\n", told.requests,
		100.0 * (double)told.requests / (double)r->all);
	fprintf(out, "requests_of_no_protocol: %" PRIu64 "\n", r->all - named);
	for (size_t i = 0; i < n; i++) {
		same.routes += is_told(all[i].name);
		same.requests += all[i].requests;
		if (i + 1 < n && !strcmp(all[i].protocol, all[i + 1].protocol))
			continue;
		put_protocol(out, all[i].protocol, &same);
		same = (struct route_sums) { 0 };
	}
	for (size_t i = 0; i < n; i++) {
		if (is_told(all[i].name))
			continue;
		put_words(out, "not_told", all[i].name);
		fprintf(out, ": %" PRIu64 " requests\n", all[i].requests);
	}
	free(all);
}

/* ---- light recordings ------------------------------------------------------------------------ */

/* What was told last of this CPU held up to now. */
static void held(struct info_light *l, const struct trace *t, size_t timers,
		 const struct info_light_cpu *c, uint64_t now_ns)
{
	if (c->ns > trace_info(t)->light_ns && now_ns > c->since_ns)
		l->raised_ns[timers] += now_ns - c->since_ns;
}

/* Counts an event, of whatever kind; those of a CPU come in the order of time. */
static void info_light_event(struct info_light *l, const struct trace *t, const struct event *ev)
{
	size_t timers;
	struct info_light_cpu *c;

	if (ev->kind != EVENT_STACKS_FROM)
		return;
	timers = ev->stacks_from.timers != 0;
	XREACH(l->cpus[timers], l->n_cpus[timers], ev->cpu);
	c = &l->cpus[timers][ev->cpu];
	held(l, t, timers, c, ev->time_ns);
	*c = (struct info_light_cpu) { ev->stacks_from.ns, ev->time_ns };
	if (c->ns > l->most_ns[timers])
		l->most_ns[timers] = c->ns;
}

/* Writes lines of "key: value", and frees: nothing if the trace is of no light recording. */
static void info_light_write(struct info_light *l, const struct trace *t, FILE *out)
{
	static const char *const of[] = { "", "timer_" };
	const struct trace_info *i = trace_info(t);

	if (i->light_ns)
		fprintf(out, "stacks_from_ns: %" PRIu64 "\n", i->light_ns);
	for (size_t timers = 0; timers < 2; timers++) {
		for (size_t k = 0; k < l->n_cpus[timers]; k++)
			held(l, t, timers, &l->cpus[timers][k], i->end_ns);
		free(l->cpus[timers]);
		if (!i->light_ns || !l->n_cpus[timers])
			continue;
		/* Where more sleeps ended than may cost stacks; in ns of all CPUs. */
		fprintf(out, "%sstacks_from_at_most_ns: %" PRIu64 "\n", of[timers],
			l->most_ns[timers]);
		fprintf(out, "%sstacks_from_raised_ns: %" PRIu64 "\n", of[timers],
			l->raised_ns[timers]);
	}
	*l = (struct info_light) { 0 };
}

/* ---- totals ---------------------------------------------------------------------------------- */

static int read_events(const struct trace *t, struct totals *sum)
{
	struct untraced untraced = { 0 };
	uint32_t n_bytes = trace_info(t)->tids_end / 8 + 1;
	uint8_t *seen = xcalloc(n_bytes, 1);
	struct trace_cursor *c;
	const struct trace_thread *threads;
	struct event ev;
	int err = trace_cursor_new(&c, t);
	size_t n;

	if (err)
		goto out;
	threads = trace_threads(t, &n);
	for (size_t i = 0; i < n; i++)
		seen[threads[i].tid / 8] |= (uint8_t)(1 << threads[i].tid % 8);
	while (trace_cursor_next(c, &ev)) {
		untraced_event(&untraced, &ev);
		info_routes_event(&sum->routes, t, &ev);
		info_light_event(&sum->light, t, &ev);
		if (ev.kind == EVENT_STEAL)
			sum->steal_ns += ev.stolen.ns;
		if (ev.kind == EVENT_LOST) {
			sum->lost_spans++;
			sum->lost_unknown += !ev.lost.n;
			continue;
		}
		seen[ev.tid / 8] |= (uint8_t)(1 << ev.tid % 8);
		if (ev.kind >= EVENT_AUX)
			continue;
		seen[ev.other / 8] |= (uint8_t)(1 << ev.other % 8);
	}
	err = trace_cursor_error(c);
	seen[0] &= 0xfe;
	for (size_t i = 0; i < n_bytes; i++)
		sum->threads += (uint64_t)__builtin_popcount(seen[i]);
out:
	trace_cursor_free(c);
	sum->untraced = untraced.switches;
	free(untraced.next);
	free(seen);
	return err;
}

static bool is_user_stack(const struct trace *t, const struct trace_stack *s)
{
	const struct trace_frame *f = s->n ? trace_frame(t, s->frames[0]) : NULL;

	return f && f->space;
}

static void count_definitions(const struct trace *t, struct totals *sum)
{
	for (uint32_t id = 1; id < trace_frames_end(t); id++) {
		const struct trace_frame *f = trace_frame(t, id);
		unsigned int kind = !f || !f->space ? 0 : f->code ? 2 : 1;

		sum->frames[kind] += f != NULL;
		sum->named[kind] += f && !f->unnamed;
	}
	for (uint32_t id = 1; id < trace_stacks_end(t); id++) {
		struct trace_stack s = trace_stack(t, id);

		sum->stacks += s.n != 0;
		sum->cut_stacks += s.cut;
		if (is_user_stack(t, &s))
			sum->ends[s.end]++;
	}
}

static void put_group(FILE *out, const char *name)
{
	fprintf(out, "# %s\n", name);
}

static void put_times(const struct trace_info *i, FILE *out)
{
	uint64_t len = i->end_ns - i->start_ns;
	char text[WALL_TIME_SIZE];

	put_text(out, "recorded", wall_time(text, i, i->start_ns));
	fprintf(out, "duration_s: %llu.%09llu\n", (unsigned long long)len / 1000000000,
		(unsigned long long)len % 1000000000);
}

/* What AUX_EVENTS blocks hold; nothing of traces without them. */
static void put_aux(const struct trace_info *i, FILE *out)
{
	static const char *const keys[EVENT_KINDS] = {
#define EVENT(NAME, number, record, slices, shown, key, fields) [EVENT_##NAME] = key,
#include "events.def"
	};
	uint64_t known = i->events_of[EVENT_AUX_LOST], kept;

	if (!i->aux_events && !i->kernel_aux)
		return;
	for (size_t k = EVENT_AUX; k < EVENT_KINDS; k++) {
		if (!keys[k])
			continue;
		known += i->events_of[k];
		put_number(out, keys[k], i->events_of[k]);
	}
	if (i->aux_events > known)
		put_number(out, "events_of_unknown_kinds", i->aux_events - known);
	put_number(out, "more_lost", i->aux_lost);
	if (!i->complete || !i->kernel_aux)
		return;
	kept = i->aux_events - i->events_of[EVENT_AUX_LOST];
	put_number(out, "more_kernel_counted", i->kernel_aux);
	fprintf(out, "more_accounted: %s\n", i->kernel_aux == kept + i->aux_lost ? "yes" : "no");
}

static void put_events(const struct trace_info *i, const struct totals *sum, FILE *out)
{
	static const char *const keys[] = {
		[EVENT_SWITCH] = "events_switch",
		[EVENT_WAKING] = "events_waking",
		[EVENT_WAKING_NEW] = "events_waking_new",
		[EVENT_FORK] = "events_fork",
		[EVENT_EXEC] = "events_exec",
		[EVENT_RENAME] = "events_rename",
		[EVENT_EXIT] = "events_exit",
	};

	put_group(out, "events");
	put_number(out, "events", i->events);
	for (size_t k = 0; k < CHAINLOG_EVENT_KINDS; k++)
		put_number(out, keys[k], i->events_of[k]);
	/* No tracepoint reported them: threads of some hypervisors, and of the recorder itself. */
	put_number(out, "untraced_switches", sum->untraced);
	/* An imported trace has no such counter. */
	if (i->complete && (i->kernel_events || !i->events)) {
		put_number(out, "kernel_counted", i->kernel_events);
		/* Kernel and collector count independently of each other. */
		fprintf(out, "accounted: %s\n",
			i->kernel_events == i->events + i->lost ? "yes" : "no");
	} else {
		put_text(out, "kernel_counted", "");
	}
	put_aux(i, out);
	/* Of a virtual machine: when it had work and its hypervisor ran something else. */
	if (i->events_of[EVENT_STEAL])
		put_number(out, "hypervisor_took_ns", sum->steal_ns);
}

static void put_named(FILE *out, const char *key, uint64_t named, uint64_t all)
{
	fprintf(out, "%s: %llu", key, (unsigned long long)named);
	if (all)
		fprintf(out, " (%.1f %%)", 100.0 * (double)named / (double)all);
	putc('\n', out);
}

/* Nothing of traces that do not say how their user stacks ended. */
static void put_ends(const struct totals *sum, FILE *out)
{
	static const char *const keys[CHAINLOG_STACK_ENDS] = {
		[CHAINLOG_STACK_DEPTH] = "user_stacks_too_deep",
		[CHAINLOG_STACK_UNREADABLE] = "user_stacks_unreadable",
		[CHAINLOG_STACK_NO_RULE] = "user_stacks_without_rule",
		[CHAINLOG_STACK_GUESSED] = "user_stacks_guessed",
	};
	uint64_t told = 0;

	for (size_t i = CHAINLOG_STACK_WHOLE; i < CHAINLOG_STACK_ENDS; i++)
		told += sum->ends[i];
	if (!told)
		return;
	put_named(out, "user_stacks_whole", sum->ends[CHAINLOG_STACK_WHOLE], told);
	for (size_t i = CHAINLOG_STACK_DEPTH; i < CHAINLOG_STACK_ENDS; i++)
		put_number(out, keys[i], sum->ends[i]);
}

static void put_damage(const struct trace *t, FILE *out)
{
	const struct trace_damage *d = trace_damage(t);

	fprintf(out, "complete: %s\n", trace_info(t)->complete ? "yes" : "no");
	if (!d->what) {
		fputs("damage: none\n", out);
		return;
	}
	fprintf(out, "damage: %s\n", d->what);
	put_number(out, "damage_offset", d->first_offset);
	put_number(out, "damage_blocks", d->blocks);
	put_number(out, "damage_bytes", d->bytes);
}

static void put_losses(const struct trace *t, const struct totals *sum, FILE *out)
{
	const struct trace_info *i = trace_info(t);

	put_group(out, "losses");
	put_number(out, "lost", i->lost);
	put_number(out, "lost_spans", sum->lost_spans);
	put_number(out, "lost_spans_of_unknown_size", sum->lost_unknown);
	if (i->complete && (i->kernel_events || !i->events))
		put_number(out, "mappings_lost", i->sideband_lost);
	for (unsigned int k = 0; k < CHAINLOG_LEFT_OUTS; k++)
		if (i->left_out[k])
			put_number(out, left_out_key(k), i->left_out[k]);
	put_damage(t, out);
}

/* What the stacks of processes lack. */
static void put_notes(const struct trace *t, FILE *out)
{
	struct process_notes notes;

	process_notes_of(&notes, t, NULL, UINT64_MAX);
	for (size_t i = 0; i < notes.n; i++)
		put_text(out, "note", notes.line[i]);
	process_notes_free(&notes);
}

static int write_info(const struct format_input *in, FILE *out)
{
	const struct trace_info *i = trace_info(in->trace);
	struct totals sum = { 0 };
	size_t at_start;
	int err;

	err = read_events(in->trace, &sum);
	if (err)
		goto out;
	count_definitions(in->trace, &sum);
	(void)trace_threads(in->trace, &at_start);
	put_losses(in->trace, &sum, out);
	put_notes(in->trace, out);
	put_group(out, "recording");
	put_text(out, "host", i->host);
	put_text(out, "kernel", i->release);
	put_text(out, "arch", i->arch);
	put_number(out, "cpus", i->cpus);
	put_text(out, "recorder", i->tool);
	put_text(out, "command", i->options);
	fprintf(out, "stacks_recorded: %s\n",
		i->parts == 3	? "kernel, user"
		: i->parts == 1 ? "kernel"
		: i->parts == 2 ? "user"
				: "none");
	put_times(i, out);
	put_events(i, &sum, out);
	info_routes_write(&sum.routes, in->trace, out);
	info_light_write(&sum.light, in->trace, out);
	put_group(out, "sizes");
	put_number(out, "bytes", i->bytes);
	if (i->events)
		fprintf(out, "bytes_per_event: %.2f\n", (double)i->bytes / (double)i->events);
	put_number(out, "threads", sum.threads);
	put_number(out, "threads_at_start", at_start);
	put_group(out, "stacks and names");
	put_number(out, "stacks", sum.stacks);
	put_number(out, "stacks_cut", sum.cut_stacks);
	put_ends(&sum, out);
	put_number(out, "frames_kernel", sum.frames[0]);
	put_named(out, "frames_kernel_named", sum.named[0], sum.frames[0]);
	put_number(out, "frames_user", sum.frames[1]);
	put_named(out, "frames_user_named", sum.named[1], sum.frames[1]);
	if (sum.frames[2]) {
		put_number(out, "frames_interpreted", sum.frames[2]);
		put_named(out, "frames_interpreted_named", sum.named[2], sum.frames[2]);
	}
out:
	free(sum.routes.requests);
	return err;
}

const struct format format_info = {
	.name = "info",
	.summary = "what the trace holds, and what was lost",
	.several = SEVERAL_HEADED,
	.write = write_info,
};
