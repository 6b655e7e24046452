// SPDX-License-Identifier: GPL-2.0-or-later
#include "cause_json.h"

#include <stdlib.h>

#include "cause_words.h"
#include "common/xalloc.h"

/* What the functions that write to a file write: without all an example, else the sentence. */
static void put_written(struct json_object *j, const char *key, const struct format_input *in,
			const struct names *n, const struct causes *all, const struct cause *c)
{
	char *text = NULL;
	size_t len;
	FILE *f = xmemstream(&text, &len);

	if (all)
		causes_put_sentence(f, n, all, c);
	else {
		causes_put_example(f, in, c);
	}
	xmemstream_close(f, &text);
	(all ? json_text : json_whole_text)(j, key, text);
	free(text);
}

static void put_victims(struct json_object *j, const struct names *n, const struct causes *all,
			const struct cause *c, size_t most)
{
	size_t count;
	const struct sum *at = causes_victims(all, c, &count);

	json_begin(j, "made_wait", '[');
	for (size_t i = 0; i < count && i < most; i++) {
		json_begin(j, NULL, '{');
		json_text(j, "name", names_text(n, at[i].text));
		json_number(j, "threads", at[i].count);
		json_number(j, "ns", at[i].amount);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void cause_json_members(struct json_object *j, const struct format_input *in, const struct names *n,
			const struct causes *all, const struct cause *c, size_t victims)
{
	put_written(j, "cause", in, n, all, c);
	json_text(j, "name", names_text(n, c->who));
	json_text(j, "thread", names_text(n, c->thread));
	json_number(j, "threads", c->threads);
	json_bool(j, "pause", c->pause);
	json_text(j, "lock", names_text(n, c->lock));
	json_text(j, "function", names_text(n, c->function));
	json_number(j, "ns", c->ns);
	json_number(j, "waits", c->waits);
	json_number(j, "longest_ns", c->longest_ns);
	json_number(j, "slowest_ns", c->slowest_ns);
	put_victims(j, n, all, c, victims);
	json_text(j, "path", names_text(n, c->path));
	put_written(j, "example", in, n, NULL, c);
}

void causes_put_json(FILE *out, const struct format_input *in, const struct names *n,
		     const struct causes *all)
{
	size_t count;
	const struct cause *at = causes_list(all, &count);
	uint64_t top = in->options->top ? in->options->top : count;

	for (size_t i = 0; i < count && i < top; i++) {
		struct json_object j = { .most = 0 };

		json_begin(&j, NULL, '{');
		if (in->key)
			json_text(&j, in->key, in->label);
		cause_json_members(&j, in, n, all, &at[i], SIZE_MAX);
		json_end(&j, '}');
		text_puts(&j.b, "\n");
		json_flush(&j, out);
		text_free(&j.b);
	}
}
