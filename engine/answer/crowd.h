/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crowd.h - how many of several times overlap at once, at most: for each key apart. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Where a time begins (+1) or ends (-1). */
struct crowd_edge {
	uint64_t ns;
	uint32_t key;
	int32_t count;
};

/* All zero is empty. */
struct crowd {
	struct crowd_edge *at;
	size_t n, cap;
};

/* [from_ns, to_ns) of a key. */
void crowd_add(struct crowd *c, uint32_t key, uint64_t from_ns, uint64_t to_ns);
/* Calls put for each key, and empties c. */
void crowd_end(struct crowd *c, void (*put)(void *arg, uint32_t key, uint32_t most), void *arg);
