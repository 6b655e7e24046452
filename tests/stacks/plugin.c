// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library that calls back. Compiled with WAY from 0 to 3 it has the same functions at about the
 * same places, with frames of other sizes: what takes the place of one of them has other rules.
 */
#define ROOM (64 + WAY * 48)

#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)
#define INNER NAME(inner_, WAY)

__attribute__((noinline, visibility("hidden"))) int INNER(void (*fn)(void))
{
	volatile char room[ROOM];

	room[ROOM - 1] = 1;
	fn();
	return room[ROOM - 1];
}

__attribute__((visibility("default"))) int plugin(void (*fn)(void))
{
	volatile char room[320 - ROOM];

	room[0] = (char)INNER(fn);
	return room[0] + 1;
}
