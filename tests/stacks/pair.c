// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sleeps SECONDS in short naps below two functions that call each other, whose frames have SIZE
 * bytes and a few more. With another SIZE their code lies at the same addresses, and its rules lead
 * astray.
 *
 *     pair SECONDS
 */
#include <stdlib.h>
#include <time.h>

#ifndef SIZE
#define SIZE 240
#endif

static int nap(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	return nanosleep(&ms, NULL);
}

static void use(char *bytes)
{
	__asm__ volatile("" ::"r"(bytes) : "memory");
}

int ping(int depth);

__attribute__((noipa)) int pong(int depth)
{
	char bytes[SIZE];
	int result;

	use(bytes);
	result = depth ? ping(depth - 1) : nap();
	use(bytes);
	return result + 1;
}

__attribute__((noipa)) int ping(int depth)
{
	char bytes[SIZE];
	int result;

	use(bytes);
	result = depth ? pong(depth - 1) : nap();
	use(bytes);
	return result + 2;
}

int main(int argc, char **argv)
{
	long naps = argc > 1 ? 1000 * atol(argv[1]) : 0;

	while (naps-- > 0)
		ping(16);
	return 0;
}
