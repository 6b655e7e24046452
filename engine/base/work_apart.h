/* SPDX-License-Identifier: GPL-2.0-or-later */
/* work_apart.h - work in a process of its own: what goes wrong ends that one alone. */
#pragma once

#include <signal.h>

/*
 * Forks a process that does the work, with the default answer to SIGINT and SIGTERM, and exits with
 * what that returns. It is killed after limit_ms, and when *stop becomes true, by a signal that the
 * caller handles. Returns its status (wait(2)), or a negative errno. Flush your streams before.
 */
int work_apart(int (*work)(const void *ctx), const void *ctx, int limit_ms,
	       const volatile sig_atomic_t *stop);
