/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_causes.h - the rows of the table of causes, which the report shows as well. */
#pragma once

#include "causes/causes.h"
#include "format.h"

/* How many causes are shown, the others being summed up. */
uint64_t causes_shown(const struct options *o);
/*
 * Writes c, one of all, as a sentence: "janitor ran, until it woke in unlock; meanwhile it woke
 * audit 6 times".
 */
void causes_put_sentence(FILE *out, const struct format_input *in, const struct names *n,
			 const struct causes *all, const struct cause *c);
/*
 * Writes how most of c came to those who waited, and what the one before the last waited for:
 * "client <- worker <- janitor, for futex 17:server+0x40c0".
 */
void causes_put_way(FILE *out, const struct names *n, const struct cause *c);
/* Writes a command that shows the wait with the largest part, by which its chain can be followed.
 */
void causes_put_example(FILE *out, const struct format_input *in, const struct cause *c);
