/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle.h - C++ and Rust names as their authors wrote them, as perf shows them: template
 * arguments stay, parameters, return types, clone suffixes and Rust's hashes go.
 */
#ifndef CHAINCAP_DEMANGLE_H /* libiberty has a demangle.h too */
#define CHAINCAP_DEMANGLE_H

#include <stddef.h>

/*
 * Writes the readable form of symbol to buf (cap bytes, terminated) and returns buf. Returns symbol
 * itself if it is not a mangled name, or one whose readable form does not fit: a name from a
 * hostile file can stand for an endless one. Uses no memory in proportion to that.
 */
const char *demangle(const char *symbol, char *buf, size_t cap);

#endif /* CHAINCAP_DEMANGLE_H */
