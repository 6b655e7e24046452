// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of --against as one object, for scripts. */
#include <stdlib.h>

#include "against.h"
#include "base/json_object.h"
#include "screen_json.h"
#include "common/xalloc.h"

/* How much of it there is: rows, of each its links, and bytes of a text. */
struct room {
	size_t rows, links, bytes_of_text;
};

/* The first of these with which it is small enough is used; with the last one it always is: some
 * 20 texts. */
static const struct room rooms[] = {
	{ 30, AGAINST_LINKS, 240 },
	{ 20, AGAINST_LINKS, 120 },
	{ 10, AGAINST_LINKS, 100 },
	{ 6, 2, 80 },
	{ 4, 1, 60 },
};
static const struct room all_of_it = { SIZE_MAX, AGAINST_LINKS, 0 };

static void put_recording(struct json_object *j, const char *key, const struct figures *f)
{
	json_begin(j, key, '{');
	json_text(j, "trace", f->name);
	json_number(j, "duration_ns", f->duration_ns);
	json_number(j, "events", f->events);
	json_number(j, "lost", f->lost);
	json_end(j, '}');
}

/* null: the recording has no such figure. */
static void put_figure(struct json_object *j, const char *key, const struct figure *of)
{
	if (!of) {
		json_text(j, key, NULL);
		return;
	}
	json_begin(j, key, '{');
	json_number(j, "ns", of->own_ns);
	json_number(j, "with_load_ns", of->ns);
	if (of->kind == FIGURE_ENDPOINT)
		json_number(j, "requests", of->requests);
	json_end(j, '}');
}

static void put_links(struct json_object *j, const struct against_row *r, size_t most)
{
	struct against_link links[AGAINST_LINKS];
	size_t n = against_links(r, links);

	json_begin(j, "links", '[');
	for (size_t i = 0; i < n && i < most; i++) {
		const struct figure_step *s = links[i].step;

		json_begin(j, NULL, '{');
		json_number(j, "depth", s->depth);
		json_text(j, "who", s->who);
		json_text(j, "at", s->at);
		json_text(j, "words", s->words);
		json_signed(j, "by_ns", links[i].by_ns);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_row(struct json_object *j, const struct against_row *r, size_t links)
{
	static const char *const kinds[] = { [FIGURE_COMMAND] = "command",
					     [FIGURE_ENDPOINT] = "endpoint",
					     [FIGURE_CAUSE] = "cause" };
	static const char *const changes[] = { [AGAINST_SAME] = "same",
					       [AGAINST_GROWN] = "grown",
					       [AGAINST_LESS] = "less",
					       [AGAINST_NEW] = "new",
					       [AGAINST_GONE] = "gone" };
	const struct figure *of = r->after ? r->after : r->before;

	json_begin(j, NULL, '{');
	json_text(j, "kind", kinds[of->kind]);
	json_text(j, "name", of->title);
	put_figure(j, "before", r->before);
	put_figure(j, "after", r->after);
	json_text(j, "change", changes[r->change]);
	json_bool(j, "judged", r->judged);
	json_bool(j, "above", r->above);
	put_links(j, r, links);
	json_end(j, '}');
}

static void put_verdict(struct json_object *j, const struct against *a, const struct options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = xmemstream(&text, &len);

	against_put_verdict(f, a, o, "");
	xmemstream_close(f, &text);
	json_text(j, "verdict", text);
	free(text);
}

static void put(struct json_object *j, const struct against *a, const struct options *o,
		const struct room *room)
{
	size_t same = 0, left_out = 0, shown = 0;

	json_begin(j, NULL, '{');
	json_number(j, "schema", 1);
	put_recording(j, "before", &a->before);
	put_recording(j, "after", &a->after);
	put_verdict(j, a, o);
	json_text(j, "causes_are_of", a->before.of_command ? "all of it" : "a second");
	json_number(j, "judged", a->n_judged);
	json_number(j, "above", a->n_above);
	json_begin(j, "figures", '[');
	for (size_t i = 0; i < a->n; i++) {
		if (!against_shows(&a->rows[i]))
			same++;
		else if (shown == room->rows)
			left_out++;
		else if (++shown)
			put_row(j, &a->rows[i], room->links);
	}
	json_end(j, ']');
	json_number(j, "figures_left_out", left_out);
	json_number(j, "causes_as_before", same);
	json_end(j, '}');
}

void against_put_json(FILE *out, const struct against *a, const struct options *o)
{
	struct json_object j = { .most = 0 };
	bool fits = false;

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]) && !fits; i++) {
		const struct room *room = o->wide ? &all_of_it : &rooms[i];

		text_free(&j.b);
		j = (struct json_object) { .most = room->bytes_of_text };
		put(&j, a, o, room);
		fits = o->wide || j.b.len < SCREEN_JSON_MOST;
	}
	fprintf(out, "%s\n", j.b.p);
	text_free(&j.b);
}
