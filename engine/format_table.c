// SPDX-License-Identifier: GPL-2.0-or-later
#include "format_table.h"

#include <string.h>

#include "report/report.h"

static const struct format *const table[] = {
	&format_folded,	 &format_causes, &format_requests, &format_tree,     &format_json,
	&format_threads, &format_hist,	 &format_wakers,   &format_objects,  &format_io,
	&format_events,	 &format_info,	 &format_csv,	   &format_rows,     &format_rowbinary,
	&format_sqlite,	 &format_pprof,	 &format_otlp,	   &format_perfetto, &format_html,
};

const struct format *format_at(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? table[i] : NULL;
}

const struct format *format_find(const char *name)
{
	const struct format *f;

	for (size_t i = 0; (f = format_at(i)); i++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}
