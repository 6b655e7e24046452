// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns blocks of definitions into tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_functions.h"
#include "common/xalloc.h"
#include "trace_private.h"

const char *trace_string(const struct trace *t, uint32_t id)
{
	if (id < t->strings_end)
		return t->strings[id] ? t->strings[id] : "";
	return id - t->strings_end < t->made->ids.n ? t->made->at[id - t->strings_end] : "";
}

uint32_t trace_make_string(const struct trace *t, const char *text)
{
	struct made_strings *made = t->made;
	uint32_t id = intern_find(&made->ids, text, strlen(text));
	char *copy;

	if (id)
		return t->strings_end + id - 1;
	XGROW(made->at, made->ids.n, made->cap);
	copy = xstrdup(text);
	id = xintern(&made->ids, text, strlen(text), NULL);
	made->at[id - 1] = copy;
	return t->strings_end + id - 1;
}

void trace_free_made(struct made_strings *made)
{
	if (!made)
		return;
	for (uint32_t i = 0; i < made->ids.n; i++)
		free(made->at[i]);
	free(made->at);
	intern_free(&made->ids);
	free(made);
}

uint32_t trace_add_string(struct trace *t, const char *s)
{
	char *copy;

	XGROW(t->added, t->n_added, t->cap_added);
	XGROW(t->strings, t->strings_end, t->cap_strings);
	copy = xstrdup(s);
	t->added[t->n_added++] = copy;
	t->strings[t->strings_end] = copy;
	return t->strings_end++;
}

/* The shortest items of two lists, in bytes: these also say how much room the tables need. */
#define SEGMENT_MIN 4u
#define THREAD_MIN 9u
#define HOLDER_MIN 2u
#define NOTE_MIN 5u

/* A payload being read; p is NULL once anything in it was wrong. */
struct reader {
	const uint8_t *p, *end;
};

static uint64_t get_u64(struct reader *r)
{
	uint64_t v = 0;

	if (r->p)
		r->p = chainlog_get_varint(r->p, r->end, &v);
	return v;
}

static uint32_t get_u32(struct reader *r)
{
	uint64_t v = get_u64(r);

	if (v > UINT32_MAX)
		r->p = NULL;
	return (uint32_t)v;
}

static uint32_t get_tid(struct reader *r)
{
	uint32_t v = get_u32(r);

	if (v >= TRACE_TID_LIMIT)
		r->p = NULL;
	return v;
}

static uint64_t get_time(struct reader *r)
{
	uint64_t v = get_u64(r);

	if (v > INT64_MAX)
		r->p = NULL;
	return v;
}

static uint64_t get_delta(struct reader *r, uint64_t *prev)
{
	*prev += (uint64_t)chainlog_unzigzag(get_u64(r));
	return *prev;
}

static const uint8_t *get_bytes(struct reader *r, uint64_t len)
{
	const uint8_t *p = r->p;

	if (!p || len > (uint64_t)(r->end - p)) {
		r->p = NULL;
		return NULL;
	}
	r->p = p + len;
	return p;
}

static void note_malformed(struct trace *t, const struct payload_ref *ref, const char *what)
{
	trace_note_damage(t, ref->offset, CHAINLOG_HEADER_SIZE + (uint64_t)ref->len, 1, what);
}

/* ---- one item of each list: an id that is defined twice keeps its first meaning ------------- */

static void define_string(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint64_t len = get_u64(r);
	const uint8_t *p = get_bytes(r, len);

	(void)prev;
	if (!p || t->strings[id])
		return;
	t->strings[id] = t->text + t->text_len;
	memcpy(t->text + t->text_len, p, len);
	t->text[t->text_len + len] = 0;
	t->text_len += len + 1;
}

static void define_module(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	static const char hex[] = "0123456789abcdef";
	struct trace_module *m = &t->modules[id];
	uint32_t path = get_u32(r);
	uint64_t len = get_u64(r);
	const uint8_t *p = get_bytes(r, len);
	char *out = t->text + t->text_len;

	(void)prev;
	if (!p || m->path || m->build_id)
		return;
	m->path = path < t->strings_end ? path : 0;
	if (!len)
		return;
	m->build_id = out;
	for (uint64_t i = 0; i < len; i++) {
		*out++ = hex[p[i] >> 4];
		*out++ = hex[p[i] & 15];
	}
	*out = 0;
	t->text_len += 2 * len + 1;
}

