// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * client.c - load and the client's own figures.
 *
 *   CLIENT [-c CONNECTIONS] [-t THINK_MS | -e EVERY_MS] [-s SECONDS] [-l FILE]
 *          [-r CONNECTIONS] ADDRESS REQUEST [RARE EVERY_MS]
 *
 * Each connection asks, and asks again after a pause of half to one and a half THINK_MS; or all of
 * them ask at once, every EVERY_MS. RARE is another request, which more connections (-r, else one)
 * ask, all at once, every EVERY_MS. "{}" in a request stands for a number from 0 to 7. At the end
 * the figures of all answers are printed, one a line, and FILE has the latencies in nanoseconds.
 * waited_percent is the part of the slowest hundredth's time that the server says it waited for
 * what makes it slow; how slow one is, is its time beyond the median of the same request. With RARE
 * a line for each request follows.
 */
#include "client.h"

#include <string.h>

#include "../workload/slow/slow.h"

struct answer {
	uint64_t latency_ns;
	struct server_clock server;
	double over_us; /* by the server's clocks, beyond the median of the same request */
};

struct connection {
	pthread_t thread;
	unsigned int seed;
	const char *request;
	unsigned int every_us; /* 0: it asks again after a pause */
	struct answer *answers;
	size_t n, space;
};

static unsigned int think_us = 20000, seconds = 10;
static const char *address;
static uint64_t begin_us;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void keep(struct connection *c, struct answer answer)
{
	if (c->n == c->space) {
		c->space = c->space ? 2 * c->space : 1024;
		c->answers = realloc(c->answers, c->space * sizeof(*c->answers));
		if (!c->answers)
			die("realloc");
	}
	c->answers[c->n++] = answer;
}

/* The text with a number for "{}". */
static void fill_in(char *text, size_t size, const char *request, unsigned int number)
{
	const char *gap = strstr(request, "{}");

	if (gap)
		snprintf(text, size, "%.*s%u%s", (int)(gap - request), request, number, gap + 2);
	else
		snprintf(text, size, "%s", request);
}

static void *ask_again_and_again(void *arg)
{
	struct connection *c = arg;
	void *connection = client_connect(address);
	char text[512];

	for (;;) {
		uint64_t elapsed_us = now_us() - begin_us, from_ns, took_ns;
		struct server_clock server;

		if (c->every_us)
			nap(c->every_us - elapsed_us % c->every_us);
		else
			nap(think_us / 2 + (uint64_t)rand_r(&c->seed) % (think_us + 1));
		if (now_us() - begin_us >= seconds * 1000000ull)
			return NULL;
		fill_in(text, sizeof(text), c->request, (unsigned int)rand_r(&c->seed) % 8);
		from_ns = now_ns();
		server = client_ask(connection, text);
		took_ns = now_ns() - from_ns;
		server.took = server.took ? server.took : took_ns / 1000;
		keep(c, (struct answer) { took_ns, server, 0 });
	}
}

static void add(struct connection *to, const struct connection *from)
{
	for (size_t i = 0; i < from->n; i++)
		keep(to, from->answers[i]);
}

static int by_latency(const void *pa, const void *pb)
{
	const struct answer *a = pa, *b = pb;

	return a->latency_ns < b->latency_ns ? -1 : a->latency_ns > b->latency_ns;
}

/* The least latency that so many percent do not exceed. */
static double percentile_us(const struct connection *all, size_t percent)
{
	size_t rank = (all->n * percent + 99) / 100;

	return (double)all->answers[rank ? rank - 1 : 0].latency_ns / 1000;
}

/* By the server's clocks. */
static int by_time_taken(const void *pa, const void *pb)
{
	const struct answer *a = pa, *b = pb;

	return a->server.took < b->server.took ? -1 : a->server.took > b->server.took;
}

static int by_over(const void *pa, const void *pb)
{
	const struct answer *a = pa, *b = pb;

	return a->over_us < b->over_us ? -1 : a->over_us > b->over_us;
}

/* Finds how far answers to the same request are beyond their median. Sorts them. */
static void set_over(struct connection *same)
{
	double median_us;

	if (!same->n)
		return;
	qsort(same->answers, same->n, sizeof(*same->answers), by_time_taken);
	median_us = (double)same->answers[(same->n - 1) / 2].server.took;
	for (size_t i = 0; i < same->n; i++)
		same->answers[i].over_us = (double)same->answers[i].server.took - median_us;
}

