/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * style.h - names in bold, and the ends of chains in the colours that they have in the picture, as
 * SGR sequences (ECMA-48) for a terminal of 256 colours. With color false nothing but the text is
 * written, so that the text is the same with and without colours.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "attribute/chain.h"

/* Ends what style_begin_end() or style_begin_name() began. */
#define STYLE_STOP "\033[0m"

enum style_of {
	STYLE_TEXT, /* a bar: the colour of its characters */
	STYLE_BACK, /* a number: the colour behind it, which remains readable on any terminal */
};

void style_begin_end(FILE *out, bool color, enum style_of of, enum chain_end end, bool throttled);
void style_begin_name(FILE *out, bool color);
void style_stop(FILE *out, bool color);
/* A whole name. */
void style_name(FILE *out, bool color, const char *name);
