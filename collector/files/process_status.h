/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_status.h - who a process is: /proc/PID/status. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_status {
	uint32_t ns_pid; /* its PID in its innermost PID namespace */
	uid_t uid;	 /* effective */
	gid_t gid;	 /* effective */
	uint64_t caught; /* signals that it handles: bits 1 << (signal - 1) */
};

/* 0, or -ESRCH: there is no such process. */
int process_status_read(struct process_status *out, uint32_t tgid);

/* The user that it runs as, as a key of owners.h; one of its own if there is no such process. */
uint64_t process_owner_key(uint32_t tgid);

/* The name of its first thread. False: there is no such process. */
bool process_comm(char comm[16], uint32_t tgid);

/* When it was forked, in ticks (sysconf(_SC_CLK_TCK)) since the boot; 0: there is no such process.
 */
uint64_t process_start_ticks(uint32_t tgid);
