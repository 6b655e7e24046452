/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_maps.h - what processes have mapped, as the recording says it in the order of time: which
 * file, and which offset in it, an address of a process is.
 */
#pragma once

#include "base/pairs.h"
#include "perf_modules.h"

struct perf_process;

/* All zero is empty. */
struct perf_maps {
	struct pairs tgids; /* (tgid, 0) to the place in processes[] */
	struct perf_process *processes;
	size_t cap;
	size_t n_maps;	  /* of all processes */
	uint32_t changes; /* numbers given to what processes have mapped */
	uint64_t work;
	bool is_full; /* more is mapped than is remembered: some addresses have no file */
};

/* What is mapped: [start, end) of a process. module 0: no file. */
struct perf_map {
	uint64_t start, end;
	uint64_t offset; /* of start in the file */
	uint32_t module;
};

void perf_maps_add(struct perf_maps *m, uint32_t tgid, const struct perf_map *map);
/* A child has what its parent has. */
void perf_maps_fork(struct perf_maps *m, uint32_t parent, uint32_t child);
/* The process runs another program. */
void perf_maps_exec(struct perf_maps *m, uint32_t tgid);

/* A number that is another one after each change of what the process has mapped. */
uint32_t perf_maps_version(const struct perf_maps *m, uint32_t tgid);
/* What is mapped at an address; NULL: not known. */
const struct perf_map *perf_maps_find(const struct perf_maps *m, uint32_t tgid, uint64_t addr);
void perf_maps_free(struct perf_maps *m);
