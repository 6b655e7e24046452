/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_known.h - what the steps of all chains of a trace are made with, found once for all of
 * them: who had the CPUs, pools of connections, which requests waited for one, and places
 * with many files.
 */
#pragma once

#include "attribute/cpu_holders.h"
#include "connection_pools.h"
#include "file_places.h"
#include "pool_waits.h"

struct chain_known {
	const struct cpu_holders *cpu_holders;
	struct connection_pools *pools;
	struct pool_waits *pool_waits;
	struct file_places *files;
};

/* tl, names and cpu_holders, with what interrupts took, must outlive it. To be freed with
 * chain_known_free(). */
void chain_known_new(struct chain_known **out, const struct timelines *tl, struct names *names,
		     const struct cpu_holders *cpu_holders);
void chain_known_free(struct chain_known *k);
