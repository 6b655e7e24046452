/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes.h - the names of processes. A trace has process ids only; a process has the last name
 * of its leader, the thread with that id.
 */
#pragma once

#include "timeline.h"

struct processes;

/* tl must outlive it. */
void processes_new(struct processes **out, const struct timelines *tl);
void processes_free(struct processes *p);

/*
 * The leader of a thread's process (of a client the server's, requests.h); if the process id was
 * reused, that of the process that had it when the thread was first seen. THREAD_NONE: the process
 * is unknown, or its leader was not seen.
 */
uint32_t process_leader(const struct processes *p, uint32_t thread);
/* The process's name (string id); 0, the empty one, if there is no leader to take it from. */
uint32_t process_name(const struct processes *p, uint32_t thread);
