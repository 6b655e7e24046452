/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * against.h - --against: two recordings, before and after a change, in the rows of the first
 * screen: what grew, and by which links of its chain (chain-semantics, section 20).
 */
#pragma once

#include "figures.h"

enum against_change { AGAINST_SAME, AGAINST_GROWN, AGAINST_LESS, AGAINST_NEW, AGAINST_GONE };

struct against_row {
	const struct figure *before, *after; /* NULL: that one has none */
	enum against_change change;
	bool judged, above; /* it is judged by --fail-above; it grew by more than that */
};

/* All zero is empty. */
struct against {
	struct figures before, after;
	struct against_row *rows; /* causes behind all others; of each what grew most first */
	size_t n, n_judged, n_above;
};

/* When both figures are made. 0 or -ENOMEM. */
int against_compare(struct against *a, const struct options *o);
/* Writes them, on a screen as many lines as it has. 0 or -ENOMEM. */
int against_put(FILE *out, const struct against *a, const struct options *o);
void against_free(struct against *a);
