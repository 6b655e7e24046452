// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz target: any bytes as a perf map, which any program can write about itself. */
#include "addresses.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap_address a[ADDRESSES];
	const uint8_t *p = data;

	for (size_t i = 0; i < ADDRESSES; i++) {
		char text[20] = "";

		a[i] = (struct perfmap_address) { .addr = number_at(data, size, i) };
		if (i % 2 || p >= data + size)
			continue;
		/* One that a line begins with. */
		memcpy(text, p, (size_t)(data + size - p) < 16 ? (size_t)(data + size - p) : 16);
		a[i].addr = strtoull(text, NULL, 16) + i % 8;
		p = memchr(p, '\n', (size_t)(data + size - p));
		p = p ? p + 1 : data + size;
	}
	qsort(a, ADDRESSES, sizeof(*a), by_address);
	must(perfmap_find(file_of(data, size), a, ADDRESSES) == 0);
	check_names(a, size);
	return 0;
}
