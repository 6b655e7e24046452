/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address.h - return addresses without the signature that arm64 with pointer authentication keeps
 * in their upper bits. On other machines, and without it, an address is itself.
 */
#pragma once

#include <stdint.h>

/* The bits that a user address has. */
static inline uint64_t address_mask(void)
{
	uint64_t mask = UINT64_MAX;

#if defined(__aarch64__)
	/* XPACLRI, which older CPUs pass over; it leaves bit 55, by which it goes. */
	__asm__("mov x30, %1\n\thint #7\n\tmov %0, x30"
		: "=r"(mask)
		: "r"((1ull << 55) - 1)
		: "x30");
#endif
	return mask;
}

static inline uint64_t address_plain_user(uint64_t address)
{
	return address & address_mask();
}

/* Other words, without bit 55, stay what they are. */
static inline uint64_t address_plain_kernel(uint64_t word)
{
	return word >> 55 & 1 ? word | ~address_mask() : word;
}
