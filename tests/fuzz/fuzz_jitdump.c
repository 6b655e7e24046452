// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz target: any bytes as a jitdump, which any program can map. */
#include "collector.h"

#include "names/jitdump.h"

#define ADDRESSES 32u

static int compare(const void *a, const void *b)
{
	const struct perfmap_address *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap_address a[ADDRESSES];

	for (size_t i = 0; i < ADDRESSES; i++)
		a[i] = (struct perfmap_address) {
			.addr = number_at(data, size, i) + i % 4,
			.time_ns = number_at(data, size, i + 1),
		};
	qsort(a, ADDRESSES, sizeof(*a), compare);
	(void)jitdump_find(file_of(data, size), a, ADDRESSES);
	for (size_t i = 0; i < ADDRESSES; i++) {
		must(!a[i].name ||
		     (a[i].start <= a[i].addr && *a[i].name && strlen(a[i].name) <= size));
		free(a[i].name);
	}
	return 0;
}
