/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print.h - strings from a trace, made safe for a terminal or a page. Thread names and symbols are
 * whatever some process chose to call itself, escape sequences and tags included.
 */
#ifndef ENGINE_PRINT_H
#define ENGINE_PRINT_H

#include <stdio.h>

/*
 * Writes s with each byte that is not part of printable UTF-8 (control characters, DEL, C1
 * controls, broken sequences) as '?'.
 */
void print_clean(FILE *out, const char *s);
/* The same, with `&<>"'` escaped: text of a page, or a quoted attribute's value. */
void print_html(FILE *out, const char *s);

#endif /* ENGINE_PRINT_H */
