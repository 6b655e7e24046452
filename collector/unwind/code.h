/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.h - what some instructions of a file say about the frame that they are in, where there is no
 * call frame information.
 */
#ifndef UNWIND_CODE_H
#define UNWIND_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the instruction that ends before this offset of the file fd is a call. */
bool code_is_call(int fd, uint64_t offset);

/*
 * Whether the code at this offset of the file fd is that to which signal handlers return,
 * recognized by its instructions as debuggers do: musl's, and that in arm64's vDSO, has no call
 * frame information.
 */
bool code_is_signal_return(int fd, uint64_t offset);

#endif /* UNWIND_CODE_H */
