/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.h - a scenario that makes stacks without end: rover waits for porter each time at the end
 * of another way through two functions. A part of chainload's one translation unit.
 */
#pragma once

#include "hop.h"
#include "options.h"
#include "threads.h"

#define WAY_LENGTH 32

static struct hop stacks_hops[2]; /* rover <- porter, porter <- rover */

IN_STACK int rover_waits(void)
{
	return hop_wait(&stacks_hops[0]);
}

static int rover_goes_on(uint64_t way, int left);

/* Equal functions would be made one. */
IN_STACK int rover_turns_left(uint64_t way, int left)
{
	__asm__ volatile("# left");
	return rover_goes_on(way, left);
}

IN_STACK int rover_turns_right(uint64_t way, int left)
{
	__asm__ volatile("# right");
	return rover_goes_on(way, left);
}

IN_STACK int rover_goes_on(uint64_t way, int left)
{
	if (!left)
		return rover_waits();
	return way & 1 ? rover_turns_left(way >> 1, left - 1)
		       : rover_turns_right(way >> 1, left - 1);
}

IN_STACK int rover_runs(struct thread *rover)
{
	int error = 0;

	for (; !error && rover->rounds < options.rounds; rover->rounds++) {
		error = hop_pass(&stacks_hops[1]);
		if (!error)
			error = rover_goes_on(rover->rounds, WAY_LENGTH);
	}
	return error;
}

IN_STACK int porter_runs(struct thread *porter)
{
	int error = 0;

	for (; !error && porter->rounds < options.rounds; porter->rounds++) {
		error = hop_wait(&stacks_hops[1]);
		if (!error)
			error = hop_pass(&stacks_hops[0]);
	}
	return error;
}

static int stacks_sets_up(void)
{
	int error = hop_open(&stacks_hops[0], options.hops[0]);

	if (!error)
		error = hop_open(&stacks_hops[1], options.hops[0]);
	crew_add("rover", rover_runs);
	crew_add("porter", porter_runs);
	return error;
}
