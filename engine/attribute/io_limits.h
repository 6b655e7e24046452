/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_limits.h - which requests to disks an I/O limit of a control group held back (chain-semantics,
 * section 11).
 */
#pragma once

#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

/*
 * Finds them, by where they were asked for. A worker of the kernel asked for these: if it is known
 * which thread waited for one, it becomes that thread's.
 */
void io_limits_find(struct timelines *tl, struct kernel_stacks *k);
