/* SPDX-License-Identifier: GPL-2.0-or-later */
/* paragraph.h - text on lines of 80 columns, for what is read on a terminal. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define PARAGRAPH_COLUMNS 80

/* Lines on a screen are as wide as it is, within these; on paper of PARAGRAPH_COLUMNS. */
#define SCREEN_COLUMNS_LEAST 60
#define SCREEN_COLUMNS_MOST 120

/* How wide lines are on a screen with so many columns; 0: on paper. */
static inline size_t paragraph_columns(size_t screen)
{
	if (!screen)
		return PARAGRAPH_COLUMNS;
	return screen < SCREEN_COLUMNS_LEAST  ? SCREEN_COLUMNS_LEAST
	       : screen > SCREEN_COLUMNS_MOST ? SCREEN_COLUMNS_MOST
					      : screen;
}

/* A memory stream for a paragraph. */
struct paragraph {
	FILE *f;
	char *text;
	size_t len;
	size_t columns; /* PARAGRAPH_COLUMNS, until it is changed */
	bool plain;	/* without what text_drop_addresses() takes out; at first false */
};

void paragraph_begin(struct paragraph *p);
/*
 * Writes what is in p->f to out, as words on lines of which all but the first begin with so many
 * spaces, and frees it.
 */
void paragraph_end(struct paragraph *p, FILE *out, int indent);
/* Writes what is in p->f as one line, and frees it: if it is too long, the rest is "...". */
void paragraph_end_cut(struct paragraph *p, FILE *out);
/* In a line for paragraph_end_lines(): its other lines begin in this column. Takes none itself. */
#define PARAGRAPH_HANG "\036"
/*
 * Writes each line of what is in p->f as a paragraph whose other lines begin where PARAGRAPH_HANG
 * is, or else two columns behind the first word, but at most in the middle of the screen, and frees
 * it. Words that are too long for a line are cut in their middle.
 */
void paragraph_end_lines(struct paragraph *p, FILE *out);
/* Frees it. */
void paragraph_drop(struct paragraph *p);
/* How many lines of a terminal a text takes, each of its lines one at least. */
size_t paragraph_lines(const char *text, size_t columns);
