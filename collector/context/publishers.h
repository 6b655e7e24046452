/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * publishers.h - the processes that publish of which trace and span the work of their threads is
 * (OpenTelemetry's thread context), and where: the BPF side reads it there. A process publishes if
 * it maps a file that exports the variable (names/mapped_files.h). What it says of the keys of its
 * attributes is read by a helper without rights, for one process after the other and without
 * waiting for it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "helper/helper.h"
#include "names/mapped_files.h"

struct publishers;

/* Process tgid publishes as p says; NULL: not, or not any more. */
typedef void (*publishers_fn)(void *ctx, uint32_t tgid, const struct wire_publisher *p);

/* helpers is borrowed. Returns 0 or -ENOMEM. */
int publishers_new(struct publishers **out, struct helpers *helpers, publishers_fn fn, void *ctx);
/* NULL is allowed. */
void publishers_free(struct publishers *p);

/* For mapped_files_tell(); its ctx is a struct publishers. */
extern const struct mapped_files_user publishers_user;

/* After mapped_files_begin(): waits for the keys of the processes that run now, at most wait_ns. */
void publishers_begin(struct publishers *p, uint64_t wait_ns);
/* A step further, after each mapped_files_step(). */
void publishers_step(struct publishers *p);
/* Whether a helper is at work: then the next step is to come in a few ms. */
bool publishers_is_busy(const struct publishers *p);

struct publishers_count {
	uint64_t left_out;  /* processes for which there was no room: WIRE_PUBLISHERS, shared */
	uint64_t processes; /* that have published so far, */
	uint64_t routes;    /* and of which it is known which attribute is the route */
};
struct publishers_count publishers_count(const struct publishers *p);
/* Processes so far that had no room, or were not asked for their keys for seconds. */
uint64_t publishers_missed(struct publishers *p);
