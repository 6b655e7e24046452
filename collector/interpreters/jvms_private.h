/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jvms_private.h - the messages between the recorder (jvms.c) and who reads a JVM (jvms_process.c).
 */
#pragma once

#include "jvm_code.h"
#include "jvms.h"

#define JVMS_CPU_SECONDS 60u

enum jvms_op {
	JVMS_OPEN,   /* the memory comes with it, and the two addresses; no answer */
	JVMS_FRAME,  /* what is at the address at[0]; answers: struct jvms_answer */
	JVMS_EXACT,  /* the same of an instruction that was interrupted */
	JVMS_METHOD, /* the method at[0], whose bytecode has these lower bits: at[1] */
	JVMS_CHANGES /* whether something has changed */
};

struct jvms_request {
	uint32_t op, serial;
	uint64_t at[2];
};

struct jvms_answer {
	uint32_t serial; /* of the request */
	int32_t err;	 /* -ENOENT: the JVM is not known, or nothing is there */
	uint32_t is_unknown, has_changed;
	uint32_t n; /* frames, as of jvm_find_frame() */
	struct jvm_frame frames[JVM_DEPTH];
};
