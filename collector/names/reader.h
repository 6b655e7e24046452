/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader.h - reads the program files of recorded processes, and files that these wrote, in helpers
 * without rights (helper/helper.h). These files may be hostile: who exploits a bug in the code that
 * reads them must not get the recorder's rights, memory or descriptors. Each file is read in a
 * process of its own, so that no file can change the names from another one. A reader has bounded
 * memory and time. If it dies, its file gives no names.
 *
 * An ELF file, its debug files, and its names:
 *
 *     reader_open()
 *     reader_file() until it does not return -EAGAIN
 *     reader_add_debug(), reader_add_minidebug()
 *     reader_find(), then reader_found() until it returns 0 or an error
 *     reader_close()
 *
 * Generated code: reader_open_code(), then as above from reader_find() on.
 *
 * Whether an ELF file publishes contexts or has an interpreter: reader_ask_parts() in place of
 * reader_find(), then reader_parts(). Which key of published contexts is the route:
 * reader_open_keys(), then reader_route().
 *
 * What options a JVM has: reader_open() of its libjvm.so, reader_file(), then reader_ask_jvm() and
 * reader_jvm().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/debugfile.h"
#include "elf/elfinterp.h"
#include "elf/elfprobe.h"
#include "elf/elfsym.h"
#include "elf/elftls.h"
#include "files/jvm_flags.h"
#include "helper/helper.h"

struct reader;

#define READER_SEGMENTS_MAX 16u

/* What is known of an ELF file. */
struct reader_file {
	int32_t err; /* why it could not be opened, a negative errno; or 0 */
	uint32_t has_symtab;
	uint32_t n_segments;
	struct elfsym_segment segments[READER_SEGMENTS_MAX]; /* of code */
	struct debugfile_wanted wanted;
};

/* What is to be named. */
struct reader_question {
	uint64_t value;	  /* offset in the file, or address of generated code */
	uint64_t time_ns; /* of generated code: when it was seen */
};

/* What is there. */
struct reader_answer {
	uint64_t value; /* offset in the function; without one, the link-time address */
	uint64_t start; /* link-time address of the function */
	uint32_t flags; /* READER_* */
	uint32_t len;	/* of the name */
};
#define READER_MAPPED 1u  /* a segment loads it */
#define READER_NAMED 2u	  /* it has a name */
#define READER_BOUNDED 4u /* it has none, but its function is known to begin at start */

/* Names are demangled, and at most this long. */
#define READER_NAME_MAX 4000u

/*
 * Takes the answer to the i-th question; i ascends. name: NULL if it has none. Returns 0, or a
 * negative errno, which ends the search.
 */
typedef int (*reader_take_fn)(void *ctx, size_t i, const struct reader_answer *a, const char *name);

/*
 * Starts a reader, and gives it the ELF file fd, or a perf map and a jitdump (-1: there is none).
 * They remain the caller's. helpers may be NULL: then there are no readers. Returns 0, and *out to
 * be closed; or a negative errno.
 */
int reader_open(struct reader **out, struct helpers *helpers, enum helper_priority priority,
		int fd);
int reader_open_code(struct reader **out, struct helpers *helpers, enum helper_priority priority,
		     int perf_map, int jitdump);
/* Ends the reader. NULL is allowed. */
void reader_close(struct reader *rd);
/* The same of one that was late; key: what it may hang in, or 0, as for helper_end_late(). */
void reader_close_late(struct reader *rd, uint64_t key);
/* The CPU time that it has used, in ns; 0: not known. */
uint64_t reader_cpu_ns(const struct reader *rd);

/*
 * What it says of the ELF file, waiting for at most wait_ns. 0; -EAGAIN: nothing yet; -EPIPE: the
 * reader has died; or another negative errno: why it is no such file.
 */
int reader_file(struct reader *rd, struct reader_file *file, uint64_t wait_ns);
/* Offers fd as the file's debug file, and closes fd. Returns whether the reader uses it by then. */
bool reader_add_debug(struct reader *rd, int fd, uint64_t wait_ns);
/* Adds the functions in .gnu_debugdata, if there are any. */
void reader_add_minidebug(struct reader *rd);

/* Asks for n names; values ascend. Returns 0 or a negative errno. */
int reader_find(struct reader *rd, const struct reader_question *q, size_t n);
/*
 * Passes the answers of one message to fn, waiting for it for at most wait_ns. Returns 0: they were
 * the last; 1: more are to come; -EAGAIN: nothing yet; -EPIPE: the reader has died, or could read
 * nothing; or fn's negative errno.
 */
int reader_found(struct reader *rd, reader_take_fn fn, void *ctx, uint64_t wait_ns);

/*
 * Finds a place for a probe. Waits for at most wait_ns. Returns 0, and *answer says what is there
 * or why it is not; or a negative errno, -EPIPE if the reader has died.
 */
int reader_find_probe(struct reader *rd, const struct elfprobe_query *q,
		      struct elfprobe_answer *answer, uint64_t wait_ns);

/*
 * Copies those parts of file `from` that names are found in, at most max_bytes, to file `to` in
 * memory, at the same offsets. Both remain the caller's. Returns 0 or a negative errno: -EAGAIN if
 * it takes longer than wait_ns.
 */
int reader_copy(struct helpers *helpers, int from, int to, uint32_t max_bytes, uint64_t wait_ns);

/* ---- what the BPF side has to know of a file ------------------------------------------------ */

/* The thread-local variable that OpenTelemetry's thread context is found by. */
#define READER_CONTEXT_SYMBOL "otel_thread_ctx_v1"

struct reader_parts {
	uint32_t has_context, has_interpreter;
	struct elftls context; /* that variable */
	struct elfinterp interpreter;
};

/* Asks which of these the ELF file has. Returns 0 or a negative errno. */
int reader_ask_parts(struct reader *rd);
/*
 * The answer, waiting for it for at most wait_ns. 0; -EAGAIN: nothing yet; -EPIPE: the reader has
 * died.
 */
int reader_parts(struct reader *rd, struct reader_parts *out, uint64_t wait_ns);

/* As reader_open(), of a process context (files/process_context.h). */
int reader_open_keys(struct reader **out, struct helpers *helpers, int fd);
/* The index of the route, or WIRE_NO_KEY; or a negative errno as of reader_parts(). */
int reader_route(struct reader *rd, uint64_t wait_ns);

/* ---- the options of a JVM ------------------------------------------------------------------- */

struct reader_jvm {
	int32_t err; /* as of jvm_flags_read() */
	uint8_t frame_pointers, compiles, is_deaf, pad;
};

/*
 * Asks the process that has the ELF file mapped, its first byte at start (also if that is not
 * mapped itself), and whose memory is a descriptor, which stays the caller's. Returns 0 or a
 * negative errno.
 */
int reader_ask_jvm(struct reader *rd, int memory, uint64_t start);
/* The answer; returns as reader_parts(). */
int reader_jvm(struct reader *rd, struct jvm_flags *out, uint64_t wait_ns);
