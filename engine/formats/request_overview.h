/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_overview.h - the first screen: of each endpoint why its slowest requests took so long, in
 * a sentence and as a chain, a line a link; of threads that are chosen and answer none the servers
 * for which they waited.
 */
#pragma once

#include "format.h"

/* Whether there is something to be shown with these options. */
bool request_overview_wanted(const struct format_input *in);
/*
 * lines were written before; endpoints but the first are left out that would make more than most
 * (0: as many as there are). 0 or a negative errno.
 */
int request_overview_put(FILE *out, const struct format_input *in, size_t most, size_t lines);
