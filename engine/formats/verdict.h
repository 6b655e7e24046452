/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict.h - what a chain came down to, as a part of a sentence. */
#pragma once

#include <stdio.h>

#include "answer/chain_steps.h"

/*
 * Writes " because redis-server runs keysCommand.", of what has most of the time of s; or, if that
 * is less than a third, "; no single cause: ...". own: the time is that of a thread, whose own
 * pauses are its choice; else of clients. color: names are bold. Nothing if there is no time.
 */
void verdict_put(FILE *out, const struct chain_steps *s, const struct names *names, bool color,
		 bool own);
