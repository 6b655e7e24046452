/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpus.h - what the kernel says of each CPU (/sys/devices/system/cpu). CPUs are numbered from 0.
 */
#ifndef CPUS_H
#define CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* Sets is_online[cpu] for each CPU below n; if it is not known which are online, for all. */
void cpus_online(bool *is_online, uint32_t n);

/* The number of the CPU's NUMA node; -1: not known, or the machine has one node only. */
int cpu_node(uint32_t cpu);

#endif /* CPUS_H */
