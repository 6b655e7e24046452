// SPDX-License-Identifier: GPL-2.0-or-later
#include "units.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

int parse_number(const char *s, uint64_t max, uint64_t *v)
{
	uint64_t n = 0;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		unsigned int digit = (unsigned int)*s - '0';

		if (digit > 9 || n > max / 10 || digit > max - n * 10)
			return -EINVAL;
		n = n * 10 + digit;
	}
	*v = n;
	return 0;
}

static int unit_ns(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(s, units[i].name)) {
			*ns = units[i].ns;
			return 0;
		}
	}
	return -EINVAL;
}

int parse_duration(const char *s, uint64_t default_ns, uint64_t *ns)
{
	size_t n_whole = strspn(s, "0123456789"), n_fraction = 0;
	const char *fraction = s + n_whole, *unit = fraction;
	uint64_t scale = default_ns, v = 0, limit, digit;

	if (*fraction == '.') {
		n_fraction = strspn(++fraction, "0123456789");
		unit = fraction + n_fraction;
	}
	if (!(n_whole + n_fraction) || ((*unit || !scale) && unit_ns(unit, &scale)))
		return -EINVAL;
	limit = INT64_MAX / scale - 1; /* leaves room for the fraction */
	for (size_t i = 0; i < n_whole; i++) {
		digit = (uint64_t)(s[i] - '0');
		if (v > (limit - digit) / 10)
			return -EINVAL;
		v = v * 10 + digit;
	}
	v *= scale;
	/* Digits of the fraction that are less than a nanosecond are dropped. */
	for (size_t i = 0; i < n_fraction; i++) {
		scale /= 10;
		v += (uint64_t)(fraction[i] - '0') * scale;
	}
	*ns = v;
	return 0;
}
