/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elfdata.h - where the variables of an ELF file are, by their names. The file is untrusted. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "elfsym.h"

/*
 * vaddr[i] becomes the link-time address of the variable names[i], by the file's tables of symbols,
 * first that of exported ones; 0: there is none.
 */
void elfdata_find(struct elfsym *e, const char *const *names, size_t n, uint64_t *vaddr);
