// SPDX-License-Identifier: GPL-2.0-or-later
#include "feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_batch(struct feed_batch *b)
{
	if (b)
		free(b->id);
	free(b);
}

static struct feed_batch *new_batch(void)
{
	struct feed_batch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->cap = 64; /* never none, so that .id is never NULL */
	b->id = malloc(b->cap * sizeof(*b->id));
	if (!b->id) {
		free(b);
		return NULL;
	}
	return b;
}

int feed_open(struct feed *f, struct tree *t, bool reverse)
{
	memset(f, 0, sizeof(*f));
	f->tree = t;
	f->reverse = reverse;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->change, NULL);
	f->fill = new_batch();
	f->spare = new_batch();
	return f->fill && f->spare ? 0 : -ENOMEM;
}

static int merge(struct tree *t, struct feed_batch *b)
{
	const uint32_t *id = b->id;
	int err = 0;

	for (uint32_t i = 0; i < b->lines && !err; i++) {
		err = tree_add_path(t, id, b->line[i].n, b->line[i].count, b->line[i].before);
		id += b->line[i].n;
	}
	b->lines = 0;
	b->ids = 0;
	return err;
}

static void *merger(void *arg)
{
	struct feed *f = arg;

	pthread_mutex_lock(&f->lock);
	for (;;) {
		struct feed_batch *b;
		int err;

		while (!f->merge && !f->done)
			pthread_cond_wait(&f->change, &f->lock);
		b = f->merge;
		if (!b)
			break;
		f->merge = NULL;
		pthread_mutex_unlock(&f->lock);
		err = merge(f->tree, b);
		pthread_mutex_lock(&f->lock);
		if (err && !f->err)
			f->err = err;
		f->spare = b;
		pthread_cond_signal(&f->change);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* Hand the full batch over and take an empty one; the first time starts the thread. */
static int hand_over(struct feed *f)
{
	int err;

	if (!f->started) {
		err = pthread_create(&f->thread, NULL, merger, f);
		if (err)
			return -err;
		f->started = true;
	}
	pthread_mutex_lock(&f->lock);
	while (!f->spare)
		pthread_cond_wait(&f->change, &f->lock);
	f->merge = f->fill;
	f->fill = f->spare;
	f->spare = NULL;
	err = f->err;
	pthread_cond_signal(&f->change);
	pthread_mutex_unlock(&f->lock);
	return err;
}

static int keep(struct feed *f, double count, double before)
{
	struct feed_batch *b = f->fill;
	uint32_t n = f->split.depth;

	if (b->cap - b->ids < n) {
		size_t cap = (b->ids + n) * 2;
		void *p = realloc(b->id, cap * sizeof(*b->id));

		if (!p)
			return -ENOMEM;
		b->id = p;
		b->cap = cap;
	}
	for (uint32_t i = 0; i < n; i++)
		b->id[b->ids + i] = f->split.id[f->reverse ? n - 1 - i : i];
	b->ids += n;
	b->line[b->lines++] = (struct feed_line) { .n = n, .count = count, .before = before };
	return b->lines == FEED_LINES ? hand_over(f) : 0;
}

int feed_add(struct feed *f, const char *stack, size_t len, double count, double before)
{
	int err = split_stack(&f->split, &f->tree->names, stack, len);

	return err ? err : keep(f, count, before);
}

int feed_close(struct feed *f)
{
	if (f->started) {
		pthread_mutex_lock(&f->lock);
		f->done = true;
		pthread_cond_signal(&f->change);
		pthread_mutex_unlock(&f->lock);
		pthread_join(f->thread, NULL);
	}
	if (!f->err && f->fill && f->fill->lines)
		f->err = merge(f->tree, f->fill);
	f->tree->chain |= f->split.chain;
	split_free(&f->split);
	free_batch(f->fill);
	free_batch(f->spare);
	pthread_cond_destroy(&f->change);
	pthread_mutex_destroy(&f->lock);
	return f->err;
}
