/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_timeout.h - system calls that may not return: opening a file on a file system whose server
 * is dead, or reading what a process holds its memory lock for. Nothing ends a process that hangs
 * in one, not even SIGKILL. So a helper makes them (helper.h), which has the rights that opening
 * needs and no others, nothing open, and no memory of the recording. When it takes too long another
 * one is started, and the rings are drained in the meantime.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Call it before anything else is open or in memory. Without it, calls are made by the caller and
 * are not limited. Returns 0 or a negative errno.
 */
int call_timeout_start(void);
/* The process that forks the others; 0: there is none. */
int call_timeout_pid(void);
/* Tells it to end, as helpers_begin_stop(); calls fail from then on. */
void call_timeout_begin_end(void);
void call_timeout_end(void);

/* What it may be that does not answer: a file system, or a process. */
static inline uint64_t call_key_device(uint32_t major, uint32_t minor)
{
	return 1ull << 63 | (uint64_t)major << 32 | minor;
}

static inline uint64_t call_key_process(uint32_t tgid)
{
	return tgid;
}

/* Or whatever a process's names lead to. */
#define CALL_KEY_NAMES (1ull << 62)

/*
 * What is called there: data has no pointers, and is sent back. fd is the caller's one, or -1; it
 * is closed afterwards. Returns a descriptor that is sent back and closed, or -1.
 */
typedef int (*call_fn)(void *data, int fd);

#define CALL_MAX_BYTES (32u << 10)

/*
 * Calls fn with at most CALL_MAX_BYTES of data, and fd, which stays the caller's; -1: none.
 * *out: the descriptor that it returned, to be closed, or -1. Returns 0; -ETIMEDOUT if it takes
 * longer than a moment (wait_budget.h), or if another call for that key hangs; -EBUSY if as many
 * calls hang as are allowed to; or another negative errno. Then data is as before.
 */
int call_with_timeout(call_fn fn, uint64_t key, void *data, size_t bytes, int fd, int *out);
/*
 * The same for a question that is asked again: if it has taken too long, and was answered since,
 * that answer is this one's, if it was asked for in the last two seconds. For that the key and fn
 * tell all that is asked.
 */
int call_or_earlier(call_fn fn, uint64_t key, void *data, size_t bytes, int *out);
