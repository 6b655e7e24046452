// SPDX-License-Identifier: GPL-2.0-or-later
#include "encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chainlog_write.h"
#include "intern.h"
#include "more_blocks.h"

/* Longer strings are cut: a demangled template name has no bound. */
#define STRING_MAX 4000u
#define BUILD_ID_MAX 64u /* SHA-1 has 20 bytes, others 8 to 32 */
/* An item is begun below CHAINLOG_BLOCK_TARGET. */
#define LIST_CAP (CHAINLOG_FRONT + CHAINLOG_BLOCK_TARGET + STRING_MAX + CHAINLOG_ITEM_MAX)
/* Stacks that are recognized when they come again: some half a million. */
#define STACKS_KEPT_BYTES (24u << 20)
/* Strings that are recognized when they come again. Programs choose their threads' names. */
#define STRINGS_KEPT_BYTES (64u << 20)
/*
 * Frames of one space, and of all: a program can run at as many addresses as it likes. The largest
 * have some hundred thousand. A frame takes some 100 bytes here and in the symbolizer.
 */
#define SPACE_FRAMES_MAX (1u << 20)
#define FRAMES_MAX (8u << 20)
#define SPACES_MAX (16u << 20)
/* Objects with a name: a server has one for each connection. */
#define OBJECTS_MAX (1u << 20)

enum { LISTS = CHAINLOG_BLOCKS };

struct encoder {
	encoder_sink sink;
	void *ctx;
	uint64_t bytes, events, lost;
	struct intern strings, frames, stacks, objects;
	uint32_t reserved_objects;
	uint32_t *stack_ids; /* by intern id - 1: reserved ids are not interned */
	uint32_t stack_ids_cap, last_stack;
	uint32_t forgotten_strings; /* whose ids come before those of `strings` */
	uint32_t *space_frames;	    /* by space id: how many; of the kernel not counted */
	size_t space_frames_cap;
	uint32_t ends[CHAINLOG_STACK_ENDS]; /* stacks defined */
	uint32_t modules, spaces;
	uint8_t *tids; /* one bit for each that was seen */
	uint32_t n_tids;
	struct chainlog_list lists[LISTS]; /* by block type; block is NULL before the first item */
	struct chainlog_writer **cpus;	   /* NULL: no event yet */
	uint32_t n_cpus;
	struct more_blocks more;
	uint64_t kernel_more;
	struct encoder_elsewhere elsewhere;
};

/* ---- blocks -------------------------------------------------------------------------------- */

static int give(struct encoder *e, const void *block, size_t len)
{
	e->bytes += len;
	return e->sink(e->ctx, block, len);
}

static int flush_list(struct encoder *e, enum chainlog_block type)
{
	size_t len;
	const uint8_t *block = chainlog_finish_list(&e->lists[type], type, &len);

	return block ? give(e, block, len) : 0;
}

/*
 * Returns where an item of a list goes, and makes room there for STRING_MAX + CHAINLOG_ITEM_MAX
 * bytes; NULL with *err set. chainlog_list_end_item() ends the item.
 */
static uint8_t *begin_item(struct encoder *e, enum chainlog_block type, int *err)
{
	struct chainlog_list *l = &e->lists[type];

	*err = 0;
	if (!l->block)
		l->block = malloc(LIST_CAP);
	if (!l->block)
		*err = -ENOMEM;
	else if (l->len >= CHAINLOG_BLOCK_TARGET)
		*err = flush_list(e, type);
	return *err ? NULL : chainlog_list_place(l);
}

struct encoder *encoder_new(encoder_sink sink, void *ctx)
{
	struct encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->sink = sink;
	e->ctx = ctx;
	e->tids = calloc(CHAINLOG_TID_LIMIT / 8, 1);
	if (!e->tids) {
		free(e);
		return NULL;
	}
	return e;
}

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->n_cpus; i++)
		free(e->cpus[i]);
	free(e->cpus);
	more_blocks_free(&e->more);
	for (size_t i = 0; i < LISTS; i++)
		free(e->lists[i].block);
	intern_free(&e->strings);
	intern_free(&e->frames);
	intern_free(&e->stacks);
	intern_free(&e->objects);
	free(e->tids);
	free(e->stack_ids);
	free(e->space_frames);
	free(e);
}

