/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules_private.h - the messages between the recorder (rules.c) and the processes that read call
 * frame information (rules_process.c). The recorder asks, and checks the answers.
 */
#pragma once

#include "unwind/rules.h"

/* CPU time of a process: some million look-ups. A new one takes over before this is used up. */
#define RULES_CPU_SECONDS 20u

enum rules_op {
	RULES_OPEN,  /* the file comes with it; no answer */
	RULES_CLOSE, /* no answer */
	RULES_FIND,  /* the rule at the offset; answer: struct rules_answer */
	RULES_CALL,  /* whether a call ends before the offset; answer: struct rules_answer */
};

struct rules_request {
	uint32_t op, serial;
	uint32_t file, pad; /* below RULES_FILES_MAX; an open one's until it is closed */
	uint64_t offset;
};

struct rules_answer {
	uint32_t serial; /* of the request */
	int32_t err;	 /* -EAGAIN: it is not known yet, and to be asked again */
	uint64_t bytes;	 /* that its call frame information takes */
	uint32_t is_it;	 /* the code there is a call, or a signal's return if there is no rule */
	struct rules_window window;
};
