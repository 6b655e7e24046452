/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle.h - C++ and Rust names as in the source, in the form that perf shows: with template
 * arguments, without parameters, return types, clone suffixes and Rust's hashes. Programs that use
 * it link libiberty.
 */
#pragma once

#include <stddef.h>

/*
 * Writes the readable form of symbol to buf (cap bytes, terminated) and returns buf. Returns symbol
 * itself if it is not a mangled name, or if the readable form does not fit: a short hostile name
 * can expand to gigabytes. Memory use does not depend on that length.
 */
const char *demangle(const char *symbol, char *buf, size_t cap);
