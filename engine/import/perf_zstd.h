/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_zstd.h - the records that perf record -z compresses: one stream of zstd over all of them,
 * which is cut without regard to the records in it.
 */
#pragma once

#include "perf_bytes.h"

struct perf_zstd;

/* Returns 0; -ENOMEM; -ENOTSUP if the program was built without libzstd. */
int perf_zstd_new(struct perf_zstd **out);
void perf_zstd_free(struct perf_zstd *z);
/*
 * Decompresses the next piece. *bytes are the records that are whole with it, to be freed with
 * free(); *len may be 0. Returns 0; -ENOMEM; -EBADMSG if it cannot be decompressed, or is far
 * larger than what perf compresses.
 */
int perf_zstd_next(struct perf_zstd *z, struct perf_bytes piece, uint8_t **bytes, size_t *len);
