// SPDX-License-Identifier: GPL-2.0-or-later
#include "row_tables.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

const struct row_table_shape row_tables[ROWS_ALL] = {
	[ROWS_TRACES] = { "traces",
			  12,
			  { { "time", ROW_TIME },
			    { "trace", ROW_ID },
			    { "host", ROW_TEXT },
			    { "started_ns", ROW_NUMBER },
			    { "duration_ns", ROW_NUMBER },
			    { "cpus", ROW_NUMBER },
			    { "kernel", ROW_TEXT },
			    { "arch", ROW_TEXT },
			    { "recorder", ROW_TEXT },
			    { "events", ROW_NUMBER },
			    { "lost", ROW_NUMBER },
			    { "bytes", ROW_NUMBER } } },
	[ROWS_MODULES] = { "modules",
			   5,
			   { { "time", ROW_TIME },
			     { "trace", ROW_ID },
			     { "host", ROW_TEXT },
			     { "path", ROW_TEXT },
			     { "build_id", ROW_TEXT } } },
	[ROWS_CHAINS] = { "chains",
			  3,
			  { { "time", ROW_TIME }, { "chain", ROW_ID }, { "frames", ROW_TEXT } } },
	[ROWS_WAITS] = { "waits",
			 21,
			 { { "time", ROW_TIME },
			   { "trace", ROW_ID },
			   { "host", ROW_TEXT },
			   { "cgroup", ROW_TEXT },
			   { "process", ROW_TEXT },
			   { "thread", ROW_TEXT },
			   { "endpoint", ROW_TEXT },
			   { "waited_for", ROW_TEXT },
			   { "ended", ROW_TEXT },
			   { "had_cpu", ROW_TEXT },
			   { "chain", ROW_ID },
			   { "ran", ROW_ID },
			   { "latency_ns", ROW_NUMBER },
			   { "waits", ROW_NUMBER },
			   { "blocked_ns", ROW_NUMBER },
			   { "runnable_ns", ROW_NUMBER },
			   { "preempted_ns", ROW_NUMBER },
			   { "running_ns", ROW_NUMBER },
			   { "samples", ROW_NUMBER },
			   { "route", ROW_TEXT },
			   { "over_ns", ROW_NUMBER } } },
};

struct row_id row_id_of(const void *p, size_t len)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	struct row_id id;
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, p, len);
	SHA256Final(digest, &sha);
	memcpy(id.bytes, digest, sizeof(id.bytes));
	return id;
}

/* ---- spans of time -------------------------------------------------------------------------- */

#define NS_PER_S 1000000000u

/* How buckets lie in the trace's time. */
struct clock {
	uint64_t wall_ns; /* what wall clock time is more */
	uint64_t bucket_ns;
	uint64_t from_ns; /* the first span begins there */
};

static uint64_t bucket_at(const struct clock *c, uint64_t ns)
{
	return (ns + c->wall_ns) / c->bucket_ns;
}

/* Appends a span that begins with a bucket. */
static void add(struct row_spans *s, size_t *cap, const struct clock *c, uint64_t bucket)
{
	uint64_t begin_ns = bucket * c->bucket_ns - c->wall_ns;

	if (s->n + 2 > *cap) {
		*cap = *cap * 2 + 64;
		s->bounds = xreallocarray(s->bounds, *cap, sizeof(*s->bounds));
		s->time_s = xreallocarray(s->time_s, *cap, sizeof(*s->time_s));
	}
	s->bounds[s->n] = s->n ? begin_ns : c->from_ns;
	s->time_s[s->n++] = bucket * c->bucket_ns / NS_PER_S;
}

/* Appends a bucket, and before it what lies between it and the last one. */
static void add_bucket(struct row_spans *s, size_t *cap, const struct clock *c, uint64_t *last,
		       uint64_t bucket)
{
	if (bucket > *last + 1)
		add(s, cap, c, *last + 1);
	add(s, cap, c, bucket);
	*last = bucket;
}

int row_spans_new(struct row_spans *s, const struct format_input *in)
{
	const struct options *o = in->options;
	uint64_t start_ns = timelines_start_ns(in->timelines), to_ns, last, end;
	uint64_t length_ns = timelines_end_ns(in->timelines) - start_ns;
	struct clock c = { (uint64_t)trace_info(in->trace)->wall_ns, o->bucket_ns,
			   start_ns + o->from_ns };
	struct trace_cursor *cursor = NULL;
	struct event ev;
	size_t cap = 0;
	int err;

	*s = (struct row_spans) { .n = 0 };
	if (o->from_ns >= length_ns)
		return 0;
	to_ns = start_ns + (o->to_ns < length_ns ? o->to_ns : length_ns);
	last = bucket_at(&c, c.from_ns);
	add(s, &cap, &c, last);
	err = trace_cursor_new(&cursor, in->trace);
	while (!err && trace_cursor_next(cursor, &ev) && ev.time_ns < to_ns)
		if (ev.time_ns >= c.from_ns && bucket_at(&c, ev.time_ns) != last)
			add_bucket(s, &cap, &c, &last, bucket_at(&c, ev.time_ns));
	trace_cursor_free(cursor);
	if (!err && to_ns > c.from_ns && bucket_at(&c, to_ns - 1) > last)
		add(s, &cap, &c, last + 1);
	/* The last one ends as the trace or --to does. */
	end = start_ns > UINT64_MAX - o->to_ns ? UINT64_MAX : start_ns + o->to_ns;
	if (!err)
		s->bounds[s->n] = end;
	return err;
}

void row_spans_free(struct row_spans *s)
{
	free(s->bounds);
	free(s->time_s);
	*s = (struct row_spans) { .n = 0 };
}