static void define_segment(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint32_t module = get_u32(r);
	struct segment s = { get_u64(r), get_u64(r), get_u64(r) };
	struct trace_module *m;

	(void)id;
	(void)prev;
	if (!r->p || !module || module >= t->modules_end)
		return;
	m = &t->modules[module];
	if (!m->n_segments)
		m->first_segment = t->n_segments;
	/* Those of a module follow each other; others are left out. */
	if (m->first_segment + m->n_segments != t->n_segments)
		return;
	m->n_segments++;
	t->segments[t->n_segments++] = s; /* there is room: see trace_define() */
}

static void define_space(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint32_t tgid = get_u32(r);

	(void)prev;
	get_u32(r); /* exe */
	if (!r->p)
		return;
	t->in_file[id] = !tgid;
	t->of_process[id] = tgid;
}

static void define_frame(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	struct trace_frame *f = &t->frames[id];
	uint32_t space = get_u32(r);
	uint64_t addr = get_delta(r, prev);

	if (!r->p || f->addr || f->space)
		return;
	f->space = space;
	f->addr = addr;
	f->unnamed = true;
	f->code = addr & CHAINLOG_CODE_TAG && space < t->spaces_end && t->of_process[space];
	f->exact = !f->code && (addr ^ addr << 1) & CHAINLOG_CODE_TAG;
	if (f->exact)
		f->addr ^= CHAINLOG_EXACT_TAG;
	t->has_code |= f->code;
}

static void define_stack(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint64_t head = get_u64(r), n = head >> 1;
	struct stack_ref *s = &t->stacks[id];
	uint32_t frames[CHAINLOG_STACK_MAX];

	if (n > CHAINLOG_STACK_MAX)
		r->p = NULL;
	for (uint64_t i = 0; i < n && r->p; i++) {
		uint64_t frame = get_delta(r, prev);

		frames[i] = frame < t->frames_end ? (uint32_t)frame : 0;
	}
	if (!r->p || s->n)
		return;
	s->first = t->n_stack_frames;
	s->n = (uint16_t)n;
	s->cut = head & 1;
	memcpy(t->stack_frames + s->first, frames, n * sizeof(*frames));
	t->n_stack_frames += n;
}

static void define_stack_end(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint64_t stack = get_delta(r, prev), end = get_u64(r);

	(void)id;
	if (r->p && stack < t->stacks_end && end < CHAINLOG_STACK_ENDS && !t->stacks[stack].end)
		t->stacks[stack].end = (uint8_t)end;
}

/* "[FILE+0xSTART]": nothing but the bounds of the function were known. */
static bool is_bounds(const char *symbol)
{
	const char *plus = *symbol == '[' ? strrchr(symbol, '+') : NULL;
	size_t hex;

	if (!plus || strncmp(plus, "+0x", 3))
		return false;
	hex = strspn(plus + 3, "0123456789abcdef");
	return hex && !strcmp(plus + 3 + hex, "]");
}

static void define_name(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint64_t frame = get_delta(r, prev);
	uint32_t symbol = get_u32(r), module = get_u32(r);
	uint64_t offset = get_u64(r);
	struct trace_frame *f;

	(void)id;
	if (!r->p || !frame || frame >= t->frames_end)
		return;
	f = &t->frames[frame];
	f->symbol = symbol < t->strings_end ? symbol : 0;
	f->module = module < t->modules_end ? module : 0;
	f->offset = offset;
	f->unnamed = !f->symbol || (!f->code && is_bounds(trace_string(t, f->symbol)));
	if (f->code) {
		f->file = t->modules[f->module].path;
		f->line = offset <= UINT32_MAX ? (uint32_t)offset : 0;
	}
}

/* The bytes behind the known fields are a newer writer's. */
static void define_object(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	struct trace_object *o = &t->objects[id], new = { 0 };
	uint64_t len = get_u64(r);
	const uint8_t *p = get_bytes(r, len);
	struct reader fields = { p, p ? p + len : NULL };

	(void)prev;
	new.class = get_u32(&fields);
	new.name = get_u32(&fields);
	new.peer = get_tid(&fields);
	if (fields.p && fields.p != fields.end) {
		new.own = get_u32(&fields);
		new.owner = get_tid(&fields);
	}
	if (fields.p && fields.p != fields.end) {
		new.device = get_u32(&fields);
		new.inode = fields.p &&fields.p != fields.end ? get_u64(&fields) : 0;
		new.protocol = fields.p &&fields.p != fields.end ? get_u32(&fields) : 0;
	}
	if (!fields.p)
		r->p = NULL;
	if (!r->p || o->class)
		return;
	*o = new;
	if (o->class >= t->strings_end)
		o->class = 0;
	if (o->name >= t->strings_end)
		o->name = 0;
	if (o->own >= t->strings_end)
		o->own = 0;
	if (o->protocol >= t->strings_end)
		o->protocol = 0;
}

