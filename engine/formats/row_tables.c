// SPDX-License-Identifier: GPL-2.0-or-later
#include "row_tables.h"

#include <sha2.h>
#include <string.h>

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
