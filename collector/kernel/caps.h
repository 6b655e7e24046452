/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * caps.h - capabilities of the recorder: what it has, and dropping what it needs no more. Uses the
 * system calls directly: no library is needed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether this thread's effective set has the capability, CAP_... of <linux/capability.h>. */
bool caps_have(int capability);

/* Writes what is missing for recording to out: "CAP_BPF, CAP_PERFMON". False: nothing is. */
bool caps_missing(char *out, size_t out_size);

/*
 * Keeps only what updating BPF maps and looking up names need, for the calling thread and threads
 * that it creates, and sets no_new_privs. Call it when everything is attached and the command, if
 * any, is forked. Returns 0, or a negative errno with the capabilities unchanged.
 */
int caps_drop(void);

/*
 * If output files will be created later: as caps_drop(), but keeps what that needs permitted.
 * caps_create() makes it effective, until caps_drop() is called. Both return 0 or a negative errno.
 */
int caps_drop_but_create(void);
int caps_create(void);

/* Keeps what it takes to open files of recorded programs, and to read their /proc files. */
int caps_drop_to_open(void);
/* Keeps what it takes to become other users, in the root directories of their processes. */
int caps_drop_to_become(void);
/* Keeps none. */
int caps_drop_all(void);
