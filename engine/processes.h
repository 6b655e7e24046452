/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes.h - which process a thread belongs to, by name: a trace tells process ids; a process is
 * called what its leader, the thread with that id, was called last.
 */
#ifndef ENGINE_PROCESSES_H
#define ENGINE_PROCESSES_H

#include "timeline.h"

struct processes;

/* NULL: out of memory. tl must outlive it. */
struct processes *processes_new(const struct timelines *tl);
void processes_free(struct processes *p);

/*
 * The leader of a thread's process: that of the process that had this id when the thread was first
 * seen, where it was used anew. THREAD_NONE: the process is not known, or its leader never seen.
 */
uint32_t process_leader(const struct processes *p, uint32_t thread);
/* The process's name (string id); 0, the empty one, if there is no leader to take it from. */
uint32_t process_name(const struct processes *p, uint32_t thread);

#endif /* ENGINE_PROCESSES_H */
