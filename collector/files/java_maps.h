/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * java_maps.h - has running JVMs (HotSpot) write their perf maps, as "jcmd PID Compiler.perfmap"
 * does, by the protocol of its attach mechanism: no program of the JDK is needed, which containers
 * and headless runtimes do not have. Each JVM is asked by a helper (helper/helper.h) that goes into
 * the JVM's root directory, gets the rights of the JVM's user and gives up all others first. That
 * user can neither end nor stop it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "helper/helper.h"

enum java_map {
	JAVA_MAP_WRITTEN,
	JAVA_MAP_GONE,	     /* the process has ended */
	JAVA_MAP_NO_RIGHTS,  /* to become its user or to enter its root directory */
	JAVA_MAP_REFUSED,    /* it does not listen: SIGQUIT is not its own, or it says no */
	JAVA_MAP_NO_COMMAND, /* it has none that writes the map: JDK 17 and later have */
	JAVA_MAP_SILENT,     /* no answer in time */
	JAVA_MAP_RESULTS,
};

/* Asked at a time. */
#define JAVA_MAPS_MAX 16u

/*
 * Asks n <= JAVA_MAPS_MAX processes, all of them HotSpot JVMs with the attach mechanism (others may
 * take SIGQUIT for something else); results[i] becomes what came of it. helpers have the rights
 * HELPERS_BECOME_USERS. Waits for at most wait_ns.
 */
void java_maps_write(struct helpers *helpers, const uint32_t *tgids, size_t n,
		     enum java_map *results, uint64_t wait_ns);
