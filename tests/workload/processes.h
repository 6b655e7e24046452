/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes.h - scenarios in which the waker does not stay what it was: a child that is gone
 * when the recording ends, a process that becomes another program, a thread that takes another
 * name. In each the thread "patient" waits for it. A part of chainload's one translation unit.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "hop.h"
#include "options.h"
#include "threads.h"

/* What the child execs itself with: chainload --after FD SLEEP_US WORK_US. */
#define AFTER_EXEC "--after"

static struct hop patient_hop;
static uint64_t patient_wakings;
static pid_t child;

IN_STACK int patient_waits(void)
{
	return hop_wait(&patient_hop);
}

IN_STACK int patient_runs(struct thread *patient)
{
	while (patient->rounds < patient_wakings) {
		uint64_t slept_ns = clock_ns(CLOCK_MONOTONIC);
		int error;

		count_wait();
		error = patient_waits();
		if (error)
			return error;
		patient->waited_ns += clock_ns(CLOCK_MONOTONIC) - slept_ns;
		patient->rounds++;
	}
	if (child)
		waitpid(child, NULL, 0);
	return 0;
}

/* A thread of its own in another process: named, it sleeps, works, wakes patient. */
static void start_child_thread(struct thread *thread, const char *name)
{
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	prctl(PR_SET_NAME, thread->name);
}

/* Forks while chainload still has one thread; the child runs and never returns. */
static int start_child(int (*run)(struct thread *), const char *name)
{
	struct thread thread = { 0 };

	fflush(stdout);
	child = fork();
	if (child < 0)
		return -errno;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		start_child_thread(&thread, name);
		_exit(run(&thread) ? 1 : 0);
	}
	printf("thread %s %d\n", name, child);
	return 0;
}

/* ---- earlyexit ---- */

IN_STACK void early_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK void early_works(struct thread *early)
{
	work_on_cpu(early, options.work_us[0]);
}

IN_STACK int early_wakes_patient(void)
{
	return hop_pass(&patient_hop);
}

IN_STACK int early_runs(struct thread *early)
{
	awaits_waiter(1);
	early_waits();
	early_works(early);
	return early_wakes_patient();
}

static int earlyexit_sets_up(void)
{
	int error = hop_open(&patient_hop, HOP_PIPE);

	patient_wakings = 1;
	crew_add("patient", patient_runs);
	return error ? error : start_child(early_runs, "early");
}

/* ---- exec ---- */

IN_STACK void before_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK void before_works(struct thread *before)
{
	work_on_cpu(before, options.work_us[0]);
}

IN_STACK int before_wakes_patient(void)
{
	return hop_pass(&patient_hop);
}

/* Execs this program again, as "after"; returns only if that fails: a negative errno. */
static int become_after(void)
{
	char fd[16], sleep_us[24], work_us[24];
	char *arguments[] = {
		(char[]) { "chainload" }, (char[]) { AFTER_EXEC }, fd, sleep_us, work_us, NULL
	};

	awaits_waiter(2);
	snprintf(fd, sizeof(fd), "%d", dup(patient_hop.tx));
	snprintf(sleep_us, sizeof(sleep_us), "%ju", (uintmax_t)options.sleep_us);
	snprintf(work_us, sizeof(work_us), "%ju", (uintmax_t)options.work_us[1]);
	execv("/proc/self/exe", arguments);
	return -errno;
}

IN_STACK int before_runs(struct thread *before)
{
	int error;

	awaits_waiter(1);
	before_waits();
	before_works(before);
	error = before_wakes_patient();
	return error ? error : become_after();
}

IN_STACK void after_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK void after_works(struct thread *after)
{
	work_on_cpu(after, options.work_us[0]);
}

IN_STACK int after_wakes_patient(void)
{
	return hop_pass(&patient_hop);
}

IN_STACK int after_runs(struct thread *after)
{
	after_waits();
	after_works(after);
	return after_wakes_patient();
}

/* main() of the program that "before" became. */
static int run_after_exec(char **arguments)
{
	struct thread thread = { 0 };

	patient_hop = (struct hop) { .kind = HOP_PIPE, .rx = -1, .tx = atoi(arguments[0]) };
	options.sleep_us = strtoull(arguments[1], NULL, 10);
	options.work_us[0] = strtoull(arguments[2], NULL, 10);
	start_child_thread(&thread, "after");
	settles();
	return after_runs(&thread) ? 1 : 0;
}

static int exec_sets_up(void)
{
	int error = hop_open(&patient_hop, HOP_PIPE);

	patient_wakings = 2;
	crew_add("patient", patient_runs);
	return error ? error : start_child(before_runs, "before");
}

/* ---- rename ---- */

IN_STACK void larva_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK void larva_works(struct thread *larva)
{
	work_on_cpu(larva, options.work_us[0]);
}

IN_STACK int larva_wakes_patient(void)
{
	return hop_pass(&patient_hop);
}

IN_STACK void moth_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK void moth_works(struct thread *moth)
{
	work_on_cpu(moth, options.work_us[1]);
}

IN_STACK int moth_wakes_patient(void)
{
	return hop_pass(&patient_hop);
}

IN_STACK int larva_runs(struct thread *thread)
{
	int error;

	awaits_waiter(1);
	larva_waits();
	larva_works(thread);
	error = larva_wakes_patient();
	if (error)
		return error;
	thread->rounds++;
	prctl(PR_SET_NAME, "moth");
	awaits_waiter(2);
	moth_waits();
	moth_works(thread);
	thread->rounds++;
	return moth_wakes_patient();
}

static int rename_sets_up(void)
{
	int error = hop_open(&patient_hop, HOP_PIPE);

	patient_wakings = 2;
	crew_add("patient", patient_runs);
	crew_add("larva", larva_runs);
	return error;
}
