/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * polled_locks.h - tries for a lock of a file, which is let go without a waking (chain-semantics,
 * section 14): whoever had it explains them, up to when that thread was on a CPU last.
 */
#pragma once

#include "tries.h"

/* Of all tries, whose rows are known: sets until, let_go_ns and unexplained of those. */
void polled_locks_explain(struct tries *t);
/* Makes two sleeps of those within which the lock was let go. tries.sleep is not valid any more. */
void polled_locks_part(struct tries *t);
