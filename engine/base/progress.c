// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS UINT64_C(1000000000)
#define PERIOD_NS UINT64_C(100000000)
#define BAR_WIDTH 30u

/* A stage's approximate share of all the work, in percent. */
static const struct {
	const char *name;
	unsigned int from, to;
} stages[] = {
	[PROGRESS_READ] = { "reading", 0, 100 }, /* formats that link no waits */
	[PROGRESS_LINK] = { "linking", 0, 45 },
	[PROGRESS_FOLD] = { "folding", 45, 100 },
};

static struct {
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* protects: what follows but done, and the terminal */
	pthread_cond_t changed;
	bool stop, working, shown;
	enum progress_stage stage;
	uint64_t units, events, start_ns, begin_ns;
	_Atomic uint64_t done; /* units */
} bar = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts); /* the clock of pthread_cond_timedwait() */
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void erase(void)
{
	if (bar.shown)
		fputs("\r\033[K", stderr);
	bar.shown = false;
}

static void draw(uint64_t now)
{
	double part = bar.units ? (double)bar.done / (double)bar.units : 1;
	double s = (double)(now - bar.begin_ns) / 1e9, percent;
	char cells[BAR_WIDTH + 1];

	if (part > 1)
		part = 1;
	percent = stages[bar.stage].from + part * (stages[bar.stage].to - stages[bar.stage].from);
	for (unsigned int i = 0; i < BAR_WIDTH; i++)
		cells[i] = i < percent / 100 * BAR_WIDTH ? '#' : '.';
	cells[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r\033[K[%s] %3.0f %%  %s, %.1f million events/s", cells, percent,
		stages[bar.stage].name, s > 0 ? part * (double)bar.events / s / 1e6 : 0);
	fflush(stderr);
	bar.shown = true;
}

static void *draw_on(void *arg)
{
	uint64_t now;

	(void)arg;
	pthread_mutex_lock(&bar.lock);
	while (!bar.stop) {
		struct timespec until;

		now = now_ns();
		if (bar.working && now >= bar.start_ns + PATIENCE_NS)
			draw(now);
		now += PERIOD_NS;
		until.tv_sec = (time_t)(now / 1000000000);
		until.tv_nsec = (long)(now % 1000000000);
		pthread_cond_timedwait(&bar.changed, &bar.lock, &until);
	}
	pthread_mutex_unlock(&bar.lock);
	return NULL;
}

void progress_start(bool wanted)
{
	if (!wanted || !isatty(STDERR_FILENO))
		return;
	bar.start_ns = now_ns();
	bar.stop = false;
	bar.started = !pthread_create(&bar.thread, NULL, draw_on, NULL);
}

void progress_begin(enum progress_stage stage, uint64_t units, uint64_t events)
{
	if (!bar.started)
		return;
	pthread_mutex_lock(&bar.lock);
	bar.stage = stage;
	bar.units = units;
	bar.events = events;
	bar.begin_ns = now_ns();
	bar.done = 0;
	bar.working = true;
	pthread_mutex_unlock(&bar.lock);
}

void progress_add(uint64_t units)
{
	if (bar.started)
		atomic_fetch_add_explicit(&bar.done, units, memory_order_relaxed);
}

void progress_end(void)
{
	if (!bar.started)
		return;
	pthread_mutex_lock(&bar.lock);
	bar.working = false;
	erase();
	pthread_mutex_unlock(&bar.lock);
}

void progress_stop(void)
{
	if (!bar.started)
		return;
	pthread_mutex_lock(&bar.lock);
	bar.stop = true;
	erase();
	pthread_cond_signal(&bar.changed);
	pthread_mutex_unlock(&bar.lock);
	pthread_join(bar.thread, NULL);
	bar.started = false;
}
