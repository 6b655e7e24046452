// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * OTLP profiles (public alpha): ProfilesData, which is the body of an export request, too. Field
 * numbers are those of
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/profiles/v1development/profiles.proto
 * and of common.proto and resource.proto beside it; names of attributes are those of
 * OpenTelemetry's semantic conventions where these have one.
 *
 * Each control group is a resource, which has a profile for each type of value. A sample is a
 * chain, as in pprof: the off-CPU stack is at the root, the wakers' stacks are on top of it, and
 * the leaf comes first.
 *
 * What samples refer to is in tables, in which nothing is twice: an entry is interned as the bytes
 * of its message, and its number is its index, as entry 0 is the empty one.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/group_name.h"
#include "formats/profile.h"
#include "formats/proto.h"
#include "common/xalloc.h"
#include "common/intern.h"

enum {
	DATA_RESOURCE_PROFILES = 1,
	DATA_DICTIONARY = 2,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILES = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME_UNIX_NANO = 3,
	PROFILE_DURATION_NANO = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_LINK = 3,
	SAMPLE_VALUES = 4,
	STACK_LOCATIONS = 1,
	LOCATION_MAPPING = 1,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTES = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_NAME = 1,
	FUNCTION_FILENAME = 3,
	MAPPING_FILENAME = 4,
	MAPPING_ATTRIBUTES = 5,
	LINK_TRACE_ID = 1,
	LINK_SPAN_ID = 2,
	ATTRIBUTE_KEY = 1, /* KeyValueAndUnit */
	ATTRIBUTE_VALUE = 2,
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	ANY_STRING = 1,
	ANY_INT = 3,
};

/* The tables, by their fields of ProfilesDictionary. */
enum table { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS, TABLES };

/* The profiles of a resource. */
enum value { OFF_CPU, WAITS, CPU, VALUES };

static const struct value_type {
	const char *type, *unit;
	const char *period, *period_unit; /* between two samples, one such; NULL: not said */
} value_types[VALUES] = {
	[OFF_CPU] = { "off_cpu", "nanoseconds", "context_switch", "count" },
	[WAITS] = { "waits", "count", "context_switch", "count" },
	[CPU] = { "cpu", "nanoseconds", NULL, NULL },
};

/* Samples of a resource and a type of value: each is there once, with the sum of its values. */
struct sample_set {
	struct intern samples; /* the bytes of the message, but for its values */
	uint64_t *sums;	       /* by id - 1 */
	size_t cap;
};

struct writer {
	struct profile profile;
	struct intern tables[TABLES];
	uint32_t *locations; /* by frame of the rows; 0: not made yet */
	size_t cap_locations;
	struct sample_set sets[VALUES];
	struct text_buf message;    /* an entry in the making, */
	struct text_buf attributes; /* and its attributes, packed */
	struct text_buf stack, out;
	const char *protocol; /* of the row's route; "": not known */
};

/* ---- tables --------------------------------------------------------------------------------- */

static uint32_t entry(struct writer *w, enum table table, const void *p, size_t len)
{
	uint32_t id = xintern(&w->tables[table], p, len, NULL);

	return id;
}

static uint32_t string_of(struct writer *w, const char *s)
{
	return *s ? entry(w, STRINGS, s, strlen(s)) : 0;
}

/* The message in the making is ready. */
static uint32_t end_entry(struct writer *w, enum table table)
{
	uint32_t id = entry(w, table, w->message.p, w->message.len);

	w->message.len = 0;
	return id;
}

static void put_any_value(struct text_buf *b, uint32_t field, const char *text, uint64_t n)
{
	size_t value = proto_begin(b, field);

	if (text)
		proto_string(b, ANY_STRING, text);
	else
		proto_uint(b, ANY_INT, n);
	proto_end(b, value);
}

/* text is NULL: the value is n. */
static uint32_t attribute_of(struct writer *w, const char *key, const char *text, uint64_t n)
{
	proto_uint(&w->message, ATTRIBUTE_KEY, string_of(w, key));
	put_any_value(&w->message, ATTRIBUTE_VALUE, text, n);
	return end_entry(w, ATTRIBUTES);
}

