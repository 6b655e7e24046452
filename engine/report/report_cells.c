// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_cells.h"

#include <inttypes.h>

#include "common/figures.h"

void report_put_time(FILE *out, uint64_t ns)
{
	char text[FIGURE_LEN];

	figure_time(text, (double)ns);
	fputs(text, out);
}

void report_put_percent(FILE *out, double percent)
{
	char text[FIGURE_LEN];

	figure_percent(text, percent);
	fputs(*text == '<' ? "&lt;" : "", out);
	fputs(text + (*text == '<'), out);
}

void report_put_time_cell(FILE *out, uint64_t ns)
{
	fprintf(out, "<td data-ns=\"%" PRIu64 "\">", ns);
	report_put_time(out, ns);
	fputs("</td>", out);
}