void encoder_define_elsewhere(struct encoder *e, const struct encoder_elsewhere *elsewhere)
{
	e->elsewhere = *elsewhere;
}

/* ---- definitions --------------------------------------------------------------------------- */

uint32_t encoder_string(struct encoder *e, const char *s, size_t len)
{
	uint32_t id;
	bool is_new;
	uint8_t *p;
	int err;

	if (len > STRING_MAX)
		len = STRING_MAX;
	if (e->elsewhere.string)
		return e->elsewhere.string(e->elsewhere.string_ctx, s, len);
	if (e->strings.arena_len > STRINGS_KEPT_BYTES) {
		e->forgotten_strings += e->strings.n;
		intern_free(&e->strings);
	}
	id = intern_id(&e->strings, s, len, &is_new);
	if (id)
		id += e->forgotten_strings;
	if (!is_new)
		return id;
	p = begin_item(e, CHAINLOG_BLOCK_STRINGS, &err);
	if (!p)
		return 0;
	p = chainlog_put_bytes(p, s, len);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_STRINGS], id, p);
	return id;
}

/* The id of a C string; 0 for NULL. */
static uint32_t string_id(struct encoder *e, const char *s)
{
	return s ? encoder_string(e, s, strlen(s)) : 0;
}

/* How many frames the space has; NULL when out of memory. */
static uint32_t *space_frames(struct encoder *e, uint32_t space)
{
	if (space >= e->space_frames_cap) {
		size_t cap = ((size_t)space + 512) * 2;
		uint32_t *n = realloc(e->space_frames, cap * sizeof(*n));

		if (!n)
			return NULL;
		memset(n + e->space_frames_cap, 0, (cap - e->space_frames_cap) * sizeof(*n));
		e->space_frames = n;
		e->space_frames_cap = cap;
	}
	return &e->space_frames[space];
}

static uint32_t put_frame(struct encoder *e, uint32_t space, uint64_t addr, uint32_t generation)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_FRAMES];
	uint32_t *n = space ? space_frames(e, space) : NULL, id;
	uint64_t key[2] = { (uint64_t)generation << 32 | space, addr };
	bool is_new;
	uint8_t *p;
	int err;

	if (space && (!n || *n >= SPACE_FRAMES_MAX || e->frames.n >= FRAMES_MAX))
		return intern_find(&e->frames, key, sizeof(key));
	id = intern_id(&e->frames, key, sizeof(key), &is_new);
	if (!is_new)
		return id;
	if (n)
		++*n;
	p = begin_item(e, CHAINLOG_BLOCK_FRAMES, &err);
	if (!p)
		return 0;
	chainlog_list_end_item(l, id, chainlog_put_frame(p, space, addr, &l->prev));
	return id;
}

uint32_t encoder_frame(struct encoder *e, uint32_t space, uint64_t addr)
{
	return put_frame(e, space, addr, 0);
}

uint32_t encoder_kernel_frame(struct encoder *e, uint64_t addr, uint32_t generation)
{
	return put_frame(e, 0, addr, generation);
}

uint32_t encoder_stack_reserve(struct encoder *e)
{
	return ++e->last_stack;
}

static int put_stack_end(struct encoder *e, uint32_t id, enum chainlog_stack_end end)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_STACK_ENDS];
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_STACK_ENDS, &err);
	if (!p)
		return err;
	chainlog_list_end_item(l, 0, chainlog_put_stack_end(p, id, end, &l->prev));
	return 0;
}

