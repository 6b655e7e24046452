/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe_args.h - where a probe finds the arguments of a function, by the machine's calling
 * convention, or of a USDT probe, by what its note says. A note is untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "chainwire.h"

/* Registers that pass arguments: any function has at most so many that can be read. */
unsigned int probe_args_passed(void);
/*
 * Argument n of a function, from 1 to probe_args_passed(), as a signed number of 64 bits. is_go: of
 * one that Go's compiler made, which has a convention of its own.
 */
struct wire_probe_value probe_args_of_function(unsigned int n, bool is_go);
/* What a function of C has returned, in a probe of its return. */
struct wire_probe_value probe_args_returned(void);
/*
 * Argument n, from 1 on, of a USDT probe whose note describes them all in text[0..len), such as
 * "-4@$5 8@-16(%rbp)" on x86-64 or "8@[sp, 16]" on arm64. False: there is no such argument, or it
 * is where a probe cannot read it.
 */
bool probe_args_of_usdt(const char *text, size_t len, unsigned int n, struct wire_probe_value *out);
