/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_private.h - the command line from within: what options.c (the table, values) and
 * options_check.c (what goes together) know of each other. Nobody else includes it.
 */
#ifndef ENGINE_OPTIONS_PRIVATE_H
#define ENGINE_OPTIONS_PRIVATE_H

#include "options.h"

/* A command line being read: where its one line of complaint goes. */
struct parser {
	struct options *o;
	const char *name; /* of the option at hand, as the user may spell it */
	char *err;
	size_t err_size;
};

/* Leaves one line that says what is wrong. Returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int options_complain(struct parser *p, const char *fmt, ...);
/* How the user may spell opt in a message. */
const char *options_name(int opt, char *buf, size_t size);
/* The bit of an option in options.given; 0 for those that any format can take. */
unsigned int options_given_bit(int opt);
/*
 * Whether the options that were given (opts[0..n_opts)) and the traces go together. Returns 0 or
 * -EINVAL, with a complaint.
 */
int options_check(struct parser *p, const int *opts, size_t n_opts);

#endif /* ENGINE_OPTIONS_PRIVATE_H */
