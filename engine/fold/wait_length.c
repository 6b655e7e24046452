// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_length.h"

/* The bits of a length, and what is beyond the median above them. */
#define LENGTH 0xffffu
#define OVER_SHIFT 16

uint32_t wait_length(uint64_t ns)
{
	unsigned int shift = 0;

	/* Up to 15 exact, from there on four significant bits. */
	while (ns >> shift > 15)
		shift++;
	if (shift && ns & ((1ull << shift) - 1))
		ns += 1ull << shift;
	if (shift && ns >> shift > 15)
		shift++;
	return shift * 16 + (uint32_t)(ns >> shift) + 1;
}

uint64_t wait_length_ns(uint32_t length)
{
	uint32_t n = (length & LENGTH) - 1;

	return (uint64_t)(n % 16) << (n / 16);
}

uint32_t wait_length_and_over(uint32_t length, uint64_t over_ns)
{
	return length | wait_length(over_ns) << OVER_SHIFT;
}

uint64_t wait_length_over_ns(uint32_t length)
{
	return length >> OVER_SHIFT ? wait_length_ns(length >> OVER_SHIFT) : 0;
}
