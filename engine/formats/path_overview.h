/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_overview.h - why a command that was recorded took so long: how long that was, how many CPUs
 * it kept busy, and the path of its main thread from its start to its end, a line a link. And which
 * threads waited most for others, likewise.
 */
#pragma once

#include "format.h"

/* Whether that is asked for: the options choose no other waits. */
bool path_overview_wanted(const struct format_input *in);
/* has_requests: those of requests are shown, and no threads'. 0 or -ENOMEM. */
int path_overview_put(FILE *out, const struct format_input *in, bool has_requests);
