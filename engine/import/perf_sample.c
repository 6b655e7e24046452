// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_sample.h"

#include "trace/trace.h"

/* Bits of read_format. */
#define READ_ENABLED 1u
#define READ_RUNNING 2u
#define READ_ID 4u
#define READ_GROUP 8u
#define READ_LOST 16u

bool perf_sample_time(const struct perf_attr *a, const struct perf_record *r, uint64_t *time_ns)
{
	size_t there = perf_left(&r->body);
	uint32_t at = r->type == PERF_SAMPLE ? a->time_at : a->time_back;

	if (!at || there < at)
		return false;
	*time_ns =
		chainlog_get_le64(r->type == PERF_SAMPLE ? r->body.p + at - 8 : r->body.end - at);
	return true;
}

/* A process and a thread, as the kernel numbers them; what is no id is -1. */
static bool take_ids(struct perf_bytes *b, struct perf_sample *s)
{
	uint32_t tgid, tid;

	if (!perf_u32(b, &tgid) || !perf_u32(b, &tid))
		return false;
	s->tgid = tgid < TRACE_TID_LIMIT ? (int32_t)tgid : -1;
	s->tid = tid < TRACE_TID_LIMIT ? (int32_t)tid : -1;
	return true;
}

static bool take_cpu(struct perf_bytes *b, struct perf_sample *s)
{
	uint32_t cpu, reserved;

	if (!perf_u32(b, &cpu) || !perf_u32(b, &reserved))
		return false;
	s->cpu = cpu < IMPORT_CPU_LIMIT ? (int32_t)cpu : -1;
	return true;
}

static bool has(uint64_t type, uint32_t bit)
{
	return (type & bit) != 0;
}

/* Skips counters' values, whose layout read_format says. */
static bool skip_values(struct perf_bytes *b, uint64_t format)
{
	uint64_t times = has(format, READ_ENABLED) + has(format, READ_RUNNING);
	uint64_t each = 1u + has(format, READ_ID) + has(format, READ_LOST), n = 1;

	if (has(format, READ_GROUP) && !perf_u64(b, &n))
		return false;
	return n <= perf_left(b) && perf_skip(b, (times + n * each) * 8);
}

bool perf_sample_read(const struct perf_attr *a, const struct perf_record *r, struct perf_sample *s)
{
	struct perf_bytes b = r->body;
	uint64_t type = a->sample_type, n;
	uint32_t bytes;

	*s = (struct perf_sample) { .tid = -1, .tgid = -1, .cpu = -1 };
	s->has_user_copy = has(type, PERF_BIT_STACK_USER);
	return (!has(type, PERF_BIT_IDENTIFIER) || perf_skip(&b, 8)) &&
	       (!has(type, PERF_BIT_IP) || perf_skip(&b, 8)) &&
	       (!has(type, PERF_BIT_TID) || take_ids(&b, s)) &&
	       (!has(type, PERF_BIT_TIME) || perf_u64(&b, &s->time_ns)) &&
	       (!has(type, PERF_BIT_ADDR) || perf_skip(&b, 8)) &&
	       (!has(type, PERF_BIT_ID) || perf_skip(&b, 8)) &&
	       (!has(type, PERF_BIT_STREAM) || perf_skip(&b, 8)) &&
	       (!has(type, PERF_BIT_CPU) || take_cpu(&b, s)) &&
	       (!has(type, PERF_BIT_PERIOD) || perf_u64(&b, &s->period)) &&
	       (!has(type, PERF_BIT_READ) || skip_values(&b, a->read_format)) &&
	       (!has(type, PERF_BIT_CALLCHAIN) ||
		(perf_u64(&b, &n) && n <= perf_left(&b) && perf_take(&b, n * 8, &s->chain))) &&
	       (!has(type, PERF_BIT_RAW) ||
		(perf_u32(&b, &bytes) && perf_take(&b, bytes, &s->raw)));
}

bool perf_sample_trailer(const struct perf_attr *a, struct perf_record *r, struct perf_sample *s)
{
	static const uint32_t fields[] = { PERF_BIT_TID,    PERF_BIT_TIME, PERF_BIT_ID,
					   PERF_BIT_STREAM, PERF_BIT_CPU,  PERF_BIT_IDENTIFIER };
	uint64_t type = a->sample_type;
	struct perf_bytes b;
	size_t bytes = 0;

	*s = (struct perf_sample) { .tid = -1, .tgid = -1, .cpu = -1 };
	if (!a->has_trailer)
		return true;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		bytes += has(type, fields[i]) ? 8 : 0;
	if (perf_left(&r->body) < bytes)
		return false;
	b = (struct perf_bytes) { r->body.end - bytes, r->body.end };
	r->body.end = b.p;
	return (!has(type, PERF_BIT_TID) || take_ids(&b, s)) &&
	       (!has(type, PERF_BIT_TIME) || perf_u64(&b, &s->time_ns)) &&
	       (!has(type, PERF_BIT_ID) || perf_skip(&b, 8)) &&
	       (!has(type, PERF_BIT_STREAM) || perf_skip(&b, 8)) &&
	       (!has(type, PERF_BIT_CPU) || take_cpu(&b, s));
}
