/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * self_test.h - --self-test: what of the recorder works on this kernel, with these rights, on one
 * screen.
 */
#pragma once

#include "session.h"

/*
 * Records for a second what two processes of its own do, keeps nothing of it, and prints on
 * standard output what works and what does not, with the cure. Returns 0, or a negative errno if
 * nothing can be recorded.
 */
int self_test_run(const struct options *o, struct session_signals *signals);
