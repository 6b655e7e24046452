// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz target: any bytes as a jitdump, which any program can map. */
#include "addresses.h"

#include "files/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap_address a[ADDRESSES];

	for (size_t i = 0; i < ADDRESSES; i++)
		a[i] = (struct perfmap_address) {
			.addr = number_at(data, size, i) + i % 4,
			.time_ns = number_at(data, size, i + 1),
		};
	qsort(a, ADDRESSES, sizeof(*a), by_address);
	(void)jitdump_find(file_of(data, size), a, ADDRESSES);
	check_names(a, size);
	return 0;
}
