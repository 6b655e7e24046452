/* SPDX-License-Identifier: GPL-2.0-or-later */
/* life.h - a part of a thread's life as chains (chain-semantics, section 19): a path. */
#pragma once

#include "chain.h"

/*
 * Adds all of [from_ns, to_ns) of a thread's life, which has to be within it, to c: its waits with
 * their chains; what it ran, was ready or is not known has no links. The times add up to to_ns -
 * from_ns. head says the node below which what begins at at_ns is: as long as the
 * thread keeps its name, that is the same.
 */
void life_explain(struct chains *c, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  uint32_t (*head)(void *arg, uint32_t thread, uint64_t at_ns), void *arg);
