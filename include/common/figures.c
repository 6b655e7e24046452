// SPDX-License-Identifier: GPL-2.0-or-later
#include "figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Digits behind the point, so that there are three in all. */
static int decimals(double size)
{
	return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

void figure_time(char out[FIGURE_LEN], double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "\u00b5s" }, { 1, "ns" } };
	double size = fabs(ns);
	size_t i = 0;

	if (!(size > 0)) {
		strcpy(out, "0");
		return;
	}
	/* 999.6 us is 1.00 ms. */
	while (i < 3 && size < units[i].ns * 0.9995)
		i++;
	snprintf(out, FIGURE_LEN, "%.*f %s",
		 i == 3 && size == (unsigned int)size ? 0 : decimals(size / units[i].ns),
		 ns / units[i].ns, units[i].name);
}

void figure_percent(char out[FIGURE_LEN], double percent)
{
	double size = fabs(percent);

	if (!(size > 0))
		strcpy(out, "0 %");
	else if (size < 0.005)
		strcpy(out, "<0.01 %");
	else
		snprintf(out, FIGURE_LEN, "%.*f %%", decimals(size), percent);
}
