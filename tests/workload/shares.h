/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shares.h - client waits for worker, which sorts and then hashes: each for as much CPU time as
 * --work says. A part of chainload's one translation unit.
 */
#pragma once

#include "hop.h"
#include "options.h"
#include "threads.h"

static struct hop shares_hops[2]; /* worker <- client, client <- worker */

static struct {
	_Atomic uint64_t sort_ns, hash_ns; /* CPU time */
} shares;

/* Computes for work_us of this thread's CPU time. Returns how long it was. */
INLINED uint64_t compute_for(uint64_t work_us)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = cpu;

	while (now - cpu < work_us * 1000) {
		for (int i = 0; i < 20000; i++)
			__asm__ volatile("" ::: "memory");
		now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	return now - cpu;
}

IN_STACK void worker_sorts(void)
{
	shares.sort_ns += compute_for(options.work_us[0]);
}

IN_STACK void worker_hashes(void)
{
	shares.hash_ns += compute_for(options.work_us[1]);
}

IN_STACK int worker_waits(void)
{
	return hop_wait(&shares_hops[0]);
}

IN_STACK int worker_wakes_client(void)
{
	return hop_pass(&shares_hops[1]);
}

IN_STACK int worker_runs(struct thread *worker)
{
	int error = 0;

	while (!error && worker->rounds < options.rounds) {
		error = worker_waits();
		worker_sorts();
		worker_hashes();
		worker->rounds++;
		if (!error)
			error = worker_wakes_client();
	}
	worker->cpu_ns = shares.sort_ns + shares.hash_ns;
	return error;
}

IN_STACK int client_wakes_worker(void)
{
	return hop_pass(&shares_hops[0]);
}

IN_STACK int client_waits(void)
{
	return hop_wait(&shares_hops[1]);
}

IN_STACK int client_runs(struct thread *client)
{
	int error = 0;

	while (!error && client->rounds < options.rounds) {
		uint64_t asked_ns = clock_ns(CLOCK_MONOTONIC);

		error = client_wakes_worker();
		if (!error)
			error = client_waits();
		client->waited_ns += clock_ns(CLOCK_MONOTONIC) - asked_ns;
		client->rounds++;
	}
	return error;
}

static int shares_sets_up(void)
{
	int error = 0;

	for (int i = 0; i < 2 && !error; i++)
		error = hop_open(&shares_hops[i], options.hops[i]);
	crew_add("worker", worker_runs);
	crew_add("client", client_runs);
	return error;
}

static void shares_tells(void)
{
	printf("told sort_ns %ju\ntold hash_ns %ju\n", (uintmax_t)shares.sort_ns,
	       (uintmax_t)shares.hash_ns);
}