static uint32_t mapping_of(struct writer *w, uint32_t module)
{
	const struct profile *p = &w->profile;
	uint32_t path = names_clean(p->names, trace_module_path(p->trace, module));
	const char *build_id = trace_module_build_id(p->trace, module);
	uint32_t file = string_of(w, names_text(p->names, path)), attribute = 0;

	if (*build_id)
		attribute = attribute_of(w, "process.executable.build_id.gnu", build_id, 0);
	proto_uint(&w->message, MAPPING_FILENAME, file);
	if (attribute) {
		size_t packed = proto_begin(&w->message, MAPPING_ATTRIBUTES);

		proto_packed(&w->message, attribute);
		proto_end(&w->message, packed);
	}
	return end_entry(w, MAPPINGS);
}

static uint32_t function_of(struct writer *w, const struct chain_frame *frame)
{
	uint32_t name = string_of(w, frame->text);
	uint32_t file = frame->file ? string_of(w, frame->file) : 0;

	proto_uint(&w->message, FUNCTION_NAME, name);
	if (file)
		proto_uint(&w->message, FUNCTION_FILENAME, file);
	return end_entry(w, FUNCTIONS);
}

/* Without an address: see format_pprof.c. */
static uint32_t location_of(struct writer *w, uint32_t frame)
{
	struct chain_frame f = chain_rows_frame(w->profile.rows, frame);
	/* Names that are made now move the frame's. */
	uint32_t function = function_of(w, &f), mapping = f.module ? mapping_of(w, f.module) : 0;
	size_t line;

	if (mapping)
		proto_uint(&w->message, LOCATION_MAPPING, mapping);
	line = proto_begin(&w->message, LOCATION_LINES);
	proto_uint(&w->message, LINE_FUNCTION, function);
	if (f.line)
		proto_uint(&w->message, LINE_LINE, f.line);
	proto_end(&w->message, line);
	return end_entry(w, LOCATIONS);
}

/* The location of a frame. Frames are numbered while rows are read. */
static uint32_t location_at(struct writer *w, uint32_t frame)
{
	XGROW_ZEROED(w->locations, frame, w->cap_locations);
	if (!w->locations[frame])
		w->locations[frame] = location_of(w, frame);
	return w->locations[frame];
}

static uint32_t stack_of(struct writer *w, const struct chain_row *row)
{
	size_t n, packed;
	const uint32_t *frames = chain_row_frames(w->profile.rows, row, &n);

	w->stack.len = 0;
	packed = proto_begin(&w->stack, STACK_LOCATIONS);
	for (size_t i = 0; i < n; i++)
		proto_packed(&w->stack, location_at(w, frames[i]));
	proto_end(&w->stack, packed);
	return entry(w, STACKS, w->stack.p, w->stack.len);
}

static void put_link(struct text_buf *b, const uint64_t trace[2], uint64_t span)
{
	uint64_t id[2] = { htobe64(trace[0]), htobe64(trace[1]) };

	span = htobe64(span);
	proto_bytes(b, LINK_TRACE_ID, id, sizeof(id));
	proto_bytes(b, LINK_SPAN_ID, &span, sizeof(span));
}

/* The trace of a request, and its span; 0: not known. */
static uint32_t span_of(struct writer *w, const struct chain_row *row)
{
	const struct context *c = row->node ? profile_context(&w->profile, row) : NULL;

	if (!c || !(c->trace[0] | c->trace[1]))
		return 0;
	put_link(&w->message, c->trace, profile_span(&w->profile, row));
	return end_entry(w, LINKS);
}

static void put_table(struct writer *w, enum table table)
{
	struct intern *t = &w->tables[table];

	if (table == LINKS) {
		static const uint64_t none[2];
		size_t link = proto_begin(&w->out, LINKS);

		put_link(&w->out, none, 0);
		proto_end(&w->out, link);
	} else {
		proto_bytes(&w->out, table, "", 0);
	}
	for (uint32_t id = 1; id <= t->n; id++) {
		size_t len;
		const char *p = intern_bytes(t, id, &len);

		proto_bytes(&w->out, table, p, len);
	}
}

