// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/xalloc.h"
#include "trace_private.h"

static const char *info_text(const struct trace *t, unsigned int tag)
{
	return t->info_text[tag] ? t->info_text[tag] : "";
}

static int load(struct trace *t)
{
	int err;

	t->made = xcalloc(1, sizeof(*t->made));
	err = trace_load(t);
	t->info.host = info_text(t, CHAINLOG_INFO_HOST);
	t->info.release = info_text(t, CHAINLOG_INFO_RELEASE);
	t->info.arch = info_text(t, CHAINLOG_INFO_ARCH);
	t->info.options = info_text(t, CHAINLOG_INFO_OPTIONS);
	t->info.tool = info_text(t, CHAINLOG_INFO_TOOL);
	if (!err)
		trace_define(t);
	if (!err)
		trace_find_losses(t);
	if (!err && t->bytes.damage)
		trace_note_damage(t, t->bytes.damage_offset, 0, 0, t->bytes.damage);
	return err;
}

int trace_open_bytes(struct trace **out, const struct trace_bytes *bytes, bool checked)
{
	struct trace *t = xcalloc(1, sizeof(*t));
	int err;

	*out = NULL;
	t->bytes = *bytes;
	t->checked = checked;
	err = load(t);
	if (err) {
		trace_close(t);
		return err;
	}
	*out = t;
	return 0;
}

int trace_open_memory(struct trace **out, const void *p, size_t len)
{
	return trace_open_bytes(out, &(struct trace_bytes) { .base = p, .len = len }, true);
}

void trace_bytes_free(const struct trace_bytes *b)
{
	if (b->map)
		munmap(b->map, b->len);
	free(b->heap);
}

/* Frees what loading has made. */
static void unload(struct trace *t)
{
	for (size_t i = 0; i < TRACE_TAGS; i++)
		free(t->info_text[i]);
	for (size_t i = 0; i < CHAINLOG_BLOCKS; i++)
		free(t->defs[i].refs);
	free(t->blocks);
	free(t->skips);
	free(t->losses);
	free(t->strings);
	free(t->frames);
	free(t->stacks);
	free(t->objects);
	free(t->modules);
	free(t->segments);
	free(t->in_file);
	free(t->of_process);
	free(t->threads);
	free(t->holders);
	free(t->notes);
	free(t->text);
	for (size_t i = 0; i < t->n_added; i++)
		free(t->added[i]);
	free(t->added);
	trace_free_made(t->made);
	free(t->inlined);
	free(t->stack_frames);
}

int trace_check(struct trace *t)
{
	if (t->checked)
		return 0;
	unload(t);
	*t = (struct trace) { .bytes = t->bytes, .checked = true };
	return load(t);
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	unload(t);
	trace_bytes_free(&t->bytes);
	free(t);
}

const struct trace_info *trace_info(const struct trace *t)
{
	return &t->info;
}

const struct trace_damage *trace_damage(const struct trace *t)
{
	return &t->damage;
}

const struct trace_frame *trace_frame(const struct trace *t, uint32_t id)
{
	const struct trace_frame *f;

	if (!id || id >= t->frames_end)
		return NULL;
	f = &t->frames[id];
	return f->addr || f->space ? f : NULL;
}

struct trace_stack trace_stack(const struct trace *t, uint32_t id)
{
	const struct stack_ref *s;

	if (id >= t->stacks_end || !t->stacks[id].n)
		return (struct trace_stack) { .n = 0 };
	s = &t->stacks[id];
	return (struct trace_stack) { t->stack_frames + s->first, s->n, s->cut,
				      (enum chainlog_stack_end)s->end };
}

const char *trace_module_path(const struct trace *t, uint32_t id)
{
	return id < t->modules_end ? trace_string(t, t->modules[id].path) : "";
}

const char *trace_module_build_id(const struct trace *t, uint32_t id)
{
	return id < t->modules_end && t->modules[id].build_id ? t->modules[id].build_id : "";
}

bool trace_space_is_file(const struct trace *t, uint32_t space)
{
	return space < t->spaces_end && t->in_file[space];
}

bool trace_frame_vaddr(const struct trace *t, uint32_t id, uint64_t *vaddr)
{
	const struct trace_frame *f = trace_frame(t, id);
	const struct trace_module *m;

	if (!f || !f->module || !trace_space_is_file(t, f->space))
		return false;
	m = &t->modules[f->module];
	for (uint32_t i = 0; i < m->n_segments; i++) {
		const struct segment *s = &t->segments[m->first_segment + i];

		if (f->addr - s->offset < s->bytes) {
			*vaddr = f->addr - s->offset + s->address;
			return true;
		}
	}
	/* Traces without segments have it for frames without a symbol; imports do not know it. */
	*vaddr = f->offset;
	return f->offset && !m->n_segments && m->build_id && !f->symbol;
}

bool trace_frame_file_offset(const struct trace *t, uint32_t id, uint64_t *offset)
{
	const struct trace_frame *f = trace_frame(t, id);

	if (!f || !f->module || !trace_space_is_file(t, f->space) ||
	    t->modules[f->module].n_segments)
		return false;
	*offset = f->addr;
	return true;
}

