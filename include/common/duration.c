// SPDX-License-Identifier: GPL-2.0-or-later
#include "duration.h"

#include <string.h>

/* The length in ns of the unit with this name; 0: there is no such unit. */
static uint64_t duration_unit_ns(const char *name)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "min", UINT64_C(60000000000) },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, name))
			return units[i].ns;
	return 0;
}

bool duration_parse(const char *s, uint64_t default_unit_ns, uint64_t *ns)
{
	size_t n_whole = strspn(s, "0123456789"), n_fraction = 0;
	const char *fraction = s + n_whole, *unit = fraction;
	uint64_t scale, limit, digit, v = 0;

	if (*fraction == '.') {
		n_fraction = strspn(++fraction, "0123456789");
		unit = fraction + n_fraction;
	}
	scale = *unit ? duration_unit_ns(unit) : default_unit_ns;
	if (!(n_whole + n_fraction) || !scale)
		return false;
	limit = INT64_MAX / scale - 1; /* leaves room for the fraction */
	for (size_t i = 0; i < n_whole; i++) {
		digit = (uint64_t)(s[i] - '0');
		if (v > (limit - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	v *= scale;
	/* Digits after the one that stands for a nanosecond add nothing. */
	for (size_t i = 0; i < n_fraction; i++) {
		scale /= 10;
		v += (uint64_t)(fraction[i] - '0') * scale;
	}
	*ns = v;
	return true;
}