/* ---- routes, by the semantic conventions 1.45: http, database, messaging, rpc ---------------- */

/* Systems whose routes are an operation and perhaps what it is done to. */
static const struct system {
	const char *protocol, *key, *name, *operation, *target;
} systems[] = {
	{ "MySQL", "db.system.name", "mysql", "db.operation.name", "db.collection.name" },
	{ "PostgreSQL", "db.system.name", "postgresql", "db.operation.name", "db.collection.name" },
	{ "MongoDB", "db.system.name", "mongodb", "db.operation.name", "db.collection.name" },
	{ "redis", "db.system.name", "redis", "db.operation.name", "db.collection.name" },
	{ "memcached", "db.system.name", "memcached", "db.operation.name", "db.collection.name" },
	{ "Kafka", "messaging.system", "kafka", "messaging.operation.name",
	  "messaging.destination.name" },
};

static void put_route_part(struct writer *w, const char *key, const char *text)
{
	proto_packed(&w->attributes, attribute_of(w, key, text, 0));
}

/* Operations are written in capitals, what they are done to is not: "CREATE TABLE", "SELECT
 * orders". */
static bool is_target(const char *word)
{
	return (*word >= 'a' && *word <= 'z') || *word == '_' || *word == '*';
}

static void put_operation(const struct system *s, const char *route, struct writer *w)
{
	char *copy = xstrdup(route), *operation = copy, *bracket = strchr(copy, '['), *last;

	/* "[startup]", "EXECUTE [not known]": what is in brackets was not asked for. */
	if (bracket)
		*(bracket > copy ? bracket - 1 : bracket) = '\0';
	last = strrchr(operation, ' ');
	if (last && is_target(last + 1))
		*last = '\0';
	else
		last = NULL;
	put_route_part(w, s->key, s->name);
	if (*operation)
		put_route_part(w, s->operation, operation);
	if (last)
		put_route_part(w, s->target, last + 1);
	free(copy);
}

static void put_http(const char *route, struct writer *w)
{
	static const char *const methods[] = { "GET",	  "HEAD",    "POST",  "PUT",  "DELETE",
					       "CONNECT", "OPTIONS", "TRACE", "PATCH" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		size_t n = strlen(methods[i]);

		if (strncmp(route, methods[i], n) || route[n] != ' ' || route[n + 1] != '/')
			continue;
		put_route_part(w, "http.request.method", methods[i]);
		put_route_part(w, "http.route", route + n + 1);
	}
}

/* "POST /shop.Cart/AddItem" */
static void put_rpc(const char *route, struct writer *w)
{
	const char *path = strchr(route, '/');

	put_route_part(w, "rpc.system.name", "grpc");
	if (path)
		put_route_part(w, "rpc.method", path + 1);
}

/*
 * An attribute for each part of a route, "GET /cart", "SELECT orders"; of a protocol that is not
 * known only a method of HTTP with a path has parts.
 */
static void put_route(struct writer *w, const char *route)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (!strcmp(w->protocol, systems[i].protocol)) {
			put_operation(&systems[i], route, w);
			return;
		}
	if (!strcmp(w->protocol, "gRPC"))
		put_rpc(route, w);
	else
		put_http(route, w);
}

/* ---- samples -------------------------------------------------------------------------------- */

/* NULL: said of the resource, or by the link. */
static const char *const attribute_keys[PROFILE_LABELS] = {
	[LABEL_THREAD] = "thread.name",	 [LABEL_PROCESS] = "process.executable.name",
	[LABEL_PID] = "process.pid",	 [LABEL_STATE] = "chain.state",
	[LABEL_END] = "chain.end",	 [LABEL_LINKS] = "chain.links",
	[LABEL_OBJECT] = "chain.object", [LABEL_ENDPOINT] = "chain.endpoint",
	[LABEL_ROUTE] = "chain.route",
};

static void put_attribute(void *arg, enum profile_label label, const char *text, uint64_t n)
{
	struct writer *w = arg;

	if (attribute_keys[label])
		proto_packed(&w->attributes, attribute_of(w, attribute_keys[label], text, n));
	if (label == LABEL_ROUTE && text)
		put_route(w, text);
}

