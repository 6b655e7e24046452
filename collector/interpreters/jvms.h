/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jvms.h - the running JVMs (HotSpot) whose code is unwound and named by the JVM's own structs
 * (jvm_code.h). Each is read by a process without rights (helper/helper.h), whose answers are kept
 * and checked. Code comes and goes: what was found is looked at again all the time, and if a part
 * of it is another one, or is about to be, all of it is found anew.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "helper/helper.h"
#include "interpreters.h"
#include "jvm_code.h"

struct jvms;

/* What JVMs have changed: rules and stacks of the process are to be found anew. */
typedef void (*jvms_changed_fn)(void *ctx, uint32_t tgid);

/* helpers, which may be NULL, and in are borrowed. Returns 0 or -ENOMEM. */
int jvms_new(struct jvms **out, struct helpers *helpers, const struct interpreters *in,
	     jvms_changed_fn changed, void *ctx);
/* NULL is allowed. */
void jvms_free(struct jvms *j);

/* A frame of Java. */
struct jvms_name {
	const char *function, *file; /* "": not known; valid until the next call */
	uint32_t id;	/* below JVMS_IDS; the same name has the same one, for a while */
	bool has_more;	/* it was compiled into its caller, which is one deeper */
	bool is_method; /* else it is code that the JVM made for itself */
};
#define JVMS_IDS (1u << 30)
#define JVMS_DEPTH 32u /* so many of one frame are told */

/*
 * The rule for an address in generated code of process tgid (jvm_find_frame()). Returns 0; -EAGAIN:
 * not known yet; -ESRCH: the process is no JVM, as far as is known; or -ENOENT: it is one that
 * cannot be read.
 */
int jvms_rule(struct jvms *j, uint32_t tgid, uint64_t at, bool is_exact, struct jvm_rule *r);
/* The name of a frame as stacks have it: an address, maybe WIRE_EXACT, or WIRE_JAVA_METHOD; depth:
 * of the methods that were compiled into one another there, the innermost is 0. Returns likewise;
 * out->has_more is right also if there is no name.
 */
int jvms_name(struct jvms *j, uint32_t tgid, uint64_t frame, uint32_t depth, struct jvms_name *out);

/* Takes answers that have come, and asks what has changed. Call it often. */
void jvms_step(struct jvms *j);

/* What the helper does. */
extern const struct helper_kind jvms_kind;
