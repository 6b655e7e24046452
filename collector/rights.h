/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights.h - which capabilities the recorder has, and giving up those that it needs no more. By
 * the system calls themselves: no library is needed for that.
 */
#ifndef RIGHTS_H
#define RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this thread's effective set has the capability, CAP_... of <linux/capability.h>. */
bool rights_have(int capability);

/* What is missing for recording, as "CAP_BPF, CAP_PERFMON", into out. False if nothing is. */
bool rights_missing(char *out, size_t out_size);

/*
 * To be called when all is attached and the command, if any, is a process of its own: from here on
 * only what updating BPF maps and looking up names need is kept, and no program can give more.
 * For the calling thread and threads that it makes. Returns 0 or a negative errno; then it has
 * the rights it had.
 */
int rights_drop(void);

/*
 * For who will create files later, for the user who asked: as rights_drop(), but what that needs is
 * kept aside. rights_create() takes it up again, until rights_drop() is called. Both return 0 or a
 * negative errno.
 */
int rights_drop_but_create(void);
int rights_create(void);

#endif /* RIGHTS_H */
