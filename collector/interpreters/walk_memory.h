/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk_memory.h - the memory of a process with an interpreter. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory of the process. read: len bytes at addr; false: not all of them can be read. */
struct walk_memory {
	bool (*read)(void *ctx, void *buf, size_t len, uint64_t addr);
	void *ctx;
};
