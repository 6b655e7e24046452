/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pidspace.h - whether process ids mean here what they mean to the kernel side.
 *
 * Events carry the ids of the initial PID namespace. In another one getpid(), /proc, perf's
 * records and the list of threads have numbers of its own: the recorder would take strangers for
 * itself and for each other, and give them each other's names.
 */
#ifndef PIDSPACE_H
#define PIDSPACE_H

#include <stddef.h>

/*
 * Returns 0 if this process and the /proc it sees are in the initial PID namespace; else a negative
 * errno, and why, with what the user can do about it, in why.
 */
int pidspace_check(char *why, size_t why_size);

#endif /* PIDSPACE_H */
