/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_modules.h - the files with code that were mapped, as modules of the trace. It owns which
 * build ID a file has: as recorded with the mapping, as the recording says it of the path, or that
 * of the file at this path here, if device, inode and generation prove it to be the mapped one; and
 * where the file's code is linked for, if the file is here. By these functions are named later
 * (symbols/).
 */
#pragma once

#include "common/encoder.h"
#include "common/intern.h"
#include "perf_file.h"

/* What tells a mapped file from others with its path. A part of a key: there are no gaps in it. */
struct perf_identity {
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t has_inode;
	uint32_t build_id_len; /* 0: not recorded with the mapping */
	uint8_t build_id[PERF_BUILD_ID_MAX + 4];
};

struct perf_module;

/* All zero, but for the encoder, is ready for use. */
struct perf_modules {
	struct encoder *enc;
	struct intern keys;	/* identity and path */
	struct perf_module *at; /* by id - 1 */
	size_t cap;
	uint32_t *used; /* ids in the order of their numbers in the trace */
	uint32_t n_used;
	size_t cap_used;
};

/* The id of a file. */
uint32_t perf_modules_id(struct perf_modules *m, const struct perf_identity *who,
			 struct import_name path);
/*
 * The number in the trace, and the space whose addresses are offsets in the file, both made when
 * they are first asked for.
 */
uint32_t perf_modules_number(struct perf_modules *m, uint32_t id);
uint32_t perf_modules_space(struct perf_modules *m, uint32_t id);
/*
 * The recording has been read: defines those that have a number. until_ns: when the recording was
 * written, CLOCK_REALTIME; a file that was changed later proves nothing; 0: not known. Returns how
 * many files have no build ID, of those that are files.
 */
uint64_t perf_modules_define(struct perf_modules *m, const struct perf_file *f, int64_t until_ns);
void perf_modules_free(struct perf_modules *m);

/* Opens the file with the build ID in perf's cache (~/.debug), by its name there. -1: none. */
int perf_cache_open(const uint8_t *build_id, size_t len, const char *name);
