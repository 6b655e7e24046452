// SPDX-License-Identifier: GPL-2.0-or-later
#include "bar.h"

void bar_put(FILE *out, uint64_t part, uint64_t all, size_t columns, bool utf8)
{
	/* U+258F to U+2588 */
	static const char *const eighths[] = { "",
					       "\xe2\x96\x8f",
					       "\xe2\x96\x8e",
					       "\xe2\x96\x8d",
					       "\xe2\x96\x8c",
					       "\xe2\x96\x8b",
					       "\xe2\x96\x8a",
					       "\xe2\x96\x89",
					       "\xe2\x96\x88" };
	double share = all ? (double)part / (double)all : 0;
	size_t n = (size_t)((share > 1 ? 1 : share) * 8 * (double)columns + 0.5), used = 0;

	for (; n >= 8; n -= 8, used++)
		fputs(utf8 ? eighths[8] : "#", out);
	if (n && (utf8 || n >= 4)) {
		fputs(utf8 ? eighths[n] : "#", out);
		used++;
	}
	fprintf(out, "%*s", used < columns ? (int)(columns - used) : 0, "");
}
