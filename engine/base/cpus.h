/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus.h - several threads for one piece of work. Results never depend on how many. */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define CPUS_USED_MAX 16u

/*
 * The CPUs that this process may use (as with taskset), at least 1, at most most. Tests say another
 * number in CHAINWALK_THREADS.
 */
static inline uint32_t cpus_usable(uint32_t most)
{
	const char *told = getenv("CHAINWALK_THREADS");
	cpu_set_t set;
	uint32_t n = sched_getaffinity(0, sizeof(set), &set) ? 1 : (uint32_t)CPU_COUNT(&set);

	if (told)
		n = (uint32_t)strtoul(told, NULL, 10);
	return n > most ? most : n ? n : 1;
}

/*
 * Calls run for each of n workers, of size bytes each (0: all are the same), on threads of their
 * own where possible. At most CPUS_USED_MAX of them run at once.
 */
static inline void workers_run(void *workers, size_t size, uint32_t n, void *(*run)(void *worker))
{
	pthread_t threads[CPUS_USED_MAX];
	bool runs[CPUS_USED_MAX] = { false };
	char *at = workers;

	for (uint32_t i = 1; i < n && i < CPUS_USED_MAX; i++)
		runs[i] = !pthread_create(&threads[i], NULL, run, at + i * size);
	run(at);
	for (uint32_t i = 1; i < n; i++) {
		if (i < CPUS_USED_MAX && runs[i])
			pthread_join(threads[i], NULL);
		else
			run(at + i * size);
	}
}

/* The same of n parts of one piece of work: one after the other where there is one CPU. */
static inline void parts_run(void *parts, size_t size, uint32_t n, void *(*run)(void *part))
{
	if (cpus_usable(2) > 1)
		workers_run(parts, size, n, run);
	else
		for (uint32_t i = 0; i < n; i++)
			run((char *)parts + i * size);
}
