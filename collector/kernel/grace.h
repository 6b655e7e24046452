/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grace.h - learns when all BPF programs that ran at some moment have ended, without waiting for
 * it: what they may still look at can be changed then.
 */
#pragma once

#include <stdbool.h>

struct grace;

/* Needs CAP_BPF, the rest does not. Returns 0 or a negative errno. */
int grace_new(struct grace **out);
/* Waits for what has begun. NULL is allowed. */
void grace_free(struct grace *g);

/* The moment is now. Not while an earlier one is not over. False: it cannot be learnt. */
bool grace_begin(struct grace *g);
/* All programs that ran at the moment of grace_begin() have ended. */
bool grace_is_over(struct grace *g);
