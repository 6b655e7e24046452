// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workers.c - a service with two workers. Each user's tasks go to one of them, in order, as many
 * services do it. Three users look at pages, which takes a millisecond; carol has a second window,
 * in which she orders reports, and these are compressed by gzip.
 *
 *	workers [--reports-apart] SECONDS
 *
 * Prints for each user how many pages there were and how long the slowest took.
 * --reports-apart gives reports a worker of their own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { USERS = 3, WORKERS = 3, REPORT_BYTES = 16 * 1024 * 1024, PAGE_US = 1000 };

struct task {
	void (*run)(void);
	int answered; /* an eventfd */
};

/* A worker is the pipe that pointers to its tasks go through. */
static int queues[WORKERS][2];
static bool reports_apart;
static double seconds;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool put(int fd, const void *from, size_t size)
{
	return write(fd, from, size) == (ssize_t)size;
}

static bool get(int fd, void *to, size_t size)
{
	return read(fd, to, size) == (ssize_t)size;
}

static void render_page(void)
{
	double until = now_ms() + PAGE_US / 1e3;

	while (now_ms() < until)
		;
}

static bool send_to_gzip(int gzip)
{
	unsigned int seed = 1;
	uint16_t figures[2048];

	for (size_t sent = 0; sent < REPORT_BYTES; sent += sizeof(figures)) {
		for (size_t i = 0; i < 2048; i++)
			figures[i] = (uint16_t)(rand_r(&seed) % 4096);
		if (!put(gzip, figures, sizeof(figures)))
			return false;
	}
	return true;
}

static void write_report(void)
{
	FILE *gzip = popen("exec gzip -9 >/dev/null", "w");

	if (!gzip || !send_to_gzip(fileno(gzip)) || pclose(gzip))
		perror("gzip");
}

static bool next_task(int queue, struct task **t)
{
	return get(queue, t, sizeof(*t));
}

static void answer(const struct task *t)
{
	uint64_t one = 1;

	if (!put(t->answered, &one, sizeof(one)))
		perror("answer");
}

static void *work(void *arg)
{
	struct task *t;
	char name[16];
	int *queue = arg;

	snprintf(name, sizeof(name), "worker-%d", (int)((queue - queues[0]) / 2));
	pthread_setname_np(pthread_self(), name);
	while (next_task(queue[0], &t)) {
		t->run();
		answer(t);
	}
	return NULL;
}

static void await_answer(const struct task *t)
{
	uint64_t count;

	if (!get(t->answered, &count, sizeof(count)))
		perror("await_answer");
}

/* How long it took, in ms. */
static double ask(int worker, void (*run)(void))
{
	struct task task = { .run = run, .answered = eventfd(0, EFD_CLOEXEC) }, *t = &task;
	double start = now_ms();

	if (put(queues[worker][1], &t, sizeof(t)))
		await_answer(t);
	close(t->answered);
	return now_ms() - start;
}

static void *look_at_pages(void *arg)
{
	static const char *const names[USERS] = { "alice", "bob", "carol" };
	long user = (long)arg;
	double end = now_ms() + seconds * 1e3, slowest = 0;
	int pages = 0;

	pthread_setname_np(pthread_self(), names[user]);
	while (now_ms() < end) {
		double took = ask((int)(user % 2), render_page);

		slowest = took > slowest ? took : slowest;
		pages++;
		usleep(5000);
	}
	printf("%-6s %4d pages, the slowest took %.0f ms\n", names[user], pages, slowest);
	return NULL;
}

static void *order_reports(void *arg)
{
	double end = now_ms() + seconds * 1e3;

	(void)arg;
	pthread_setname_np(pthread_self(), "carol's report");
	while (now_ms() < end) {
		usleep(300000);
		ask(reports_apart ? 2 : 0, write_report);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t users[USERS], reports, thread;

	reports_apart = argc > 2 && strcmp(argv[1], "--reports-apart") == 0;
	seconds = argc > 1 ? atof(argv[argc - 1]) : 0;
	if (seconds <= 0) {
		fprintf(stderr, "usage: %s [--reports-apart] SECONDS\n", argv[0]);
		return 2;
	}
	for (int i = 0; i < WORKERS; i++) {
		if (pipe2(queues[i], O_CLOEXEC) || pthread_create(&thread, NULL, work, queues[i])) {
			perror("workers");
			return 1;
		}
	}
	pthread_create(&reports, NULL, order_reports, NULL);
	for (long i = 0; i < USERS; i++)
		pthread_create(&users[i], NULL, look_at_pages, (void *)i);
	for (int i = 0; i < USERS; i++)
		pthread_join(users[i], NULL);
	pthread_join(reports, NULL);
	return 0;
}
