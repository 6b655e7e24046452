// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS UINT64_C(1000000000)
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
	bool started;
	pthread_mutex_t lock; /* protects: what follows but done and next_ns, and the terminal */
	bool shown;
	enum progress_stage stage;
	uint64_t units, events, begin_ns;
	_Atomic uint64_t done;	  /* units */
	_Atomic uint64_t next_ns; /* when it is to be drawn */
} bar = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
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

void progress_start(bool wanted)
{
	bar.started = wanted && isatty(STDERR_FILENO);
	bar.next_ns = now_ns() + FIRST_NS;
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
	pthread_mutex_unlock(&bar.lock);
}

void progress_add(uint64_t units)
{
	uint64_t now;

	if (!bar.started)
		return;
	atomic_fetch_add_explicit(&bar.done, units, memory_order_relaxed);
	now = now_ns();
	if (now < bar.next_ns || pthread_mutex_trylock(&bar.lock))
		return;
	bar.next_ns = now + PERIOD_NS;
	draw(now);
	pthread_mutex_unlock(&bar.lock);
}

void progress_end(void)
{
	if (!bar.started)
		return;
	pthread_mutex_lock(&bar.lock);
	erase();
	pthread_mutex_unlock(&bar.lock);
}

void progress_stop(void)
{
	progress_end();
	bar.started = false;
}
