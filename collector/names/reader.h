/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader.h - reads the files that recorded programs were made of, or that they wrote, in processes
 * without rights: strangers made these files, and whoever finds a hole in what reads them must not
 * have the recorder's rights, memory or descriptors. Each file is read in a process of its own, so
 * that one cannot change what another one gives. Such a process has the file open and a socket, no
 * capabilities, nobody's user, bounded memory and time, and may make few system calls
 * (kernel/sandbox.h). If it dies its file gives no names.
 *
 * They are forked from one that was started before the recording, when there was nothing to see.
 */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugfile.h"
#include "elfsym.h"
#include "perfmap.h"

struct readers;
struct reader;

/* The first words of the process that forks, and of a new one before it has read anything. */
struct reader_hello {
	int32_t pid;
};

/* Processes of another sort that are to be forked from the same one, with the same lack of rights.
 */
struct readers_also {
	const char *name;
	uint64_t memory_bytes;
	unsigned int cpu_seconds;
	void (*serve)(int socket); /* does not return */
};

/*
 * Call it before anything else is open or in memory. also may be NULL. Returns 0 or a negative
 * errno.
 */
int readers_start(struct readers **out, const struct readers_also *also);
/*
 * Ends all of them, open ones too; none can be started any more. Returns the nanoseconds on a CPU
 * that they took. NULL is allowed.
 */
uint64_t readers_stop(struct readers *r);
/* After all who may use it are gone. NULL is allowed. */
void readers_free(struct readers *r);
/* The process from which the others are forked. */
int readers_pid(const struct readers *r);

/*
 * Starts one of the other sort. Returns the socket to it, on which it says struct reader_hello
 * before it serves; or a negative errno.
 */
int readers_fork(struct readers *r);
/* Ends one of them by its process id. */
void readers_end(struct readers *r, int pid);

#define READER_SEGMENTS_MAX 16u

/* What is known of an ELF file. */
struct reader_file {
	int32_t err; /* of opening it: 0, or a negative errno */
	uint32_t has_symtab;
	uint32_t n_segments;
	struct elfsym_segment segments[READER_SEGMENTS_MAX]; /* of code */
	struct debugfile_wanted wanted;
};

/* What is at an offset of the file, or at an address of generated code. */
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

/* The answer for the i-th one, in their order. Returns 0 or a negative errno, which ends it all. */
typedef int (*reader_take_fn)(void *ctx, size_t i, const struct reader_answer *a, const char *name);

/*
 * Reads the ELF file fd, which stays the caller's. r may be NULL. Returns 0, *out to be closed; or
 * a negative errno: why it is no such file, or -EPIPE, if its reader has died.
 */
int reader_open(struct reader **out, struct readers *r, int fd, struct reader_file *file);
void reader_close(struct reader *rd);

/* Offers fd as the file's debug file; closes it. Returns whether it was taken. */
bool reader_add_debug(struct reader *rd, int fd, enum debugfile_claim claim);
/* Adds the functions in .gnu_debugdata, if there are any. */
void reader_add_minidebug(struct reader *rd);

/* Says which offsets, ascending, are asked for. Returns 0 or a negative errno. */
int reader_offsets(struct reader *rd, const uint64_t *offsets, size_t n);
/* How many of them have no name yet, or a negative errno. */
int reader_nameless(struct reader *rd);
/* Names them, and finds where functions without a name begin. Returns 0 or a negative errno. */
int reader_find(struct reader *rd, reader_take_fn fn, void *ctx);

/*
 * The same while recording, when nothing may be waited for: each step is made when the reader has
 * something to say (reader_wait(): within wait_ns, less than a second).
 *
 *     reader_begin(); reader_begun() until it is not -EAGAIN; what may follow reader_open(), with
 *     reader_find_begin() as the last; reader_found() until it is not -EAGAIN, for each time some
 *     of the answers; reader_close(), or reader_kill() of one that takes too long.
 *
 * They return 0, -EAGAIN, or as reader_open() and reader_find(). fd stays the caller's.
 *
 * For generated code, reader_begin_code() with descriptors as for reader_generated(), and when it
 * has something to say, reader_ask_code(); then reader_found_code() until it is not -EAGAIN.
 */
int reader_begin(struct reader **out, struct readers *r, int fd);
bool reader_wait(struct reader *rd, uint64_t wait_ns);
int reader_begun(struct reader *rd, struct reader_file *file);
int reader_find_begin(struct reader *rd);
int reader_found(struct reader *rd, reader_take_fn fn, void *ctx);
int reader_begin_code(struct reader **out, struct readers *r, int perf_map, int jitdump);
int reader_ask_code(struct reader *rd, const struct perfmap_address *a, size_t n);
int reader_found_code(struct reader *rd, reader_take_fn fn, void *ctx);
/* rd may be NULL. */
void reader_kill(struct reader *rd, struct readers *r);

/*
 * Copies what names take of the file from, at most max_bytes, to a file in memory of the same
 * length; both stay the caller's. Returns 0 or a negative errno: -ETIMEDOUT if it takes long, and
 * at once after that has happened some times.
 */
int reader_copy(struct readers *r, int from, int to, uint32_t max_bytes);

/*
 * Names generated code, by a perf map and a jitdump (descriptors that stay the caller's; -1: there
 * is none). a has n addresses as for perfmap_find(), and gets no names itself. Returns 0; or a
 * negative errno, if neither could be read.
 */
int reader_generated(struct readers *r, int perf_map, int jitdump, const struct perfmap_address *a,
		     size_t n, reader_take_fn fn, void *ctx);

#endif /* READER_H */
