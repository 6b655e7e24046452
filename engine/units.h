/* SPDX-License-Identifier: GPL-2.0-or-later */
/* units.h - numbers and times as users write them on a command line. */
#ifndef ENGINE_UNITS_H
#define ENGINE_UNITS_H

#include <stdint.h>

/* Reads a whole number of digits alone, at most max, into *v. Returns 0 or -EINVAL. */
int parse_number(const char *s, uint64_t max, uint64_t *v);

/*
 * Reads "10us", "2.5ms", "1s", "300ns" into *ns; a number without a unit is taken by its
 * default_ns, the length of its unit (0: a unit must be given). Returns 0 or -EINVAL (also for
 * what does not fit).
 */
int parse_duration(const char *s, uint64_t default_ns, uint64_t *ns);

#endif /* ENGINE_UNITS_H */
