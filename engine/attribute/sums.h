/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - amounts by thing and key: who had the CPU of each link of a chain, what each waker ran,
 * whom it woke, what a cause was mostly for. Things and keys are numbers of the caller's; each key
 * has a text, which decides between equal amounts, so that no order depends on how keys are
 * numbered.
 */
#pragma once

#include <stdio.h>

#include "base/pairs.h"
#include "words/names.h"

/* A key that is not known: it has no text, and comes last among equals. */
#define SUMS_UNKNOWN UINT32_MAX

struct sum {
	uint32_t thing, key;
	uint32_t text;	 /* the key's, id in names, by sums_sort(); 0: SUMS_UNKNOWN */
	uint64_t amount; /* decides the order: ns, or a number of samples */
	uint64_t count;	 /* a second amount, which sums_at() gives access to */
	uint64_t share;	 /* by sums_share() */
};

/* All zero is empty. */
struct sums {
	struct pair_table table; /* struct sum, by (thing, key) until they are sorted */
	size_t n;		 /* when they are sorted: so many, from table.at[1] on */
};

/* Forgets all; the memory is kept. sums_free() releases it. */
void sums_clear(struct sums *s);
void sums_free(struct sums *s);

/* ---- adding: not after sorting --------------------------------------------------------------- */

/* Valid until the next one is asked for. */
struct sum *sums_at(struct sums *s, uint32_t thing, uint32_t key);

static inline void sums_add(struct sums *s, uint32_t thing, uint32_t key, uint64_t amount)
{
	struct sum *sum = sums_at(s, thing, key);

	sum->amount += amount;
}

void sums_add_all(struct sums *to, const struct sums *from);

/* ---- when all have been added ---------------------------------------------------------------- */

/* The id of a key's text in names: names_string(), names_off_cpu() or such. */
typedef uint32_t (*sums_text_fn)(struct names *names, uint32_t key);
/* For keys that are texts. */
uint32_t sums_key_is_text(struct names *names, uint32_t key);

/* Adds up the sums of a thing whose keys have equal texts, under the lowest of these keys. */
void sums_merge(struct sums *s, struct names *names, sums_text_fn text_of);
/* Sorts by thing, then the largest first, then by text. */
void sums_sort(struct sums *s, struct names *names, sums_text_fn text_of);
/* The sums of a thing, the largest first; *n: how many. Valid until s changes. */
struct sum *sums_of(const struct sums *s, uint32_t thing, size_t *n);
/* The text of the largest sum of a thing; 0: it has none. */
uint32_t sums_dominant_text(const struct sums *s, uint32_t thing);
/*
 * Writes `before` and "61 % gzip, 20 % [idle CPU], 19 % others" of a thing: at most `most` of its
 * sums, each of at least one percent; unknown: what SUMS_UNKNOWN is called. Writes nothing, and
 * returns false, if nothing is known.
 */
bool sums_write(const struct sums *s, const struct names *names, uint32_t thing, size_t most,
		const char *before, const char *unknown, FILE *out);
/*
 * Sets the shares of the sums of[0..n), n not 0, of a thing: total, split in proportion to their
 * amounts (chain-semantics, section 8).
 */
void sums_share(struct sum *of, size_t n, uint64_t total, struct names *names);

/*
 * Splits total in proportion to parts[0..n), whose sum is not 0, into shares that add up to it: by
 * largest remainder, among equals those that come first.
 */
void share_out(uint64_t total, const uint64_t *parts, size_t n, uint64_t *shares);
