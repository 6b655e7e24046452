/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtimes.h - programs that compile code while they run, and what it takes for the functions of
 * that code to be in a stack, and to have names there; libraries without call frame information.
 * One table: runtimes.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "java_maps.h"

/* What stacks lack, in words, and what helps. */
struct runtime_lack {
	const char *what, *cure;
};

struct runtime {
	const char *files[3]; /* the names of the file that has its code */
	bool is_jvm;	      /* has options that jvm_flags.h reads */
	struct runtime_lack names;
	struct runtime_lack callers; /* is_jvm: of compiled code without frame pointers */
	/*
	 * NULL; or this function of its file runs code that is not compiled, which has names only
	 * with an option; map_option writes the perf map that they are in.
	 */
	const char *interpreter, *interpreted_option, *map_option;
	/* With it their names in a perf map are KIND MARK NAME. */
	const char *interpreted_mark;
	struct runtime_lack interpreted;
};

/* A perf map that another process left. */
extern const struct runtime_lack runtime_stale_map;
/* A 32-bit program. */
extern const struct runtime_lack runtime_32bit;
/* No perf map: what came of asking the JVM for it; not of JAVA_MAP_WRITTEN. */
extern const struct runtime_lack runtime_java_map[JAVA_MAP_RESULTS];

/* NULL: the file is that of no such program. */
const struct runtime *runtime_of(const char *path);

/*
 * What stacks lack that come through this library, if it has no rule where they do; NULL: it is
 * none that is built without call frame information.
 */
const struct runtime_lack *runtime_bare_library(const char *path);

/*
 * Whether the option is on the command line of process tgid or in its environment, with hyphens or
 * underscores between its words. True if that cannot be read.
 */
bool runtime_has_option(uint32_t tgid, const char *option);
/* Opens the memory of a process for reading. Returns a descriptor to close, or a negative errno. */
int runtime_memory(uint32_t tgid);