int encoder_stack_define(struct encoder *e, uint32_t id, const uint32_t *frames, size_t n,
			 enum chainlog_stack_end end)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_STACKS];
	uint8_t *p;
	int err;

	if (n > CHAINLOG_STACK_MAX) {
		n = CHAINLOG_STACK_MAX;
		end = CHAINLOG_STACK_DEPTH;
	}
	/* A block holds a run of ids; one that was reserved earlier begins another block. */
	if (l->count && id != l->first_id + l->count) {
		err = flush_list(e, CHAINLOG_BLOCK_STACKS);
		if (err)
			return err;
	}
	p = begin_item(e, CHAINLOG_BLOCK_STACKS, &err);
	if (!p)
		return err;
	chainlog_list_end_item(
		l, id, chainlog_put_stack(p, frames, n, end > CHAINLOG_STACK_WHOLE, &l->prev));
	e->ends[end]++;
	return end == CHAINLOG_STACK_UNKNOWN ? 0 : put_stack_end(e, id, end);
}

uint32_t encoder_stack(struct encoder *e, const uint32_t *frames, size_t n,
		       enum chainlog_stack_end end)
{
	uint32_t key[CHAINLOG_STACK_MAX + 1], i;
	bool is_new;

	if (n > CHAINLOG_STACK_MAX) {
		n = CHAINLOG_STACK_MAX;
		end = CHAINLOG_STACK_DEPTH;
	}
	/* A stack that comes again after this is another one to the reader. */
	if (e->stacks.arena_len > STACKS_KEPT_BYTES)
		intern_free(&e->stacks);
	key[0] = end;
	memcpy(key + 1, frames, n * sizeof(*frames));
	i = intern_id(&e->stacks, key, (n + 1) * sizeof(*key), &is_new);
	if (!i)
		return 0;
	if (!is_new)
		return e->stack_ids[i - 1];
	if (i > e->stack_ids_cap) {
		uint32_t cap = e->stack_ids_cap ? e->stack_ids_cap * 2 : 1024;
		uint32_t *ids = realloc(e->stack_ids, cap * sizeof(*ids));

		if (!ids)
			return 0;
		e->stack_ids = ids;
		e->stack_ids_cap = cap;
	}
	e->stack_ids[i - 1] = encoder_stack_reserve(e);
	return encoder_stack_define(e, e->last_stack, frames, n, end) ? 0 : e->last_stack;
}

uint32_t encoder_module(struct encoder *e, const char *path, const uint8_t *build_id, size_t len)
{
	uint32_t path_id = string_id(e, path);
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_MODULES, &err);
	if (!p)
		return 0;
	p = chainlog_put_varint(p, path_id);
	p = chainlog_put_bytes(p, build_id, len < BUILD_ID_MAX ? len : BUILD_ID_MAX);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_MODULES], ++e->modules, p);
	return e->modules;
}

int encoder_segment(struct encoder *e, uint32_t module, uint64_t offset, uint64_t bytes,
		    uint64_t address)
{
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_SEGMENTS, &err);
	if (!p)
		return err;
	p = chainlog_put_varint(chainlog_put_varint(p, module), offset);
	p = chainlog_put_varint(chainlog_put_varint(p, bytes), address);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_SEGMENTS], 0, p);
	return 0;
}

uint32_t encoder_space(struct encoder *e, uint32_t tgid, const char *exe)
{
	uint32_t exe_id;
	uint8_t *p;
	int err;

	if (e->elsewhere.space)
		return e->elsewhere.space(e->elsewhere.space_ctx, tgid, exe);
	exe_id = string_id(e, exe);
	p = e->spaces < SPACES_MAX ? begin_item(e, CHAINLOG_BLOCK_SPACES, &err) : NULL;
	if (!p)
		return 0;
	p = chainlog_put_varint(chainlog_put_varint(p, tgid), exe_id);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_SPACES], ++e->spaces, p);
	return e->spaces;
}

