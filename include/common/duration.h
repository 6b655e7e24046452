/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * duration.h - durations as users write them, the same for all programs: "300ns", "10us", "2.5ms",
 * "1s", "2min". Decimal digits only: no sign, no exponent, no space.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads a duration into *ns. default_unit_ns: the unit of a number without one; 0: a unit is
 * required. False: s is no duration, or not below INT64_MAX ns (292 years).
 */
bool duration_parse(const char *s, uint64_t default_unit_ns, uint64_t *ns);
