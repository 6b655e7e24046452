// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A pprof profile: profile.proto, gzip-compressed. Field numbers are those of
 * https://github.com/google/pprof/blob/main/proto/profile.proto
 *
 * A sample is a chain with its frames in the order of folded lines, so that pprof's flame graph is
 * the chain graph: the off-CPU stack is at the root, the wakers' stacks are on top of it. pprof
 * expects the leaf first, so a sample begins with the end of its chain, or with where the last
 * waker ran. Of a trace with samples there is also each thread's own running time, as a value of
 * its own: cpu. Samples are written first, the tables to which they refer after them.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "fold/fold.h"
#include "format.h"
#include "gzip.h"
#include "proto.h"
#include "common/intern.h"
#include "words/request_words.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	LABEL_NUM_UNIT = 4,
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILENAME = 4,
};

#define BUFFER_BYTES 65536u /* compressed at a time */

struct writer {
	const struct trace *trace;
	const struct timelines *timelines;
	const struct options *options;
	struct chain_rows *rows;
	struct names *names;
	struct gzip *gzip;
	struct text_buf proto;
	bool cpu;		/* there is a third value: own running time */
	struct intern strings;	/* by index in the string table; 0 is "" */
	struct pairs functions; /* (name, source file or 0), both strings */
	struct pairs mappings;	/* (module, 0) */
	bool out_of_memory;
};

static uint32_t string_of(struct writer *p, const char *s)
{
	uint32_t id = *s ? intern_id(&p->strings, s, strlen(s), NULL) : 0;

	p->out_of_memory |= *s && !id;
	return id;
}

static void flush(struct writer *p, size_t least)
{
	if (p->proto.len < least)
		return;
	gzip_write(p->gzip, p->proto.p, p->proto.len);
	p->proto.len = 0;
}

static uint32_t id_of(struct writer *p, struct pairs *set, uint32_t a, uint32_t b)
{
	uint32_t id = pairs_id(set, a, b);

	p->out_of_memory |= !id;
	return id;
}

static void put_label(struct writer *p, const char *key, const char *value)
{
	size_t label;

	if (!*value)
		return;
	label = proto_begin(&p->proto, SAMPLE_LABEL);
	proto_uint(&p->proto, LABEL_KEY, string_of(p, key));
	proto_uint(&p->proto, LABEL_STR, string_of(p, value));
	proto_end(&p->proto, label);
}

/* A name from the trace, cleaned as in folded lines; no label if it is empty. */
static void put_name_label(struct writer *p, const char *key, const char *raw)
{
	if (*raw)
		put_label(p, key, names_text(p->names, names_clean(p->names, raw)));
}

/* As text: pprof would scale a number, as if it were an amount. */
static void put_pid_label(struct writer *p, uint32_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, pid);
	if (pid)
		put_label(p, "pid", text);
}

/* The path of a control group, and what it is called. */
static void put_group_labels(struct writer *p, uint32_t path)
{
	if (!path)
		return;
	put_name_label(p, "cgroup", trace_string(p->trace, path));
	put_label(p, "cgroup_name", names_text(p->names, names_group_path(p->names, path)));
}

static void put_links_label(struct writer *p, uint32_t links)
{
	size_t label = proto_begin(&p->proto, SAMPLE_LABEL);

	proto_uint(&p->proto, LABEL_KEY, string_of(p, "links"));
	proto_uint(&p->proto, LABEL_NUM, links);
	proto_uint(&p->proto, LABEL_NUM_UNIT, string_of(p, "links"));
	proto_end(&p->proto, label);
}

/* The part of the thread's time to which a row belongs. */
static const char *state_of(const struct writer *p, const struct chain_row *row)
{
	unsigned int part = chain_row_part(p->rows, row);

	for (const struct options_part_word *w = options_part_words; w->word; w++)
		if (w->part == part)
			return w->word;
	return p->cpu && p->options->parts == PART_ALL ? "unknown" : "blocked";
}

/* What was waited for, as the frame in the stack says it. */
static void put_object_label(struct writer *p, const struct chain_row *row)
{
	uint32_t path[CHAIN_PATH_MAX], text;
	size_t n = chain_row_path(p->rows, row, path);

	text = n ? frame_list_object(interned_stacks_lists(p->rows->stacks), path[n - 1]) : 0;
	if (text)
		put_label(p, "object", names_text(p->names, text));
}

/* As the frame that says so. */
static const char *end_of(struct writer *p, const struct chain_row *row)
{
	const struct frame_lists *lists = interned_stacks_lists(p->rows->stacks);

	if (row->end == CHAIN_DISK && row->above)
		return frame_at(lists, frame_list_at(lists, row->above, 0)).text;
	return chain_end_name((enum chain_end)row->end);
}

