// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which words of an endpoint's routes are told: place after place, from the left, among the routes
 * that have the same text up to there.
 */
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "route_settle.h"

#define OF_FIRST_PLACE \
	50u /* a word that has such a part of the requests in its place is no value */
#define OF_ANY_PLACE 10u

/* A route whose text is made. */
struct work {
	const struct asked_route *route;
	const char *rest; /* of its name, from a word on; "": there is no more */
	size_t n_word;	  /* bytes of that word */
	size_t place;	  /* in routes[] */
	char *text;
};

static bool ends_word(char c)
{
	return c == '\0' || c == '/' || c == ' ';
}

static bool has_letters(const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_letter((uint8_t)word[i]) || is_digit((uint8_t)word[i]))
			return true;
	return false;
}

static void append(char *text, const char *from, size_t n)
{
	size_t at = strlen(text);

	if (n > ROUTE_NAME_MAX - 1 - at)
		n = ROUTE_NAME_MAX - 1 - at;
	memcpy(text + at, from, n);
	text[at + n] = '\0';
}

/* Appends what is no word, up to the next one. */
static void find_word(struct work *w)
{
	for (;;) {
		w->n_word = 0;
		while (!ends_word(w->rest[w->n_word]))
			w->n_word++;
		if (w->n_word && has_letters(w->rest, w->n_word))
			return;
		append(w->text, w->rest, w->n_word);
		w->rest += w->n_word;
		w->n_word = 0;
		if (!*w->rest)
			return;
		append(w->text, w->rest++, 1);
	}
}

static void begin(struct work *w)
{
	w->text[0] = '\0';
	append(w->text, w->route->name, w->route->fixed);
	w->rest = w->route->name + w->route->fixed;
	find_word(w);
}

static void take_word(struct work *w, bool is_told)
{
	if (!w->n_word)
		return;
	append(w->text, is_told ? w->rest : "*", is_told ? w->n_word : 1);
	w->rest += w->n_word;
	find_word(w);
}

void route_without_words(const struct asked_route *r, char text[ROUTE_NAME_MAX])
{
	struct work w = { .route = r, .text = text };

	begin(&w);
	while (w.n_word)
		take_word(&w, false);
}

/* ---- the words in one place ----------------------------------------------------------------- */

static int by_word(const void *pa, const void *pb)
{
	const struct work *a = pa, *b = pb;
	int order = strcmp(a->text, b->text);
	size_t n = a->n_word < b->n_word ? a->n_word : b->n_word;

	if (!order)
		order = memcmp(a->rest, b->rest, n);
	if (!order && a->n_word != b->n_word)
		return a->n_word < b->n_word ? -1 : 1;
	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static bool is_same_place(const struct work *a, const struct work *b)
{
	return !strcmp(a->text, b->text);
}

static bool is_same_word(const struct work *a, const struct work *b)
{
	return is_same_place(a, b) && a->n_word == b->n_word &&
	       !memcmp(a->rest, b->rest, a->n_word);
}

/* How many from w[0] on, of n, are alike, and their requests. */
static size_t count(const struct work *w, size_t n,
		    bool (*is_alike)(const struct work *a, const struct work *b),
		    uint64_t *requests)
{
	size_t i = 0;

	for (*requests = 0; i < n && is_alike(w, &w[i]); i++)
		*requests += w[i].route->requests;
	return i;
}

/* Whether enough requests, on more than one connection, had the word of these n. */
static bool is_common(const struct work *w, size_t n, uint64_t requests)
{
	bool is_several = false;

	if (!w->n_word)
		return false;
	for (size_t i = 0; i < n; i++)
		is_several |=
			w[i].route->is_several || w[i].route->connection != w[0].route->connection;
	return is_several && requests >= ROUTE_REQUESTS;
}

/* Takes the words of n routes that have the same text up to there. */
static void settle_place(struct work *w, size_t n, uint64_t requests, bool is_first)
{
	size_t common = 0, same;
	uint64_t of_word;
	bool are_many, is_told;

	for (size_t i = 0; i < n; i += same) {
		same = count(w + i, n - i, is_same_word, &of_word);
		common += is_common(w + i, same, of_word);
	}
	are_many = common > (is_first ? ROUTE_FIRST_WORDS : ROUTE_WORDS);
	for (size_t i = 0; i < n; i += same) {
		same = count(w + i, n - i, is_same_word, &of_word);
		is_told = is_common(w + i, same, of_word) &&
			  (!are_many ||
			   of_word >= requests / (is_first ? OF_FIRST_PLACE : OF_ANY_PLACE));
		for (size_t k = i; k < i + same; k++)
			take_word(&w[k], is_told);
	}
}

/* Returns whether there are more words. */
static bool settle_places(struct work *w, size_t n, bool is_first)
{
	bool has_more = false;
	uint64_t requests;
	size_t same;

	qsort(w, n, sizeof(*w), by_word);
	for (size_t i = 0; i < n; i += same) {
		same = count(w + i, n - i, is_same_place, &requests);
		settle_place(w + i, same, requests, is_first);
	}
	for (size_t i = 0; i < n; i++)
		has_more |= w[i].n_word > 0;
	return has_more;
}

/* ---- the texts that are told ---------------------------------------------------------------- */

static int by_text(const void *pa, const void *pb)
{
	const struct work *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

static int most_first(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a < b) - (a > b);
}

/* Leaves the texts of most requests. Returns 0 or -ENOMEM. */
static int leave_most(struct work *w, size_t n)
{
	uint64_t *sums = calloc(n + 1, sizeof(*sums)), least, requests;
	size_t texts = 0, same, more = 0, as_many;

	if (!sums)
		return -ENOMEM;
	qsort(w, n, sizeof(*w), by_text);
	for (size_t i = 0; i < n; i += same)
		same = count(w + i, n - i, is_same_place, &sums[texts++]);
	qsort(sums, texts, sizeof(*sums), most_first);
	least = texts > ROUTES_TOLD ? sums[ROUTES_TOLD - 1] : 0;
	while (more < texts && sums[more] > least)
		more++;
	as_many = ROUTES_TOLD - (more < ROUTES_TOLD ? more : ROUTES_TOLD);
	free(sums);
	for (size_t i = 0; i < n; i += same) {
		same = count(w + i, n - i, is_same_place, &requests);
		if (requests > least || (requests == least && as_many && as_many--))
			continue;
		for (size_t k = i; k < i + same; k++)
			strcpy(w[k].text, ROUTE_OTHER);
	}
	return 0;
}

int route_settle(struct asked_route *const *routes, size_t n, char (*texts)[ROUTE_NAME_MAX])
{
	struct work *w = n ? calloc(n, sizeof(*w)) : NULL;
	int err;

	if (!w)
		return n ? -ENOMEM : 0;
	for (size_t i = 0; i < n; i++) {
		w[i] = (struct work) { .route = routes[i], .place = i, .text = texts[i] };
		begin(&w[i]);
	}
	if (settle_places(w, n, true))
		while (settle_places(w, n, false))
			;
	err = leave_most(w, n);
	free(w);
	return err;
}
