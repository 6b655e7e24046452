/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_fold.h - what block devices were asked for as rows (--view io): who asked, with what stack,
 * what it was, and how long it took, in powers of two of a microsecond. The time of a row is that
 * of its requests, from the asking to the end.
 */
#pragma once

#include "chain_rows.h"

struct disk_fold;

/* Folds the requests that the options choose; tl and o must outlive *out, which is to be freed. */
void disk_fold_new(struct disk_fold **out, const struct timelines *tl, const struct options *o);
void disk_fold_free(struct disk_fold *f);
/* The rows, in no order; they belong to f. */
struct chain_rows *disk_fold_rows(struct disk_fold *f);
