// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile.h"

#include "words/request_words.h"

void profile_make(struct profile *p, const struct format_input *in)
{
	*p = (struct profile) { .trace = in->trace,
				.timelines = in->timelines,
				.options = *in->options };
	p->cpu = timelines_sampled(in->timelines) && !p->options.no_ends;
	/* It does not disturb the other values. */
	if (!(p->options.given & GIVEN_STATE))
		p->options.parts |= PART_RUNNING;
	/* Rows are kept apart by control group, which is a label. */
	p->options.root = ROOT_CGROUP;
	fold_new(&p->fold, in->timelines, &p->options, FOLD_BY_LINE);
	p->rows = fold_rows(p->fold);
	p->names = interned_stacks_names(p->rows->stacks);
}

void profile_free(struct profile *p)
{
	fold_free(p->fold);
}

/* When what the options choose begins and ends, from the start of the trace. */
static void chosen(const struct profile *p, uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t length_ns = timelines_end_ns(p->timelines) - timelines_start_ns(p->timelines);

	*to_ns = p->options.to_ns < length_ns ? p->options.to_ns : length_ns;
	*from_ns = p->options.from_ns < *to_ns ? p->options.from_ns : *to_ns;
}

uint64_t profile_begin_ns(const struct profile *p)
{
	int64_t wall_ns = trace_info(p->trace)->wall_ns;
	uint64_t from_ns, to_ns;

	chosen(p, &from_ns, &to_ns);
	return wall_ns ? timelines_start_ns(p->timelines) + from_ns + (uint64_t)wall_ns : 0;
}

uint64_t profile_length_ns(const struct profile *p)
{
	uint64_t from_ns, to_ns;

	chosen(p, &from_ns, &to_ns);
	return to_ns - from_ns;
}

/* ---- labels --------------------------------------------------------------------------------- */

/* The part of the thread's time to which a row belongs. */
static const char *state_of(const struct profile *p, const struct chain_row *row)
{
	unsigned int part = chain_row_part(p->rows, row);

	for (const struct options_part_word *w = options_part_words; w->word; w++)
		if (w->part == part)
			return w->word;
	return p->cpu && p->options.parts == PART_ALL ? "unknown" : "blocked";
}

/* What was waited for, as the frame in the stack says it. */
static const char *object_of(const struct profile *p, const struct chain_row *row)
{
	uint32_t path[CHAIN_PATH_MAX], text;
	size_t n = chain_row_path(p->rows, row, path);

	text = n ? frame_list_object(interned_stacks_lists(p->rows->stacks), path[n - 1]) : 0;
	return text ? names_text(p->names, text) : "";
}

/* As the frame that says so; "": none does. */
static const char *end_of(const struct profile *p, const struct chain_row *row)
{
	const struct frame_lists *lists = interned_stacks_lists(p->rows->stacks);

	if (row->end == CHAIN_NO_END)
		return "";
	if (row->end == CHAIN_DISK && row->above)
		return frame_at(lists, frame_list_at(lists, row->above, 0)).text;
	return chain_end_name((enum chain_end)row->end);
}

/* A name of the trace, cleaned as in folded lines; "" if it has none. */
static const char *clean(struct profile *p, const char *raw)
{
	return *raw ? names_text(p->names, names_clean(p->names, raw)) : "";
}

/* Of which trace the requests of a row are: one of them. NULL: they are not known to be of one. */
static const struct request *request_of(const struct profile *p, struct thread_group group)
{
	return group.trace ? timelines_request(p->timelines, group.trace - 1) : NULL;
}

const struct context *profile_context(const struct profile *p, const struct chain_row *row)
{
	const struct request *q =
		request_of(p, interned_stacks_thread_group(p->rows->stacks, row->group));

	return q ? timelines_context(p->timelines, q) : NULL;
}

/* Of more requests of one trace, spans are not compared. */
#define SPANS_COMPARED 1000u

