/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_proc.h - where to read of processes by their ids in the initial PID namespace (the host's),
 * which are those of all that is recorded. In a container with a PID namespace of its own /proc has
 * other ids: a file there would be another process's. There the host's /proc is used, if it is
 * mounted anywhere, and nothing at all if it is not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Finds it. Call it first of all, before other processes are forked that shall know it. */
void host_proc_find(void);

/* Whether this process is in the host's PID namespace, and /proc is the host's. */
bool host_proc_is_here(void);

/* Where the host's /proc is mounted; NULL: nowhere. */
const char *host_proc_dir(void);

/*
 * Whether /proc has the ids of this process's own PID namespace, by which it knows those that it
 * starts: elsewhere /proc/PID of one of them is a stranger's.
 */
bool host_proc_has_own_ids(void);

/*
 * This process's id in the host's PID namespace. Needs CAP_BPF and CAP_PERFMON where the host's
 * /proc is not mounted; 0: not known.
 */
uint32_t host_proc_own_id(void);

#define HOST_PROC_NAME_MAX 192

struct host_proc_name {
	char text[HOST_PROC_NAME_MAX];
};

/* The name of a file of a process: (4711, "maps") is "/proc/4711/maps". "": there is none. */
struct host_proc_name host_proc_name(uint32_t tgid, const char *file);

/* Whether there is such a process. */
bool host_proc_lives(uint32_t tgid);
