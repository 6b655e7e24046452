// SPDX-License-Identifier: GPL-2.0-or-later
#include "cause_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cause_words.h"

static void put_key(struct text_buf *b, const char *key)
{
	text_puts(b, b->len > 1 ? "," : "");
	json_string(b, key);
	text_puts(b, ":");
}

/* null: an empty text. */
static void put_string(struct text_buf *b, const char *key, const char *text)
{
	put_key(b, key);
	if (*text)
		json_string(b, text);
	else
		text_puts(b, "null");
}

static void put_number(struct text_buf *b, const char *key, uint64_t n)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, n);
	put_key(b, key);
	text_puts(b, number);
}

/* What the functions that write to a file write. */
static void put_written(struct text_buf *b, const char *key, const struct format_input *in,
			const struct names *n, const struct causes *all, const struct cause *c)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f && all)
		causes_put_sentence(f, n, all, c);
	else if (f)
		causes_put_example(f, in, c);
	b->failed |= !f || fclose(f);
	put_string(b, key, text ? text : "");
	free(text);
}

static void put_victims(struct text_buf *b, const struct names *n, const struct causes *all,
			const struct cause *c)
{
	size_t count;
	const struct sum *at = causes_victims(all, c, &count);

	put_key(b, "made_wait");
	text_puts(b, "[");
	for (size_t i = 0; i < count; i++) {
		struct text_buf one = { 0 };

		text_puts(&one, "{");
		put_string(&one, "name", names_text(n, at[i].text));
		put_number(&one, "threads", at[i].count);
		put_number(&one, "ns", at[i].amount);
		text_puts(b, i ? "," : "");
		text_puts(b, one.failed ? "" : one.p);
		text_puts(b, "}");
		b->failed |= one.failed;
		text_free(&one);
	}
	text_puts(b, "]");
}

static void put_cause(struct text_buf *b, const struct format_input *in, const struct names *n,
		      const struct causes *all, const struct cause *c)
{
	text_puts(b, "{");
	if (in->key)
		put_string(b, in->key, in->label);
	put_written(b, "cause", in, n, all, c);
	put_string(b, "name", names_text(n, c->who));
	put_string(b, "thread", names_text(n, c->thread));
	put_number(b, "threads", c->threads);
	put_key(b, "pause");
	text_puts(b, c->pause ? "true" : "false");
	put_string(b, "lock", names_text(n, c->lock));
	put_string(b, "function", names_text(n, c->function));
	put_number(b, "ns", c->ns);
	put_number(b, "waits", c->waits);
	put_number(b, "longest_ns", c->longest_ns);
	put_number(b, "slowest_ns", c->slowest_ns);
	put_victims(b, n, all, c);
	put_string(b, "path", names_text(n, c->path));
	put_written(b, "example", in, n, NULL, c);
	text_puts(b, "}\n");
}

int causes_put_json(FILE *out, const struct format_input *in, const struct names *n,
		    const struct causes *all)
{
	size_t count;
	const struct cause *at = causes_list(all, &count);
	uint64_t top = in->options->top ? in->options->top : count;
	bool failed = false;

	for (size_t i = 0; i < count && i < top && !failed; i++) {
		struct text_buf b = { 0 };

		put_cause(&b, in, n, all, &at[i]);
		failed = b.failed;
		if (!failed)
			fputs(b.p, out);
		text_free(&b);
	}
	return failed ? -ENOMEM : 0;
}
