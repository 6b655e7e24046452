/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debugfile.h - where to find the functions of a stripped program: in its debug file,
 * installed under the program's build ID or path in /usr/lib/debug or beside the program, on this
 * machine or in the program's container; or the program's "mini debug info", an ELF file compressed
 * with xz in its section .gnu_debugdata (all programs of Fedora and its relatives have it).
 *
 * A file counts only if the build ID in it is the program's; for a program without one, if it has
 * the checksum in the program's .gnu_debuglink. A debug file in a container, or beside a program,
 * was put there by others, and the program may run outside of the container, too. It is used only
 * if those who put it there could have replaced the program as well: it must be on the same file
 * system, and belong to root or to the program's owner. Unpacking mini debug info takes bounded
 * memory, and the result is read like any other untrusted file.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "elfsym.h"

/* What a program says of its debug file. It is as untrusted as the program. */
struct debugfile_wanted {
	uint32_t build_id_len; /* 0: it has none */
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t has_link; /* .gnu_debuglink: a name and a checksum */
	uint32_t crc;
	char name[NAME_MAX + 1];
};

void debugfile_ask(struct debugfile_wanted *w, struct elfsym *e);
/*
 * Adds the functions of fd, which is closed, to e, if it is the wanted debug file and has a symbol
 * table. Returns whether that is so.
 */
bool debugfile_take(struct elfsym *e, const struct debugfile_wanted *w, int fd);

/* Whether w, which comes from a reader and may be hostile, is valid for debugfile_search(). */
bool debugfile_is_sane(const struct debugfile_wanted *w);
/*
 * Opens what is where the debug file may be, and offers it until fn, which closes fd, returns true;
 * then it does, too. program is the program's descriptor, -1: it is in memory. root is the
 * program's root directory, -1: the same as ours; path is where the program is in it.
 */
typedef bool (*debugfile_offer_fn)(void *ctx, int fd);
bool debugfile_search(const struct debugfile_wanted *w, int program, int root, const char *path,
		      debugfile_offer_fn fn, void *ctx);

/* False: built without liblzma, .gnu_debugdata cannot be read. */
bool minidebug_is_supported(void);
/*
 * Opens e's .gnu_debugdata; *out is to be closed, or passed to elfsym_add(). Returns 0; -ENOENT if
 * there is none; -ENOTSUP if built without liblzma; -ENOEXEC if it is damaged or no ELF file;
 * -E2BIG if it is larger than any symbol table; -ENOMEM.
 */
int minidebug_open(struct elfsym **out, struct elfsym *e);
