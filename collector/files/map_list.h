/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_list.h - the executable mappings of a process, each valid from a time on. A process that maps
 * much, or often, is to cost others nothing: looking up takes logarithmic time, and a list that
 * takes many steps all the same (mappings that overlap) answers nothing for a while.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end; /* addresses */
	uint64_t pgoff;	     /* of start in the file, bytes */
	uint64_t time_ns;
	uint32_t file; /* code_files id; the mapping holds a reference */
};

/* So many of a list's mappings images_each_mapping_of() finds. */
#define MAP_LIST_WANTED 8u

struct map_list {
	uint32_t refs, n;
	size_t cap;
	char *exe;  /* path of the program, NULL if not known */
	char *name; /* by which it is run, if that is another one, else NULL */
	struct mapping *list;
	/* The numbers of the first n_sorted of list, by start; the highest end up to each block. */
	uint32_t *sorted, n_sorted;
	uint64_t *reach;
	uint64_t steps, window_ns; /* spent on looking up, beyond what is usual, in this window */
	/* In the last pass of images_each_mapping_of(), with this number: what was wanted. */
	uint32_t pass, n_wanted, wanted[MAP_LIST_WANTED];
};

/* Like images_map() for one list, without its rules. False when out of memory. */
bool map_list_add(struct map_list *l, const struct mapping *m);
/* Frees the list's memory, not the files' references. NULL is allowed. */
void map_list_free(struct map_list *l);

/* Whether it took too much to look things up lately; until some seconds later nothing is found. */
bool map_list_is_exhausted(struct map_list *l, uint64_t time_ns);

/* The mapping at addr valid at time_ns; NULL: none, then *later is the first after it, or NULL. */
const struct mapping *map_list_find(struct map_list *l, uint64_t addr, uint64_t time_ns,
				    const struct mapping **later);

/* Whether fn(ctx, mapping) is true for a mapping that has something of [start, end). */
bool map_list_any(struct map_list *l, uint64_t start, uint64_t end, uint64_t time_ns,
		  bool (*fn)(const void *ctx, const struct mapping *m), const void *ctx);
