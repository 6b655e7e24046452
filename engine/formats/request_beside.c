// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_beside.h"

#include <stdlib.h>
#include <string.h>

#include "causes/causes.h"
#include "paragraph.h"
#include "request_story.h"
#include "select/endpoint_requests.h"
#include "style.h"
#include "common/xalloc.h"

/* What is shorter than one of so many parts of the usual request is not told by itself. */
#define SHORTEST 50
/* Then the shortest becomes longer, until a request has no more lines than these. */
#define LINES_MOST 24
/* A row is marked that has one of so many parts of the difference, or more. */
#define MARKED 10
#define TIME_COLUMNS 10

struct beside {
	const struct format_input *in;
	struct options options;
	struct names *names;
	struct chain_text text;
	struct story_list slow, usual;
	FILE *out;
	uint64_t more_ns; /* how much longer the slow one took */
	size_t columns;
};

/* ---- the usual one --------------------------------------------------------------------------- */

/* The median of the requests of p's endpoint; *n: how many there are. .wait NULL: none. */
static void find_usual(const struct format_input *in, const struct chosen_wait *p,
		       struct chosen_wait *usual, size_t *n)
{
	struct options o = causes_request_options(in->options);
	const struct request *q = timelines_request_of(in->timelines, p->wait);
	struct names *names;
	struct wait_filter *f = NULL;
	struct request_table *t = NULL;
	const struct endpoint_requests *at;
	uint32_t n_endpoints;
	const struct request_endpoint *endpoints = timelines_endpoints(in->timelines, &n_endpoints);
	size_t n_at;

