// SPDX-License-Identifier: GPL-2.0-or-later
#include "encode_private.h"

#include <errno.h>
#include <stdlib.h>

/* An item is begun below CHAINLOG_BLOCK_TARGET. */
#define LIST_CAP (CHAINLOG_FRONT + CHAINLOG_BLOCK_TARGET + ENCODER_STRING_MAX + CHAINLOG_ITEM_MAX)

/* ---- blocks -------------------------------------------------------------------------------- */

static int give(struct encoder *e, const void *block, size_t len)
{
	e->bytes += len;
	return e->sink(e->ctx, block, len);
}

int encoder_flush_list(struct encoder *e, enum chainlog_block type)
{
	size_t len;
	const uint8_t *block = chainlog_finish_list(&e->lists[type], type, &len);

	return block ? give(e, block, len) : 0;
}

uint8_t *encoder_begin_item(struct encoder *e, enum chainlog_block type, int *err)
{
	struct chainlog_list *l = &e->lists[type];

	*err = 0;
	if (!l->block)
		l->block = malloc(LIST_CAP);
	if (!l->block)
		*err = -ENOMEM;
	else if (l->len >= CHAINLOG_BLOCK_TARGET)
		*err = encoder_flush_list(e, type);
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
	for (size_t i = 0; i < ENCODER_LISTS; i++)
		free(e->lists[i].block);
	recent_free(&e->strings);
	recent_free(&e->frames);
	recent_free(&e->stacks);
	recent_free(&e->objects);
	free(e->tids);
	free(e);
}

void encoder_define_elsewhere(struct encoder *e, const struct encoder_elsewhere *elsewhere)
{
	e->elsewhere = *elsewhere;
}

/* ---- events -------------------------------------------------------------------------------- */

static int flush_events(struct encoder *e, struct chainlog_writer *w)
{
	size_t len;
	const uint8_t *block = chainlog_writer_finish(w, &len);

	if (!block)
		return 0;
	for (uint32_t ref = 1; ref <= w->n_threads; ref++)
		encoder_count_thread(e, w->threads[ref].tid);
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
	uint32_t string = encoder_string_id(e, name);
	int err;
	struct chainlog_writer *w = begin_event(e, cpu, time_ns, &err);

	if (w)
		chainlog_write_fork(w, time_ns, parent, child, child_tgid, string);
	return err;
}

int encoder_exec(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t tid, uint32_t old_tid,
		 const char *filename)
{
	uint32_t string = encoder_string_id(e, filename);
	int err;
	struct chainlog_writer *w = begin_event(e, cpu, time_ns, &err);

	if (w)
		chainlog_write_exec(w, time_ns, tid, old_tid, string);
	return err;
}

int encoder_rename(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t tid,
		   const char *name)
{
	uint32_t string = encoder_string_id(e, name);
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
	const struct chainlog_writer *w = encoder_block(e, ev->cpu);
	struct chainlog_fields shorter = *ev;

	encoder_count_thread(e, ev->tid);
	/* The waking right before says which thread is meant. */
	if (ev->kind == CHAINLOG_MORE + CHAINLOG_READY && w &&
	    chainlog_writer_woke(w, ev->time_ns, ev->tid))
		shorter.kind = CHAINLOG_MORE + CHAINLOG_WOKEN_READY;
	return more_blocks_put(&e->more, &shorter, give_block, e);
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
	for (int type = 0; !err && type < ENCODER_LISTS; type++)
		err = encoder_flush_list(e, (enum chainlog_block)type);
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
					   .stacks = e->stacks.last,
					   .frames = e->frames.last,
					   .strings = e->strings.last,
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
		.stacks = e->stacks.last,
		.frames = e->frames.last,
		.strings = e->strings.last,
	};
	memcpy(out->ends, e->ends, sizeof(out->ends));
}