static void define_thread(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	struct trace_thread th = { 0 };
	const uint8_t *state;

	(void)id;
	(void)prev;
	th.tid = get_tid(r);
	th.tgid = get_tid(r);
	th.start_ns = get_time(r);
	th.seen_ns = get_time(r);
	th.flags = get_u32(r);
	state = get_bytes(r, 1);
	th.name = get_u32(r);
	th.kstack = get_u32(r);
	th.ustack = get_u32(r);
	if (!r->p || !state)
		return;
	th.state = (char)*state;
	if (th.name >= t->strings_end)
		th.name = 0;
	if (th.kstack >= t->stacks_end)
		th.kstack = 0;
	if (th.ustack >= t->stacks_end)
		th.ustack = 0;
	if (th.tid >= t->info.tids_end)
		t->info.tids_end = th.tid + 1;
	t->threads[t->n_threads++] = th; /* there is room: see trace_define() */
}

/*
 * The thread of an item of a list that says more of threads; *at: that of the item before. They
 * come in the order of the threads: after one that is of none, the others are left out. NULL: none.
 */
static struct trace_thread *next_thread(struct trace *t, const struct reader *r, uint32_t tid,
					size_t *at)
{
	while (r->p && *at < t->n_threads && t->threads[*at].tid != tid)
		++*at;
	return r->p && *at < t->n_threads ? &t->threads[*at] : NULL;
}

static void define_thread_object(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint32_t tid = get_tid(r), object = get_u32(r);
	struct trace_thread *th = next_thread(t, r, tid, &t->thread_objects);

	(void)id;
	(void)prev;
	if (th)
		th->object = object < t->objects_end ? object : 0;
}

static void define_thread_group(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint32_t tid = get_tid(r), group = get_u32(r);
	struct trace_thread *th = next_thread(t, r, tid, &t->thread_groups);

	(void)id;
	(void)prev;
	if (th)
		th->group = group < t->objects_end ? group : 0;
}

static void define_thread_own_id(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	uint32_t tid = get_tid(r), own_id = get_tid(r);
	struct trace_thread *th = next_thread(t, r, tid, &t->thread_own_ids);

	(void)id;
	(void)prev;
	if (th)
		th->own_id = own_id;
}

static void define_thread_holder(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	struct trace_holder *h = &t->holders[t->n_holders]; /* there is room: see trace_define() */

	(void)id;
	(void)prev;
	h->tid = get_tid(r);
	h->holder = get_tid(r);
	t->n_holders += r->p != NULL;
}

/* The bytes behind the known fields are a newer writer's. */
static void define_note(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev)
{
	struct trace_note *note = &t->notes[t->n_notes]; /* there is room: see trace_define() */
	uint64_t len = get_u64(r);
	const uint8_t *p = get_bytes(r, len);
	struct reader fields = { p, p ? p + len : NULL };
	uint32_t texts[3];

	(void)id;
	(void)prev;
	note->tgid = get_tid(&fields);
	for (int i = 0; i < 3; i++) {
		texts[i] = get_u32(&fields);
		if (texts[i] >= t->strings_end)
			texts[i] = 0;
	}
	if (!fields.p) {
		r->p = NULL;
		return;
	}
	note->program = texts[0];
	note->what = texts[1];
	note->cure = texts[2];
	t->n_notes++;
}

/* ---- all of them --------------------------------------------------------------------------- */

