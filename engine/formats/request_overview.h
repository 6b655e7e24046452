/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_overview.h - the first screen: of each endpoint how long its requests took, and what the
 * slowest one percent waited for that those in the middle did not; of threads that are
 * chosen and answer none the servers for which it waited. Lines of 80 columns.
 */
#pragma once

#include "format.h"

/* Whether there is something to be shown with these options. */
bool request_overview_wanted(const struct format_input *in);
/* 0 or a negative errno. */
int request_overview_put(FILE *out, const struct format_input *in);
