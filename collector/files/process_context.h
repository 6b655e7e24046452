/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_context.h - what a process publishes of itself in a mapping of the name OTEL_CTX
 * (OpenTelemetry's process context): here, which attribute of a thread's context is the route of
 * the request. All of it is the process's to choose. Finding it takes the recorder's rights;
 * process_context_route() parses it, and is for processes that have none.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A larger one is not read. */
#define PROCESS_CONTEXT_MAX (16u << 10)

/*
 * Copies what process tgid publishes now into a file in memory. Returns its descriptor, to be
 * closed; -ENOENT: there is none, or it is being changed; or another negative errno.
 */
int process_context_copy(uint32_t tgid);

/*
 * The index of the route among the keys that are listed as threadlocal.attribute_key_map, or
 * WIRE_NO_KEY. Of several it is the first in the list of names in process_context.c.
 */
uint32_t process_context_route(const uint8_t *p, size_t len);
