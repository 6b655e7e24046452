/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cause_words.h - what the thread of a cause did, in words that all tables of causes have. */
#pragma once

#include "causes/causes.h"
#include "format.h"

/*
 * Writes what the thread of a cause did, as it follows its name: " slept in poll for tcp :80, until
 * a packet arrived".
 */
void causes_put_did(FILE *out, const struct format_input *in, const struct names *n,
		    const struct cause *c);
