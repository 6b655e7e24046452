// SPDX-License-Identifier: GPL-2.0-or-later
#include "code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Ids that the BPF side gives are ascending; it forgets code that has not been seen for long. */
#define KEPT (1u << 16)
/* The collector's own ids are those of the first code that is seen. */
#define OWN_KEPT (1u << 13)
/* Of all tables of lines, bytes. */
#define LINES_MAX (32u << 20)

struct code {
	uint32_t id, first_line, language, version;
	uint32_t n_lines;
	bool is_hidden;
	uint16_t file;	/* of its first byte in text */
	uint16_t lines; /* likewise */
	char text[];	/* function, file, both with terminators; table of lines */
};

struct code_map {
	struct code *kept[KEPT]; /* by the low bits of the id */
	struct code *own[OWN_KEPT];
	size_t lines_bytes;
};

int code_map_new(struct code_map **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void code_map_free(struct code_map *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < KEPT; i++)
		free(m->kept[i]);
	for (uint32_t i = 0; i < OWN_KEPT; i++)
		free(m->own[i]);
	free(m);
}

static struct code **slot_of(struct code_map *m, uint32_t id)
{
	return id < WIRE_CODE_IDS ? &m->kept[id % KEPT] : &m->own[id % OWN_KEPT];
}

/* ---- text ----------------------------------------------------------------------------------- */

/* A character of a text in UTF-8; returns its length. */
static size_t put_utf8(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | (c >> 18 & 7));
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Room for a text in UTF-8 with its terminator, and for "..." where it was cut. */
#define TEXT_ROOM (2 * WIRE_CODE_TEXT + 4)

/* Writes the text with a terminator; returns its length without. A NUL in it ends it. */
static size_t put_text(const struct wire_code_text *t, bool is_path, char *out)
{
	uint32_t width = t->width ? t->width : 1;
	uint32_t bytes = t->bytes < WIRE_CODE_TEXT ? t->bytes : WIRE_CODE_TEXT;
	size_t n = 0;

	if (width != 1 && width != 2 && width != 4)
		bytes = 0;
	if (t->cut && is_path && bytes) {
		memcpy(out, "...", 3);
		n = 3;
	}
	for (uint32_t i = 0; i + width <= bytes; i += width) {
		uint32_t c = (uint8_t)t->text[i];

		if (width >= 2)
			c |= (uint32_t)(uint8_t)t->text[i + 1] << 8;
		if (width == 4)
			c |= (uint32_t)(uint8_t)t->text[i + 2] << 16 |
			     (uint32_t)(uint8_t)t->text[i + 3] << 24;
		if (!c)
			break;
		if (t->width)
			n += put_utf8(c > 0x10ffff ? 0xfffd : c, out + n);
		else
			out[n++] = (char)c;
	}
	out[n] = 0;
	return n;
}

/* "Class::method" of PHP; Python's names have their classes already. */
static size_t put_function(const struct wire_code *r, char *out)
{
	size_t n = put_text(&r->scope, false, out);

	if (n) {
		memcpy(out + n, "::", 2);
		n += 2;
	}
	n += put_text(&r->name, false, out + n);
	/* As in its own stack traces. */
	if (!n && r->language == WIRE_V8)
		n = (size_t)(stpcpy(out, "<anonymous>") - out);
	/* Of a script's own body. */
	if (!n && r->language == WIRE_PHP)
		n = (size_t)(stpcpy(out, "<main>") - out);
	return n;
}

/* ---- records -------------------------------------------------------------------------------- */

