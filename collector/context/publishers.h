/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * publishers.h - finds the processes that publish of which trace and span the work of their threads
 * is (OpenTelemetry's thread context), and where: the BPF side reads it there. A process publishes
 * if it maps a file that exports the variable. Such files, and what a process says of the keys of
 * its attributes, are read by helpers without rights, one after the other and without waiting for
 * them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "helper/helper.h"
#include "names/symbolize.h"

struct publishers;

/* Process tgid publishes as p says; NULL: not, or not any more. */
typedef void (*publishers_fn)(void *ctx, uint32_t tgid, const struct wire_publisher *p);

/*
 * Begins with the processes that run now, and waits for a second at most until it knows which of
 * them publish. sym and helpers are borrowed; publishers_free() comes
 * before sym is freed, which must not be polled after that. Returns 0 or -ENOMEM.
 */
int publishers_new(struct publishers **out, struct symbolizer *sym, struct helpers *helpers,
		   publishers_fn fn, void *ctx);
/* NULL is allowed. */
void publishers_free(struct publishers *p);

/* A step further, after each symbolizer_poll(). */
void publishers_step(struct publishers *p);
/* Whether a helper is at work: then the next step is to come in a few ms. NULL is allowed. */
bool publishers_is_busy(const struct publishers *p);

struct publishers_count {
	uint64_t processes; /* that have published so far, */
	uint64_t routes;    /* and of which it is known which attribute is the route */
	uint64_t files;	    /* that were looked at */
};
struct publishers_count publishers_count(const struct publishers *p);
