/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relay.h - the relay: alpha <- bravo <- charlie <- delta <- timer.
 *
 * Each round, delta's timer fires while all four are asleep; then delta, charlie and bravo work
 * one after the other and pass on, and alpha's wait has lasted for all of it. A part of
 * chainload's one translation unit.
 */
#pragma once

#include "hop.h"
#include "options.h"
#include "threads.h"

static struct hop relay_hops[3]; /* alpha <- bravo, bravo <- charlie, charlie <- delta */

static struct {
	_Atomic uint64_t asleep_in_round[3]; /* alpha, bravo, charlie: the round they wait in */
	_Atomic uint64_t fired_ns;	     /* when delta's timer last let it go on */
	_Atomic uint64_t timer_ns; /* sum over the rounds: alpha asleep until the timer fired */
} relay;

IN_STACK int alpha_waits(void)
{
	return hop_wait(&relay_hops[0]);
}

IN_STACK int bravo_waits(void)
{
	return hop_wait(&relay_hops[1]);
}

IN_STACK int charlie_waits(void)
{
	return hop_wait(&relay_hops[2]);
}

IN_STACK void delta_waits(uint64_t until_ns)
{
	sleep_until(until_ns);
}

IN_STACK void bravo_works(struct thread *bravo)
{
	work_on_cpu(bravo, options.work_us[0]);
}

IN_STACK void charlie_works(struct thread *charlie)
{
	work_on_cpu(charlie, options.work_us[1]);
}

IN_STACK void delta_works(struct thread *delta)
{
	work_on_cpu(delta, options.work_us[2]);
}

IN_STACK int bravo_wakes_alpha(void)
{
	return hop_pass(&relay_hops[0]);
}

IN_STACK int charlie_wakes_bravo(void)
{
	return hop_pass(&relay_hops[1]);
}

IN_STACK int delta_wakes_charlie(void)
{
	return hop_pass(&relay_hops[2]);
}

IN_STACK int alpha_runs(struct thread *alpha)
{
	while (alpha->rounds < options.rounds) {
		uint64_t slept_ns = clock_ns(CLOCK_MONOTONIC);
		int error;

		relay.asleep_in_round[0] = alpha->rounds + 1;
		error = alpha_waits();
		if (error)
			return error;
		alpha->waited_ns += clock_ns(CLOCK_MONOTONIC) - slept_ns;
		if (relay.fired_ns > slept_ns)
			relay.timer_ns += relay.fired_ns - slept_ns;
		alpha->rounds++;
	}
	return 0;
}

IN_STACK int bravo_runs(struct thread *bravo)
{
	int error = 0;

	while (!error && bravo->rounds < options.rounds) {
		relay.asleep_in_round[1] = bravo->rounds + 1;
		count_held(bravo);
		error = bravo_waits();
		bravo->let_go_ns = relay_hops[1].passed_ns;
		bravo_works(bravo);
		bravo->rounds++;
		if (!error)
			error = bravo_wakes_alpha();
	}
	count_held(bravo);
	return error;
}

IN_STACK int charlie_runs(struct thread *charlie)
{
	int error = 0;

	while (!error && charlie->rounds < options.rounds) {
		relay.asleep_in_round[2] = charlie->rounds + 1;
		count_held(charlie);
		error = charlie_waits();
		charlie->let_go_ns = relay_hops[2].passed_ns;
		charlie_works(charlie);
		charlie->rounds++;
		if (!error)
			error = charlie_wakes_bravo();
	}
	count_held(charlie);
	return error;
}

static bool all_asleep_in(uint64_t round)
{
	for (int i = 0; i < 3; i++)
		if (relay.asleep_in_round[i] != round ||
		    !is_asleep((int)getpid(), crew.threads[i].tid))
			return false;
	return true;
}

/*
 * Each round's timer is set so late that charlie and bravo have done their work and alpha is
 * asleep again for sleep_us when it fires: alpha's wait spans the whole of the round. On a busy
 * machine the timer is set again until they are.
 */
IN_STACK int delta_runs(struct thread *delta)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (20000 + options.sleep_us) * 1000;
	int error = 0;

	while (!error && delta->rounds < options.rounds) {
		count_held(delta);
		delta_waits(until_ns);
		delta->let_go_ns = until_ns;
		if (!all_asleep_in(delta->rounds + 1)) {
			until_ns = clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000;
			continue;
		}
		relay.fired_ns = clock_ns(CLOCK_MONOTONIC);
		delta_works(delta);
		delta->rounds++;
		error = delta_wakes_charlie();
		until_ns = clock_ns(CLOCK_MONOTONIC) +
			   (options.work_us[0] + options.work_us[1] + options.sleep_us) * 1000;
	}
	count_held(delta);
	return error;
}

static int relay_sets_up(void)
{
	int error = 0;

	for (int i = 0; i < 3 && !error; i++)
		error = hop_open(&relay_hops[i], options.hops[i]);
	crew_add("alpha", alpha_runs);
	crew_add("bravo", bravo_runs);
	crew_add("charlie", charlie_runs);
	crew_add("delta", delta_runs);
	return error;
}

static void relay_tells(void)
{
	printf("told hops %s %s %s\n", hop_names[relay_hops[0].kind], hop_names[relay_hops[1].kind],
	       hop_names[relay_hops[2].kind]);
	printf("told timer_ns %ju\n", (uintmax_t)relay.timer_ns);
}
