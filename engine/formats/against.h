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

/* A link that has a part of a row's change: of the recording that has more. */
struct against_link {
	const struct figure_step *step;
	int64_t by_ns; /* how much more it has after than before */
};

/* When both figures are made. */
void against_compare(struct against *a, const struct options *o);
/* Whether a row is shown: it changed, or is of the command or an endpoint. */
bool against_shows(const struct against_row *r);
/* The links with half of a row's change or more, at most that many; how many these are. */
#define AGAINST_LINKS 4
size_t against_links(const struct against_row *r, struct against_link links[AGAINST_LINKS]);
/* What all rows come to, as a sentence; marked: how those are marked that grew by too much. */
void against_put_verdict(FILE *out, const struct against *a, const struct options *o,
			 const char *marked);
/* Writes them, on a screen as many lines as it has. */
void against_put(FILE *out, const struct against *a, const struct options *o);
/*
 * Writes the rows as one JSON object of at most SCREEN_JSON_MOST bytes, more only with --wide: the
 * comparison of screen.schema.json.
 */
void against_put_json(FILE *out, const struct against *a, const struct options *o);
void against_free(struct against *a);
