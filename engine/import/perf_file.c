// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_file.h"

#include <errno.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "import_report.h"

#define HEADER_BYTES 104u /* of a file; of a pipe: PIPE_HEADER_BYTES */
#define PIPE_HEADER_BYTES 16u
#define SECTION_BYTES 16u
#define RECORD_HEADER 8u
/* Of struct perf_event_attr: its first version has so many bytes. */
#define ATTR_BYTES 64u
#define ATTR_TRAILER_BIT 18u /* sample_id_all, in its flags */
#define BUILD_ID_BYTES 24u   /* the room for one; its length may stand at PERF_BUILD_ID_MAX */

/* perf_event_attr.type and config of what samples the running thread. */
#define TYPE_HARDWARE 0u
#define TYPE_SOFTWARE 1u
#define TYPE_TRACEPOINT 2u
#define HARDWARE_CYCLES 0u
#define SOFTWARE_CPU_CLOCK 0u
#define SOFTWARE_TASK_CLOCK 1u
#define SOFTWARE_DUMMY 9u /* then output of BPF programs, and switches of control groups */

/* Numbers of the sections. */
enum feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOST = 3,
	FEATURE_RELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_CPUS = 7,
	FEATURE_COMMAND = 11,
	FEATURE_EVENTS = 12,
	FEATURE_CLOCK_DATA = 29,
	FEATURES = 256,
};

bool perf_file_is(const void *p, size_t len)
{
	return len >= PERF_MAGIC_BYTES && (!memcmp(p, "PERFILE2", 8) || !memcmp(p, "2ELIFREP", 8));
}

void perf_file_free(struct perf_file *f)
{
	free(f->attrs);
	pairs_free(&f->ids);
	free(f->attr_of);
	free(f->arguments);
	free(f->build_ids);
}

void perf_file_damaged(struct perf_file *f, const uint8_t *at)
{
	/* What was compressed is not in the file as it is. */
	if (!f->damage_offset && at >= f->all.p && at < f->all.end)
		f->damage_offset = (uint64_t)(at - f->all.p);
	f->bad_records++;
}

/* ---- attributes ----------------------------------------------------------------------------- */

/* Bytes of the fields of type that stand before `until`, of those with 8 bytes in this order. */
static uint32_t bytes_before(uint64_t type, const uint32_t *order, size_t n, uint32_t until)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < n && order[i] != until; i++)
		bytes += type & order[i] ? 8 : 0;
	return bytes;
}

/* The fields at the beginning of a sample, up to the last one that is asked for. */
static const uint32_t head_order[] = { PERF_BIT_IDENTIFIER, PERF_BIT_IP,   PERF_BIT_TID,
				       PERF_BIT_TIME,	    PERF_BIT_ADDR, PERF_BIT_ID };
/* All fields at the end of other records, from the end. */
static const uint32_t tail_order[] = { PERF_BIT_IDENTIFIER, PERF_BIT_CPU,  PERF_BIT_STREAM,
				       PERF_BIT_ID,	    PERF_BIT_TIME, PERF_BIT_TID };

#define HEAD_AT(type, bit) bytes_before(type, head_order, 6, bit)
#define TAIL_BACK(type, bit) (bytes_before(type, tail_order, 6, bit) + 8)

/* Takes an attribute; NULL: it is malformed, or there are too many. */
static struct perf_attr *take_attr(struct perf_file *f, struct perf_bytes b)
{
	struct perf_attr *a;
	uint32_t type, size, ignored;
	uint64_t config, period, sample_type, read_format, flags;

