// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout.h"

#include <stdlib.h>
#include <string.h>

/* Stacks being looked at; another one takes the place of one with the same hash. */
#define SEARCHES 512u
/* Samples with the same distance between both ends that are enough. */
#define SAMPLES_ENOUGH 4u

/* A set of words of a sample. */
struct slots {
	uint64_t bits[WIRE_SAMPLE_WORDS / 64];
};

struct search {
	uint32_t id, n; /* 0: free; frames without the tracer's */
	uint32_t event, link, cut;
	uint32_t samples, n_words;
	bool n_words_differ;
	uint64_t ret[WIRE_LAYOUT_FRAMES];
	/* Where each address was in all samples: from the fixed point, and from the root end. */
	struct slots leaf[WIRE_LAYOUT_FRAMES];
	uint64_t root[WIRE_LAYOUT_FRAMES]; /* bit d: d words before the end; never 0 */
};

struct layout_finder {
	struct search *searches[SEARCHES];
};

struct layout_finder *layout_finder_new(void)
{
	return calloc(1, sizeof(struct layout_finder));
}

void layout_finder_free(struct layout_finder *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < SEARCHES; i++)
		free(f->searches[i]);
	free(f);
}

static void set(struct slots *s, uint32_t slot)
{
	s->bits[slot / 64] |= 1ull << slot % 64;
}

static bool has(const struct slots *s, uint32_t slot)
{
	return s->bits[slot / 64] >> slot % 64 & 1;
}

static void intersect(struct slots *s, const struct slots *with)
{
	for (size_t i = 0; i < WIRE_SAMPLE_WORDS / 64; i++)
		s->bits[i] &= with->bits[i];
}

static struct search *find_search(struct layout_finder *f, const struct wire_sample *sample,
				  uint32_t first)
{
	struct search **place = &f->searches[sample->id % SEARCHES], *s = *place;

	if (!s)
		s = *place = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	if (s->id != sample->id || s->n != sample->n - first || s->link != sample->link ||
	    s->cut != sample->cut) {
		memset(s, 0, sizeof(*s));
		s->id = sample->id;
		s->n = sample->n - first;
		s->event = sample->event;
		s->link = sample->link;
		s->cut = sample->cut;
		memcpy(s->ret, sample->frames + first, s->n * sizeof(s->ret[0]));
		memset(s->leaf, 0xff, sizeof(s->leaf));
		memset(s->root, 0xff, sizeof(s->root));
		s->n_words = sample->n_words;
	}
	return s;
}

static void look(struct search *s, const struct wire_sample *sample)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct slots leaf = { { 0 } };
		uint64_t root = 0;

		for (uint32_t w = 0; w < sample->n_words; w++) {
			if (sample->words[w] != s->ret[i])
				continue;
			set(&leaf, w);
			if (sample->to_root && sample->n_words - w < WIRE_ROOT_WORDS)
				root |= 1ull << (sample->n_words - w);
		}
		intersect(&s->leaf[i], &leaf);
		s->root[i] &= root;
	}
	s->n_words_differ |= s->n_words != sample->n_words;
	s->samples++;
}

/*
 * Assigns the frames from the leaf on to their earliest slots from the fixed point; returns how
 * many could be. Those are certain if the latest slots, from the last of them back, are the same.
 */
static uint32_t assign_leaf(const struct search *s, uint16_t *slot, bool *certain)
{
	uint32_t n = 0, w = 0, latest = WIRE_SAMPLE_WORDS;

	for (; n < s->n; n++, w++) {
		while (w < WIRE_SAMPLE_WORDS && !has(&s->leaf[n], w))
			w++;
		if (w == WIRE_SAMPLE_WORDS)
			break;
		slot[n] = (uint16_t)w;
	}
	*certain = true;
	for (uint32_t i = n; i-- > 0;) {
		do {
			latest--;
		} while (!has(&s->leaf[i], latest));
		*certain &= latest == slot[i];
	}
	return n;
}

/* Assigns frames from..n to slots counted from the root end, which must be the only ones. */
static bool assign_root(const struct search *s, uint32_t from, uint32_t *distance)
{
	uint32_t d = WIRE_ROOT_WORDS, nearest = 0;

	for (uint32_t i = from; i < s->n; i++) {
		do {
			if (!d--)
				return false;
		} while (!(s->root[i] >> d & 1));
		distance[i] = d;
	}
	for (uint32_t i = s->n; i-- > from;) {
		do {
			nearest++;
		} while (!(s->root[i] >> nearest & 1));
		if (nearest != distance[i])
			return false;
	}
	return true;
}

static bool solve(const struct search *s, struct layout *out)
{
	uint32_t distance[WIRE_LAYOUT_FRAMES], n;
	bool certain;

	memset(out, 0, sizeof(*out));
	n = assign_leaf(s, out->slot, &certain);
	if (!n || !certain || !assign_root(s, n, distance))
		return false;
	if (!s->cut) {
		uint32_t end = n < s->n ? distance[s->n - 1] : s->n_words - out->slot[n - 1];

		/* If how far it is varies, then it is not there that such stacks end. */
		if (n == s->n && s->n_words_differ)
			return false;
		out->end = (uint16_t)end;
	}
	out->id = s->id;
	out->n = s->n;
	out->event = s->event;
	out->link = (uint16_t)s->link;
	for (uint32_t i = 0; i < n; i++) {
		out->base[i] = WIRE_FROM_LEAF;
		if (s->link && out->slot[i] > s->link) {
			out->base[i] = WIRE_FROM_LINK;
			out->slot[i] = (uint16_t)(out->slot[i] - s->link - 1);
		}
	}
	for (uint32_t i = n; i < s->n; i++) {
		out->base[i] = WIRE_FROM_ROOT;
		out->slot[i] = (uint16_t)distance[i];
	}
	memcpy(out->ret, s->ret, s->n * sizeof(s->ret[0]));
	return true;
}

bool layout_finder_add(struct layout_finder *f, const struct wire_sample *sample, uint32_t first,
		       struct layout *out)
{
	struct search *s;

	if (first >= sample->n || sample->n > WIRE_LAYOUT_FRAMES || !sample->n_words ||
	    sample->n_words > WIRE_SAMPLE_WORDS ||
	    (sample->link && sample->link >= sample->n_words) || (!sample->cut && !sample->to_root))
		return false;
	s = find_search(f, sample, first);
	if (!s)
		return false;
	look(s, sample);
	/* Which end a slot is counted from shows only when the distance between them varies. */
	if (!(s->samples >= 2 && s->n_words_differ) && s->samples < SAMPLES_ENOUGH)
		return false;
	if (!solve(s, out))
		return false;
	s->id = 0;
	return true;
}
