/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_private.h - lines of perf script from within: what import_perf.c (columns) and
 * import_events.c (the events' own texts) know of each other. Nobody else includes it.
 */
#ifndef ENGINE_IMPORT_PRIVATE_H
#define ENGINE_IMPORT_PRIVATE_H

#include "import_perf.h"
#include "trace.h"

/*
 * Reads the text of an event of ev->kind, all that follows its name in the line, into ev. False if
 * it cannot be read; ev->kind may become IMPORT_OTHER for one that means nothing.
 */
bool import_perf_text(const char *text, size_t len, struct import_event *ev);

#endif /* ENGINE_IMPORT_PRIVATE_H */
