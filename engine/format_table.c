// SPDX-License-Identifier: GPL-2.0-or-later
#include "format_table.h"

#include <string.h>

#include "report/report.h"
#include "parts.h"

static const struct format *const table[] = {
	&format_folded,	  &format_causes,    &format_requests, &format_tree,	&format_json,
	&format_threads,  &format_hist,	     &format_wakers,   &format_objects, &format_io,
	&format_events,	  &format_info,	     &format_csv,
#if HAVE_stores
	&format_rows,	  &format_rowbinary, &format_sqlite,
#endif
	&format_pprof,
#if HAVE_otlp
	&format_otlp,
#endif
#if HAVE_perfetto
	&format_perfetto,
#endif
	&format_html,
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
