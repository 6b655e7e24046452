// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack_slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"

/* Stacks with samples so far, by id; a stack evicts another one in the same entry. */
#define SAMPLED 512u
/* Number of samples that suffices if the distance between both ends never varies. */
#define SAMPLES_ENOUGH 4u
/* And if it stays doubtful which slot is an address's: all that hold it are to be looked at. */
#define SAMPLES_DOUBTFUL 8u

/* A set of words of a sample. */
struct slots {
	uint64_t bits[WIRE_SAMPLE_WORDS / 64];
};

struct sampled {
	uint32_t id, n; /* 0: free; frames without the tracer's */
	uint32_t event, link, cut;
	uint32_t samples, n_words;
	bool n_words_differ;
	uint64_t ret[WIRE_LAYOUT_FRAMES];
	/* Slots that held each address in every sample: from the fixed point, from the root end. */
	struct slots leaf[WIRE_LAYOUT_FRAMES];
	uint64_t root[WIRE_LAYOUT_FRAMES]; /* bit d: d words before the end; bit 0 is never set */
};

struct slot_finder {
	struct sampled *sampled[SAMPLED];
};

int slot_finder_new(struct slot_finder **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void slot_finder_free(struct slot_finder *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < SAMPLED; i++)
		free(f->sampled[i]);
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

static struct sampled *find_sampled(struct slot_finder *f, const struct wire_layout_sample *sample,
				    uint32_t first)
{
	struct sampled **place = &f->sampled[sample->id % SAMPLED], *s = *place;

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

static void add_sample(struct sampled *s, const struct wire_layout_sample *sample)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct slots leaf = { { 0 } };
		uint64_t root = 0;

		for (uint32_t w = 0; w < sample->n_words; w++) {
			if (address_plain_kernel(sample->words[w]) != s->ret[i])
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
 * Assigns frames, from the leaf on, to their earliest and their latest slots from the fixed point;
 * returns how many have one. Where these are the same, the assignment is certain.
 */
static uint32_t assign_leaf(const struct sampled *s, uint16_t *earliest, uint16_t *latest)
{
	uint32_t n = 0, w = 0, end = WIRE_SAMPLE_WORDS;

	for (; n < s->n; n++, w++) {
		while (w < WIRE_SAMPLE_WORDS && !has(&s->leaf[n], w))
			w++;
		if (w == WIRE_SAMPLE_WORDS)
			break;
		earliest[n] = (uint16_t)w;
	}
	for (uint32_t i = n; i-- > 0;) {
		do {
			end--;
		} while (!has(&s->leaf[i], end));
		latest[i] = (uint16_t)end;
	}
	return n;
}

/* Assigns frames from..n to slots counted from the root end; false unless there is only one way. */
static bool assign_root(const struct sampled *s, uint32_t from, uint32_t *distance)
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

static bool put(struct stack_slots *out, uint64_t ret, uint32_t base, uint32_t slot)
{
	if (out->n == WIRE_LAYOUT_FRAMES)
		return false;
	out->ret[out->n] = ret;
	out->base[out->n] = (uint8_t)base;
	out->slot[out->n++] = (uint16_t)slot;
	return true;
}

/* Puts all slots that may be a frame's, of which one is. */
static bool put_from_leaf(const struct sampled *s, uint32_t frame, uint32_t earliest,
			  uint32_t latest, struct stack_slots *out)
{
	bool ok = earliest == latest || s->samples >= SAMPLES_DOUBTFUL;

	for (uint32_t w = earliest; ok && w <= latest; w++) {
		if (!has(&s->leaf[frame], w))
			continue;
		if (s->link && w > s->link)
			ok = put(out, s->ret[frame], WIRE_FROM_LINK, w - s->link - 1);
		else
			ok = put(out, s->ret[frame], WIRE_FROM_LEAF, w);
	}
	return ok;
}

static bool solve(const struct sampled *s, struct stack_slots *out)
{
	uint16_t earliest[WIRE_LAYOUT_FRAMES], latest[WIRE_LAYOUT_FRAMES];
	uint32_t distance[WIRE_LAYOUT_FRAMES], n;

	memset(out, 0, sizeof(*out));
	n = assign_leaf(s, earliest, latest);
	if (!n || !assign_root(s, n, distance))
		return false;
	if (!s->cut) {
		uint32_t end = n < s->n ? distance[s->n - 1] : s->n_words - latest[n - 1];

		/* The distance to the end varies: such stacks do not end there. */
		if (n == s->n && s->n_words_differ)
			return false;
		out->end = (uint16_t)end;
	}
	out->id = s->id;
	out->event = s->event;
	out->link = (uint16_t)s->link;
	for (uint32_t i = 0; i < n; i++)
		if (!put_from_leaf(s, i, earliest[i], latest[i], out))
			return false;
	for (uint32_t i = n; i < s->n; i++)
		if (!put(out, s->ret[i], WIRE_FROM_ROOT, distance[i]))
			return false;
	return true;
}

bool slot_finder_add(struct slot_finder *f, const struct wire_layout_sample *sample, uint32_t first,
		     struct stack_slots *out)
{
	struct sampled *s;

	if (first >= sample->n || sample->n > WIRE_LAYOUT_FRAMES || !sample->n_words ||
	    sample->n_words > WIRE_SAMPLE_WORDS ||
	    (sample->link && sample->link >= sample->n_words) || (!sample->cut && !sample->to_root))
		return false;
	s = find_sampled(f, sample, first);
	if (!s)
		return false;
	add_sample(s, sample);
	/* Only a varying distance between the ends shows from which of them a slot is counted. */
	if (!(s->samples >= 2 && s->n_words_differ) && s->samples < SAMPLES_ENOUGH)
		return false;
	if (!solve(s, out))
		return false;
	out->interrupt = sample->interrupt;
	s->id = 0;
	return true;
}
