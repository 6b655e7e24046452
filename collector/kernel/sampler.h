/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler.h - makes each CPU run a BPF program some hundred times a second: a perf event of the
 * hardware's cycles or, where there are none (most virtual machines), of the CPU's clock. It owns
 * the events.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sampler;

/*
 * Attaches the program of type perf_event to all CPUs that are online, hz times a second each.
 * by_clock: by an interrupt that can be disabled, for a program that takes locks. Returns 0 or a
 * negative errno; sampler_close() in both cases.
 */
int sampler_open(struct sampler **out, int prog_fd, uint32_t cpus, uint32_t hz, bool by_clock);
/*
 * To be called some times a second: begins another period at random, so that samples are in step
 * with nothing. CPUs that were offline when it was opened are not sampled, nor are CPUs that have
 * been offline since: the kernel takes the event out of the CPU's context for good
 * (perf_event_exit_cpu()).
 */
void sampler_poll(struct sampler *s);
/* Stops sampling, or goes on. */
void sampler_enable(struct sampler *s, bool on);
/* NULL is allowed. */
void sampler_close(struct sampler *s);
