// SPDX-License-Identifier: GPL-2.0-or-later
#include "option_values.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "palette.h"

/* Parse a number that `tail` follows. False: it is not a number, or out of range. */
static bool parse_number(const char *s, const char *tail, struct page_range r, double *v)
{
	char *end;

	errno = 0;
	*v = strtod(s, &end);
	return end != s && !strcmp(end, tail) && !errno && *v >= r.least && *v <= r.most;
}

static bool parse_minwidth(struct page *pg, const char *value)
{
	size_t n = strlen(value);

	pg->minwidth_percent = n && value[n - 1] == '%';
	if (pg->minwidth_percent)
		return parse_number(value, "%", (struct page_range) { 0, 100 }, &pg->minwidth);
	return parse_number(value, "", page_minwidth_range, &pg->minwidth);
}

static bool parse_labels(struct page *pg, const char *value)
{
	static const char *const which[] = {
		[LABEL_AUTO] = "auto",
		[LABEL_START] = "start",
		[LABEL_END] = "end",
	};

	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++)
		if (!strcmp(value, which[i])) {
			pg->labels = (enum label_keep)i;
			return true;
		}
	return false;
}

bool option_take(struct options *o, const struct option_spec *s, const char *value)
{
	struct page *pg = &o->draw.page;
	void *field = (char *)o + s->field;
	uint32_t top, bottom;
	double v;

	switch (s->kind) {
	case HEADING:
		break;
	case NOTHING:
		return true;
	case TRUNCATE_RIGHT:
		pg->labels = LABEL_START;
		return true;
	case LABELS:
		return parse_labels(pg, value);
	case BASE:
		if (o->base.n == BASE_MOST)
			return false;
		o->base.name[o->base.n++] = value;
		return true;
	case COLOR:
		*(const char **)field = value;
		return (*value == '#' && palette_background(value, &top, &bottom)) ||
		       (field == &pg->stroke_color && !strcmp(value, "none"));
	case FLAG:
		*(bool *)field = true;
		return true;
	case TEXT:
		*(const char **)field = value;
		pg->mean_width |= field == &pg->fonttype;
		return true;
	case WIDTH:
		pg->fluid = false;
		return parse_number(value, "", *s->range, field);
	case NUMBER:
		pg->mean_width |= field == &pg->fontwidth;
		return parse_number(value, "", *s->range, field);
	case MINWIDTH:
		return parse_minwidth(pg, value);
	case MAX_FRAMES:
		if (!parse_number(value, "", (struct page_range) { 1, 1e9 }, &v))
			return false;
		o->draw.max_frames = (uint32_t)v;
		return true;
	case PALETTE:
		pg->palette = palette_find(value);
		return pg->palette != NULL;
	case BACKGROUND:
		pg->background = value;
		return palette_background(value, &top, &bottom);
	case COUNTS:
		o->counts = !strcmp(value, "1") ? INTAKE_ONE : INTAKE_TWO;
		return !strcmp(value, "1") || !strcmp(value, "2");
	case COMPARE:
		pg->by_total = !strcmp(value, "total");
		return pg->by_total || !strcmp(value, "own");
	}
	return false;
}
