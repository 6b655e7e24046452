/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader_private.h - what the recorder (reader.c) and the helpers that read (reader_process.c) say
 * to each other. The recorder asks, and checks what it is told.
 */
#pragma once

#include "helper/helper.h"
#include "reader.h"

enum reader_op {
	READER_OPEN,	  /* an ELF file comes with it; answer: struct reader_file */
	READER_DEBUG,	  /* a debug file comes with it; answer: an int32_t */
	READER_COPY,	  /* a file in memory comes with it; arg: bytes; answer: an int32_t */
	READER_MINIDEBUG, /* no answer */
	READER_PERF_MAP,  /* a perf map comes with it; no answer */
	READER_JITDUMP,	  /* likewise */
	/* A file in memory with n struct reader_question comes with it; answers as below. */
	READER_FIND,
	READER_FIND_CODE, /* likewise; it ends without an answer if no file could be read */
	/* A file in memory with a struct elfprobe_query comes with it; answer: elfprobe_answer */
	READER_FIND_PROBE,
	READER_PARTS, /* of the ELF file; answer: struct reader_parts */
	READER_KEYS,  /* a process context in memory comes with it; answer: an int32_t */
	/*
	 * The memory of a JVM comes with it, which has the ELF file mapped; n: the address of the
	 * file's first byte; answer: struct reader_jvm
	 */
	READER_JVM,
};

struct reader_request {
	uint32_t op, arg;
	uint64_t n;
};

/*
 * Answers come many in a message, each a struct reader_answer and the name's bytes, none of them
 * cut.
 */
#define READER_ANSWERS_BYTES (32u << 10)

extern const struct helper_kind reader_kind;
