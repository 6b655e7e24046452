/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program_words.h - what a program was started with: the text of an EXEC (chainlog.h). */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Its i-th argument, from 1 on, or with 0 the file's name: *len bytes, which are as the program has
 * them. NULL: there is none.
 */
const char *program_argument(const char *text, size_t i, size_t *len);
/* Writes the file's name and the arguments, or only these, with spaces between, as print_clean().
 */
void program_put(FILE *out, const char *text);
void program_put_arguments(FILE *out, const char *text);
