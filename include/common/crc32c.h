/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crc32c.h - CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as iSCSI (RFC 3720, B.4)
 * and ext4 use it. The CPU's own instruction where there is one, else a table; both give the same
 * number. libisal has it, too (crc32_iscsi()), but these few lines are less than a dependency, and
 * a block takes no measurable time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the CRC-32C of the len bytes at p, going on from crc, which is 0 for the first piece and
 * the previous result for the next ones.
 */
uint32_t crc32c(uint32_t crc, const void *p, size_t len);