uint64_t profile_span(const struct profile *p, const struct chain_row *row)
{
	struct thread_group group = interned_stacks_thread_group(p->rows->stacks, row->group);
	const struct request *q = request_of(p, group);
	const struct request_endpoint *endpoints;
	const uint32_t *same;
	uint32_t n_endpoints;
	uint64_t span = 0;
	size_t n;

	if (!q)
		return 0;
	/* A row has the requests of its endpoint. */
	endpoints = timelines_endpoints(p->timelines, &n_endpoints);
	same = timelines_requests_of_trace(p->timelines, q, &n);
	if (n > SPANS_COMPARED)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct request *other = timelines_request(p->timelines, same[i]);
		uint64_t of_other = timelines_context(p->timelines, other)->span;

		if (endpoints[other->endpoint].alike + 1 != group.endpoint)
			continue;
		if (!of_other || (span && span != of_other))
			return 0;
		span = of_other;
	}
	return span;
}

/* endpoint: 1 + its number; 0: none */
static const char *route_of(struct profile *p, uint32_t endpoint)
{
	uint32_t n;
	const struct request_endpoint *e = timelines_endpoints(p->timelines, &n);
	const struct trace_object *route =
		endpoint ? trace_object(p->trace, e[endpoint - 1].route) : NULL;

	return route ? clean(p, trace_string(p->trace, route->name)) : "";
}

const char *profile_protocol(const struct profile *p, const struct chain_row *row)
{
	uint32_t n;
	const struct request_endpoint *e = timelines_endpoints(p->timelines, &n);
	uint32_t endpoint =
		row->node ? interned_stacks_thread_group(p->rows->stacks, row->group).endpoint : 0;

	return endpoint ? route_protocol(p->timelines, e[endpoint - 1].route) : "";
}

static const char *label(struct profile *p, const struct chain_row *row, enum profile_label what,
			 char text[TRACE_ID_SIZE])
{
	struct thread_group group = { 0 };
	uint32_t n;

	if (row->node)
		group = interned_stacks_thread_group(p->rows->stacks, row->group);
	switch (what) {
	case LABEL_THREAD:
		return clean(p, trace_string(p->trace, group.name));
	case LABEL_PROCESS:
		return clean(p, trace_string(p->trace, group.process));
	case LABEL_CGROUP:
		return group.root ? clean(p, trace_string(p->trace, group.root)) : "";
	case LABEL_CGROUP_NAME:
		return group.root ? names_text(p->names, names_group_path(p->names, group.root))
				  : "";
	case LABEL_HOST:
		return clean(p, trace_info(p->trace)->host);
	case LABEL_STATE:
		return state_of(p, row);
	case LABEL_END:
		return end_of(p, row);
	case LABEL_OBJECT:
		return object_of(p, row);
	case LABEL_ENDPOINT:
		if (!group.endpoint)
			return "";
		return clean(
			p, trace_string(
				   p->trace,
				   timelines_endpoints(p->timelines, &n)[group.endpoint - 1].name));
	case LABEL_ROUTE:
		return route_of(p, group.endpoint);
	case LABEL_TRACE_ID:
		return trace_id_text(text, profile_context(p, row));
	default:
		return "";
	}
}

void profile_labels(struct profile *p, const struct chain_row *row,
		    void (*put)(void *arg, enum profile_label label, const char *text, uint64_t n),
		    void *arg)
{
	uint32_t pid =
		row->node ? interned_stacks_thread_group(p->rows->stacks, row->group).pid : 0;

	for (enum profile_label i = 0; i < PROFILE_LABELS; i++) {
		char id[TRACE_ID_SIZE];
		const char *text;

		/* CHAIN_OTHER is of several threads. */
		if (!row->node && i != LABEL_HOST)
			continue;
		text = label(p, row, i, id);

		if (*text)
			put(arg, i, text, 0);
		else if (i == LABEL_LINKS || (i == LABEL_PID && pid))
			put(arg, i, NULL, i == LABEL_PID ? pid : row->links);
	}
}
