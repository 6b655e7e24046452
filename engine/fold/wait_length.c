// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_length.h"

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
	return (uint64_t)((length - 1) % 16) << ((length - 1) / 16);
}
