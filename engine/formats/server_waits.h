/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_waits.h - the first screen of a client: for which servers the chosen threads waited, and
 * how long for each answer. Lines of 80 columns.
 */
#pragma once

#include "format.h"

/* Writes nothing if it waited for none, or hardly. 0 or -ENOMEM. */
int server_waits_put(FILE *out, const struct format_input *in);
