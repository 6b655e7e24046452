// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_list.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "base/compare.h"
#include "base/pairs.h"
#include "common/intern.h"
#include "waited_for.h"

/* What a head's stack waited for: texts; 0: nothing. */
struct list_object {
	uint32_t frames, class;
};

struct frame_lists {
	struct names *names;
	bool by_line;
	struct pairs frames;	     /* (text, place or 0) */
	struct pairs places;	     /* (module, source or 0) */
	struct pairs sources;	     /* (text of the file, line) */
	struct intern lists;	     /* arrays of frame numbers */
	struct list_object *objects; /* by list */
	size_t n_objects, cap_objects;
	/* The list in the making. */
	uint32_t *list;
	size_t n, cap;
};

void frame_lists_new(struct frame_lists **out, struct names *names, bool by_line)
{
	struct frame_lists *f = xcalloc(1, sizeof(*f));

	*out = f;
	f->names = names;
	f->by_line = by_line;
}

void frame_lists_free(struct frame_lists *f)
{
	if (!f)
		return;
	pairs_free(&f->frames);
	pairs_free(&f->places);
	pairs_free(&f->sources);
	intern_free(&f->lists);
	free(f->list);
	free(f->objects);
	free(f);
}

/* The number of the frame's place; 0: it has none. */
static uint32_t place_of(struct frame_lists *f, const struct trace_frame *frame)
{
	uint32_t module = frame->code ? 0 : frame->module, file, source = 0, place;

	if (f->by_line && frame->file) {
		file = names_string(f->names, frame->file);
		source = pairs_id(&f->sources, file, frame->line);
	}
	if (!module && !source)
		return 0;
	place = pairs_id(&f->places, module, source);
	return place;
}

static void add(struct frame_lists *f, uint32_t frame)
{
	XAPPEND(f->list, f->n, f->cap) = frame;
}

static void add_frame(void *arg, uint32_t text, const struct trace_frame *of)
{
	struct frame_lists *f = arg;
	uint32_t place = of ? place_of(f, of) : 0;

	add(f, text ? pairs_id(&f->frames, text, place) : 0);
}

struct frame_sink frame_list_sink(struct frame_lists *f)
{
	return (struct frame_sink) { .put = add_frame, .arg = f, .functions = f->by_line };
}

uint32_t frame_list_take(struct frame_lists *f)
{
	uint32_t list = 0;

	list = xintern(&f->lists, f->list, f->n * sizeof(*f->list), NULL);
	f->n = 0;
	return list;
}

/* Equal lists have equal objects: these are among their frames. */
static bool note_object(struct frame_lists *f, uint32_t list, uint32_t stack)
{
	struct shown_objects what = names_shown_objects(f->names, stack);
	struct list_object o = {
		.frames = waited_for_frames(f->names, stack, names_full_objects(f->names)),
		.class = names_object(f->names, what.ready ? what.ready : what.object, false),
	};

	while (f->n_objects <= list)
		XAPPEND(f->objects, f->n_objects, f->cap_objects) = (struct list_object) { 0 };
	f->objects[list] = o;
	return o.frames && o.class;
}

uint32_t frame_list_head(struct frame_lists *f, uint32_t name, uint32_t stack)
{
	uint32_t list;

	names_put_name(f->names, name, frame_list_sink(f));
	names_put_own_stack(f->names, stack, frame_list_sink(f));
	list = frame_list_take(f);
	if (list && names_shown_objects(f->names, stack).object && !note_object(f, list, stack))
		return 0;
	return list;
}

uint32_t frame_list_object(const struct frame_lists *f, uint32_t list)
{
	return list < f->n_objects ? f->objects[list].frames : 0;
}

const char *frame_list_class(const struct frame_lists *f, uint32_t list)
{
	uint32_t class = list < f->n_objects ? f->objects[list].class : 0;

	return class ? names_text(f->names, class) : "[no object]";
}

