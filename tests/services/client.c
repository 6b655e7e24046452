// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * client.c - load and the client's own figures.
 *
 *   CLIENT [-c CONNECTIONS] [-t THINK_MS | -e EVERY_MS] [-s SECONDS] [-l FILE] ADDRESS REQUEST
 *
 * Each connection asks, and asks again after a pause of half to one and a half THINK_MS; or all of
 * them ask at once, every EVERY_MS. "{}" in REQUEST stands for a number from 0 to 7. At the end
 * the figures of all answers are printed, one a line, and FILE has the latencies in nanoseconds.
 */
#include "client.h"

#include <string.h>

#include "../workload/slow/slow.h"

struct connection {
	pthread_t thread;
	unsigned int seed;
	uint64_t *latencies_ns;
	size_t n, space;
};

static unsigned int think_us = 20000, every_us, seconds = 10;
static const char *address, *request;
static uint64_t begin_us;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void keep(struct connection *c, uint64_t latency_ns)
{
	if (c->n == c->space) {
		c->space = c->space ? 2 * c->space : 1024;
		c->latencies_ns = realloc(c->latencies_ns, c->space * sizeof(*c->latencies_ns));
		if (!c->latencies_ns)
			die("realloc");
	}
	c->latencies_ns[c->n++] = latency_ns;
}

/* The text with a number for "{}". */
static void fill_in(char *text, size_t size, unsigned int number)
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
	void *server = client_connect(address);
	char text[512];

	for (;;) {
		uint64_t elapsed_us = now_us() - begin_us, from_ns;

		if (every_us)
			nap(every_us - elapsed_us % every_us);
		else
			nap(think_us / 2 + (uint64_t)rand_r(&c->seed) % (think_us + 1));
		if (now_us() - begin_us >= seconds * 1000000ull)
			return NULL;
		fill_in(text, sizeof(text), (unsigned int)rand_r(&c->seed) % 8);
		from_ns = now_ns();
		client_ask(server, text);
		keep(c, now_ns() - from_ns);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The least latency that so many percent do not exceed. */
static double percentile_us(const struct connection *all, size_t percent)
{
	size_t rank = (all->n * percent + 99) / 100;

	return (double)all->latencies_ns[rank ? rank - 1 : 0] / 1000;
}

static void report(struct connection *all, const char *file)
{
	FILE *out = file ? fopen(file, "w") : NULL;

	if (file && !out)
		die(file);
	for (size_t i = 0; out && i < all->n; i++)
		fprintf(out, "%llu\n", (unsigned long long)all->latencies_ns[i]);
	if (out && fclose(out))
		die(file);
	if (!all->n) {
		fprintf(stderr, "no answers\n");
		exit(1);
	}
	qsort(all->latencies_ns, all->n, sizeof(*all->latencies_ns), by_value);
	printf("count %zu\np50_us %.1f\np90_us %.1f\np99_us %.1f\nmax_us %.1f\n", all->n,
	       percentile_us(all, 50), percentile_us(all, 90), percentile_us(all, 99),
	       percentile_us(all, 100));
}

static unsigned int number(const char *text)
{
	return (unsigned int)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	unsigned int connections = 16;
	struct connection *c, all = { 0 };
	const char *file = NULL;
	int option;

	while ((option = getopt(argc, argv, "c:t:e:s:l:")) != -1) {
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
	if (argc - optind != 2 || !connections)
		return 2;
	address = argv[optind];
	request = argv[optind + 1];
	begin_us = now_us();
	c = calloc(connections, sizeof(*c));
	if (!c)
		die("calloc");
	for (unsigned int i = 0; i < connections; i++) {
		c[i].seed = i + 1;
		if (pthread_create(&c[i].thread, NULL, ask_again_and_again, &c[i]))
			die("pthread_create");
	}
	for (unsigned int i = 0; i < connections; i++) {
		pthread_join(c[i].thread, NULL);
		for (size_t k = 0; k < c[i].n; k++)
			keep(&all, c[i].latencies_ns[k]);
		free(c[i].latencies_ns);
	}
	free(c);
	report(&all, file);
	free(all.latencies_ns);
	return 0;
}
