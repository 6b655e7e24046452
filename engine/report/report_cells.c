// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_cells.h"

#include <inttypes.h>

void report_put_time(FILE *out, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "µs" }, { 1, "ns" } };
	size_t i = 0;
	double v;

	if (!ns) {
		fputs("0", out);
		return;
	}
	while (ns < units[i].ns)
		i++;
	v = (double)ns / (double)units[i].ns;
	fprintf(out, "%.*f %s", i == 3 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, units[i].name);
}

void report_put_time_cell(FILE *out, uint64_t ns)
{
	fprintf(out, "<td data-ns=\"%" PRIu64 "\">", ns);
	report_put_time(out, ns);
	fputs("</td>", out);
}