	if (!perf_u32(&b, &type) || !perf_u32(&b, &size) || !perf_u64(&b, &config) ||
	    !perf_u64(&b, &period) || !perf_u64(&b, &sample_type) || !perf_u64(&b, &read_format) ||
	    !perf_u64(&b, &flags) || !perf_u32(&b, &ignored) || f->n_attrs >= PERF_ATTRS_MAX)
		return NULL;
	XGROW(f->attrs, f->n_attrs, f->cap_attrs);
	f->is_stale = true;
	a = &f->attrs[f->n_attrs++];
	*a = (struct perf_attr) {
		.type = type,
		.config = config,
		.sample_type = sample_type,
		.read_format = read_format,
		.has_trailer = flags >> ATTR_TRAILER_BIT & 1,
		.kind = IMPORT_OTHER,
	};
	if (sample_type & PERF_BIT_TIME) {
		a->time_at = HEAD_AT(sample_type, PERF_BIT_TIME) + 8;
		a->time_back = a->has_trailer ? TAIL_BACK(sample_type, PERF_BIT_TIME) : 0;
	}
	return a;
}

/* The ids of the last attribute. */
static void take_ids(struct perf_file *f, struct perf_bytes b)
{
	uint64_t id;

	while (perf_u64(&b, &id)) {
		uint32_t number = pairs_id(&f->ids, (uint32_t)id, (uint32_t)(id >> 32));

		XGROW_ZEROED(f->attr_of, number, f->cap_attr_of);
		f->attr_of[number] = (uint32_t)f->n_attrs - 1;
	}
}

static const struct perf_attr *attr_by_id(const struct perf_file *f, uint64_t id)
{
	uint32_t number = pairs_find(&f->ids, (uint32_t)id, (uint32_t)(id >> 32));

	return number ? &f->attrs[f->attr_of[number]] : NULL;
}

const struct perf_attr *perf_file_attr(const struct perf_file *f, const struct perf_record *r)
{
	struct perf_bytes b = r->body;
	const struct perf_attr *first = f->attrs, *a = NULL;
	uint64_t type = first ? first->sample_type : 0, id;
	uint32_t bit = type & PERF_BIT_IDENTIFIER ? PERF_BIT_IDENTIFIER : PERF_BIT_ID;
	uint32_t back;

	/* All have the same fields, or all have the identifier: its place is known. */
	if (!first || f->n_attrs == 1 || !(type & bit))
		return first;
	if (r->type == PERF_SAMPLE) {
		if (perf_skip(&b, HEAD_AT(type, bit)) && perf_u64(&b, &id))
			a = attr_by_id(f, id);
		return a;
	}
	back = TAIL_BACK(type, bit);
	if (first->has_trailer && perf_left(&b) >= back)
		a = attr_by_id(f, chainlog_get_le64(b.end - back));
	/* What perf itself has written of the state at the start has no id. */
	return a ? a : first;
}

/* The upper half of config says on which kind of core, on machines with several. */
static bool counts_cycles(const struct perf_attr *a)
{
	uint32_t config = (uint32_t)a->config;

	return (a->type == TYPE_HARDWARE && config == HARDWARE_CYCLES) ||
	       (a->type == TYPE_SOFTWARE &&
		(config == SOFTWARE_CPU_CLOCK || config == SOFTWARE_TASK_CLOCK)) ||
	       (a->name.len && import_perf_is_cycles(a->name));
}

/* Not a tracepoint, and none of perf's own: samples of it say where a thread ran. */
static bool counts_something(const struct perf_attr *a)
{
	return a->type != TYPE_TRACEPOINT && a->name.len &&
	       !(a->type == TYPE_SOFTWARE && a->config >= SOFTWARE_DUMMY);
}

void perf_file_kinds(struct perf_file *f)
{
	f->is_stale = false;
	for (size_t i = 0; i < f->n_attrs; i++) {
		struct perf_attr *a = &f->attrs[i];

		a->tracepoint = a->type == TYPE_TRACEPOINT
					? perf_formats_find(&f->formats, a->config)
					: NULL;
		a->is_cycles = counts_cycles(a);
		if (a->tracepoint)
			a->kind = a->tracepoint->kind;
		else if (a->name.len && import_perf_is_off_cpu(a->name))
			a->kind = IMPORT_OFF_CPU;
		else if (a->is_cycles || counts_something(a))
			a->kind = IMPORT_SAMPLE;
		else
			a->kind = IMPORT_OTHER;
	}
}

