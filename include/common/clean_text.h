/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clean_text.h - text that recorded programs chose (names of threads, functions, sockets), made
 * safe for a terminal: any bytes, escape sequences included.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Reads the character at s into *c. Returns its length in bytes, 0 if the byte there begins none
 * (Unicode 15, table 3-7). The terminating 0 of a string ends any sequence.
 */
size_t utf8_read(const unsigned char *s, uint32_t *c);

/*
 * C0, DEL and C1, which a terminal might take for a command; the separators of lines and
 * paragraphs; and by which a name looks like another: the marks that turn the direction of text
 * (Unicode's annex 9), and those that nobody sees (U+200B, U+FEFF, tags). The joiners U+200C and
 * U+200D are parts of words.
 */
bool utf8_is_unprintable(uint32_t c);

/*
 * Reads what is to be shown of s, which is not at its end, into *c: 0 for a byte that is not part
 * of printable UTF-8, and for such a mark. Returns how many bytes of s that is, at least 1.
 */
size_t clean_next(const unsigned char *s, uint32_t *c);

/* Writes s with each byte that is not part of printable UTF-8, and each such mark, as '?'. */
void print_clean(FILE *out, const char *s);
