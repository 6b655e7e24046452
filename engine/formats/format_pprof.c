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
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gzip.h"
#include "profile.h"
#include "proto.h"
#include "common/intern.h"
#include "common/xalloc.h"

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
	struct profile profile;
	struct gzip *gzip;
	struct text_buf proto;
	struct intern strings;	/* by index in the string table; 0 is "" */
	struct pairs functions; /* (name, source file or 0), both strings */
	struct pairs mappings;	/* (module, 0) */
};

static uint32_t string_of(struct writer *p, const char *s)
{
	uint32_t id = *s ? xintern(&p->strings, s, strlen(s), NULL) : 0;

	return id;
}

static void flush(struct writer *p, size_t least)
{
	if (p->proto.len < least)
		return;
	gzip_write(p->gzip, p->proto.p, p->proto.len);
	p->proto.len = 0;
}

static uint32_t id_of(struct pairs *set, uint32_t a, uint32_t b)
{
	uint32_t id = pairs_id(set, a, b);

	return id;
}

static const char *const label_keys[PROFILE_LABELS] = {
	"thread", "process", "pid",    "cgroup",   "cgroup_name", "host",     "state",
	"end",	  "links",   "object", "endpoint", "route",	  "trace_id",
};

static void put_label(void *arg, enum profile_label what, const char *text, uint64_t n)
{
	struct writer *p = arg;
	size_t label = proto_begin(&p->proto, SAMPLE_LABEL);
	char pid[24];

	/* As text: pprof would scale a number, as if it were an amount. */
	snprintf(pid, sizeof(pid), "%" PRIu64, n);
	if (what == LABEL_PID)
		text = pid;
	proto_uint(&p->proto, LABEL_KEY, string_of(p, label_keys[what]));
	if (text) {
		proto_uint(&p->proto, LABEL_STR, string_of(p, text));
	} else {
		proto_uint(&p->proto, LABEL_NUM, n);
		proto_uint(&p->proto, LABEL_NUM_UNIT, string_of(p, label_keys[what]));
	}
	proto_end(&p->proto, label);
}

static void put_sample(struct writer *p, const struct chain_row *row)
{
	struct text_buf *b = &p->proto;
	size_t sample, packed, n;
	const uint32_t *frames = chain_row_frames(p->profile.rows, row, &n);

	sample = proto_begin(b, PROFILE_SAMPLE);
	packed = proto_begin(b, SAMPLE_LOCATION_ID);
	for (size_t i = 0; i < n; i++)
		proto_packed(b, frames[i]);
	proto_end(b, packed);
	packed = proto_begin(b, SAMPLE_VALUE);
	proto_packed(b, row->waits);
	proto_packed(b, row->end == CHAIN_ON_CPU ? 0 : row->ns);
	if (p->profile.cpu)
		proto_packed(b, row->end == CHAIN_ON_CPU ? row->ns : 0);
	proto_end(b, packed);
	if (row->node)
		profile_labels(&p->profile, row, put_label, p);
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
	uint64_t begin_ns = profile_begin_ns(&p->profile);

	put_value_type(p, PROFILE_SAMPLE_TYPE, "waits", "count");
	put_value_type(p, PROFILE_SAMPLE_TYPE, "blocked", "nanoseconds");
	if (p->profile.cpu)
		put_value_type(p, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	proto_uint(&p->proto, PROFILE_DEFAULT_SAMPLE_TYPE, string_of(p, "blocked"));
	put_value_type(p, PROFILE_PERIOD_TYPE, "blocked", "nanoseconds");
	proto_uint(&p->proto, PROFILE_PERIOD, 1);
	if (begin_ns)
		proto_uint(&p->proto, PROFILE_TIME_NANOS, begin_ns);
	proto_uint(&p->proto, PROFILE_DURATION_NANOS, profile_length_ns(&p->profile));
	proto_uint(&p->proto, PROFILE_COMMENT, string_of(p, "chainwalk " CHAIN_VERSION));
}

/*
 * A location for each frame, by the frame's number, without an address: user addresses differ from
 * process to process, kernel addresses are confidential, and functions have their names already.
 */
static void put_locations(struct writer *p)
{
	struct text_buf *b = &p->proto;

	for (uint32_t id = 1; id < chain_rows_frames_end(p->profile.rows); id++) {
		struct chain_frame frame = chain_rows_frame(p->profile.rows, id);
		uint32_t name = string_of(p, frame.text);
		uint32_t file = string_of(p, frame.file ? frame.file : "");
		size_t location = proto_begin(b, PROFILE_LOCATION), line;

		proto_uint(b, LOCATION_ID, id);
		if (frame.module)
			proto_uint(b, LOCATION_MAPPING_ID, id_of(&p->mappings, frame.module, 0));
		line = proto_begin(b, LOCATION_LINE);
		proto_uint(b, LINE_FUNCTION_ID, id_of(&p->functions, name, file));
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
		uint32_t path =
			names_clean(p->profile.names, trace_module_path(p->profile.trace, module));
		size_t begin = proto_begin(&p->proto, PROFILE_MAPPING);

		proto_uint(&p->proto, MAPPING_ID, id);
		proto_uint(&p->proto, MAPPING_FILENAME,
			   string_of(p, names_text(p->profile.names, path)));
		proto_uint(&p->proto, MAPPING_BUILD_ID,
			   string_of(p, trace_module_build_id(p->profile.trace, module)));
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

static void put_profile(struct writer *p, FILE *out)
{
	put_header(p);
	for (size_t i = 0; i < p->profile.rows->n && !ferror(out); i++)
		put_sample(p, &p->profile.rows->at[i]);
	put_locations(p);
	put_mappings(p);
	put_functions(p);
	put_strings(p);
	flush(p, 1);
	gzip_finish(p->gzip);
}

static int write_pprof(const struct format_input *in, FILE *out)
{
	struct writer p = { .gzip = gzip_new(out) };

	profile_make(&p.profile, in);
	put_profile(&p, out);
	format_take_totals(in, p.profile.fold);
	profile_free(&p.profile);
	gzip_free(p.gzip);
	text_free(&p.proto);
	intern_free(&p.strings);
	pairs_free(&p.functions);
	pairs_free(&p.mappings);
	return 0;
}

const struct format format_pprof = {
	.name = "pprof",
	.summary = "a profile for pprof",
	.wants_timelines = true,
	.binary = true,
	.running = true,
	.takes = GIVEN_OF_CHAINS | GIVEN_ATTRIBUTED | GIVEN_WRITTEN | GIVEN_TOP,
	.write = write_pprof,
};
