/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html.h - strings of a trace as text of a page, whatever bytes they have. */
#ifndef ENGINE_HTML_H
#define ENGINE_HTML_H

#include <stdio.h>

/*
 * Writes s as text or as a quoted attribute's value: `&<>"'` escaped, each byte that is a control
 * character or not part of well-formed UTF-8 as '?'.
 */
void html_text(FILE *out, const char *s);

#endif /* ENGINE_HTML_H */