/* Of a request: to which endpoint it was, and its trace id if that is known. */
static void put_request_labels(struct writer *p, struct thread_group group)
{
	char trace[TRACE_ID_SIZE];
	uint32_t n;
	const struct request_endpoint *e = timelines_endpoints(p->timelines, &n);

	if (!group.endpoint)
		return;
	put_name_label(p, "endpoint", trace_string(p->trace, e[group.endpoint - 1].name));
	if (group.trace)
		put_label(p, "trace_id",
			  trace_id_text(trace,
					timelines_context(p->timelines,
							  timelines_request(p->timelines,
									    group.trace - 1))));
}

/* Whose waits a row is of, and how its chain ends. */
static void put_labels(struct writer *p, const struct chain_row *row)
{
	struct thread_group group = interned_stacks_thread_group(p->rows->stacks, row->group);

	put_name_label(p, "thread", trace_string(p->trace, group.name));
	put_name_label(p, "process", trace_string(p->trace, group.process));
	put_pid_label(p, group.pid);
	put_group_labels(p, group.root);
	put_name_label(p, "host", trace_info(p->trace)->host);
	put_label(p, "state", state_of(p, row));
	if (row->end != CHAIN_NO_END)
		put_label(p, "end", end_of(p, row));
	put_links_label(p, row->links);
	put_object_label(p, row);
	put_request_labels(p, group);
}

static void put_sample(struct writer *p, const struct chain_row *row)
{
	struct text_buf *b = &p->proto;
	size_t sample, packed, n;
	const uint32_t *frames = chain_row_frames(p->rows, row, &n);

	p->out_of_memory |= !n;
	sample = proto_begin(b, PROFILE_SAMPLE);
	packed = proto_begin(b, SAMPLE_LOCATION_ID);
	for (size_t i = 0; i < n; i++)
		proto_packed(b, frames[i]);
	proto_end(b, packed);
	packed = proto_begin(b, SAMPLE_VALUE);
	proto_packed(b, row->waits);
	proto_packed(b, row->end == CHAIN_ON_CPU ? 0 : row->ns);
	if (p->cpu)
		proto_packed(b, row->end == CHAIN_ON_CPU ? row->ns : 0);
	proto_end(b, packed);
	if (row->node)
		put_labels(p, row);
	proto_end(b, sample);
	flush(p, BUFFER_BYTES);
}

static void put_value_type(struct writer *p, uint32_t field, const char *type, const char *unit)
{
	size_t begin = proto_begin(&p->proto, field);

	proto_uint(&p->proto, VALUE_TYPE_TYPE, string_of(p, type));
	proto_uint(&p->proto, VALUE_TYPE_UNIT, string_of(p, unit));
	proto_end(&p->proto, begin);
}