/* ---- features ------------------------------------------------------------------------------- */

/* A length of 4 bytes, and a text with zeros behind it. */
static bool take_string(struct perf_bytes *b, struct import_name *s)
{
	struct perf_bytes text;
	uint32_t len;

	if (!perf_u32(b, &len) || !perf_take(b, len, &text))
		return false;
	*s = perf_text_in(text.p, perf_left(&text));
	return true;
}

static int take_command(struct perf_file *f, struct perf_bytes b)
{
	uint32_t n;

	if (!perf_u32(&b, &n))
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		XGROW(f->arguments, f->n_arguments, f->cap_arguments);
		if (!take_string(&b, &f->arguments[f->n_arguments]))
			return -EBADMSG;
		f->n_arguments++;
	}
	return 0;
}

/* The attributes once more, with the names of their events. */
static int take_event_names(struct perf_file *f, struct perf_bytes b)
{
	uint32_t n, size;

	if (!perf_u32(&b, &n) || !perf_u32(&b, &size))
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		struct import_name name;
		struct perf_bytes ids;
		uint32_t n_ids;

		if (!perf_skip(&b, size) || !perf_u32(&b, &n_ids) || !take_string(&b, &name) ||
		    !perf_take(&b, (uint64_t)n_ids * 8, &ids))
			return -EBADMSG;
		if (i < f->n_attrs)
			f->attrs[i].name = name;
	}
	return 0;
}

/* A build ID as in struct perf_record_header_build_id, behind its header. */
static int take_build_id(struct perf_file *f, const struct perf_record *r)
{
	struct perf_bytes b = r->body, id;
	struct perf_build_id *out;
	uint32_t pid;

	if (!perf_u32(&b, &pid) || !perf_take(&b, BUILD_ID_BYTES, &id) || !perf_left(&b))
		return -EBADMSG;
	XGROW(f->build_ids, f->n_build_ids, f->cap_build_ids);
	out = &f->build_ids[f->n_build_ids++];
	*out = (struct perf_build_id) {
		.path = perf_text_in(b.p, perf_left(&b)),
		.misc = r->misc,
		.len = r->misc & PERF_MISC_BUILD_ID_SIZE ? id.p[PERF_BUILD_ID_MAX]
							 : PERF_BUILD_ID_MAX,
		.id = id.p,
	};
	if (out->len > PERF_BUILD_ID_MAX)
		out->len = PERF_BUILD_ID_MAX;
	return 0;
}

static int take_build_ids(struct perf_file *f, struct perf_bytes b)
{
	struct perf_record r;
	int err = 0;

	while (!err && perf_left(&b))
		err = perf_record_take(&b, &r) ? take_build_id(f, &r) : -EBADMSG;
	return err;
}

/* One moment by the recording's clock and by that on the wall. */
static int take_clock(struct perf_file *f, struct perf_bytes b)
{
	uint32_t version, clock;
	uint64_t wall_ns, clock_ns;

	if (!perf_u32(&b, &version) || !perf_u32(&b, &clock) || !perf_u64(&b, &wall_ns) ||
	    !perf_u64(&b, &clock_ns))
		return -EBADMSG;
	f->wall_ns = (int64_t)(wall_ns - clock_ns);
	return 0;
}

static int take_feature(struct perf_file *f, uint64_t feature, struct perf_bytes b)
{
	uint32_t online;

	switch (feature) {
	case FEATURE_TRACING_DATA:
		return perf_formats_read(&f->formats, b) ? 0 : -EBADMSG;
	case FEATURE_BUILD_ID:
		return take_build_ids(f, b);
	case FEATURE_HOST:
		return take_string(&b, &f->host) ? 0 : -EBADMSG;
	case FEATURE_RELEASE:
		return take_string(&b, &f->release) ? 0 : -EBADMSG;
	case FEATURE_VERSION:
		return take_string(&b, &f->version) ? 0 : -EBADMSG;
	case FEATURE_ARCH:
		return take_string(&b, &f->arch) ? 0 : -EBADMSG;
	case FEATURE_CPUS:
		if (!perf_u32(&b, &f->cpus) || !perf_u32(&b, &online))
			return -EBADMSG;
		if (f->cpus > IMPORT_CPU_LIMIT)
			f->cpus = 0;
		return 0;
	case FEATURE_COMMAND:
		return take_command(f, b);
	case FEATURE_EVENTS:
		return take_event_names(f, b);
	case FEATURE_CLOCK_DATA:
		return take_clock(f, b);
	default:
		return 0;
	}
}