int encoder_name(struct encoder *e, uint32_t frame, const char *symbol, uint32_t module,
		 uint64_t offset)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_NAMES];
	uint32_t symbol_id = string_id(e, symbol);
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_NAMES, &err);
	if (!p)
		return err;
	p = chainlog_put_name(p, frame, symbol_id, module, offset, &l->prev);
	chainlog_list_end_item(l, 0, p);
	return 0;
}

/* The key of an object among e->objects: string ids of its class and its name, and its peer. */
struct object_key {
	uint32_t class, name, peer;
};

uint32_t encoder_object_reserve(struct encoder *e)
{
	/* No object is without a class. */
	struct object_key key = { .peer = ++e->reserved_objects };

	return intern_id(&e->objects, &key, sizeof(key), NULL);
}

static struct object_key object_key(struct encoder *e, const struct encoder_object *o)
{
	struct object_key key = { .class = string_id(e, o->class) };

	if (e->objects.n < OBJECTS_MAX) {
		key.name = *o->name ? string_id(e, o->name) : 0;
		key.peer = o->peer;
	}
	return key;
}

static int put_object(struct encoder *e, uint32_t id, const struct object_key *key)
{
	struct chainlog_list *l = &e->lists[CHAINLOG_BLOCK_OBJECTS];
	uint8_t *p;
	int err = 0;

	/* As in encoder_stack_define(). */
	if (l->count && id != l->first_id + l->count)
		err = flush_list(e, CHAINLOG_BLOCK_OBJECTS);
	if (err)
		return err;
	p = begin_item(e, CHAINLOG_BLOCK_OBJECTS, &err);
	if (!p)
		return err;
	p = chainlog_put_object(p, key->class, key->name, key->peer);
	chainlog_list_end_item(l, id, p);
	return 0;
}

int encoder_object_define(struct encoder *e, uint32_t id, const struct encoder_object *o)
{
	struct object_key key = object_key(e, o);

	return key.class ? put_object(e, id, &key) : -ENOMEM;
}

uint32_t encoder_object(struct encoder *e, const struct encoder_object *o)
{
	struct object_key key = object_key(e, o);
	bool is_new;
	uint32_t id;

	if (!key.class)
		return 0;
	id = intern_id(&e->objects, &key, sizeof(key), &is_new);
	if (id && is_new && put_object(e, id, &key))
		return 0;
	return id;
}

/* Counts the distinct threads. */
static void count_thread(struct encoder *e, uint32_t tid)
{
	uint8_t bit = (uint8_t)(1u << tid % 8);

	if (tid >= CHAINLOG_TID_LIMIT || e->tids[tid / 8] & bit)
		return;
	e->tids[tid / 8] |= bit;
	e->n_tids++;
}

static int put_thread_object(struct encoder *e, uint32_t tid, uint32_t object)
{
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_THREAD_OBJECTS, &err);
	if (!p)
		return err;
	p = chainlog_put_varint(chainlog_put_varint(p, tid), object);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_THREAD_OBJECTS], 0, p);
	return 0;
}

int encoder_thread(struct encoder *e, const struct encoder_thread *t)
{
	struct chainlog_thread_item item = {
		.tid = t->tid,
		.tgid = t->tgid,
		.start_ns = t->start_ns,
		.seen_ns = t->seen_ns,
		.flags = t->flags,
		.state = t->state,
		.name = string_id(e, t->name),
		.kstack = t->kstack,
		.ustack = t->ustack,
	};
	uint8_t *p;
	int err;

	count_thread(e, t->tid);
	p = begin_item(e, CHAINLOG_BLOCK_THREADS, &err);
	if (!p)
		return err;
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_THREADS], 0, chainlog_put_thread(p, &item));
	return t->object ? put_thread_object(e, t->tid, t->object) : 0;
}

int encoder_lost(struct encoder *e, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	uint8_t *p;
	int err;

	p = begin_item(e, CHAINLOG_BLOCK_LOST, &err);
	if (!p)
		return err;
	p = chainlog_put_lost(p, cpu, n, first_ns, last_ns);
	chainlog_list_end_item(&e->lists[CHAINLOG_BLOCK_LOST], 0, p);
	e->lost += n;
	return 0;
}

