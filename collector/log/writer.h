/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer.h - writes to a file or a pipe through io_uring, with several buffers in flight.
 *
 * The caller's bytes are gathered in large buffers (registered with the kernel if it permits). A
 * full one is submitted, and the caller waits only when all are in flight: a slow disk blocks the
 * caller, memory does not grow. Short and interrupted writes are continued. After an error nothing
 * more is written, and a regular file is cut to the bytes that are complete. If io_uring is
 * missing, forbidden, or stops working, write() is used instead. The only waits without a limit are
 * for a disk that does not answer and for a pipe whose reader does not read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct writer;

/*
 * Opens the output: path is created with mode 0600 or, if it is the caller's own regular file,
 * emptied; "-" is standard output. Pipes, devices and symbolic links (-ENXIO, -ELOOP), other
 * people's files and files with other names (-EPERM) are refused, and a file that another recorder
 * has open (-EBUSY). Under sudo the file is given to the user who called it.
 * Returns a file descriptor, or a negative errno with a reason in why (of why_size bytes).
 */
int writer_open_output(const char *path, char *why, size_t why_size);

/*
 * For who opens files of a folder later. The folder may be a stranger's, who can put another one,
 * or a link to another one, in the place of path at any time.
 *
 * Opens the folder of path. *name: the last part of path. Returns a descriptor to close, or a
 * negative errno, as above.
 */
int writer_open_folder(const char *path, const char **name, char *why, size_t why_size);

/*
 * Opens or creates a file in the folder by the same rules, but does not change its contents. No
 * other recorder opens it while the descriptor is open. *empty: whether the file is empty.
 */
int writer_claim_output(int folder, const char *name, bool *empty, char *why, size_t why_size);

/* Creates a file in the folder. -EEXIST: there is something of that name. */
int writer_create_output(int folder, const char *name, char *why, size_t why_size);

/* Removes the name from the folder if it is that of the file fd. */
void writer_remove_output(int folder, const char *name, int fd);

/* Makes a writer on fd, which stays the caller's. Returns 0 or a negative errno. */
int writer_new(struct writer **out, int fd);

/* Takes len bytes (copied). Returns 0, or the negative errno of the first write that failed. */
int writer_put(struct writer *w, const void *p, size_t len);

/* Submits the gathered bytes without waiting. Returns as writer_put(). */
int writer_flush(struct writer *w);

/*
 * Flushes and waits for all writes; after an error cuts a regular file back. Frees the writer.
 * Returns 0 or the negative errno of the first write that failed.
 */
int writer_close(struct writer *w);

/* The method now: "io_uring, registered buffers", "io_uring" or "plain writes (io_uring: R)". */
const char *writer_method(const struct writer *w);
