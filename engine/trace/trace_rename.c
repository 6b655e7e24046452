// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that take the place of a trace's own, and frames of inlined functions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "trace_private.h"

/* The table of n elements with room for one more. The loaded tables have room for no more. */
static void *with_room(void *table, uint32_t n, size_t *cap, size_t size)
{
	if (*cap < n)
		*cap = n;
	return grow_array(table, n, cap, size);
}

uint32_t trace_add_string(struct trace *t, const char *s)
{
	char **added = grow_array(t->added, t->n_added, &t->cap_added, sizeof(*added));
	const char **strings;
	char *copy;

	if (!added)
		return 0;
	t->added = added;
	strings = with_room(t->strings, t->strings_end, &t->cap_strings, sizeof(*strings));
	if (!strings)
		return 0;
	t->strings = strings;
	copy = strdup(s);
	if (!copy)
		return 0;
	added[t->n_added++] = copy;
	strings[t->strings_end] = copy;
	return t->strings_end++;
}

int trace_name_frame(struct trace *t, uint32_t frame, const char *symbol, uint64_t offset)
{
	uint32_t string = trace_add_string(t, symbol);
	struct trace_frame *f = &t->frames[frame];

	if (!string)
		return -ENOMEM;
	f->symbol = string;
	f->offset = offset;
	f->unnamed = false;
	return 0;
}

int trace_locate_frame(struct trace *t, uint32_t frame, const char *file, uint32_t line)
{
	uint32_t string = file ? trace_add_string(t, file) : 0;

	if (file && !string)
		return -ENOMEM;
	t->frames[frame].file = string;
	t->frames[frame].line = file ? line : 0;
	return 0;
}

int trace_inline_frame(struct trace *t, uint32_t frame, const char *symbol, uint32_t *id)
{
	struct trace_frame *frames, at = t->frames[frame];
	struct inlined *list;

	if (!t->inlined) {
		t->inlined = calloc(t->frames_end, sizeof(*t->inlined));
		if (!t->inlined)
			return -ENOMEM;
		t->n_inlined = t->frames_end;
	}
	frames = with_room(t->frames, t->frames_end, &t->cap_frames, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	t->frames = frames;
	frames[t->frames_end] = (struct trace_frame) {
		.addr = at.addr,
		.space = at.space,
		.module = at.module,
	};
	list = &t->inlined[frame];
	if (!list->n)
		list->first = t->frames_end;
	list->n++;
	*id = t->frames_end++;
	return trace_name_frame(t, *id, symbol, 0);
}

static uint32_t inlined_at(const struct trace *t, uint32_t frame)
{
	return frame < t->n_inlined ? t->inlined[frame].n : 0;
}

int trace_inline_stacks(struct trace *t)
{
	uint64_t n = 0, at = 0;
	uint32_t *frames;

	if (!t->inlined)
		return 0;
	for (uint64_t i = 0; i < t->n_stack_frames; i++)
		n += 1 + inlined_at(t, t->stack_frames[i]);
	frames = malloc((n + 1) * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (uint32_t id = 0; id < t->stacks_end; id++) {
		struct stack_ref *s = &t->stacks[id];
		uint64_t first = at;

		for (uint32_t i = 0; i < s->n; i++) {
			uint32_t frame = t->stack_frames[s->first + i];

			for (uint32_t k = 0; k < inlined_at(t, frame); k++)
				frames[at++] = t->inlined[frame].first + k;
			frames[at++] = frame;
		}
		s->first = first;
		s->n = (uint16_t)(at - first);
	}
	free(t->stack_frames);
	t->stack_frames = frames;
	t->n_stack_frames = n;
	free(t->inlined);
	t->inlined = NULL;
	t->n_inlined = 0;
	return 0;
}
