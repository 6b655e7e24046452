// SPDX-License-Identifier: GPL-2.0-or-later
#include "screen_json.h"

#include <stdlib.h>

#include "cause_json.h"
#include "chain_lines.h"
#include "command_word.h"
#include "named_steps.h"
#include "screen_schema.h"
#include "subject_text.h"
#include "trust.h"
#include "words/process_notes.h"
#include "common/xalloc.h"

#define STEPS_MOST 6 /* of each subject, as on the screen */

/* How much of it there is. */
struct room {
	size_t causes, victims, subjects, routes, notes, bytes_of_text;
};

/*
 * The first of these with which it is small enough is used. What the last one leaves always is:
 * some 50 texts and 4 commands, with keys of at most 20 bytes.
 */
static const struct room rooms[] = {
	{ 10, 3, SUBJECTS_MOST, SERVICE_ROUTES_SHOWN, 4, 240 },
	{ 10, 3, SUBJECTS_MOST, SERVICE_ROUTES_SHOWN, 4, 120 },
	{ 8, 2, SUBJECTS_MOST, SERVICE_ROUTES_SHOWN, 4, 100 },
	{ 5, 2, SUBJECTS_MOST, 3, 2, 80 },
	{ 3, 1, 3, 1, 1, 60 },
	{ 1, 1, 1, 1, 1, 40 },
};
static const struct room all_of_it = { SIZE_MAX, SIZE_MAX, SUBJECTS_MOST, SIZE_MAX, SIZE_MAX, 0 };

struct screen {
	const struct format_input *in;
	const struct subjects *subjects;
	const struct names *names; /* of the causes */
	const struct causes *causes;
	const struct wait_filter *like;
	const struct room *room;
	struct json_object j;
};

/* ---- texts that functions write to a file ---------------------------------------------------- */

struct text {
	char *p;
	size_t len;
	FILE *f;
};

static void text_begin(struct text *t)
{
	t->f = xmemstream(&t->p, &t->len);
}

/* put: json_text or json_whole_text. */
static void text_end_as(struct screen *s, struct text *t, const char *key,
			void (*put)(struct json_object *, const char *, const char *))
{
	xmemstream_close(t->f, &t->p);
	put(&s->j, key, t->p);
	free(t->p);
}

static void text_end(struct screen *s, struct text *t, const char *key)
{
	text_end_as(s, t, key, json_text);
}

/* ---- what limits trust ----------------------------------------------------------------------- */

static void put_limit(void *arg, const char *text)
{
	json_text(arg, NULL, text);
}

static void put_trust(struct screen *s)
{
	struct process_notes notes;

	process_notes_of(&notes, s->in->trace, NULL, PROCESS_NOTES_NAMED);
	json_begin(&s->j, "limits_of_trust", '[');
	trust_tell(s->in, s->like, s->subjects->names, put_limit, &s->j);
	if (!timelines_sampled(s->in->timelines))
		json_text(&s->j, NULL,
			  "there are no samples: what threads ran is not known (chaincap -F)");
	for (size_t i = 0; i < notes.n && i < s->room->notes; i++)
		json_text(&s->j, NULL, notes.line[i]);
	json_end(&s->j, ']');
	process_notes_free(&notes);
}

/* ---- subjects -------------------------------------------------------------------------------- */

static const char *text_of(const struct names *n, uint32_t text)
{
	return text ? names_text(n, text) : NULL;
}

static void put_step(struct screen *s, const struct chain_lines *l, const struct chain_line *line)
{
	const struct chain_step *step = &l->at[line->step], *above = &l->at[step->above];
	const struct chain_step *end = line->end;
	struct json_object *j = &s->j;

	json_begin(j, NULL, '{');
	json_number(j, "depth", line->indent);
	json_text(j, "who", line->who);
	json_text(j, "at", line->at);
	json_number(j, "percent", line->share);
	json_number(j, "ns", step->ns);
	json_text(j, "waits_for",
		  step->is_end || !step->who ? NULL : text_of(l->names, step->what));
	json_bool(j, "holds_it", step->above && above->kind == JOINT_LOCK && step->who);
	json_text(j, "words", line->words);
	json_number(j, "at_once", line->waiting);
	json_text(j, "ends_as", end ? chain_end_name(end->end) : NULL);
	json_text(j, "by", end ? text_of(l->names, end->by) : NULL);
	json_number(j, "no_cpu_ns", end ? end->no_cpu_ns : 0);
	json_end(j, '}');
}