/* The lists of definitions, in this order: each refers only to what is known before it. */
static const struct list {
	enum chainlog_block type;
	bool has_ids;
	unsigned int item_min; /* the shortest item, in bytes: bounds what a payload can define */
	void (*item)(struct trace *t, struct reader *r, uint32_t id, uint64_t *prev);
	const char *malformed;
} lists[] = {
	{ CHAINLOG_BLOCK_STRINGS, true, 1, define_string, "a malformed block of strings" },
	{ CHAINLOG_BLOCK_MODULES, true, 2, define_module, "a malformed block of modules" },
	{ CHAINLOG_BLOCK_SEGMENTS, false, SEGMENT_MIN, define_segment,
	  "a malformed block of segments" },
	{ CHAINLOG_BLOCK_SPACES, true, 2, define_space, "a malformed block of spaces" },
	{ CHAINLOG_BLOCK_FRAMES, true, 2, define_frame, "a malformed block of frames" },
	{ CHAINLOG_BLOCK_STACKS, true, 1, define_stack, "a malformed block of stacks" },
	{ CHAINLOG_BLOCK_STACK_ENDS, false, 2, define_stack_end,
	  "a malformed block of stacks' ends" },
	{ CHAINLOG_BLOCK_NAMES, false, 4, define_name, "a malformed block of frame names" },
	{ CHAINLOG_BLOCK_OBJECTS, true, 4, define_object, "a malformed block of objects" },
	{ CHAINLOG_BLOCK_THREADS, false, THREAD_MIN, define_thread,
	  "a malformed block of threads" },
	{ CHAINLOG_BLOCK_THREAD_OBJECTS, false, 2, define_thread_object,
	  "a malformed block of threads' objects" },
	{ CHAINLOG_BLOCK_THREAD_HOLDERS, false, HOLDER_MIN, define_thread_holder,
	  "a malformed block of locks' holders" },
	{ CHAINLOG_BLOCK_NOTES, false, NOTE_MIN, define_note, "a malformed block of notes" },
	{ CHAINLOG_BLOCK_THREAD_GROUPS, false, 2, define_thread_group,
	  "a malformed block of threads' groups" },
	{ CHAINLOG_BLOCK_THREAD_OWN_IDS, false, 2, define_thread_own_id,
	  "a malformed block of threads' own ids" },
};

/*
 * Reads the head of a list block: first id (1 for lists without ids) and count. No item is shorter
 * than item_min bytes, and ids are dense except for lost blocks. So an id above the number of items
 * that the input could define is refused.
 */
static bool list_begin(const struct trace *t, const struct payload_ref *ref,
		       const struct list *list, struct reader *r, uint32_t *first, uint32_t *count)
{
	uint64_t limit = t->bytes.len + (1u << 16);

	if (limit > TRACE_PAIR_OBJECT)
		limit = TRACE_PAIR_OBJECT;
	*r = (struct reader) { ref->p, ref->p + ref->len };
	*first = list->has_ids ? get_u32(r) : 1;
	*count = get_u32(r);
	if (!r->p || *count > (uint64_t)(r->end - r->p) / list->item_min)
		return false;
	return *first && *first + (uint64_t)*count <= limit;
}

/* One more than the highest id that the blocks of a list define. */
static uint32_t list_end(const struct trace *t, enum chainlog_block type)
{
	const struct payload_list *l = &t->defs[type];
	const struct list *list = lists;
	uint32_t first, count, end = 1;
	struct reader r;

	while (list->type != type)
		list++;
	for (size_t i = 0; i < l->n; i++)
		if (list_begin(t, &l->refs[i], list, &r, &first, &count) && first + count > end)
			end = first + count;
	return end;
}

/*
 * Calls item() for each item of all blocks of a list. A malformed item ends its block; the items
 * before it stay. prev is 0 at the start of each block.
 */
static void define_list(struct trace *t, const struct list *list)
{
	const struct payload_list *l = &t->defs[list->type];

	for (size_t i = 0; i < l->n; i++) {
		uint32_t first, count;
		uint64_t prev = 0;
		struct reader r;

		if (!list_begin(t, &l->refs[i], list, &r, &first, &count)) {
			note_malformed(t, &l->refs[i], list->malformed);
			continue;
		}
		for (uint32_t k = 0; k < count && r.p; k++)
			list->item(t, &r, first + k, &prev);
		if (r.p != r.end)
			note_malformed(t, &l->refs[i], list->malformed);
	}
}

static void define_lost(struct trace *t)
{
	const struct payload_list *l = &t->defs[CHAINLOG_BLOCK_LOST];

	for (size_t i = 0; i < l->n; i++) {
		struct reader r = { l->refs[i].p, l->refs[i].p + l->refs[i].len };
		uint64_t count = get_u64(&r);

		for (uint64_t k = 0; k < count && r.p; k++) {
			uint64_t cpu = get_u64(&r), n = get_u64(&r);
			uint64_t first_ns = get_time(&r), span = get_time(&r);

			if (r.p && (cpu > TRACE_CPU_LIMIT || span > INT64_MAX - first_ns ||
				    n > UINT64_MAX - t->info.lost))
				r.p = NULL;
			if (!r.p)
				break;
			trace_note_loss(t, cpu ? (uint32_t)cpu - 1 : EVENT_CPU_UNKNOWN, n, first_ns,
					first_ns + span);
			t->info.lost += n;
		}
		if (r.p != r.end)
			note_malformed(t, &l->refs[i], "a malformed block of losses");
	}
}

