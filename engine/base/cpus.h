/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus.h - how many threads to use. Results never depend on it. */
#pragma once

#include <sched.h>
#include <stdint.h>

/* The CPUs that this process may use (as with taskset), at least 1, at most most. */
static inline uint32_t cpus_usable(uint32_t most)
{
	cpu_set_t set;
	uint32_t n = sched_getaffinity(0, sizeof(set), &set) ? 1 : (uint32_t)CPU_COUNT(&set);

	return n > most ? most : n ? n : 1;
}