/* ---- the layout of files -------------------------------------------------------------------- */

/* A section: its offset and size are next in b. */
static bool take_section(const struct perf_file *f, struct perf_bytes *b, struct perf_bytes *out)
{
	struct perf_bytes all = f->all;
	uint64_t offset, size;

	return perf_u64(b, &offset) && perf_u64(b, &size) && perf_skip(&all, offset) &&
	       perf_take(&all, size, out);
}

static int read_attrs(struct perf_file *f, struct perf_bytes attrs, uint64_t attr_size)
{
	struct perf_bytes one, ids;

	if (attr_size < ATTR_BYTES + SECTION_BYTES)
		return -IMPORT_E_PERF_DAMAGED;
	while (perf_take(&attrs, attr_size, &one)) {
		struct perf_bytes section = { one.end - SECTION_BYTES, one.end };

		one.end -= SECTION_BYTES;
		if (!take_attr(f, one) || !take_section(f, &section, &ids))
			return -IMPORT_E_PERF_DAMAGED;
		take_ids(f, ids);
	}
	return f->n_attrs ? 0 : -IMPORT_E_PERF_DAMAGED;
}

/* flags: a bit for each section, whose table follows the data. */
static int read_features(struct perf_file *f, const uint64_t flags[4])
{
	struct perf_bytes table = { f->data.end, f->all.end }, section;

	for (unsigned int i = 0; i < FEATURES; i++) {
		const uint8_t *at = table.p;

		if (!(flags[i / 64] >> i % 64 & 1))
			continue;
		if (perf_left(&table) < SECTION_BYTES) {
			perf_file_damaged(f, at);
			return 0;
		}
		if (!take_section(f, &table, &section)) {
			table.p = at + SECTION_BYTES;
			perf_file_damaged(f, at);
			continue;
		}
		if (take_feature(f, i, section))
			perf_file_damaged(f, section.p < f->all.end ? section.p : at);
	}
	return 0;
}

static int read_header(struct perf_file *f)
{
	struct perf_bytes b = f->all, attrs, data_section, types;
	uint64_t size, attr_size = 0, offset = 0, bytes = 0, flags[4] = { 0 };
	int err;

	if (!perf_skip(&b, PERF_MAGIC_BYTES) || !perf_u64(&b, &size))
		return -IMPORT_E_PERF_DAMAGED;
	if (size == PIPE_HEADER_BYTES) {
		f->is_pipe = true;
		f->data = b;
		return 0;
	}
	if (size != HEADER_BYTES || perf_left(&b) < HEADER_BYTES - PIPE_HEADER_BYTES)
		return -IMPORT_E_PERF_DAMAGED;
	(void)perf_u64(&b, &attr_size);
	if (!take_section(f, &b, &attrs))
		return -IMPORT_E_PERF_DAMAGED;
	data_section = b;
	(void)perf_u64(&b, &offset);
	(void)perf_u64(&b, &bytes);
	(void)perf_take(&b, SECTION_BYTES, &types); /* no longer used by perf either */
	for (size_t i = 0; i < 4; i++)
		(void)perf_u64(&b, &flags[i]);
	/* perf record writes the size, and all that follows the data, at its end. */
	if (!bytes)
		return -IMPORT_E_PERF_UNFINISHED;
	if (!take_section(f, &data_section, &f->data)) {
		f->data = f->all;
		f->is_cut = true;
		f->damage_offset = (uint64_t)(f->all.end - f->all.p);
		if (!perf_skip(&f->data, offset))
			return -IMPORT_E_PERF_DAMAGED;
	}
	err = read_attrs(f, attrs, attr_size);
	return err ? err : read_features(f, flags);
}