	/* Among all requests, not those that were asked for. */
	o.slowest_ppm = 0;
	o.min_request_ns = 0;
	*usual = (struct chosen_wait) { .wait = NULL };
	names_new(&names, in->timelines, &o);
	wait_filter_new(&f, in->timelines, &o, names);
	request_table_new(&t, in->timelines, &o, f);
	at = request_table_list(t, &n_at);
	for (size_t i = 0; i < n_at; i++) {
		if (at[i].endpoint != &endpoints[endpoints[q->endpoint].alike])
			continue;
		*n = at[i].all.n;
		if (*n > 1)
			*usual = at[i].all.at[(*n - 1) / 2];
	}
	request_table_free(t);
	wait_filter_free(f);
	names_free(names);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_time(FILE *f, uint64_t ns, const char *sign)
{
	char number[TEXT_MS_SIZE], text[TEXT_MS_SIZE + 2];

	text_ms(number, ns);
	snprintf(text, sizeof(text), "%s%s", sign, number);
	fprintf(f, "%*s", TIME_COLUMNS, text);
}

static void put_took(FILE *f, const struct story_line *l)
{
	if (l && l->ns)
		put_time(f, l->ns, "");
	else
		fprintf(f, "%*s", TIME_COLUMNS, l ? "" : "-");
}

static void put_row(struct beside *b, const struct story_line *slow, const struct story_line *usual)
{
	uint64_t s = slow ? slow->ns : 0, u = usual ? usual->ns : 0, by = s > u ? s - u : u - s;
	bool marked = s > u && MARKED * by >= b->more_ns;
	struct paragraph p;

	paragraph_begin(&p);
	p.columns = b->columns;
	put_time(p.f, (slow ? slow : usual)->at_ns, "+");
	put_took(p.f, slow);
	put_took(p.f, usual);
	if (s || u)
		put_time(p.f, by, s >= u ? "+" : "-");
	else
		fprintf(p.f, "%*s", TIME_COLUMNS, "");
	fputs(marked ? " ! " : "   ", p.f);
	style_begin_name(p.f, b->options.color && marked);
	fputs((slow ? b->slow.text : b->usual.text) + (slow ? slow : usual)->text, p.f);
	style_stop(p.f, b->options.color && marked);
	paragraph_end_cut(&p, b->out);
}

/*
 * What a line tells of, without numbers and without what is said of it: who ended a sleep, who had
 * the CPU; of a moment the first word.
 */
static void put_key(struct text_buf *key, const struct story_list *l, size_t i)
{
	static const char *const before_more[] = { ", ", "; ", ": " };
	const char *line = l->text + l->at[i].text;
	size_t len = l->at[i].ns ? strlen(line) : strcspn(line, " ");
	struct text_buf part = { 0 };

	for (size_t k = 0; k < sizeof(before_more) / sizeof(before_more[0]); k++) {
		const char *more = strstr(line, before_more[k]);

		len = more && (size_t)(more - line) < len ? (size_t)(more - line) : len;
	}
	text_put(&part, line, len);
	text_put_plain(key, !len ? "" : part.p);
	text_free(&part);
}

static bool are_alike(struct beside *b, size_t i, size_t k)
{
	struct text_buf x = { 0 }, y = { 0 };
	bool alike;

	put_key(&x, &b->slow, i);
	put_key(&y, &b->usual, k);
	alike = x.len == y.len && (!x.len || !memcmp(x.p, y.p, x.len));
	text_free(&x);
	text_free(&y);
	return alike;
}

/*
 * The longest common subsequence of lines is in common rows: common[i][k] is its length from the
 * i-th and the k-th line on.
 */
static void put_rows(struct beside *b)
{
	size_t n = b->slow.n, m = b->usual.n, i = 0, k = 0, w = m + 1;
	size_t *common = xcalloc((n + 1) * w, sizeof(*common));
	bool *alike = xcalloc(n * m + 1, sizeof(*alike));

	for (size_t x = n; x-- > 0;)
		for (size_t y = m; y-- > 0;) {
			size_t down = common[(x + 1) * w + y], right = common[x * w + y + 1];

			alike[x * m + y] = are_alike(b, x, y);
			common[x * w + y] = alike[x * m + y] ? 1 + common[(x + 1) * w + y + 1]
					    : down > right   ? down
							     : right;
		}
	while (i < n || k < m) {
		if (i < n && k < m && alike[i * m + k]) {
			put_row(b, &b->slow.at[i], &b->usual.at[k]);
			i++, k++;
		} else if (k == m || (i < n && common[(i + 1) * w + k] >= common[i * w + k + 1])) {
			put_row(b, &b->slow.at[i++], NULL);
		} else {
			put_row(b, NULL, &b->usual.at[k++]);
		}
	}
	free(common);
	free(alike);
}

/* Both in the same detail. */
static void tell_both(struct beside *b, const struct chosen_wait *slow,
		      const struct chosen_wait *usual)
{
	uint64_t shortest_ns = request_took_ns(usual) / SHORTEST + 1;

	request_story_list(&b->slow, &b->text, slow, shortest_ns);
	while (b->slow.n > LINES_MOST && shortest_ns < request_took_ns(slow)) {
		shortest_ns *= 2;
		story_list_free(&b->slow);
		request_story_list(&b->slow, &b->text, slow, shortest_ns);
	}
	request_story_list(&b->usual, &b->text, usual, shortest_ns);
}

static void put_title(struct beside *b, const struct chosen_wait *slow,
		      const struct chosen_wait *usual, size_t n)
{
	char s[TEXT_MS_SIZE], u[TEXT_MS_SIZE];
	const struct timelines *tl = b->in->timelines;
	uint32_t n_endpoints, number = timelines_request_of(tl, slow->wait)->endpoint;
	uint32_t name = names_string(b->names, timelines_endpoints(tl, &n_endpoints)[number].name);
	const char *endpoint = names_text(b->names, name);
	struct paragraph p;

	paragraph_begin(&p);
	p.columns = b->columns;
	text_ms(s, request_took_ns(slow));
	text_ms(u, request_took_ns(usual));
	fputs("A request to ", p.f);
	style_name(p.f, b->options.color, endpoint);
	fprintf(p.f, " that took %s ms, and beside it the usual one, the median of %zu, %s ms:", s,
		n, u);
	paragraph_end(&p, b->out, 2);
	fprintf(b->out, "%*s%*s%*s%*s   (times in ms, since each arrived)\n", TIME_COLUMNS, "AT",
		TIME_COLUMNS, "SLOW", TIME_COLUMNS, "USUAL", TIME_COLUMNS, "CHANGE");
}

void request_beside_put(FILE *out, const struct format_input *in, const struct chosen_wait *p)
{
	struct beside b = { .in = in, .options = *in->options, .out = out };
	struct chosen_wait slow = *p, usual;
	size_t n = 0;

	find_usual(in, p, &usual, &n);
	if (!usual.wait || usual.wait == p->wait || request_took_ns(p) <= request_took_ns(&usual))
		return;
	b.columns = paragraph_columns(in->options->columns);
	b.more_ns = request_took_ns(p) - request_took_ns(&usual);
	b.options.fold_repeats = b.options.blocked_stacks = true;
	slow.shown.blocked_from_ns = slow.wait->out_ns;
	slow.shown.blocked_to_ns = slow.wait->wake_ns;
	names_new(&b.names, in->timelines, &b.options);
	chain_text_init(&b.text, out, in->timelines, &b.options, b.names);
	tell_both(&b, &slow, &usual);
	put_title(&b, &slow, &usual, n);
	put_rows(&b);
	putc('\n', out);
	story_list_free(&b.slow);
	story_list_free(&b.usual);
	chain_text_free(&b.text);
	names_free(b.names);
}
