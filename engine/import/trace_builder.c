// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/chainlog_write.h"
#include "common/intern.h"
#include "common/more_blocks.h"

/* Room before the first block for INFO, which is complete only at the end. */
#define INFO_ROOM (CHAINLOG_FRONT + CHAINLOG_INFO_SIZE)
#define FIRST_BYTES (1u << 20)

enum { LISTS = CHAINLOG_BLOCKS };

struct trace_builder {
	uint8_t *out; /* INFO_ROOM bytes, then the finished blocks */
	size_t len, cap;
	struct chainlog_list lists[LISTS]; /* by block type; most are unused */
	size_t list_caps[LISTS];	   /* bytes for items */
	struct chainlog_writer **cpus;	   /* NULL: no event yet */
	size_t n_cpus;
	struct more_blocks more;
	struct intern strings, modules, stacks;
	uint32_t frames;
	uint64_t events, lost, threads;
	uint64_t first_ns, last_ns; /* of all events */
	bool failed;
};

/* ---- blocks -------------------------------------------------------------------------------- */

/* Adds a finished block; block may be NULL: then there is none. */
static void add_block(struct trace_builder *b, const uint8_t *block, size_t len)
{
	if (!block || b->failed)
		return;
	if (b->cap - b->len < len) {
		size_t cap = b->cap * 2 + len;
		uint8_t *p = realloc(b->out, cap);

		if (!p) {
			b->failed = true;
			return;
		}
		b->out = p;
		b->cap = cap;
	}
	memcpy(b->out + b->len, block, len);
	b->len += len;
}

static void flush_list(struct trace_builder *b, enum chainlog_block type)
{
	size_t len;
	const uint8_t *block = chainlog_finish_list(&b->lists[type], type, &len);

	add_block(b, block, len);
}

/*
 * Returns the place for the next item of a list, with room for CHAINLOG_ITEM_MAX + len bytes; NULL
 * when out of memory. End the item with chainlog_list_end_item().
 */
static uint8_t *begin_item(struct trace_builder *b, enum chainlog_block type, size_t len)
{
	struct chainlog_list *l = &b->lists[type];
	size_t want;

	if (l->len >= CHAINLOG_BLOCK_TARGET)
		flush_list(b, type);
	want = l->len + len + CHAINLOG_ITEM_MAX;
	if (want > b->list_caps[type]) {
		uint8_t *p = realloc(l->block, CHAINLOG_FRONT + 2 * want);

		if (!p) {
			b->failed = true;
			return NULL;
		}
		l->block = p;
		b->list_caps[type] = 2 * want;
	}
	return b->failed ? NULL : chainlog_list_place(l);
}

/* ---- definitions --------------------------------------------------------------------------- */

/* As intern_id(), and notes a failure. */
static uint32_t intern(struct trace_builder *b, struct intern *t, const void *key, size_t len,
		       bool *is_new)
{
	uint32_t id = intern_id(t, key, len, is_new);

	b->failed |= !id;
	return b->failed ? 0 : id;
}

uint32_t trace_builder_string(struct trace_builder *b, const char *s, size_t len)
{
	uint32_t id;
	bool is_new;
	uint8_t *p;

	if (!len || len > TRACE_BUILDER_STRING_MAX)
		return 0;
	id = intern(b, &b->strings, s, len, &is_new);
	if (!id || !is_new)
		return id;
	p = begin_item(b, CHAINLOG_BLOCK_STRINGS, len);
	if (!p)
		return 0;
	p = chainlog_put_bytes(p, s, len);
	chainlog_list_end_item(&b->lists[CHAINLOG_BLOCK_STRINGS], id, p);
	return id;
}

uint32_t trace_builder_module(struct trace_builder *b, const char *path, size_t len)
{
	uint32_t string = trace_builder_string(b, path, len), id;
	bool is_new;
	uint8_t *p;

	if (!string)
		return 0;
	id = intern(b, &b->modules, &string, sizeof(string), &is_new);
	if (!id || !is_new)
		return id;
	p = begin_item(b, CHAINLOG_BLOCK_MODULES, 0);
	if (!p)
		return 0;
	p = chainlog_put_bytes(chainlog_put_varint(p, string), NULL, 0); /* no build ID */
	chainlog_list_end_item(&b->lists[CHAINLOG_BLOCK_MODULES], id, p);
	return id;
}

uint32_t trace_builder_frame(struct trace_builder *b, uint32_t space, uint64_t addr,
			     uint32_t symbol, uint32_t module, uint64_t offset)
{
	struct chainlog_list *l = &b->lists[CHAINLOG_BLOCK_FRAMES];
	uint8_t *p = begin_item(b, CHAINLOG_BLOCK_FRAMES, 0);

	if (p && b->frames == UINT32_MAX)
		b->failed = true;
	if (b->failed)
		return 0;
	chainlog_list_end_item(l, ++b->frames, chainlog_put_frame(p, space, addr, &l->prev));
	if (!symbol && !module)
		return b->frames;
	l = &b->lists[CHAINLOG_BLOCK_NAMES];
	p = begin_item(b, CHAINLOG_BLOCK_NAMES, 0);
	if (!p)
		return 0;
	p = chainlog_put_name(p, b->frames, symbol, module, offset, &l->prev);
	chainlog_list_end_item(l, 0, p);
	return b->frames;
}

