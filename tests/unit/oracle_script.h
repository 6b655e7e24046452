/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_script.h - scripts (synth_script.h) and what both engines say of them. */
#pragma once

#include "base/options.h"
#include "oracle.h"

/* What the engine is to be asked for to write what the second one writes. */
struct options oracle_options(struct oracle_asked asked);

/* Compares both engines' lines. */
void both_agree(const char *script, struct oracle_asked asked);
/* Then those that begin with that with what is expected. */
void both_fold(const char *script, struct oracle_asked asked, const char *begin,
	       const char *expected);
