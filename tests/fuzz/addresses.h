/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addresses.h - what the fuzz targets of perf maps and jitdumps ask for, and get. */
#pragma once

#include "collector.h"
#include "files/perfmap.h"

#define ADDRESSES 32u

static inline int by_address(const void *a, const void *b)
{
	const struct perfmap_address *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Names come from the input, and their functions begin at or below the address. */
static inline void check_names(struct perfmap_address *a, size_t input_size)
{
	for (size_t i = 0; i < ADDRESSES; i++) {
		must(!a[i].name ||
		     (a[i].start <= a[i].addr && *a[i].name && strlen(a[i].name) <= input_size));
		free(a[i].name);
	}
}
