/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_kernel.h - the functions of the kernel that was recorded: those that perf kept in its cache
 * (~/.debug), or those of the running kernel if it has the same build ID; and the BPF programs that
 * the recording tells of. Another kernel's functions are never used.
 */
#pragma once

#include "common/kallsyms.h"
#include "import_report.h"
#include "perf_file.h"

/* Where a module's code was. */
struct perf_kernel_module {
	uint64_t start, end;
	char name[56];
};

/* All zero is ready for use. */
struct perf_kernel {
	struct perf_kernel_module *modules;
	size_t n_modules, cap_modules;
	struct kallsyms *functions;
	enum import_kernel_names names;
	uint64_t start, end; /* of its own code, in the recording; 0: not said */
	uint64_t reference;  /* the address of a symbol in it, by which a shift shows */
	char reference_name[64];
	uint64_t shift; /* add it to the address of a function to have it in the recording */
	uint8_t build_id[PERF_BUILD_ID_MAX];
	uint32_t build_id_len;
	uint32_t changes; /* so often code was loaded or removed */
};

/*
 * What the kernel has mapped, as perf describes it: itself, "[kernel.kallsyms]_text", where
 * `offset` is the address of _text; or a module, "[loop]" or "/lib/modules/.../loop.ko".
 */
void perf_kernel_mapped(struct perf_kernel *k, struct import_name path, uint64_t start,
			uint64_t end, uint64_t offset);
/* A record of a symbol that was added or removed. 0 or -ENOMEM; -EBADMSG. */
int perf_kernel_symbol(struct perf_kernel *k, struct perf_bytes body);
/*
 * The function at an address, as kallsyms_find(), with start in the recording; *may_change: other
 * code may be there after another change. False: not known. Reads the list of functions when it is
 * first called.
 */
bool perf_kernel_find(struct perf_kernel *k, const struct perf_file *f, uint64_t addr,
		      struct kallsyms_symbol *out, bool *may_change);
void perf_kernel_free(struct perf_kernel *k);