static void put_steps(struct screen *s, const struct subject *of)
{
	struct chain_lines l = { .n = 0 };

	if (of->steps)
		chain_lines_make(&l, of->steps, s->subjects->names, STEPS_MOST);

	json_begin(&s->j, "steps", '[');
	for (size_t i = 0; i < l.n; i++)
		put_step(s, &l, &l.line[i]);
	json_end(&s->j, ']');
	chain_lines_free(&l);
}

static void put_requests(struct screen *s, const struct subject *of)
{
	struct requests_taken all = of->requests->all, slowest = of->slowest;
	struct json_object *j = &s->j;

	json_begin(j, "requests", '{');
	json_number(j, "count", requests_count(all));
	json_number(j, "usual_ns", requests_percentile(all, 500));
	json_number(j, "p99_ns", requests_percentile(all, 990));
	json_number(j, "longest_ns", requests_percentile(all, 1000));
	json_number(j, "slow", slowest.n);
	json_number(j, "slow_from_ns", request_took_ns(&slowest.at[0]));
	json_end(j, '}');
}

/* As they are on a screen. */
static void put_routes(struct screen *s, const struct service *of)
{
	struct json_object *j = &s->j;

	json_begin(j, "routes", '[');
	for (size_t i = 0; i < of->n_routes && i < s->room->routes; i++) {
		const struct service_route *r = &of->routes[i];
		struct requests_taken all = r->requests->all;
		const struct trace_object *route =
			trace_object(s->in->trace, r->requests->endpoint->route);

		json_begin(j, NULL, '{');
		json_text(j, "name", route ? trace_string(s->in->trace, route->name) : NULL);
		json_number(j, "count", requests_count(all));
		json_number(j, "usual_ns", requests_percentile(all, 500));
		json_number(j, "p99_ns", requests_percentile(all, 990));
		json_number(j, "slow", r->slow);
		json_number(j, "over_ns", r->over_ns);
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* Of a command, or of what the user named. */
static void put_path(struct screen *s, const struct subject *of)
{
	struct json_object *j = &s->j;
	struct named_steps steps;

	named_steps_find(&steps, &of->processes, s->in->timelines, s->subjects->names);
	json_number(j, "took_ns", of->took_ns);
	json_number(j, "from_ns", of->from_ns - timelines_start_ns(s->in->timelines));
	json_bool(j, "ended", of->ended);
	json_decimal(j, "cpus_busy", of->cpus_busy);
	json_decimal(j, "others_cpus", of->others_cpus);
	json_number(j, "no_cpu_ns", of->no_cpu_ns);
	json_begin(j, "longest_steps", '[');
	for (size_t i = 0; i < steps.n; i++) {
		json_begin(j, NULL, '{');
		json_text(j, "name", steps.at[i].name);
		json_number(j, "took_ns", steps.at[i].ns);
		json_end(j, '}');
	}
	json_end(j, ']');
	named_steps_free(&steps);
}

static void put_subject(struct screen *s, const struct subject *of)
{
	static const char *const kinds[] = { [SUBJECT_COMMAND] = "command",
					     [SUBJECT_NAMED] = "path",
					     [SUBJECT_WAITER] = "thread",
					     [SUBJECT_ENDPOINT] = "endpoint" };
	struct json_object *j = &s->j;
	struct text verdict;

	text_begin(&verdict);
	json_begin(j, NULL, '{');
	json_text(j, "kind", kinds[of->kind]);
	json_text(j, "name", names_text(s->subjects->names, of->name));
	subject_put_verdict(verdict.f, s->in, s->subjects, of);
	text_end(s, &verdict, "verdict");
	if (of->kind == SUBJECT_COMMAND || of->kind == SUBJECT_NAMED) {
		put_path(s, of);
	} else if (of->kind == SUBJECT_WAITER) {
		json_number(j, "waited_ns", of->took_ns);
	} else {
		put_requests(s, of);
		if (of->service)
			put_routes(s, of->service);
	}
	json_number(j, "explained_ns", of->steps ? chain_steps_total_ns(of->steps) : 0);
	put_steps(s, of);
	json_end(j, '}');
}

/* ---- causes ---------------------------------------------------------------------------------- */

static void put_causes(struct screen *s)
{
	size_t n_all, n = causes_without_pauses(s->causes), shown = s->room->causes;
	const struct cause *at = causes_list(s->causes, &n_all);
	uint64_t all_ns = 0, no_cpu_ns = 0, pauses_ns = 0;
	struct json_object *j = &s->j;

	for (size_t i = 0; i < n_all; i++)
		*(i < n ? &all_ns : &pauses_ns) += at[i].ns;
	for (size_t i = 0; i < n; i++)
		no_cpu_ns += at[i].end == CHAIN_RUNNABLE && !at[i].throttled ? at[i].ns : 0;
	if (s->in->options->top && s->in->options->top < shown)
		shown = s->in->options->top;
	shown = n < shown ? n : shown;
	json_number(j, "waited_ns", all_ns);
	json_number(j, "no_cpu_ns", no_cpu_ns);
	json_number(j, "pauses_ns", pauses_ns);
	json_begin(j, "causes", '[');
	for (size_t i = 0; i < shown; i++) {
		json_begin(j, NULL, '{');
		json_number(j, "row", i + 1);
		json_decimal(j, "percent", all_ns ? 100 * (double)at[i].ns / (double)all_ns : 0);
		cause_json_members(j, s->in, s->names, s->causes, &at[i], s->room->victims);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_number(j, "causes_left_out", n - shown);
}

/* ---- what to do next ------------------------------------------------------------------------- */

static void put_command(struct screen *s, const char *options)
{
	struct text t;

	text_begin(&t);
	fprintf(t.f, "chainwalk %s", options);
	if (s->in->path) {
		putc(' ', t.f);
		command_put_word(t.f, s->in->path);
	}
	text_end_as(s, &t, NULL, json_whole_text);
}

static void put_next(struct screen *s)
{
	json_begin(&s->j, "next", '[');
	if (causes_without_pauses(s->causes))
		put_command(s, "--show 1");
	if (s->subjects->n_endpoints)
		put_command(s, "-f requests");
	put_command(s, "-f html -o report.html");
	json_end(&s->j, ']');
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void make(struct screen *s)
{
	const struct format_input *in = s->in;
	const struct trace_info *info = trace_info(in->trace);
	struct json_object *j = &s->j;
	size_t shown = s->subjects->n < s->room->subjects ? s->subjects->n : s->room->subjects;

	json_begin(j, NULL, '{');
	if (in->key)
		json_text(j, in->key, in->label);
	json_number(j, "schema", 1);
	json_number(j, "duration_ns",
		    timelines_end_ns(in->timelines) - timelines_start_ns(in->timelines));
	json_number(j, "cpus", info->cpus);
	json_number(j, "events", info->events);
	json_number(j, "lost", info->lost);
	put_trust(s);
	json_begin(j, "subjects", '[');
	for (size_t i = 0; i < shown; i++)
		put_subject(s, &s->subjects->at[i]);
	json_end(j, ']');
	json_number(j, "endpoints", s->subjects->n_endpoints);
	put_causes(s);
	put_next(s);
	json_end(j, '}');
}

void screen_put_json(FILE *out, const struct format_input *in, const struct subjects *subjects,
		     const struct names *n, const struct causes *causes,
		     const struct wait_filter *like)
{
	struct screen s = {
		.in = in, .subjects = subjects, .names = n, .causes = causes, .like = like
	};
	bool fits = false;

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]) && !fits; i++) {
		text_free(&s.j.b);
		s.room = in->options->wide ? &all_of_it : &rooms[i];
		s.j = (struct json_object) { .most = s.room->bytes_of_text };
		make(&s);
		fits = in->options->wide || s.j.b.len < SCREEN_JSON_MOST;
	}
	fprintf(out, "%s\n", s.j.b.p);
	text_free(&s.j.b);
}

void screen_put_schema(FILE *out)
{
	fwrite(screen_schema, 1, screen_schema_len, out);
}
