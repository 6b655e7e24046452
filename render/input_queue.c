// SPDX-License-Identifier: GPL-2.0-or-later
#include "input_queue.h"

#include <string.h>

/*
 * Small batches keep both threads busy from the start and stay in the caches. Once the tree is
 * larger than the caches, batches grow: sorting gains more in a larger batch.
 */
#define FIRST_LINES 1024 /* input of fewer lines starts no thread */
#define LARGE 16384	 /* lines handed over before batches grow */
#define MOST_LINES (1u << 18)
#define MOST_IDS (UINT32_C(8) << 20)

int input_queue_open(struct input_queue *f, struct tree *t, bool reverse)
{
	int err;

	memset(f, 0, sizeof(*f));
	f->tree = t;
	f->reverse = reverse;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->change, NULL);
	f->room = FIRST_LINES;
	err = batch_new(&f->fill, f->room);
	return err ? err : batch_new(&f->spare, f->room);
}

static void *merger(void *arg)
{
	struct input_queue *f = arg;

	pthread_mutex_lock(&f->lock);
	for (;;) {
		struct batch *b;
		int err;

		while (!f->merge && !f->done)
			pthread_cond_wait(&f->change, &f->lock);
		b = f->merge;
		if (!b)
			break;
		f->merge = NULL;
		pthread_mutex_unlock(&f->lock);
		err = batch_merge(b, f->tree);
		pthread_mutex_lock(&f->lock);
		if (err && !f->err)
			f->err = err;
		f->spare = b;
		pthread_cond_signal(&f->change);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* Hand over the full batch and take an empty one. The first call starts the thread. */
static int hand_over(struct input_queue *f)
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
	f->lines += f->fill->lines;
	f->merge = f->fill;
	f->fill = f->spare;
	f->spare = NULL;
	err = f->err;
	pthread_cond_signal(&f->change);
	pthread_mutex_unlock(&f->lock);
	if (!err && f->lines >= LARGE && f->room < MOST_LINES)
		f->room = f->room < LARGE / 2 ? LARGE / 2 : f->room * 2;
	return err ? err : batch_reset(f->fill, f->room);
}

int input_queue_add(struct input_queue *f, const char *stack, size_t len, double count,
		    double before)
{
	int err = split_stack(&f->split, &f->tree->names, stack, len);

	if (!err)
		err = batch_add(f->fill, f->split.id, f->split.depth, f->split.shared, f->reverse,
				count, before);
	if (err || (f->fill->lines < f->room && f->fill->ids < MOST_IDS))
		return err;
	return hand_over(f);
}

int input_queue_close(struct input_queue *f)
{
	if (f->started) {
		pthread_mutex_lock(&f->lock);
		f->done = true;
		pthread_cond_signal(&f->change);
		pthread_mutex_unlock(&f->lock);
		pthread_join(f->thread, NULL);
	}
	if (!f->err && f->fill && f->fill->lines)
		f->err = batch_merge(f->fill, f->tree);
	f->tree->chain |= f->split.chain;
	split_free(&f->split);
	batch_free(f->fill);
	batch_free(f->spare);
	pthread_cond_destroy(&f->change);
	pthread_mutex_destroy(&f->lock);
	return f->err;
}
