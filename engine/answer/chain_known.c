// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_known.h"

#include <stdlib.h>

#include "common/xalloc.h"

void chain_known_new(struct chain_known **out, const struct timelines *tl, struct names *names,
		     const struct cpu_holders *cpu_holders)
{
	struct chain_known *k = xcalloc(1, sizeof(*k));

	*out = k;
	k->cpu_holders = cpu_holders;
	connection_pools_new(&k->pools, tl, names_kernel_stacks(names));
	pool_waits_new(&k->pool_waits, tl, names_objects(names));
	file_places_new(&k->files, tl);
}

void chain_known_free(struct chain_known *k)
{
	if (!k)
		return;
	connection_pools_free(k->pools);
	pool_waits_free(k->pool_waits);
	file_places_free(k->files);
	free(k);
}
