// SPDX-License-Identifier: GPL-2.0-or-later
#include "known_function.h"

#include <string.h>

size_t known_function(const struct trace *t, struct trace_stack s, const void *table, size_t n_rows,
		      size_t row_bytes)
{
	size_t found = n_rows;

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		for (size_t k = 0; k < found; k++) {
			const void *row = (const char *)table + k * row_bytes;
			const char *begin = *(const char *const *)row;

			if (!strncmp(symbol, begin, strlen(begin)))
				found = k;
		}
	}
	return found;
}