/* ---- events -------------------------------------------------------------------------------- */

static int flush_events(struct encoder *e, struct chainlog_writer *w)
{
	size_t len;
	const uint8_t *block = chainlog_writer_finish(w, &len);

	if (!block)
		return 0;
	for (uint32_t ref = 1; ref <= w->n_threads; ref++)
		count_thread(e, w->threads[ref].tid);
	return give(e, block, len);
}

static struct chainlog_writer *new_cpu(struct encoder *e, uint32_t cpu)
{
	if (cpu >= CHAINLOG_CPU_LIMIT)
		return NULL;
	if (cpu >= e->n_cpus) {
		struct chainlog_writer **cpus = realloc(e->cpus, (cpu + 1) * sizeof(*cpus));

		if (!cpus)
			return NULL;
		memset(cpus + e->n_cpus, 0, (cpu + 1 - e->n_cpus) * sizeof(*cpus));
		e->cpus = cpus;
		e->n_cpus = cpu + 1;
	}
	e->cpus[cpu] = malloc(sizeof(**e->cpus));
	if (e->cpus[cpu])
		chainlog_writer_init(e->cpus[cpu], cpu);
	return e->cpus[cpu];
}

/* Counts an event and returns the block that it goes to; NULL with *err set. */
static struct chainlog_writer *begin_event(struct encoder *e, uint32_t cpu, uint64_t time_ns,
					   int *err)
{
	struct chainlog_writer *w = cpu < e->n_cpus ? e->cpus[cpu] : NULL;

	if (!w)
		w = new_cpu(e, cpu);
	*err = w ? 0 : -ENOMEM;
	if (w && chainlog_writer_is_full(w, time_ns))
		*err = flush_events(e, w);
	if (*err)
		return NULL;
	e->events++;
	return w;
}

int encoder_switch(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t prev, char state,
		   uint32_t next, uint32_t kstack, uint32_t ustack)
{
	int err;
	struct chainlog_writer *w = begin_event(e, cpu, time_ns, &err);

	if (w)
		chainlog_write_switch(w, time_ns, prev, state, next, kstack, ustack);
	return err;
}

int encoder_waking(struct encoder *e, uint32_t cpu, uint64_t time_ns, unsigned int kind,
		   uint32_t waker, uint32_t wakee, uint32_t kstack, uint32_t ustack)
{
	int err;
	struct chainlog_writer *w = begin_event(e, cpu, time_ns, &err);

	if (w)
		chainlog_write_waking(w, time_ns, kind, waker, wakee, kstack, ustack);
	return err;
}

int encoder_fork(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t parent, uint32_t child,
		 uint32_t child_tgid, const char *name)
{
	uint32_t string = string_id(e, name);
	int err;
	struct chainlog_writer *w = begin_event(e, cpu, time_ns, &err);

	if (w)
		chainlog_write_fork(w, time_ns, parent, child, child_tgid, string);
	return err;
}

int encoder_exec(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t tid, uint32_t old_tid,
		 const char *filename)
{
	uint32_t string = string_id(e, filename);
	int err;
	struct chainlog_writer *w = begin_event(e, cpu, time_ns, &err);

	if (w)
		chainlog_write_exec(w, time_ns, tid, old_tid, string);
	return err;
}

int encoder_rename(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t tid,
		   const char *name)
{
	uint32_t string = string_id(e, name);
	int err;
	struct chainlog_writer *w = begin_event(e, cpu, time_ns, &err);

	if (w)
		chainlog_write_rename(w, time_ns, tid, string);
	return err;
}

int encoder_exit(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t tid)
{
	int err;
	struct chainlog_writer *w = begin_event(e, cpu, time_ns, &err);

	if (w)
		chainlog_write_exit(w, time_ns, tid);
	return err;
}

struct chainlog_writer *encoder_block(struct encoder *e, uint32_t cpu)
{
	return cpu < e->n_cpus ? e->cpus[cpu] : NULL;
}

