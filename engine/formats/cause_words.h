/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cause_words.h - a cause in words, which all tables of causes have: who, what it did, whom it made
 * wait. */
#pragma once

#include "causes/causes.h"
#include "format.h"

/*
 * Writes c, one of all, as a sentence: "janitor/120 ran 95 % in compact < main, 88 % of it for
 * audit, then woke the waiter in unlock".
 */
void causes_put_sentence(FILE *out, const struct names *n, const struct causes *all,
			 const struct cause *c);
/*
 * Writes it in so few words that a line of a screen has what matters: "client waits for a delayed
 * ACK, tcp :80, in read < main". What a thread ran is its function; ids of threads are left out.
 * color: the name is bold.
 */
void causes_put_short(FILE *out, const struct names *n, const struct causes *all,
		      const struct cause *c, bool color);
/*
 * Writes whom c made wait, how most of it came to them, and what the one before the last waited
 * for: "made client wait 20.000 ms: client <- worker <- janitor, for futex 17:server+0x40c0".
 * Nothing if all of it is the thread's own: then it returns false.
 */
bool causes_put_way(FILE *out, const struct names *n, const struct cause *c);
/* Writes a command that shows the example, by which its chain can be followed. */
void causes_put_example(FILE *out, const struct format_input *in, const struct cause *c);
