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
	uint32_t line;		     /* 0: not known */
	uint32_t id;	/* below JVMS_IDS; the same name has the same one, for a while; 0: none */
	bool is_method; /* else it is code that the JVM made for itself */
};
#define JVMS_IDS (1u << 30)

/* What runs in one frame: methods that were compiled into one another, the innermost first. */
struct jvms_names {
	uint32_t n;
	struct jvms_name list[JVM_DEPTH];
};

/*
 * The rule for an address in generated code of process tgid (jvm_find_frame()). Returns 0; -EAGAIN:
 * not known yet; -ESRCH: the process is no JVM, as far as is known; or -ENOENT: it is one that
 * cannot be read.
 */
int jvms_rule(struct jvms *j, uint32_t tgid, uint64_t at, bool is_exact, struct jvm_rule *r);
/*
 * The names of a frame as stacks have it: an address, maybe WIRE_EXACT, or WIRE_JAVA_METHOD.
 * Returns likewise.
 */
int jvms_names(struct jvms *j, uint32_t tgid, uint64_t frame, struct jvms_names *out);

/* Takes answers that have come, and asks what has changed. Call it often. */
void jvms_step(struct jvms *j);

/* What the helper does. */
extern const struct helper_kind jvms_kind;
