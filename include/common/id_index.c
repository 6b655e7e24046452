// SPDX-License-Identifier: GPL-2.0-or-later
#include "id_index.h"

#include <sys/random.h>

static uint64_t hash_load(const unsigned char *p, size_t len)
{
	uint64_t v = 0;

	memcpy(&v, p, len);
	return v;
}

/* All bits of both factors reach all bits of the result. */
static uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t hash_bytes(uint64_t seed, const void *key, size_t len)
{
	static const uint64_t k[4] = { 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u,
				       0x94d049bb133111ebu, 0xd6e8feb86659fd93u };
	const unsigned char *p = key;
	uint64_t a = seed ^ len, b = seed + k[0];
	size_t left = len;

	/* Two chains of multiplications, which the CPU works on at the same time. */
	for (; left > 32; p += 32, left -= 32) {
		a = hash_mix(a ^ hash_load(p, 8) ^ k[0], hash_load(p + 8, 8) ^ k[1]);
		b = hash_mix(b ^ hash_load(p + 16, 8) ^ k[2], hash_load(p + 24, 8) ^ k[3]);
	}
	if (left > 16) {
		a = hash_mix(a ^ hash_load(p, 8) ^ k[0], hash_load(p + 8, 8) ^ k[1]);
		p += left - 16, left = 16;
	}
	/* The last 4 to 16 bytes are two words that may overlap. */
	if (left >= 8)
		b = hash_mix(b ^ hash_load(p, 8) ^ k[2], hash_load(p + left - 8, 8) ^ k[3]);
	else if (left >= 4)
		b = hash_mix(b ^ hash_load(p, 4) ^ k[2], hash_load(p + left - 4, 4) ^ k[3]);
	else if (left)
		b = hash_mix(b ^ p[0] ^ (uint64_t)p[left / 2] << 8 ^ (uint64_t)p[left - 1] << 16 ^
				     k[2],
			     k[3]);
	a = hash_mix(a ^ seed, b ^ k[0]);
	return (uint32_t)(a ^ a >> 32);
}

uint64_t hash_pair_seed;

/* Before main(): a table that exists must not change its hashes. */
__attribute__((constructor)) static void seed_pairs(void)
{
	hash_pair_seed = hash_seed();
}

uint64_t hash_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uint64_t)(uintptr_t)&seed; /* early at boot: the stack's place is random */
	return seed;
}
