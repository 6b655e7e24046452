// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfetto_samples.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

void perfetto_samples_free(struct perfetto_samples *p)
{
	free(p->frames);
	p->frames = NULL;
}

/* The number of a text in a set, in which it is identified by id. */
static uint32_t string_of(struct perfetto_samples *p, enum perfetto_set set, uint32_t id,
			  const char *text)
{
	bool is_new;
	uint32_t string = perfetto_string(p->perfetto, set, id, 0, &is_new);

	if (is_new)
		perfetto_define(p->perfetto, set, string, text, strlen(text));
	return string;
}

/* The path of a module, cleaned; that of no module is empty. */
static const char *path_of(struct perfetto_samples *p, uint32_t module)
{
	uint32_t text = module ? names_clean(p->names, trace_module_path(p->trace, module)) : 0;

	p->out_of_memory |= module && !text;
	return text ? names_text(p->names, text) : "";
}

/* A frame of a callstack; the delimiter is none. */
static void add_frame(void *arg, uint32_t text, const struct trace_frame *frame)
{
	struct perfetto_samples *p = arg;
	uint32_t module = frame ? frame->module : 0, function, path;
	const char *name = names_text(p->names, text);
	uint32_t *frames;

	if (!frame && !strcmp(name, "-"))
		return;
	frames = grow_array(p->frames, p->n_frames, &p->cap_frames, sizeof(*frames));
	if (frames)
		p->frames = frames;
	if (!frames || !text) {
		p->out_of_memory = true;
		return;
	}
	function = string_of(p, PERFETTO_FUNCTIONS, text, name);
	path = string_of(p, PERFETTO_PATHS, module, path_of(p, module));
	frames[p->n_frames++] = perfetto_frame(p->perfetto, function, path);
}

static void put_callstack(struct perfetto_samples *p, uint32_t pair)
{
	uint32_t callstack, text = names_off_cpu(p->names, pair);
	bool is_new;

	p->out_of_memory |= !text;
	/* -K and -U can hide all of it. */
	if (!text || !*names_text(p->names, text))
		return;
	callstack = perfetto_string(p->perfetto, PERFETTO_CALLSTACKS, pair, 0, &is_new);
	perfetto_callstack(p->perfetto, callstack);
	if (!is_new)
		return;
	p->n_frames = 0;
	names_put_ran(p->names, pair, (struct frame_sink) { add_frame, p });
	perfetto_define_callstack(p->perfetto, callstack, p->frames, p->n_frames);
}

void perfetto_put_sample(struct perfetto_samples *p, uint32_t pid, uint32_t tid,
			 const struct sample *s)
{
	perfetto_begin_sample(p->perfetto, pid, tid, s->cpu, s->ns);
	put_callstack(p, s->pair);
	perfetto_end(p->perfetto);
}
