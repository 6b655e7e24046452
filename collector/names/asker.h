/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asker.h - asks the debuginfod servers in DEBUGINFOD_URLS for the debug files of stripped programs
 * by build ID, when the recording has ended. A process without any rights does so, because what
 * talks to a server must not be able to do what a recorder can: it runs as the user who called
 * sudo, or as nobody, without capabilities, and has nothing open but a socket to the recorder. It
 * is started before the recorder gives up the right to change its user. What it passes back is read
 * like any other untrusted file.
 */
#ifndef ASKER_H
#define ASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asker;

/*
 * Starts the process, which sleeps until it is asked; all its requests together may take that many
 * seconds. verbose: reports on standard error what was asked and found. Returns 0, and *out NULL if
 * DEBUGINFOD_URLS names no server; or a negative errno.
 */
int asker_start(struct asker **out, unsigned int seconds, bool verbose);
/* The process. */
int asker_pid(const struct asker *a);
/* Ends the process. NULL is allowed. */
void asker_free(struct asker *a);

/*
 * The debug file with the build ID of len bytes: a descriptor of a regular file, to close; or a
 * negative errno: -ENOENT if no server has it, -ETIMEDOUT if the time is used up.
 */
int asker_ask(struct asker *a, const uint8_t *build_id, size_t len);

#endif /* ASKER_H */
