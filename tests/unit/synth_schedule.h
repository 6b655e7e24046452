/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synth_schedule.h - random schedules that a kernel could have run: threads on CPUs that sleep,
 * wake one another (also out of interrupts, and a little early), are preempted, fork, exit and are
 * renamed; with equal times on different CPUs. They come as lines of synth_script.h, so that one
 * that shows a mistake can be read, and made smaller line by line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedule {
	char **lines; /* one that begins with '!' is missing */
	size_t n;
	unsigned int cpus;
	uint64_t random; /* state of its generator */
	bool file_locks; /* some of its tries are for locks of files */
};

enum schedule_kind {
	SCHEDULE_WHOLE,	  /* nothing is missing */
	SCHEDULE_LOSSY,	  /* events are missing, and lost records say so */
	SCHEDULE_DAMAGED, /* events are missing, and nothing says so */
	/*
	 * As LOSSY, but no threads come and go or are renamed, and no two things happen at the
	 * same time: so all that differs from the whole schedule is the losses' doing.
	 */
	SCHEDULE_LOSSY_EXACTLY,
	/* Hundreds of events, some lost; some threads are hardly ever woken: long windows. */
	SCHEDULE_LONG,
};

/* The same seed and kind give the same schedule. */
struct schedule *schedule_new(uint64_t seed, enum schedule_kind kind);
/* Adds samples of the threads that run, and a few of others. */
void schedule_sample(struct schedule *s);
/* Puts threads into control groups, and moves them; lossy: some moves are missing. */
void schedule_groups(struct schedule *s, bool lossy);
/* Gives most stacks a user part with interpreted code. */
void schedule_code(struct schedule *s);
/* Adds what disks did before interrupts that say so; lossy: some of it is lost. */
void schedule_disks(struct schedule *s, bool lossy);
/* Lets most sleeps be in places where threads pause, wait for work, or for what others have. */
void schedule_naps(struct schedule *s);
/* Makes it a light recording: most stacks of sleeps are told later, or never. */
void schedule_light(struct schedule *s);
/* Lets most sleeps be in event loops. */
void schedule_loops(struct schedule *s);
/* Makes rows of timed waits for a lock of some sleeps. */
void schedule_tries(struct schedule *s);
/* The same, some of them for locks of files. */
void schedule_file_tries(struct schedule *s);
/*
 * Adds requests, which overlap, queue up, and are often read by another thread than the one that
 * answers; some contradict what threads do. lossy: parts of some answers are lost.
 */
void schedule_requests(struct schedule *s, bool lossy);
/* Gives nearly all threads one name, so that links repeat each other. */
void schedule_share_name(struct schedule *s);
void schedule_free(struct schedule *s);
/* As one text. To be freed. */
char *schedule_script(const struct schedule *s);
/* With all that is missing put back, and no lost records. To be freed. */
char *schedule_whole_script(const struct schedule *s);
/* The same with CPU c renamed to (c + by) modulo the number of CPUs. To be freed. */
char *schedule_rotated(const struct schedule *s, unsigned int by);
uint64_t schedule_random(struct schedule *s, uint64_t below);