/* Of the slowest hundredth's time, in percent; of answers to two kinds of requests. */
static double waited_percent(struct connection *usual, struct connection *rare)
{
	struct connection all = { 0 };
	uint64_t waited = 0, took = 1;
	size_t n;

	set_over(usual);
	set_over(rare);
	add(&all, usual);
	add(&all, rare);
	n = all.n < 100 ? 1 : all.n / 100;
	qsort(all.answers, all.n, sizeof(*all.answers), by_over);
	for (size_t i = all.n - n; i < all.n; i++) {
		waited += all.answers[i].server.waited;
		took += all.answers[i].server.took;
	}
	free(all.answers);
	return 100 * (double)waited / (double)took;
}

static void write_latencies(const struct connection *all, const char *file)
{
	FILE *out = fopen(file, "w");

	if (!out)
		die(file);
	for (size_t i = 0; i < all->n; i++)
		fprintf(out, "%llu\n", (unsigned long long)all->answers[i].latency_ns);
	if (fclose(out))
		die(file);
}

static void sort(struct connection *c)
{
	if (!c->n) {
		fprintf(stderr, "no answers\n");
		exit(1);
	}
	qsort(c->answers, c->n, sizeof(*c->answers), by_latency);
}

/* Prints their figures, after sorting them. */
static void report_request(const char *request, struct connection *all)
{
	sort(all);
	printf("request %s count %zu p50_us %.1f p99_us %.1f\n", request, all->n,
	       percentile_us(all, 50), percentile_us(all, 99));
}

static void report(struct connection *c, size_t n, size_t rare, const char *file)
{
	struct connection all = { 0 }, of[2] = { 0 };

	for (size_t i = 0; i < n + rare; i++) {
		add(&all, &c[i]);
		add(&of[i >= n], &c[i]);
	}
	if (file)
		write_latencies(&all, file);
	sort(&all);
	printf("count %zu\np50_us %.1f\np90_us %.1f\np99_us %.1f\nmax_us %.1f\n", all.n,
	       percentile_us(&all, 50), percentile_us(&all, 90), percentile_us(&all, 99),
	       percentile_us(&all, 100));
	printf("waited_percent %.0f\n", waited_percent(&of[0], &of[1]));
	if (rare) {
		report_request(c->request, &of[0]);
		report_request(c[n].request, &of[1]);
	}
	free(all.answers);
	free(of[0].answers);
	free(of[1].answers);
}

static unsigned int number(const char *text)
{
	return (unsigned int)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	unsigned int connections = 16, rare = 1, every_us = 0;
	struct connection *c;
	const char *file = NULL;
	int option;

	while ((option = getopt(argc, argv, "c:t:e:s:l:r:")) != -1) {
		switch (option) {
		case 'c':
			connections = number(optarg);
			break;
		case 't':
			think_us = number(optarg) * 1000;
			break;
		case 'e':
			every_us = number(optarg) * 1000;
			break;
		case 'r':
			rare = number(optarg);
			break;
		case 's':
			seconds = number(optarg);
			break;
		case 'l':
			file = optarg;
			break;
		default:
			return 2;
		}
	}
	argv += optind;
	argc -= optind;
	if ((argc != 2 && argc != 4) || !connections)
		return 2;
	address = argv[0];
	begin_us = now_us();
	rare = argc == 4 ? rare : 0;
	c = calloc(connections + rare, sizeof(*c));
	if (!c)
		die("calloc");
	for (unsigned int i = 0; i < connections + rare; i++)
		c[i] = (struct connection) { .seed = i + 1,
					     .request = argv[i < connections ? 1 : 2],
					     .every_us = i < connections ? every_us
									 : number(argv[3]) * 1000 };
	for (unsigned int i = 0; i < connections + rare; i++)
		if (pthread_create(&c[i].thread, NULL, ask_again_and_again, &c[i]))
			die("pthread_create");
	for (unsigned int i = 0; i < connections + rare; i++)
		pthread_join(c[i].thread, NULL);
	report(c, connections, rare, file);
	for (unsigned int i = 0; i < connections + rare; i++)
		free(c[i].answers);
	free(c);
	return 0;
}