/* The recorder's own threads may not be in the list of threads, but wake others. */
static void define_recorder(struct trace *t)
{
	const char *tool = t->info.tool;
	size_t len = strcspn(tool, " ");
	char name[16];

	if (!t->info.recorder_tgid || !len)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name)), tool);
	t->info.recorder_name = trace_add_string(t, name);
}

/* ---- objects that kernel stacks show --------------------------------------------------------- */

uint32_t trace_rcu_object(const struct trace *t, const char *name)
{
	for (uint32_t i = t->first_rcu; i < t->objects_end; i++)
		if (!strcmp(trace_string(t, t->objects[i].name), name))
			return i;
	return 0;
}

/* Makes an object of each function of the kernel that waits for RCU. */
static void define_rcu(struct trace *t)
{
	size_t cap = t->objects_end;
	uint32_t class = 0;

	t->first_rcu = t->objects_end;
	for (uint32_t i = 1; i < t->frames_end; i++) {
		const struct trace_frame *f = &t->frames[i];
		const char *name = trace_string(t, f->symbol);

		if (f->space || f->code || !kernel_function_awaits_rcu(name) ||
		    trace_rcu_object(t, name))
			continue;
		if (!class)
			class = trace_add_string(t, "RCU");
		XAPPEND(t->objects, t->objects_end, cap) =
			(struct trace_object) { .class = class, .name = f->symbol };
	}
}

void trace_define(struct trace *t)
{
	uint64_t text =
		t->defs[CHAINLOG_BLOCK_STRINGS].bytes + 2 * t->defs[CHAINLOG_BLOCK_MODULES].bytes;
	uint64_t frames = t->defs[CHAINLOG_BLOCK_STACKS].bytes;
	uint64_t segments = t->defs[CHAINLOG_BLOCK_SEGMENTS].bytes / SEGMENT_MIN;
	uint64_t threads = t->defs[CHAINLOG_BLOCK_THREADS].bytes / THREAD_MIN;
	uint64_t holders = t->defs[CHAINLOG_BLOCK_THREAD_HOLDERS].bytes / HOLDER_MIN;
	uint64_t notes = t->defs[CHAINLOG_BLOCK_NOTES].bytes / NOTE_MIN;

	t->strings_end = list_end(t, CHAINLOG_BLOCK_STRINGS);
	t->modules_end = list_end(t, CHAINLOG_BLOCK_MODULES);
	t->spaces_end = list_end(t, CHAINLOG_BLOCK_SPACES);
	t->frames_end = list_end(t, CHAINLOG_BLOCK_FRAMES);
	t->stacks_end = list_end(t, CHAINLOG_BLOCK_STACKS);
	t->objects_end = list_end(t, CHAINLOG_BLOCK_OBJECTS);
	t->cap_strings = t->strings_end;
	t->cap_frames = t->frames_end;
	/* Zeroed tables cost memory only where something is written to them. */
	t->strings = xcalloc(t->strings_end, sizeof(*t->strings));
	t->modules = xcalloc(t->modules_end, sizeof(*t->modules));
	t->in_file = xcalloc(t->spaces_end, sizeof(*t->in_file));
	t->of_process = xcalloc(t->spaces_end, sizeof(*t->of_process));
	t->segments = xmalloc((segments + 1) * sizeof(*t->segments));
	t->frames = xcalloc(t->frames_end, sizeof(*t->frames));
	t->stacks = xcalloc(t->stacks_end, sizeof(*t->stacks));
	t->objects = xcalloc(t->objects_end, sizeof(*t->objects));
	t->threads = xmalloc((threads + 1) * sizeof(*t->threads));
	t->holders = xmalloc((holders + 1) * sizeof(*t->holders));
	t->notes = xmalloc((notes + 1) * sizeof(*t->notes));
	t->stack_frames = xmalloc((frames + 1) * sizeof(*t->stack_frames));
	t->text = xmalloc(text + 1);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		define_list(t, &lists[i]);
	define_recorder(t);
	define_rcu(t);
	define_lost(t);
}
