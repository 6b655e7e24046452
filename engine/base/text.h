/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - text in the making, and strings from a trace made safe for where they are written.
 * Thread names and symbols are chosen by the recorded programs: any bytes, escape sequences and
 * tags included.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/clean_text.h"

/* A text in the making. All zero is empty. */
struct text_buf {
	char *p; /* ends in a 0 once anything was put; NULL before */
	size_t len, cap;
};

void text_put(struct text_buf *b, const char *s, size_t len);
void text_puts(struct text_buf *b, const char *s);
void text_free(struct text_buf *b);
/*
 * Adds s without its numbers, a "*" each: what differs from one recording of the same program to
 * the next one, as ids, lines and addresses, and which of several threads it is.
 */
void text_put_plain(struct text_buf *b, const char *s);

/*
 * How many columns of a terminal the first len bytes take: their characters of UTF-8, without SGR
 * sequences (formats/style.h), which take none.
 */
size_t text_columns(const char *s, size_t len);
/* How many bytes of s fit so many columns, without what takes none behind them. */
size_t text_fitting(const char *s, size_t columns);

/*
 * Takes out of a text what says nothing at first sight: the address in the name of a function
 * without a symbol, "[file+0x4e40]", and by which number a process knows an object: "futex 7:0x10",
 * "epoll 7:14".
 */
void text_drop_addresses(char *s);

/* Begins a message about the file `name`: "chainwalk: NAME: ". Returns out. */
FILE *print_about(FILE *out, const char *name);
/* As print_clean(), with `&<>"'` escaped: text of a page, or a quoted attribute's value. */
void print_html(FILE *out, const char *s);

/* "1 234.567": milliseconds, thousands apart, into text. Returns text. */
#define TEXT_MS_SIZE 40
const char *text_ms(char text[TEXT_MS_SIZE], uint64_t ns);
