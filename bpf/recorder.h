/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.h - what belongs to the recorder: its own process, and those that it started for itself
 * and whose work nobody asked for. Part of chaincap.bpf.c.
 */
#pragma once

const volatile __u32 self_tgid = 0;

/*
 * Processes that the recorder started for itself, each in one of two places by the low bits of its
 * id. The collector adds those that are there when all is attached; what they fork is added
 * here. One that has exited stays, as its last switch is still to come, until its place or its id
 * is needed again.
 */
#define HELPER_EXITED 0x80000000u

volatile __u32 helpers[WIRE_HELPERS] = {};

/* The process that becomes the command that is recorded: until its exec it is the recorder's. */
volatile __u32 waiting_command = 0; /* 0: there is none (any more) */
/* The same process, from the beginning on. */
volatile __u32 command = 0;

/* The place of helper tgid, or WIRE_HELPERS. */
static __always_inline __u32 helper_place(__u32 tgid)
{
	__u32 place = wire_helper_place(tgid);

	if ((helpers[place] & ~HELPER_EXITED) == tgid)
		return place;
	if ((helpers[place ^ 1] & ~HELPER_EXITED) == tgid)
		return place ^ 1;
	return WIRE_HELPERS;
}

static __always_inline bool is_helper(__u32 tgid)
{
	return tgid && helper_place(tgid) < WIRE_HELPERS;
}

static __always_inline bool is_waiting_command(__u32 tgid)
{
	return tgid && tgid == waiting_command;
}

static __always_inline bool is_recorder(__u32 tgid)
{
	return tgid == self_tgid || is_helper(tgid) || is_waiting_command(tgid);
}

/* Process parent forked process child, which may have the id of one that has ended. */
static __always_inline void fork_helper(__u32 parent, __u32 child)
{
	__u32 place;

	if (is_helper(child)) {
		place = helper_place(child);
		if (place < WIRE_HELPERS)
			helpers[place] = 0;
	}
	if (!is_helper(parent))
		return;
	place = wire_helper_place(child);
	/* Both places are taken by others that live: this one is recorded like anybody else. */
	if (helpers[place] && !(helpers[place] & HELPER_EXITED))
		place ^= 1;
	if (!helpers[place] || helpers[place] & HELPER_EXITED)
		helpers[place] = child;
}

static __always_inline void exit_helper(__u32 tgid)
{
	__u32 place = helper_place(tgid);

	if (place < WIRE_HELPERS)
		helpers[place] |= HELPER_EXITED;
}
