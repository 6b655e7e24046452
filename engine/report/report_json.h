/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_json.h - writes a report's data as JSON: report_json.c the tables, report_wait_json.c a
 * wait with its chain over time. Texts, threads and stacks are written as numbers, which they get
 * when they are first used; their tables follow at the end.
 */
#pragma once

#include "base/json_object.h"
#include "report.h"
#include "report_chain.h"

struct report_writer {
	struct report *r;
	struct json_object j;
	struct pairs strings, threads; /* (text id, 0), (thread, 0): their number + 1 */
	size_t string_bytes;	       /* size of the strings in the output */
	struct pair_table places;      /* 1 + string (uint32_t), by (stack pair, 0) */
};

/* Adds numbers to the current list. */
void report_put_numbers(struct report_writer *w, const uint64_t *v, size_t n);
#define report_put(w, ...)                                        \
	report_put_numbers(w, (const uint64_t[]) { __VA_ARGS__ }, \
			   sizeof((const uint64_t[]) { __VA_ARGS__ }) / 8)
#define REPORT_NONE UINT64_MAX /* is written as -1 */
/* The number of a text (text: its id in names), of a thread, of a stack on one line. */
uint32_t report_string(struct report_writer *w, uint32_t text);
uint32_t report_thread(struct report_writer *w, uint32_t thread);
uint32_t report_stack(struct report_writer *w, uint32_t pair, uint32_t frames, bool user);
/* Where a thread slept, in a few words, and what for: "recv < fetch, for tcp 10.0.0.5:5432". */
uint32_t report_place(struct report_writer *w, uint32_t pair);

/* Writes a wait and its chain; chain is scratch space. key: as json_begin()'s. */
void report_put_wait(struct report_writer *w, const char *key, struct report_chain *chain,
		     const struct report_wait *p);
/*
 * Writes what a thread did in [from_ns, to_ns), which is not empty, in the form of a wait;
 * processes: also which process had the time when.
 */
void report_put_life(struct report_writer *w, const char *key, struct report_chain *chain,
		     uint32_t thread, uint64_t from_ns, uint64_t to_ns, bool processes);
/* The endpoints, and requests one by one. */
void report_put_requests(struct report_writer *w);
