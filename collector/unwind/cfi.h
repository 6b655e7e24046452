/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi.h - the call frame information (.eh_frame) of one ELF file, read by libdw. Any user may have
 * written the file: only processes without rights read it (rules_process.c), its sizes are checked
 * before libdw sees it, and searching it takes a tenth of the time at most.
 */
#pragma once

#include <stddef.h>

#include "rule.h"

struct cfi;

/*
 * Reads the file fd, which stays the caller's and open. Returns 0; -ENOEXEC if it is no ELF file of
 * this machine; -ENOENT if it has no call frame information; -EFBIG if it has more than
 * CFI_MAX_BYTES; -ENOMEM; or the error of reading.
 */
int cfi_open(struct cfi **out, int fd);
void cfi_close(struct cfi *c);

#define CFI_MAX_BYTES (64u << 20)
/* The memory that it takes, about, in bytes. */
size_t cfi_bytes(const struct cfi *c);

/*
 * Finds the rule for the byte at this offset of the file, which holds up to the byte *end. Where it
 * begins libdw does not know: after DW_CFA_restore_state it says another place. Returns 0; -ENOENT:
 * it has none; or -EAGAIN: searching the file has taken too long by now, so whether it has one is
 * known later only.
 */
int cfi_row(struct cfi *c, uint64_t offset, struct unwind_rule *rule, uint64_t *end);