int code_map_take(struct code_map *m, const struct wire_code *r, size_t len)
{
	char function[2 * TEXT_ROOM + 2], file[TEXT_ROOM];
	size_t n_function, n_file, n_lines;
	struct code **slot, *c;

	if (len < offsetof(struct wire_code, lines) || r->n_lines > WIRE_CODE_LINES ||
	    len - offsetof(struct wire_code, lines) < r->n_lines || !r->id)
		return -EBADMSG;
	slot = slot_of(m, r->id);
	/* Each CPU sends it. */
	if (*slot && (*slot)->id == r->id)
		return 0;
	n_function = put_function(r, function) + 1;
	n_file = put_text(&r->file, true, file) + 1;
	n_lines = m->lines_bytes + r->n_lines > LINES_MAX ? 0 : r->n_lines;
	c = malloc(sizeof(*c) + n_function + n_file + n_lines);
	if (!c)
		return -ENOMEM;
	*c = (struct code) {
		.id = r->id,
		.first_line = r->first_line,
		.language = r->language,
		.version = r->version,
		.n_lines = (uint32_t)n_lines,
		.file = (uint16_t)n_function,
		.lines = (uint16_t)(n_function + n_file),
		/* Since 3.13 the frame that makes an instance has a code object of its own. */
		.is_hidden = r->language == WIRE_PYTHON && !strcmp(file, "__init__"),
	};
	memcpy(c->text, function, n_function);
	memcpy(c->text + c->file, file, n_file);
	memcpy(c->text + c->lines, r->lines, n_lines);
	if (*slot)
		m->lines_bytes -= (*slot)->n_lines;
	m->lines_bytes += n_lines;
	free(*slot);
	*slot = c;
	return 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* A table being read. */
struct table {
	const uint8_t *p, *end;
};

static uint32_t next_byte(struct table *t)
{
	return t->p < t->end ? *t->p++ : 0;
}

/* CPython's varint in tables of locations: six bits a byte, the lowest first, bit 6: more follow.
 */
static uint32_t next_varint(struct table *t)
{
	uint32_t v = 0, byte;

	for (unsigned int shift = 0; shift < 32; shift += 6) {
		byte = next_byte(t);
		v |= (byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return v;
}

static int64_t next_svarint(struct table *t)
{
	uint32_t v = next_varint(t);

	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/*
 * Since 3.11: entries of a byte 1kkkklll, for l + 1 units of code, and what its kind k says of
 * lines and columns (Objects/locations.md in CPython's sources). 0: no line belongs to the unit.
 */
static int64_t line_by_locations(struct table t, int64_t line, uint32_t unit)
{
	uint32_t at = 0;

	while (t.p < t.end) {
		uint32_t head = next_byte(&t), kind = head >> 3 & 15;

		at += (head & 7) + 1;
		if (kind == 14) { /* long form */
			line += next_svarint(&t);
			for (int i = 0; i < 3; i++) /* end line, columns */
				(void)next_varint(&t);
		} else if (kind == 13) { /* no columns */
			line += next_svarint(&t);
		} else if (kind >= 10 && kind < 13) { /* one line */
			line += kind - 10;
			t.p += t.end - t.p < 2 ? t.end - t.p : 2;
		} else if (kind < 10) { /* short form */
			(void)next_byte(&t);
		}
		if (unit < at)
			return kind == 15 ? 0 : line;
	}
	return 0;
}

/* 3.10: pairs of bytes of code and the difference to the line before; -128: there is no line. */
static int64_t line_by_ranges(struct table t, int64_t line, uint32_t unit)
{
	uint32_t at = 0;

	while (t.end - t.p >= 2) {
		uint32_t bytes = next_byte(&t);
		int8_t delta = (int8_t)next_byte(&t);

		at += bytes / 2;
		if (delta != -128)
			line += delta;
		if (unit < at)
			return delta == -128 ? 0 : line;
	}
	return 0;
}

/* Before 3.10: pairs of bytes of code, after which the line is greater by the second number. */
static int64_t line_by_steps(struct table t, int64_t line, uint32_t unit)
{
	uint32_t at = 0;

	while (t.end - t.p >= 2) {
		uint32_t bytes = next_byte(&t);
		int8_t delta = (int8_t)next_byte(&t);

		at += bytes;
		if (at / 2 > unit)
			break;
		line += delta;
	}
	return line;
}

static uint32_t line_of(const struct code *c, uint32_t place)
{
	struct table t = { (const uint8_t *)c->text + c->lines,
			   (const uint8_t *)c->text + c->lines + c->n_lines };
	int64_t line = c->first_line;

	/* Where the function begins: V8 keeps no lines of what is in it. */
	if (c->language == WIRE_V8)
		return c->first_line;
	if (c->language != WIRE_PYTHON)
		return place;
	if (!c->n_lines)
		return c->first_line;
	if (c->version >= 11)
		line = line_by_locations(t, line, place);
	else if (c->version == 10)
		line = line_by_ranges(t, line, place);
	else
		line = line_by_steps(t, line, place);
	/* Code that has no line, as a generator before its first: that of its function. */
	return line > 0 && line < INT32_MAX ? (uint32_t)line : c->first_line;
}

struct code_location code_map_find(const struct code_map *m, uint64_t frame)
{
	uint32_t id = wire_code_id(frame);
	const struct code *c = *slot_of((struct code_map *)(uintptr_t)m, id);

	if (!id || !c || c->id != id)
		return (struct code_location) { "", "", 0, !id };
	return (struct code_location) {
		.function = c->text,
		.file = c->text + c->file,
		.line = line_of(c, wire_code_place(frame)),
		.is_hidden = c->is_hidden,
	};
}

/* ---- stacks --------------------------------------------------------------------------------- */

static bool is_evaluator(const struct code_stack *s, uint32_t i)
{
	/* A return address is behind its call. */
	uint64_t ret = wire_as_return(s->frames[i]);

	return ret > s->eval_start && ret <= s->eval_end;
}

/* What is left out of a stack that is too long. Frames of interpreted code say more. */
enum left_out {
	NOTHING,
	CALLS,	    /* by which the evaluator calls itself, from the first evaluator on */
	EVALUATORS, /* those, too */
	LEFT_OUTS
};

struct ordering {
	const struct code_stack *s;
	uint16_t *order;  /* NULL: they are only counted */
	uint32_t n, next; /* next: of the frames of interpreted code */
};

static void put(struct ordering *o, uint32_t i)
{
	if (o->order && o->n < WIRE_STACK_MAX)
		o->order[o->n] = (uint16_t)i;
	o->n++;
}

/* Appends the frames of interpreted code up to the next one that is an entry. */
static void put_group(struct ordering *o)
{
	const struct code_stack *s = o->s;

	while (o->next < s->n_code) {
		uint32_t i = s->n + o->next++;

		put(o, i);
		if (s->frames[i] & WIRE_CODE_ENTRY)
			break;
	}
}

/*
 * early: so many evaluators have no frames of interpreted code. late: so many groups of these have
 * no evaluator, but the first one's. Returns how many frames there are.
 */
static uint32_t put_all(const struct code_stack *s, uint32_t early, uint32_t late,
			enum left_out without, uint16_t *order)
{
	struct ordering o = { .s = s, .order = order };

	for (uint32_t i = 0; i < s->n; i++) {
		if (is_evaluator(s, i)) {
			if (early) {
				early--;
			} else {
				for (; late; late--)
					put_group(&o);
				put_group(&o);
			}
			if (without < EVALUATORS)
				put(&o, i);
		} else if (!o.next || without < CALLS) {
			put(&o, i);
		}
	}
	/* The native stack was cut: these have lost their place, but not their order. */
	while (o.next < s->n_code)
		put_group(&o);
	return o.n;
}

/* The same of a stack whose frames of interpreted code say which native ones they are: V8's. */
static uint32_t put_by_places(const struct code_stack *s, enum left_out without, uint16_t *order)
{
	struct ordering o = { .s = s, .order = order };

	for (uint32_t i = 0; i < s->n; i++) {
		bool runs = false;

		for (; o.next < s->n_code && wire_code_place(s->frames[s->n + o.next]) <= i;
		     runs = true)
			put(&o, s->n + o.next++);
		if (without < CALLS || !o.next || (runs && without < EVALUATORS))
			put(&o, i);
	}
	return o.n;
}

static uint32_t put_frames(const struct code_stack *s, uint32_t early, uint32_t late,
			   enum left_out without, uint16_t *order)
{
	return s->eval_end ? put_all(s, early, late, without, order)
			   : put_by_places(s, without, order);
}

uint32_t code_stack_order(const struct code_stack *s, uint16_t *order, bool *cut)
{
	uint32_t evaluators = 0, entries = 0, early = 0, late = 0, n;
	enum left_out without = NOTHING;
	bool all_code;

	for (uint32_t i = 0; i < s->n; i++)
		evaluators += is_evaluator(s, i);
	for (uint32_t i = 0; i < s->n_code; i++)
		entries += !!(s->frames[s->n + i] & WIRE_CODE_ENTRY);
	all_code = s->n_code && s->n_code < WIRE_CODE_FRAMES &&
		   s->frames[s->n + s->n_code - 1] & WIRE_CODE_ENTRY;
	/*
	 * The leaf's evaluator may just begin, without a frame of its own yet, or have given up its
	 * frame; and a part of the evaluator may lie elsewhere (compilers move what is rare). From
	 * the root on both lists agree, if both reach it.
	 */
	if (s->whole && all_code && evaluators > entries)
		early = evaluators - entries;
	if (s->whole && all_code && entries > evaluators)
		late = entries - evaluators;
	while (put_frames(s, early, late, without, NULL) > WIRE_STACK_MAX &&
	       without + 1 < LEFT_OUTS)
		without++;
	n = put_frames(s, early, late, without, order);
	*cut = without || n > WIRE_STACK_MAX;
	return n < WIRE_STACK_MAX ? n : WIRE_STACK_MAX;
}
