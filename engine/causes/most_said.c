// SPDX-License-Identifier: GPL-2.0-or-later
#include "most_said.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool most_said_add(struct most_said *s, uint32_t thing, uint32_t text, uint64_t ns)
{
	return text && pair_table_add(&s->table, thing, text, ns);
}

int most_said_take(const struct most_said *s, const struct names *names, uint32_t *text, size_t n)
{
	uint64_t *most = calloc(n + 1, sizeof(*most));
	const uint64_t *ns = s->table.at;

	if (!most)
		return -ENOMEM;
	for (uint32_t i = 1; i <= s->table.keys.n; i++) {
		struct pair said = s->table.keys.at[i];
		uint32_t *best = &text[said.a];

		if (ns[i] < most[said.a])
			continue;
		if (ns[i] == most[said.a] && *best &&
		    strcmp(names_text(names, *best), names_text(names, said.b)) <= 0)
			continue;
		most[said.a] = ns[i];
		*best = said.b;
	}
	free(most);
	return 0;
}

void most_said_free(struct most_said *s)
{
	pair_table_free(&s->table);
}