int perf_file_open(struct perf_file *f, const uint8_t *p, size_t len)
{
	*f = (struct perf_file) { .all = { p, p + len } };
	if (!memcmp(p, "2ELIFREP", 8))
		return -IMPORT_E_PERF_ORDER;
	return read_header(f);
}

/* ---- records -------------------------------------------------------------------------------- */

bool perf_record_take(struct perf_bytes *b, struct perf_record *r)
{
	const uint8_t *p = b->p;
	size_t size;

	if (perf_left(b) < RECORD_HEADER)
		return false;
	size = (size_t)(p[6] | p[7] << 8);
	if (size < RECORD_HEADER || size > perf_left(b))
		return false;
	*r = (struct perf_record) { chainlog_get_le32(p),
				    (uint16_t)(p[4] | p[5] << 8),
				    { p + RECORD_HEADER, p + size } };
	b->p += size;
	return true;
}

/* The bytes behind some records, which are too many for a record's length. */
static bool take_bytes_behind(struct perf_file *f, struct perf_record *r)
{
	struct perf_bytes b = r->body;
	uint32_t small;
	uint64_t bytes;

	if (r->type == PERF_TRACING_DATA) {
		if (!perf_u32(&b, &small))
			return false;
		bytes = ((uint64_t)small + 7) / 8 * 8;
		return perf_take(&f->data, bytes, &r->body);
	}
	if (r->type == PERF_AUXTRACE)
		return perf_u64(&b, &bytes) && perf_skip(&f->data, bytes);
	return true;
}

bool perf_file_next(struct perf_file *f, struct perf_record *r)
{
	const uint8_t *at = f->data.p;

	if (!perf_left(&f->data))
		return false;
	if (perf_record_take(&f->data, r) && take_bytes_behind(f, r))
		return true;
	f->data.p = f->data.end;
	f->is_cut = true;
	if (!f->damage_offset)
		f->damage_offset = (uint64_t)(at - f->all.p);
	return false;
}

static int define_attr(struct perf_file *f, struct perf_bytes b)
{
	struct perf_bytes attr = b;
	uint64_t size;

	if (perf_left(&b) < ATTR_BYTES)
		return -EBADMSG;
	size = chainlog_get_le32(b.p + 4);
	if (size < ATTR_BYTES || !perf_take(&b, size, &attr))
		return -EBADMSG;
	if (!take_attr(f, attr))
		return -EBADMSG;
	take_ids(f, b);
	return 0;
}

/* What perf knows of an event beside its attribute: here its name. */
static int define_name(struct perf_file *f, struct perf_bytes b)
{
	uint64_t what, id;
	uint32_t number;

	if (!perf_u64(&b, &what) || !perf_u64(&b, &id))
		return -EBADMSG;
	number = pairs_find(&f->ids, (uint32_t)id, (uint32_t)(id >> 32));
	if (what == 2 && number)
		f->attrs[f->attr_of[number]].name = perf_text_in(b.p, perf_left(&b));
	return 0;
}

int perf_file_define(struct perf_file *f, const struct perf_record *r)
{
	struct perf_bytes b = r->body;
	uint64_t feature;
	int err = 0;

	switch (r->type) {
	case PERF_HEADER_ATTR:
		err = define_attr(f, b);
		break;
	case PERF_EVENT_UPDATE:
		err = define_name(f, b);
		break;
	case PERF_TRACING_DATA:
		f->formats.n = 0;
		err = perf_formats_read(&f->formats, b) ? 0 : -EBADMSG;
		break;
	case PERF_BUILD_ID:
		err = take_build_id(f, r);
		break;
	case PERF_HEADER_FEATURE:
		err = perf_u64(&b, &feature) ? take_feature(f, feature, b) : -EBADMSG;
		break;
	default:
		return 0;
	}
	f->is_stale |= r->type != PERF_BUILD_ID;
	return err;
}