uint32_t trace_builder_stack(struct trace_builder *b, const uint32_t *frames, size_t n, bool cut)
{
	struct chainlog_list *l = &b->lists[CHAINLOG_BLOCK_STACKS];
	uint32_t key[CHAINLOG_STACK_MAX + 1], id;
	bool is_new;
	uint8_t *p;

	if (n > CHAINLOG_STACK_MAX)
		return 0;
	key[0] = cut;
	memcpy(key + 1, frames, n * sizeof(*frames));
	id = intern(b, &b->stacks, key, (n + 1) * sizeof(*key), &is_new);
	if (!id || !is_new)
		return id;
	p = begin_item(b, CHAINLOG_BLOCK_STACKS, 0);
	if (!p)
		return 0;
	chainlog_list_end_item(l, id, chainlog_put_stack(p, frames, n, cut, &l->prev));
	return id;
}

void trace_builder_thread(struct trace_builder *b, const struct chainlog_thread_item *t)
{
	uint8_t *p = begin_item(b, CHAINLOG_BLOCK_THREADS, 0);

	if (!p)
		return;
	chainlog_list_end_item(&b->lists[CHAINLOG_BLOCK_THREADS], 0, chainlog_put_thread(p, t));
	b->threads++;
}

void trace_builder_lost(struct trace_builder *b, int cpu, uint64_t n, uint64_t first_ns,
			uint64_t last_ns)
{
	uint8_t *p = begin_item(b, CHAINLOG_BLOCK_LOST, 0);

	if (!p)
		return;
	p = chainlog_put_lost(p, cpu, n, first_ns, last_ns);
	chainlog_list_end_item(&b->lists[CHAINLOG_BLOCK_LOST], 0, p);
	b->lost += n;
}

/* ---- events -------------------------------------------------------------------------------- */

static void flush_events(struct trace_builder *b, struct chainlog_writer *w)
{
	size_t len;
	const uint8_t *block = chainlog_writer_finish(w, &len);

	add_block(b, block, len);
}

static struct chainlog_writer *new_cpu(struct trace_builder *b, uint32_t cpu)
{
	size_t n = b->n_cpus;

	while (n <= cpu)
		n = n ? n * 2 : 16;
	if (n > b->n_cpus) {
		struct chainlog_writer **cpus = realloc(b->cpus, n * sizeof(*cpus));

		if (!cpus)
			return NULL;
		memset(cpus + b->n_cpus, 0, (n - b->n_cpus) * sizeof(*cpus));
		b->cpus = cpus;
		b->n_cpus = n;
	}
	b->cpus[cpu] = malloc(sizeof(**b->cpus));
	if (b->cpus[cpu])
		chainlog_writer_init(b->cpus[cpu], cpu);
	return b->cpus[cpu];
}

/* Counts an event and returns the block that it goes to; NULL: out of memory. */
static struct chainlog_writer *begin_event(struct trace_builder *b, uint32_t cpu, uint64_t ns)
{
	struct chainlog_writer *w = cpu < b->n_cpus ? b->cpus[cpu] : NULL;

	if (!w && !b->failed)
		w = new_cpu(b, cpu);
	b->failed |= !w;
	if (b->failed)
		return NULL;
	if (chainlog_writer_is_full(w, ns))
		flush_events(b, w);
	if (!b->events++ || ns < b->first_ns)
		b->first_ns = ns;
	if (ns > b->last_ns)
		b->last_ns = ns;
	return w;
}

void trace_builder_switch(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t prev,
			  char state, uint32_t next, uint32_t kstack, uint32_t ustack)
{
	struct chainlog_writer *w = begin_event(b, cpu, ns);

	if (w)
		chainlog_write_switch(w, ns, prev, state, next, kstack, ustack);
}

void trace_builder_waking(struct trace_builder *b, unsigned int kind, uint32_t cpu, uint64_t ns,
			  uint32_t waker, uint32_t wakee, uint32_t kstack, uint32_t ustack)
{
	struct chainlog_writer *w = begin_event(b, cpu, ns);

	if (w)
		chainlog_write_waking(w, ns, kind, waker, wakee, kstack, ustack);
}

void trace_builder_fork(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t parent,
			uint32_t child, uint32_t tgid, uint32_t name)
{
	struct chainlog_writer *w = begin_event(b, cpu, ns);

	if (w)
		chainlog_write_fork(w, ns, parent, child, tgid, name);
}

void trace_builder_exec(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid,
			uint32_t old_tid, uint32_t file)
{
	struct chainlog_writer *w = begin_event(b, cpu, ns);

	if (w)
		chainlog_write_exec(w, ns, tid, old_tid, file);
}

