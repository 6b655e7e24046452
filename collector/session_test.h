/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_test.h - what --self-test prints, on standard output; the rest is the sink of its
 * session.
 */
#pragma once

#include <stdbool.h>

/* A line: whether the part of the recorder works, and what there is of it, or the cure (printf(3)).
 */
void session_test_say(const char *part, bool works, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
