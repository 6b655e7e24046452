/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_samples.h - which of a recording's events says what ran. Those that count cycles or time
 * do, by whatever unit of the CPU: a hybrid machine has two. Where there is none, it is the first
 * other one, unless the user names one. Samples of others are held until it is known which.
 *
 * It also keeps what perf record --off-cpu measured: how long a thread was off the CPU, without
 * when. That is used if there are no switches.
 */
#pragma once

#include "import_report.h"
#include "import_perf.h"
#include "import_stack.h"

struct import_sample {
	uint64_t time_ns;
	uint64_t off_cpu_ns; /* of samples of off-CPU time */
	uint32_t cpu, tid, kstack, ustack;
	uint32_t event; /* place in the report's events */
};

/* Zero all but report and wanted. */
struct import_samples {
	struct import_report *report;
	const char *wanted; /* the event that the user names; NULL: none */
	struct import_sample *held;
	size_t n_held, cap_held;
	struct import_sample *off_cpu;
	size_t n_off_cpu, cap_off_cpu;
};

/*
 * Takes a sample of ev's event. True: it counts now. False: it is held or left out.
 */
bool import_samples_take(struct import_samples *s, const struct import_event *ev,
			 const struct import_stack *stack);
/* Keeps a sample of off-CPU time. */
void import_samples_off_cpu(struct import_samples *s, const struct import_event *ev,
			    const struct import_stack *stack);
/* The recording has ended: whether a held sample counts after all. */
bool import_samples_count(const struct import_samples *s, const struct import_sample *held);
void import_samples_free(struct import_samples *s);