uint32_t frame_list_times(struct frame_lists *f, uint32_t list, uint32_t times)
{
	size_t n = frame_list_len(f, list);
	struct pair name = n ? f->frames.at[frame_list_at(f, list, n - 1)] : (struct pair) { 0 };

	for (size_t i = 0; i + 1 < n; i++)
		add(f, frame_list_at(f, list, i));
	add_frame(f, names_times(f->names, name.a, times), NULL);
	return frame_list_take(f);
}

uint32_t frame_list_texts(struct frame_lists *f, const char *raw, const char *above)
{
	add_frame(f, names_clean(f->names, raw), NULL);
	if (above)
		add_frame(f, names_clean(f->names, above), NULL);
	return frame_list_take(f);
}

uint32_t frame_of_text(struct frame_lists *f, const char *raw)
{
	uint32_t text = names_clean(f->names, raw);

	return pairs_id(&f->frames, text, 0);
}

size_t frame_list_len(const struct frame_lists *f, uint32_t list)
{
	size_t len;

	(void)intern_bytes(&f->lists, list, &len);
	return len / sizeof(uint32_t);
}

uint32_t frame_list_at(const struct frame_lists *f, uint32_t list, size_t i)
{
	uint32_t frame;
	size_t len;

	memcpy(&frame, intern_bytes(&f->lists, list, &len) + i * sizeof(frame), sizeof(frame));
	return frame;
}

struct chain_frame frame_at(const struct frame_lists *f, uint32_t frame)
{
	struct pair p = f->frames.at[frame];
	struct pair place = p.b ? f->places.at[p.b] : (struct pair) { 0 };
	struct pair source = place.b ? f->sources.at[place.b] : (struct pair) { 0 };

	return (struct chain_frame) {
		.text = names_text(f->names, p.a),
		.module = place.a,
		.file = source.a ? names_text(f->names, source.a) : NULL,
		.line = source.b,
	};
}

int frames_compare(const struct frame_lists *f, uint32_t a, uint32_t b)
{
	struct chain_frame fa = frame_at(f, a), fb = frame_at(f, b);
	int order = strcmp(fa.text, fb.text);

	if (!order)
		order = compare_numbers(fa.module, fb.module);
	if (!order)
		order = strcmp(fa.file ? fa.file : "", fb.file ? fb.file : "");
	return order ? order : compare_numbers(fa.line, fb.line);
}

/* By their first frames that differ. */
int frame_lists_compare(const struct frame_lists *f, uint32_t a, uint32_t b)
{
	size_t n_a = frame_list_len(f, a), n_b = frame_list_len(f, b);

	for (size_t i = 0; i < n_a && i < n_b; i++) {
		uint32_t x = frame_list_at(f, a, i), y = frame_list_at(f, b, i);

		if (x != y)
			return frames_compare(f, x, y);
	}
	return compare_numbers(n_a, n_b);
}

int frame_lists_compare_lines(const struct frame_lists *f, uint32_t a, uint32_t b)
{
	size_t n_a = frame_list_len(f, a), n_b = frame_list_len(f, b);

	for (size_t i = 0; i < n_a && i < n_b; i++) {
		uint32_t x = frame_list_at(f, a, i), y = frame_list_at(f, b, i);
		const char *p = frame_at(f, x).text, *q = frame_at(f, y).text;
		unsigned char c, d;

		if (x == y)
			continue;
		for (; *p && *p == *q; p++, q++)
			;
		c = (unsigned char)(*p ? *p : i + 1 < n_a ? ';' : '\0');
		d = (unsigned char)(*q ? *q : i + 1 < n_b ? ';' : '\0');
		if (c != d)
			return c < d ? -1 : 1;
	}
	return compare_numbers(n_a, n_b);
}

uint32_t frame_lists_end(const struct frame_lists *f)
{
	return f->lists.n + 1;
}

uint32_t frames_end(const struct frame_lists *f)
{
	return f->frames.n + 1;
}