/* The sample is the message in the making. */
static void add_sample(struct writer *w, enum value value, uint64_t amount)
{
	struct sample_set *set = &w->sets[value];
	uint32_t id = xintern(&set->samples, w->message.p, w->message.len, NULL);

	XGROW_ZEROED(set->sums, id - 1, set->cap);
	set->sums[id - 1] += amount;
}

static void put_samples(struct writer *w, struct sample_set *set)
{
	for (uint32_t id = 1; id <= set->samples.n; id++) {
		size_t len, sample = proto_begin(&w->out, PROFILE_SAMPLES), packed;
		const char *p = intern_bytes(&set->samples, id, &len);

		text_put(&w->out, p, len);
		packed = proto_begin(&w->out, SAMPLE_VALUES);
		proto_packed(&w->out, set->sums[id - 1]);
		proto_end(&w->out, packed);
		proto_end(&w->out, sample);
		set->sums[id - 1] = 0;
	}
	intern_clear(&set->samples);
}

static void put_row(struct writer *w, const struct chain_row *row)
{
	enum value value = row->end == CHAIN_ON_CPU ? CPU : OFF_CPU;
	uint32_t stack, link;

	if (!row->ns && !row->waits)
		return;
	stack = stack_of(w, row);
	link = span_of(w, row);
	w->attributes.len = 0;
	w->protocol = profile_protocol(&w->profile, row);
	profile_labels(&w->profile, row, put_attribute, w);
	proto_uint(&w->message, SAMPLE_STACK, stack);
	if (w->attributes.len)
		proto_bytes(&w->message, SAMPLE_ATTRIBUTES, w->attributes.p, w->attributes.len);
	if (link)
		proto_uint(&w->message, SAMPLE_LINK, link);
	if (row->ns)
		add_sample(w, value, row->ns);
	if (row->waits)
		add_sample(w, WAITS, row->waits);
	w->message.len = 0;
}

/* ---- resources ------------------------------------------------------------------------------ */

static void put_resource_attribute(struct writer *w, const char *key, const char *text)
{
	size_t attribute;

	if (!*text)
		return;
	attribute = proto_begin(&w->out, RESOURCE_ATTRIBUTES);
	proto_string(&w->out, KEY_VALUE_KEY, key);
	put_any_value(&w->out, KEY_VALUE_VALUE, text, 0);
	proto_end(&w->out, attribute);
}

static void put_resource_label(void *arg, enum profile_label label, const char *text, uint64_t n)
{
	struct group_ids ids;

	(void)n;
	switch (label) {
	case LABEL_HOST:
		put_resource_attribute(arg, "host.name", text);
		break;
	case LABEL_CGROUP:
		group_ids(text, &ids);
		put_resource_attribute(arg, "process.linux.cgroup", text);
		put_resource_attribute(arg, "container.id", ids.container);
		put_resource_attribute(arg, "k8s.pod.uid", ids.pod);
		break;
	case LABEL_CGROUP_NAME:
		put_resource_attribute(arg, "service.name", text);
		break;
	default:
		break;
	}
}

static void put_value_type(struct writer *w, uint32_t field, const char *type, const char *unit)
{
	size_t begin = proto_begin(&w->out, field);

	proto_uint(&w->out, VALUE_TYPE_TYPE, string_of(w, type));
	proto_uint(&w->out, VALUE_TYPE_UNIT, string_of(w, unit));
	proto_end(&w->out, begin);
}

static void put_profile(struct writer *w, enum value value)
{
	const struct value_type *type = &value_types[value];
	uint64_t begin_ns = profile_begin_ns(&w->profile);
	size_t profile = proto_begin(&w->out, SCOPE_PROFILES_PROFILES);

	put_value_type(w, PROFILE_SAMPLE_TYPE, type->type, type->unit);
	if (begin_ns)
		proto_fixed64(&w->out, PROFILE_TIME_UNIX_NANO, begin_ns);
	proto_uint(&w->out, PROFILE_DURATION_NANO, profile_length_ns(&w->profile));
	if (type->period) {
		put_value_type(w, PROFILE_PERIOD_TYPE, type->period, type->period_unit);
		proto_uint(&w->out, PROFILE_PERIOD, 1);
	}
	put_samples(w, &w->sets[value]);
	proto_end(&w->out, profile);
}

