/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader_private.h - what the recorder (reader.c) and the processes that read (reader_process.c)
 * say to each other. The recorder asks, and checks what it is told.
 */
#ifndef READER_PRIVATE_H
#define READER_PRIVATE_H

#include "reader.h"

/* To the process that forks: one message with a socket, on which the new one answers. */
struct reader_start {
	uint32_t is_low;  /* it begins at idle priority */
	uint32_t is_also; /* it is of the other sort */
	int32_t end;	  /* instead: the process with this id ends; 0: none */
};

enum reader_op {
	READER_OPEN,  /* an ELF file comes with it; answer: struct reader_file */
	READER_DEBUG, /* a debug file comes with it; arg: its claim; answer: struct reader_told */
	READER_COPY,  /* a file in memory comes with it; arg: bytes; answer: struct reader_told */
	READER_MINIDEBUG, /* no answer */
	READER_ASK,	  /* n offsets more; no answer */
	READER_FIND,	  /* answer: for each offset, see below */
	READER_PERF_MAP,  /* a perf map comes with it; no answer */
	READER_JITDUMP,	  /* likewise */
	READER_ASK_CODE,  /* n / 2 pairs of address and time more; no answer */
	READER_FIND_CODE, /* answer: struct reader_told (0: read), then for each address */
};

#define READER_BATCH 4096u

struct reader_request {
	uint32_t op, arg, n, pad;
	uint64_t values[READER_BATCH];
};

struct reader_told {
	int32_t result;
};

/*
 * Answers come many in a message, each a struct reader_answer and the name's bytes, none of them
 * cut.
 */
#define READER_ANSWERS_BYTES (32u << 10)

/* The process from which others are forked; never returns. */
_Noreturn void reader_process(int socket, const struct readers_also *also);

#endif /* READER_PRIVATE_H */
