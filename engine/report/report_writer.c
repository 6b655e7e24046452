// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report_json.h"
#include "words/names.h"
#include "words/place.h"

void report_begin_list(struct report_writer *w, const char *key)
{
	fprintf(w->out, ",\"%s\":[", key);
	w->n_listed = 0;
}

void report_put_numbers(struct report_writer *w, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(w->out, w->n_listed++ ? ",%" PRId64 : "%" PRId64, (int64_t)v[i]);
}

void report_end_list(struct report_writer *w)
{
	putc(']', w->out);
}

static uint32_t number_of(struct report_writer *w, struct pairs *p, uint32_t id)
{
	int is_new;
	uint32_t n = pairs_id_new(p, id, 0, &is_new);

	w->out_of_memory |= !n;
	return n ? n - 1 : 0;
}

uint32_t report_string(struct report_writer *w, uint32_t text)
{
	uint32_t n_before = w->strings.n, n = number_of(w, &w->strings, text);

	w->out_of_memory |= !text;
	if (w->strings.n > n_before)
		w->string_bytes += strlen(names_text(w->r->names, text)) + 4;
	return n;
}

uint32_t report_thread(struct report_writer *w, uint32_t thread)
{
	return number_of(w, &w->threads, thread);
}

uint32_t report_stack(struct report_writer *w, uint32_t pair, uint32_t frames, bool user)
{
	return report_string(w, names_stack(w->r->names, pair, frames, user));
}

uint32_t report_place(struct report_writer *w, uint32_t pair)
{
	uint32_t *string = pair_table_at(&w->places, pair, 0, sizeof(*string));
	struct names *names = w->r->names;
	uint32_t place, object;
	struct text_buf b = { 0 };

	if (string && *string)
		return *string - 1;
	place = place_text(names, w->r->in->trace, pair, UINT32_MAX, true, true);
	object = waited_for_words(names, pair);
	text_puts(&b, names_text(names, place));
	if (*names_text(names, object)) {
		text_puts(&b, b.len ? ", for " : "for ");
		text_puts(&b, names_text(names, object));
	}
	if (!string || !place || !object || b.failed)
		w->out_of_memory = true;
	else
		*string = 1 + report_string(w, names_adopt(names, b.len ? b.p : "[unknown stack]"));
	text_free(&b);
	return w->out_of_memory ? 0 : *string - 1;
}
