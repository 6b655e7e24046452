/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_places.h - places at which a program waits for one file after the other, as a backup does:
 * there the name of each says little.
 */
#pragma once

#include "timeline/timeline.h"

struct file_places;

/* tl must outlive it. To be freed with file_places_free(). */
void file_places_new(struct file_places **out, const struct timelines *tl);
void file_places_free(struct file_places *f);
/*
 * Whether threads have waited for many files with the user stack of a pair, which is at a file.
 * *folder: the last part of the path of the folder in which all of these are, *len bytes; NULL:
 * they are in several ones, or it is not known.
 */
bool file_places_many(const struct file_places *f, uint32_t pair, const char **folder, size_t *len);
