// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Three consumers of a queue, for which one thread parses records: it takes long for each. All of it ends with its last
 * record, so that the program, too, waits for nothing else.
 */
#include <string.h>

#include "../workload/slow/slow.h"

#define QUEUE 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static int queued;
static uint64_t parse_us = 6000, use_us = 300, end_us;

static NOINLINE void parse_record(void)
{
	compute(parse_us);
	after++;
}

static NOINLINE void put_record(void)
{
	pthread_mutex_lock(&lock);
	while (queued == QUEUE)
		pthread_cond_wait(&room, &lock);
	queued++;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
	after++;
}

static void *produce(void *arg)
{
	call_it("parser");
	while (now_us() < end_us) {
		parse_record();
		put_record();
	}
	return arg;
}

static NOINLINE void take_record(void)
{
	pthread_mutex_lock(&lock);
	while (!queued)
		pthread_cond_wait(&more, &lock);
	queued--;
	pthread_cond_signal(&room);
	pthread_mutex_unlock(&lock);
	after++;
}

static NOINLINE void store_record(void)
{
	compute(use_us);
	after++;
}

static void *consume(void *arg)
{
	call_it("consumer");
	for (;;) {
		take_record();
		store_record();
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t parser;

	if (argc > 2 && !strcmp(argv[2], "--healthy")) {
		parse_us = 10;
		use_us = 2000;
	}
	end_us = now_us() + (argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : RUN_US);
	if (pthread_create(&parser, NULL, produce, NULL))
		die("pthread_create");
	for (int i = 0; i < 3; i++)
		start(consume, NULL);
	pthread_join(parser, NULL);
	return 0;
}