/* Start, duration and sample types; the number of events first, as profile.proto requires. */
static void put_header(struct writer *p)
{
	const struct trace_info *info = trace_info(p->trace);
	const struct options *o = p->options;
	uint64_t length_ns = timelines_end_ns(p->timelines) - timelines_start_ns(p->timelines);
	uint64_t to_ns = o->to_ns < length_ns ? o->to_ns : length_ns;
	uint64_t from_ns = o->from_ns < to_ns ? o->from_ns : to_ns;
	uint64_t start_ns = timelines_start_ns(p->timelines) + from_ns;

	put_value_type(p, PROFILE_SAMPLE_TYPE, "waits", "count");
	put_value_type(p, PROFILE_SAMPLE_TYPE, "blocked", "nanoseconds");
	if (p->cpu)
		put_value_type(p, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	proto_uint(&p->proto, PROFILE_DEFAULT_SAMPLE_TYPE, string_of(p, "blocked"));
	put_value_type(p, PROFILE_PERIOD_TYPE, "blocked", "nanoseconds");
	proto_uint(&p->proto, PROFILE_PERIOD, 1);
	if (info->wall_ns)
		proto_uint(&p->proto, PROFILE_TIME_NANOS, start_ns + (uint64_t)info->wall_ns);
	proto_uint(&p->proto, PROFILE_DURATION_NANOS, to_ns - from_ns);
	proto_uint(&p->proto, PROFILE_COMMENT, string_of(p, "chainwalk " CHAIN_VERSION));
}

/*
 * A location for each frame, by the frame's number, without an address: user addresses differ from
 * process to process, kernel addresses are confidential, and functions have their names already.
 */
static void put_locations(struct writer *p)
{
	struct text_buf *b = &p->proto;

	for (uint32_t id = 1; id < chain_rows_frames_end(p->rows); id++) {
		struct chain_frame frame = chain_rows_frame(p->rows, id);
		uint32_t name = string_of(p, frame.text);
		uint32_t file = string_of(p, frame.file ? frame.file : "");
		size_t location = proto_begin(b, PROFILE_LOCATION), line;

		proto_uint(b, LOCATION_ID, id);
		if (frame.module)
			proto_uint(b, LOCATION_MAPPING_ID, id_of(p, &p->mappings, frame.module, 0));
		line = proto_begin(b, LOCATION_LINE);
		proto_uint(b, LINE_FUNCTION_ID, id_of(p, &p->functions, name, file));
		if (frame.line)
			proto_uint(b, LINE_LINE, frame.line);
		proto_end(b, line);
		proto_end(b, location);
		flush(p, BUFFER_BYTES);
	}
}

static void put_mappings(struct writer *p)
{
	for (uint32_t id = 1; id <= p->mappings.n; id++) {
		uint32_t module = p->mappings.at[id].a;
		uint32_t path = names_clean(p->names, trace_module_path(p->trace, module));
		size_t begin = proto_begin(&p->proto, PROFILE_MAPPING);

		proto_uint(&p->proto, MAPPING_ID, id);
		proto_uint(&p->proto, MAPPING_FILENAME, string_of(p, names_text(p->names, path)));
		proto_uint(&p->proto, MAPPING_BUILD_ID,
			   string_of(p, trace_module_build_id(p->trace, module)));
		/* Otherwise pprof looks for the file, to read names from it. */
		proto_uint(&p->proto, MAPPING_HAS_FUNCTIONS, true);
		proto_end(&p->proto, begin);
		flush(p, BUFFER_BYTES);
	}
}

/*
 * Without system_name, the mangled name: if it equals the name, pprof tries to demangle it, and
 * shortens what it takes for C++.
 */
static void put_functions(struct writer *p)
{
	for (uint32_t id = 1; id <= p->functions.n; id++) {
		size_t begin = proto_begin(&p->proto, PROFILE_FUNCTION);

		proto_uint(&p->proto, FUNCTION_ID, id);
		proto_uint(&p->proto, FUNCTION_NAME, p->functions.at[id].a);
		if (p->functions.at[id].b)
			proto_uint(&p->proto, FUNCTION_FILENAME, p->functions.at[id].b);
		proto_end(&p->proto, begin);
		flush(p, BUFFER_BYTES);
	}
}

static void put_strings(struct writer *p)
{
	proto_string(&p->proto, PROFILE_STRING_TABLE, "");
	for (uint32_t id = 1; id <= p->strings.n; id++) {
		proto_string(&p->proto, PROFILE_STRING_TABLE, intern_text(&p->strings, id));
		flush(p, BUFFER_BYTES);
	}
}

static int put_profile(struct writer *p, FILE *out)
{
	put_header(p);
	for (size_t i = 0; i < p->rows->n && !p->out_of_memory && !ferror(out); i++)
		put_sample(p, &p->rows->at[i]);
	put_locations(p);
	put_mappings(p);
	put_functions(p);
	put_strings(p);
	flush(p, 1);
	gzip_finish(p->gzip);
	return p->out_of_memory || p->proto.failed ? -ENOMEM : 0;
}

static int write_pprof(const struct format_input *in, FILE *out)
{
	struct options o = *in->options;
	struct writer p = { .trace = in->trace,
			    .timelines = in->timelines,
			    .options = &o,
			    .cpu = timelines_sampled(in->timelines) && !o.no_ends };
	struct fold *fold = NULL;
	int err = gzip_new(&p.gzip, out);

	/* It does not disturb the other values. */
	if (!(o.given & GIVEN_STATE))
		o.parts |= PART_RUNNING;
	/* Rows are kept apart by control group, which is a label. */
	o.root = ROOT_CGROUP;
	if (!err)
		err = fold_new(&fold, in->timelines, &o, FOLD_BY_LINE);
	if (!err) {
		p.rows = fold_rows(fold);
		p.names = interned_stacks_names(p.rows->stacks);
		err = put_profile(&p, out);
	}
	if (!err)
		format_take_totals(in, fold);
	fold_free(fold);
	gzip_free(p.gzip);
	text_free(&p.proto);
	intern_free(&p.strings);
	pairs_free(&p.functions);
	pairs_free(&p.mappings);
	return err;
}

const struct format format_pprof = {
	.name = "pprof",
	.summary = "a profile for pprof and what stores its profiles",
	.wants_timelines = true,
	.binary = true,
	.running = true,
	.refuses = GIVEN_TABLE | GIVEN_UNIT | GIVEN_VIEW | GIVEN_BY_NAME,
	.write = write_pprof,
};