void trace_builder_rename(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid,
			  uint32_t name)
{
	struct chainlog_writer *w = begin_event(b, cpu, ns);

	if (w)
		chainlog_write_rename(w, ns, tid, name);
}

void trace_builder_exit(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	struct chainlog_writer *w = begin_event(b, cpu, ns);

	if (w)
		chainlog_write_exit(w, ns, tid);
}

/* A sink for more_blocks. */
static int take_block(void *ctx, const void *block, size_t len)
{
	add_block(ctx, block, len);
	return 0;
}

static void add_more(struct trace_builder *b, const struct chainlog_fields *ev)
{
	b->failed |= more_blocks_put(&b->more, ev, take_block, b) != 0;
}

void trace_builder_sample(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid,
			  uint32_t kstack, uint32_t ustack)
{
	add_more(b, &(struct chainlog_fields) {
			    .time_ns = ns,
			    .cpu = cpu,
			    .kind = CHAINLOG_MORE + CHAINLOG_SAMPLE,
			    .tid = tid,
			    .kstack = kstack,
			    .ustack = ustack,
		    });
}

void trace_builder_throttled(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	add_more(b, &(struct chainlog_fields) {
			    .time_ns = ns,
			    .cpu = cpu,
			    .kind = CHAINLOG_MORE + CHAINLOG_THROTTLED,
			    .tid = tid,
		    });
}

void trace_builder_queue(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid,
			 uint32_t queue, bool woken)
{
	add_more(b, &(struct chainlog_fields) {
			    .time_ns = ns,
			    .cpu = cpu,
			    .kind = CHAINLOG_MORE + CHAINLOG_QUEUE,
			    .tid = tid,
			    .number = { (uint64_t)queue << 1 | woken },
		    });
}

void trace_builder_lost_queues(struct trace_builder *b, uint64_t n, uint64_t first_ns,
			       uint64_t last_ns)
{
	add_more(b, &(struct chainlog_fields) {
			    .time_ns = first_ns,
			    .kind = CHAINLOG_MORE + CHAINLOG_MORE_LOST,
			    .other = CHAINLOG_QUEUE,
			    .number = { n, last_ns - first_ns },
		    });
}

uint64_t trace_builder_events(const struct trace_builder *b)
{
	return b->events;
}

/* ---- begin and end ------------------------------------------------------------------------- */

struct trace_builder *trace_builder_new(void)
{
	struct trace_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->out = malloc(FIRST_BYTES);
	if (!b->out) {
		free(b);
		return NULL;
	}
	b->cap = FIRST_BYTES;
	b->len = INFO_ROOM;
	return b;
}

void trace_builder_free(struct trace_builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_cpus; i++)
		free(b->cpus[i]);
	for (size_t i = 0; i < LISTS; i++)
		free(b->lists[i].block);
	intern_free(&b->strings);
	intern_free(&b->modules);
	intern_free(&b->stacks);
	free(b->cpus);
	more_blocks_free(&b->more);
	free(b->out);
	free(b);
}

bool trace_builder_failed(const struct trace_builder *b)
{
	return b->failed;
}

static void add_end(struct trace_builder *b)
{
	uint8_t block[CHAINLOG_FRONT + CHAINLOG_END_SIZE], *body = block + CHAINLOG_FRONT, *p;
	size_t len;

	p = chainlog_put_end(body, &(struct chainlog_end) {
					   .end_ns = b->last_ns,
					   .events = b->events,
					   .lost = b->lost,
					   .stacks = b->stacks.n,
					   .frames = b->frames,
					   .strings = b->strings.n,
					   .threads = b->threads,
					   .more_events = b->more.events,
				   });
	p = chainlog_finish_block(CHAINLOG_BLOCK_END, NULL, 0, body, (size_t)(p - body), &len);
	add_block(b, p, len);
}

/* Writes the INFO block right before the first one. Returns its length. */
static size_t put_info(struct trace_builder *b, struct chainlog_info info)
{
	uint8_t block[INFO_ROOM], *body = block + CHAINLOG_FRONT, *p;
	size_t len;

	info.start_ns = b->first_ns;
	p = chainlog_put_info(body, &info);
	p = chainlog_finish_block(CHAINLOG_BLOCK_INFO, NULL, 0, body, (size_t)(p - body), &len);
	memcpy(b->out + INFO_ROOM - len, p, len);
	return len;
}

int trace_builder_finish(struct trace_builder *b, const struct chainlog_info *info, uint8_t **buf,
			 size_t *offset, size_t *len)
{
	for (size_t i = 0; i < b->n_cpus; i++)
		if (b->cpus[i])
			flush_events(b, b->cpus[i]);
	more_blocks_flush(&b->more, take_block, b);
	for (int type = 0; type < LISTS; type++)
		flush_list(b, (enum chainlog_block)type);
	add_end(b);
	if (b->failed)
		return -ENOMEM;
	*offset = INFO_ROOM - put_info(b, *info);
	*buf = b->out;
	*len = b->len - *offset;
	b->out = NULL;
	return 0;
}