/* The rows of one control group, whose samples are ready. first: of its rows. */
static void put_resource(struct writer *w, const struct chain_row *first)
{
	size_t resource_profiles = proto_begin(&w->out, DATA_RESOURCE_PROFILES), part, scope;

	part = proto_begin(&w->out, RESOURCE_PROFILES_RESOURCE);
	profile_labels(&w->profile, first, put_resource_label, w);
	proto_end(&w->out, part);
	part = proto_begin(&w->out, RESOURCE_PROFILES_SCOPE_PROFILES);
	scope = proto_begin(&w->out, SCOPE_PROFILES_SCOPE);
	proto_string(&w->out, SCOPE_NAME, "chainwalk");
	proto_string(&w->out, SCOPE_VERSION, CHAIN_VERSION);
	proto_end(&w->out, scope);
	for (enum value v = 0; v < VALUES; v++)
		if (w->sets[v].samples.n)
			put_profile(w, v);
	proto_end(&w->out, part);
	proto_end(&w->out, resource_profiles);
}

static void flush(struct writer *w, FILE *out)
{
	fwrite(w->out.p, 1, w->out.len, out);
	w->out.len = 0;
}

static uint32_t group_of(const struct writer *w, const struct chain_row *row)
{
	return row->node ? interned_stacks_thread_group(w->profile.rows->stacks, row->group).root
			 : 0;
}

/* By control group, else as they are. */
static int by_group(const void *pa, const void *pb, void *arg)
{
	const struct chain_row *a = *(const struct chain_row *const *)pa;
	const struct chain_row *b = *(const struct chain_row *const *)pb;
	uint32_t x = group_of(arg, a), y = group_of(arg, b);

	return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

static void put_data(struct writer *w, FILE *out)
{
	const struct chain_rows *rows = w->profile.rows;
	const struct chain_row **order = xmalloc((rows->n + 1) * sizeof(const struct chain_row *));
	size_t begin = 0, dictionary;

	for (size_t i = 0; i < rows->n; i++)
		order[i] = &rows->at[i];
	qsort_r(order, rows->n, sizeof(const struct chain_row *), by_group, w);
	for (size_t i = 0; i < rows->n && !ferror(out); i++) {
		put_row(w, order[i]);
		if (i + 1 == rows->n || group_of(w, order[i]) != group_of(w, order[i + 1])) {
			put_resource(w, order[begin]);
			flush(w, out);
			begin = i + 1;
		}
	}
	free(order);
	dictionary = proto_begin(&w->out, DATA_DICTIONARY);
	for (enum table t = MAPPINGS; t < TABLES; t++)
		put_table(w, t);
	proto_end(&w->out, dictionary);
	flush(w, out);
}

static int write_otlp(const struct format_input *in, FILE *out)
{
	struct writer w = { .locations = NULL };

	profile_make(&w.profile, in);
	put_data(&w, out);
	format_take_totals(in, w.profile.fold);
	profile_free(&w.profile);
	for (enum table t = MAPPINGS; t < TABLES; t++)
		intern_free(&w.tables[t]);
	for (enum value v = 0; v < VALUES; v++) {
		intern_free(&w.sets[v].samples);
		free(w.sets[v].sums);
	}
	text_free(&w.message);
	text_free(&w.attributes);
	text_free(&w.stack);
	text_free(&w.out);
	free(w.locations);
	return 0;
}

const struct format format_otlp = {
	.name = "otlp",
	.summary = "profiles for the OpenTelemetry Collector",
	.wants_timelines = true,
	.binary = true,
	.running = true,
	.takes = GIVEN_OF_CHAINS | GIVEN_ATTRIBUTED | GIVEN_WRITTEN | GIVEN_TOP,
	.write = write_otlp,
};
