/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request_beside.h - a slow request and the usual one of its endpoint, side by side. */
#pragma once

#include "format.h"

/*
 * Writes what the thread that answered did for each of them, in the order of time, what is the same
 * in one row; p: a request's wait. Nothing if it is the only one of its endpoint.
 */
void request_beside_put(FILE *out, const struct format_input *in, const struct chosen_wait *p);
