/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_parts.h - keeps the BPF side informed of which processes have an interpreter, and which
 * publish contexts, and where in their memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "helper/helper.h"
#include "interpreters/interpreters.h"
#include "kernel/bpf.h"
#include "names/symbolize.h"
#include "options.h"

struct process_parts;

/* Of which languages functions are recorded: a bit for each enum wire_language. */
uint32_t process_parts_languages(const struct options *o);

/*
 * Begins with the processes that run now, and waits for two seconds at most until it knows them.
 * All are borrowed; process_parts_close() comes before sym is freed, which must not be polled after
 * that. *out is NULL if nothing of this is recorded. Returns 0 or -ENOMEM.
 */
int process_parts_open(struct process_parts **out, const struct options *o, struct symbolizer *sym,
		       struct helpers *helpers, struct bpf_session *bpf);
/* For all functions, NULL is allowed: nothing is recorded. */
void process_parts_close(struct process_parts *p);

/* A step further, after each symbolizer_poll(). */
void process_parts_step(struct process_parts *p);
/* Whether a helper is at work: then the next step is to come in a few ms. */
bool process_parts_is_busy(const struct process_parts *p);
/* NULL: no interpreted code is recorded. */
const struct interpreters *process_parts_interpreters(const struct process_parts *p);

/* Adds what was left out. */
void process_parts_left_out(const struct process_parts *p, uint64_t n[CHAINLOG_LEFT_OUTS]);

/* A line on standard error for what has changed since the last time. */
void process_parts_report(struct process_parts *p);