void encoder_count_events(struct encoder *e, uint64_t n)
{
	e->events += n;
}

/* A sink for more_blocks. */
static int give_block(void *ctx, const void *block, size_t len)
{
	return give(ctx, block, len);
}

int encoder_more(struct encoder *e, const struct chainlog_fields *ev)
{
	count_thread(e, ev->tid);
	return more_blocks_put(&e->more, ev, give_block, e);
}

int encoder_more_lost(struct encoder *e, uint32_t cpu, uint32_t kind, uint64_t n, uint64_t first_ns,
		      uint64_t last_ns)
{
	struct chainlog_fields ev = {
		.time_ns = first_ns,
		.cpu = cpu,
		.kind = CHAINLOG_MORE + CHAINLOG_MORE_LOST,
		.other = kind - CHAINLOG_MORE,
		.number = { n, last_ns - first_ns },
	};

	return more_blocks_put(&e->more, &ev, give_block, e);
}

void encoder_more_counted(struct encoder *e, uint64_t kernel_more)
{
	e->kernel_more = kernel_more;
}

/* ---- beginning and end --------------------------------------------------------------------- */

int encoder_info(struct encoder *e, const struct chainlog_info *info)
{
	uint8_t block[CHAINLOG_FRONT + CHAINLOG_INFO_SIZE], *body = block + CHAINLOG_FRONT, *p;
	size_t len;

	p = chainlog_put_info(body, info);
	p = chainlog_finish_block(CHAINLOG_BLOCK_INFO, NULL, 0, body, (size_t)(p - body), &len);
	return give(e, p, len);
}

int encoder_flush(struct encoder *e)
{
	int err = 0;

	/* Definitions first, so that a cut right after this call leaves no event without them. */
	for (int type = 0; !err && type < LISTS; type++)
		err = flush_list(e, (enum chainlog_block)type);
	for (uint32_t i = 0; !err && i < e->n_cpus; i++)
		if (e->cpus[i])
			err = flush_events(e, e->cpus[i]);
	return err ? err : more_blocks_flush(&e->more, give_block, e);
}

int encoder_end(struct encoder *e, uint64_t end_ns, uint64_t kernel_events, uint64_t sideband_lost)
{
	uint8_t block[CHAINLOG_FRONT + CHAINLOG_END_SIZE], *body = block + CHAINLOG_FRONT, *p;
	uint8_t footer[CHAINLOG_FOOTER_SIZE];
	int err = encoder_flush(e);
	size_t len;

	if (err)
		return err;
	chainlog_put_le64(footer, e->bytes);
	memcpy(footer + 8, CHAINLOG_FOOTER_MAGIC, 8);
	p = chainlog_put_end(body, &(struct chainlog_end) {
					   .end_ns = end_ns,
					   .events = e->events,
					   .lost = e->lost,
					   .kernel_events = kernel_events,
					   .sideband_lost = sideband_lost,
					   .stacks = e->last_stack,
					   .frames = e->frames.n,
					   .strings = e->forgotten_strings + e->strings.n,
					   .threads = e->n_tids,
					   .more_events = e->more.events,
					   .more_lost = e->more.lost,
					   .more_kernel = e->kernel_more,
				   });
	p = chainlog_finish_block(CHAINLOG_BLOCK_END, NULL, 0, body, (size_t)(p - body), &len);
	err = give(e, p, len);
	return err ? err : give(e, footer, sizeof(footer));
}

void encoder_counts(const struct encoder *e, struct encoder_counts *out)
{
	*out = (struct encoder_counts) {
		.events = e->events,
		.lost = e->lost,
		.more = e->more.events - e->more.losses,
		.more_lost = e->more.lost,
		.bytes = e->bytes,
		.stacks = e->last_stack,
		.frames = e->frames.n,
		.strings = e->forgotten_strings + e->strings.n,
	};
	memcpy(out->ends, e->ends, sizeof(out->ends));
}
