/* SPDX-License-Identifier: GPL-2.0-or-later */
/* similar.h - which of several words was meant by one that is not among them. */
#pragma once

#include <stdbool.h>

/*
 * True if a could be b mistyped: letters left out, added, changed or swapped with their neighbour,
 * one for each three letters of the longer one (the distance of Damerau and Levenshtein without
 * repeated changes at one place); or if one is a part of the other. Words of more than 63 bytes
 * are similar to none.
 */
bool words_similar(const char *a, const char *b);
