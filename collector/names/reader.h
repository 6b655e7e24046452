/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader.h - reads the program files of recorded processes, and files that these wrote, in
 * processes without rights (readers). These files may be hostile: who exploits a bug in the code
 * that reads them must not get the recorder's rights, memory or descriptors. Each file is read in a
 * process of its own, so that no file can change the names from another one. A reader has the file
 * and a socket open, no capabilities, the user nobody, bounded memory and time, and may make few
 * system calls (kernel/sandbox.h). If it dies, its file gives no names.
 *
 * Readers are forked from a process that was started before the recording, and so has none of its
 * data in memory.
 */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/debugfile.h"
#include "elf/elfsym.h"
#include "files/perfmap.h"

struct readers;
struct reader;

/* The first message of the process that forks, and of each new one before it reads anything. */
struct reader_hello {
	int32_t pid;
};

/* Another sort of processes that the same process forks, and that have as few rights. */
struct readers_also {
	const char *name;
	uint64_t memory_bytes;
	unsigned int cpu_seconds;
	void (*serve)(int socket); /* does not return */
};

/*
 * Starts the process that forks readers. Call it before anything secret is open or in memory. also
 * may be NULL. Returns 0, and *out to be freed; or a negative errno.
 */
int readers_start(struct readers **out, const struct readers_also *also);
/*
 * Ends all readers, also those in use; no new ones can be started. Returns the CPU time that all of
 * them took, in ns. NULL is allowed.
 */
uint64_t readers_stop(struct readers *r);
/* Stops and frees. Nothing may use r any more. NULL is allowed. */
void readers_free(struct readers *r);
/* The id of the process from which the others are forked. */
int readers_pid(const struct readers *r);

/*
 * Starts a process of the other sort. Returns the socket to it, on which it sends struct
 * reader_hello before it serves; or a negative errno.
 */
int readers_fork(struct readers *r);
/* Ends one of these processes, or a reader, by its id. */
void readers_end(struct readers *r, int pid);

#define READER_SEGMENTS_MAX 16u

/* What is known of an ELF file. */
struct reader_file {
	int32_t err; /* why it could not be opened, a negative errno; or 0 */
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

/*
 * Takes the answer for the i-th offset or address; i ascends. name: NULL if it has none. Returns 0,
 * or a negative errno, which ends the search.
 */
typedef int (*reader_take_fn)(void *ctx, size_t i, const struct reader_answer *a, const char *name);

/*
 * Reads the ELF file fd, which remains the caller's. r may be NULL: then there are no readers.
 * Returns 0, *out to be closed; or a negative errno: why it is no such file, or -EPIPE if its
 * reader has died.
 */
int reader_open(struct reader **out, struct readers *r, int fd, struct reader_file *file);
void reader_close(struct reader *rd);

/* Offers fd as the file's debug file, and closes fd. Returns whether the reader uses it. */
bool reader_add_debug(struct reader *rd, int fd, enum debugfile_claim claim);
/* Adds the functions in .gnu_debugdata, if there are any. */
void reader_add_minidebug(struct reader *rd);

/* Sends the n offsets in the file, ascending, that are to be named. 0 or a negative errno. */
int reader_offsets(struct reader *rd, const uint64_t *offsets, size_t n);
/* Names them, and finds where functions without a name begin. Returns 0 or a negative errno. */
int reader_find(struct reader *rd, reader_take_fn fn, void *ctx);

/*
 * The same without waiting, for use while recording. Make each step only when reader_wait() says
 * that there is a message from the reader (it waits for up to wait_ns, less than a second):
 *
 *     reader_begin()
 *     reader_begun() until it does not return -EAGAIN
 *     what may follow reader_open(), with reader_find_begin() in place of reader_find()
 *     reader_found() until it does not return -EAGAIN; each call passes some answers to fn
 *     reader_close(), or reader_kill() for a reader that takes too long
 *
 * They return 0, -EAGAIN, or errors as reader_open() and reader_find(). fd remains the caller's.
 *
 * For generated code: reader_begin_code() with descriptors as for reader_generated(), and when it
 * has sent a message, reader_ask_code(); then reader_found_code() until it does not return -EAGAIN.
 */
int reader_begin(struct reader **out, struct readers *r, int fd);
bool reader_wait(struct reader *rd, uint64_t wait_ns);
int reader_begun(struct reader *rd, struct reader_file *file);
int reader_find_begin(struct reader *rd);
int reader_found(struct reader *rd, reader_take_fn fn, void *ctx);
int reader_begin_code(struct reader **out, struct readers *r, int perf_map, int jitdump);
int reader_ask_code(struct reader *rd, const struct perfmap_address *a, size_t n);
int reader_found_code(struct reader *rd, reader_take_fn fn, void *ctx);
/* Ends the reader's process, and closes rd, which may be NULL. */
void reader_kill(struct reader *rd, struct readers *r);

/*
 * Copies those parts of file `from` that names are found in, at most max_bytes, to file `to` in
 * memory, at the same offsets. Both remain the caller's. Returns 0 or a negative errno: -ETIMEDOUT
 * if it takes too long, and without trying after this has happened several times.
 */
int reader_copy(struct readers *r, int from, int to, uint32_t max_bytes);

/*
 * Names generated code, by a perf map and a jitdump (descriptors that remain the caller's; -1:
 * there is none). a: n addresses as for perfmap_find(); names go to fn, not into a. Returns 0; or a
 * negative errno if neither file could be read.
 */
int reader_generated(struct readers *r, int perf_map, int jitdump, const struct perfmap_address *a,
		     size_t n, reader_take_fn fn, void *ctx);

#endif /* READER_H */