uint32_t trace_frame_line(const struct trace *t, uint32_t id, const char **file)
{
	const struct trace_frame *f = trace_frame(t, id);
	const char *path = f ? trace_string(t, f->file) : "", *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	/* Each package of Python has an __init__.py. */
	if (f && f->code && base != path && !strncmp(base, "__", 2))
		for (base--; base > path && base[-1] != '/';)
			base--;
	*file = base;
	return f && **file ? f->line : 0;
}

uint32_t trace_stacks_end(const struct trace *t)
{
	return t->stacks_end;
}

uint32_t trace_frames_end(const struct trace *t)
{
	return t->frames_end;
}

uint32_t trace_modules_end(const struct trace *t)
{
	return t->modules_end;
}

uint32_t trace_strings_end(const struct trace *t)
{
	return t->strings_end + t->made->ids.n;
}

const struct trace_object *trace_object(const struct trace *t, uint32_t id)
{
	return id && id < t->objects_end && t->objects[id].class ? &t->objects[id] : NULL;
}

uint32_t trace_objects_end(const struct trace *t)
{
	return t->objects_end;
}

const struct trace_thread *trace_threads(const struct trace *t, size_t *n)
{
	*n = t->n_threads;
	return t->threads;
}

const struct trace_holder *trace_holders(const struct trace *t, size_t *n)
{
	*n = t->n_holders;
	return t->holders;
}

const struct trace_note *trace_notes(const struct trace *t, size_t *n)
{
	*n = t->n_notes;
	return t->notes;
}

const struct trace_loss *trace_losses(const struct trace *t, size_t *n)
{
	*n = t->n_losses;
	return t->losses;
}

/* ---- frames of interpreted code -------------------------------------------------------------- */

/* Whether a native frame is known to be of the same file as another one. */
static bool is_of_file(const struct trace *t, const struct trace_frame *f,
		       const struct trace_frame *of)
{
	if (trace_space_is_file(t, of->space) && f->space == of->space)
		return true;
	/* The flight recorder's frames are in spaces of processes. */
	return of->module && f->module == of->module;
}

/*
 * Leaves out the native frames that ran the interpreted code in frames[0..n), leaf first. Returns
 * how many are left.
 */
static uint32_t leave_out_evaluators(const struct trace *t, uint32_t *frames, uint32_t n)
{
	const struct trace_frame *evaluator = NULL;
	bool after_code = false;
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct trace_frame *f = &t->frames[frames[i]];

		if (f->code) {
			after_code = true;
		} else if (after_code) {
			after_code = false;
			evaluator = f;
			continue;
		} else if (evaluator && is_of_file(t, f, evaluator)) {
			continue;
		}
		frames[left++] = frames[i];
	}
	return left;
}

static uint32_t leave_out_code(const struct trace *t, uint32_t *frames, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!t->frames[frames[i]].code)
			frames[left++] = frames[i];
	return left;
}

void trace_choose_frames(struct trace *t, bool native)
{
	for (uint32_t id = 0; t->has_code && id < t->stacks_end; id++) {
		struct stack_ref *s = &t->stacks[id];
		uint32_t *frames = t->stack_frames + s->first;

		s->n = (uint16_t)(native ? leave_out_code(t, frames, s->n)
					 : leave_out_evaluators(t, frames, s->n));
	}
	t->has_code = false;
}

/* ---- names found later, frames of inlined functions ------------------------------------------ */

void trace_name_frame(struct trace *t, uint32_t frame, const char *symbol, uint64_t offset)
{
	uint32_t string = trace_add_string(t, symbol);
	struct trace_frame *f = &t->frames[frame];

	f->symbol = string;
	f->offset = offset;
	f->unnamed = false;
}

void trace_locate_frame(struct trace *t, uint32_t frame, const char *file, uint32_t line)
{
	t->frames[frame].file = file ? trace_add_string(t, file) : 0;
	t->frames[frame].line = file ? line : 0;
}

void trace_inline_frame(struct trace *t, uint32_t frame, const char *symbol, uint32_t *id)
{
	struct trace_frame at = t->frames[frame];
	struct inlined *list;

	if (!t->inlined) {
		t->inlined = xcalloc(t->frames_end, sizeof(*t->inlined));
		t->n_inlined = t->frames_end;
	}
	XGROW(t->frames, t->frames_end, t->cap_frames);
	t->frames[t->frames_end] = (struct trace_frame) {
		.addr = at.addr,
		.space = at.space,
		.module = at.module,
		.exact = at.exact,
	};
	list = &t->inlined[frame];
	if (!list->n)
		list->first = t->frames_end;
	list->n++;
	*id = t->frames_end++;
	trace_name_frame(t, *id, symbol, 0);
}

static uint32_t inlined_at(const struct trace *t, uint32_t frame)
{
	return frame < t->n_inlined ? t->inlined[frame].n : 0;
}

void trace_inline_stacks(struct trace *t)
{
	uint64_t n = 0, at = 0;
	uint32_t *frames;

	if (!t->inlined)
		return;
	for (uint64_t i = 0; i < t->n_stack_frames; i++)
		n += 1 + inlined_at(t, t->stack_frames[i]);
	frames = xmalloc((n + 1) * sizeof(*frames));
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
}
