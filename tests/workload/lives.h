/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lives.h - scenarios about how threads live and die: two that wait for each other for ever, one
 * that takes over its process by exec, two that have the same tid one after the other, one that
 * is stopped and continued, one that is dead but not yet reaped. A part of chainload's one
 * translation unit.
 */
#pragma once

#include <linux/sched.h>

#include "processes.h"

/* ---- deadlock: castor and pollux each hold the lock that the other one wants ---- */

static struct {
	_Atomic uint32_t castors, polluxs; /* locks: 1 when taken */
	_Atomic uint32_t taken;
} deadlock;

IN_STACK void castor_wants_polluxs_lock(void)
{
	while (atomic_exchange(&deadlock.polluxs, 1))
		futex_wait(&deadlock.polluxs, 1);
}

IN_STACK void pollux_wants_castors_lock(void)
{
	while (atomic_exchange(&deadlock.castors, 1))
		futex_wait(&deadlock.castors, 1);
}

/* Only when both have one can none get a second. */
static void take(_Atomic uint32_t *lock)
{
	atomic_store(lock, 1);
	atomic_fetch_add(&deadlock.taken, 1);
	while (atomic_load(&deadlock.taken) < 2)
		sleep_until(clock_ns(CLOCK_MONOTONIC) + 100000);
}

IN_STACK int castor_runs(struct thread *thread)
{
	(void)thread;
	take(&deadlock.castors);
	castor_wants_polluxs_lock();
	return 0;
}

IN_STACK int pollux_runs(struct thread *thread)
{
	(void)thread;
	take(&deadlock.polluxs);
	pollux_wants_castors_lock();
	return 0;
}

static int deadlock_sets_up(void)
{
	crew_add("castor", castor_runs);
	crew_add("pollux", pollux_runs);
	return 0;
}

/* ---- heir: a thread that does not lead its process execs, and so gets the leader's tid ---- */

IN_STACK void heir_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK void heir_works(struct thread *heir)
{
	work_on_cpu(heir, options.work_us[0]);
}

IN_STACK int heir_wakes_patient(void)
{
	return hop_pass(&patient_hop);
}

IN_STACK void *heir_runs(void *argument)
{
	struct thread heir = { 0 };

	(void)argument;
	start_child_thread(&heir, "heir");
	awaits_waiter(1);
	heir_waits();
	heir_works(&heir);
	if (!heir_wakes_patient())
		become_after();
	_exit(1);
}

IN_STACK void leader_waits(void)
{
	pause();
}

IN_STACK int leader_runs(struct thread *leader)
{
	pthread_t id;
	int error = -pthread_create(&id, NULL, heir_runs, leader);

	if (!error)
		leader_waits();
	return error;
}

static int heir_sets_up(void)
{
	int error = hop_open(&patient_hop, HOP_PIPE);

	patient_wakings = 2;
	crew_add("patient", patient_runs);
	return error ? error : start_child(leader_runs, "leader");
}

/* ---- tenants: two processes, one after the other, with the same tid ---- */

static pid_t tenants_tid;

IN_STACK void tenant_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK void first_tenant_works(struct thread *tenant)
{
	work_on_cpu(tenant, options.work_us[0]);
}

IN_STACK int first_tenant_wakes_patient(void)
{
	return hop_pass(&patient_hop);
}

IN_STACK int first_tenant_runs(struct thread *tenant)
{
	awaits_waiter(1);
	tenant_waits();
	first_tenant_works(tenant);
	return first_tenant_wakes_patient();
}

IN_STACK void second_tenant_works(struct thread *tenant)
{
	work_on_cpu(tenant, options.work_us[1]);
}

IN_STACK int second_tenant_wakes_patient(void)
{
	return hop_pass(&patient_hop);
}

IN_STACK int second_tenant_runs(struct thread *tenant)
{
	awaits_waiter(2);
	tenant_waits();
	second_tenant_works(tenant);
	return second_tenant_wakes_patient();
}

/* A child under tenants_tid, or under one that the kernel chooses if that is 0. */
static pid_t clone_tenant(int (*run)(struct thread *), const char *name)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = tenants_tid ? (uint64_t)(uintptr_t)&tenants_tid : 0,
		.set_tid_size = tenants_tid ? 1 : 0,
	};
	struct thread thread = { 0 };
	long pid = syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (pid)
		return pid < 0 ? -errno : (pid_t)pid;
	start_child_thread(&thread, name);
	_exit(run(&thread) ? 1 : 0);
}

IN_STACK int landlord_waits(void)
{
	count_wait();
	return hop_wait(&patient_hop);
}

IN_STACK int landlord_runs(struct thread *landlord)
{
	pid_t pid = clone_tenant(first_tenant_runs, "tenant1");
	int error = pid < 0 ? pid : landlord_waits();

	tenants_tid = pid;
	if (error || waitpid(pid, NULL, 0) < 0)
		return error ? error : -errno;
	landlord->rounds++;
	pid = clone_tenant(second_tenant_runs, "tenant2");
	error = pid < 0 ? pid : landlord_waits();
	if (error || waitpid(pid, NULL, 0) < 0)
		return error ? error : -errno;
	landlord->rounds++;
	return 0;
}

static int tenants_sets_up(void)
{
	int error = hop_open(&patient_hop, HOP_PIPE);

	crew_add("landlord", landlord_runs);
	return error;
}

static void tenants_tells(void)
{
	printf("told tid %d\n", tenants_tid);
}

/* ---- stop: a process that would work is stopped, and after --sleep continued ---- */

IN_STACK void stopped_works(struct thread *stopped)
{
	work_on_cpu(stopped, 3600000000u);
}

IN_STACK int stopped_runs(struct thread *stopped)
{
	stopped_works(stopped);
	return 0;
}

IN_STACK void stopper_waits(uint64_t us)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + us * 1000);
}

IN_STACK void stopper_continues(void)
{
	kill(child, SIGCONT);
}

IN_STACK int stopper_runs(struct thread *stopper)
{
	stopper_waits(options.sleep_us);
	for (; stopper->rounds < options.rounds; stopper->rounds++) {
		uint64_t stopped_ns = clock_ns(CLOCK_MONOTONIC);

		if (kill(child, SIGSTOP))
			return -errno;
		stopper_waits(options.sleep_us);
		stopper->waited_ns += clock_ns(CLOCK_MONOTONIC) - stopped_ns;
		stopper_continues();
		stopper_waits(options.work_us[0]);
	}
	kill(child, SIGKILL);
	return waitpid(child, NULL, 0) < 0 ? -errno : 0;
}

static int stop_sets_up(void)
{
	crew_add("stopper", stopper_runs);
	return start_child(stopped_runs, "stopped");
}

/* ---- zombie: a child that is dead for --sleep before its parent asks for it ---- */

IN_STACK int undead_runs(struct thread *undead)
{
	work_on_cpu(undead, options.work_us[0]);
	return 0;
}

IN_STACK void parent_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK int parent_runs(struct thread *parent)
{
	parent_waits();
	parent->rounds++;
	return waitpid(child, NULL, 0) < 0 ? -errno : 0;
}

static int zombie_sets_up(void)
{
	crew_add("parent", parent_runs);
	return start_child(undead_runs, "undead");
}
