// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shop.c - servers that publish for which trace and span their threads work.
 *
 *     shop LIBRARY|- REQUESTS
 *
 * LIBRARY has the variable; -: the program itself. A front process, with a thread for each
 * connection, answers /cart, /search and nothing (no context); for /cart it asks a back process,
 * which answers /stock of the same trace. Two clients send REQUESTS each, in turns /cart, /search
 * and nothing, when a line is read from standard input. Before that it prints "ports FRONT BACK",
 * at the end "sent NUMBER". Request k of client c has the trace id 0x1000 * c + k in the lower
 * half, 0xc0ffee in the upper half; its span in the front process is the lower half, in the back
 * process that with 0xb000000 added.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "publish.h"
#include "variable.h"

#define CLIENTS 2u
#define BACK_SPAN 0xb000000u

/* The record of a thread, as OpenTelemetry's thread context (OTEP 4947) says. */
struct record {
	uint8_t trace[16], span[8];
	volatile uint8_t valid;
	uint8_t flags;
	uint16_t size; /* of the attributes */
	uint8_t attributes[600];
} __attribute__((packed));

static void put_big_endian(uint8_t *to, uint64_t v)
{
	for (int i = 8; i--; v >>= 8)
		to[i] = (uint8_t)v;
}

static void put_attribute(struct record *r, uint8_t key, const char *value)
{
	size_t len = strlen(value);

	r->attributes[r->size] = key;
	r->attributes[r->size + 1] = (uint8_t)len;
	memcpy(r->attributes + r->size + 2, value, len);
	r->size = (uint16_t)(r->size + 2 + len);
}

enum route { CART, SEARCH, NOTHING, STOCK, ROUTES };
static const char *const routes[ROUTES] = { "/cart", "/search", NULL, "/stock/\033[31m{id}" };

struct message {
	uint32_t route;
	uint64_t trace_low;
};

static void (*set_context)(const void *record);
static uint16_t front_port, back_port;
static unsigned long requests;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static bool transfer(int fd, struct message *m, bool sends)
{
	ssize_t n = sends ? send(fd, m, sizeof(*m), MSG_NOSIGNAL)
			  : recv(fd, m, sizeof(*m), MSG_WAITALL);

	return n == (ssize_t)sizeof(*m);
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int listen_at(uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) || listen(fd, 8) ||
	    getsockname(fd, (struct sockaddr *)&a, &len))
		die("listen");
	*port = ntohs(a.sin_port);
	return fd;
}

/* What a thread of a server has. */
struct worker {
	int fd, back; /* back: a connection to the back process; -1: this is that process */
};

static void answer(const struct worker *w, struct message *m, struct record *r)
{
	struct message ask = { STOCK, m->trace_low };
	uint64_t span = w->back < 0 ? m->trace_low + BACK_SPAN : m->trace_low;

	if (m->route < ROUTES && routes[m->route]) {
		memset(r, 0, sizeof(*r));
		put_big_endian(r->trace, 0xc0ffee);
		put_big_endian(r->trace + 8, m->trace_low);
		put_big_endian(r->span, span);
		put_attribute(r, 1, "/overwritten");
		put_attribute(r, 0, "GET");
		put_attribute(r, 1, routes[m->route]);
		r->valid = 1;
		set_context(r);
	}
	if (m->route == CART && (!transfer(w->back, &ask, true) || !transfer(w->back, &ask, false)))
		die("back");
	usleep(m->route == STOCK ? 2000 : 500);
	if (!transfer(w->fd, m, true))
		die("answer");
	set_context(NULL);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	static __thread struct record record;
	struct message m;

	while (transfer(w->fd, &m, false))
		answer(w, &m, &record);
	close(w->fd);
	free(w);
	return NULL;
}

__attribute__((noreturn)) static void serve(int listener, bool is_back, const char *name)
{
	static const char *const keys[] = { "http.method", "http.route" };

	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!publish_keys(keys, 2))
		die("publish");
	for (;;) {
		struct worker *w = malloc(sizeof(*w));
		pthread_t thread;

		w->fd = accept(listener, NULL, NULL);
		if (w->fd < 0)
			die("accept");
		w->back = is_back ? -1 : connect_to(back_port);
		if (pthread_create(&thread, NULL, work, w))
			die("pthread_create");
		pthread_detach(thread);
	}
}

static void *ask(void *arg)
{
	uint64_t client = (uintptr_t)arg;
	int fd = connect_to(front_port);

	for (unsigned long k = 0; k < requests; k++) {
		struct message m = { (uint32_t)(k % 3), client << 12 | k };

		if (!transfer(fd, &m, true) || !transfer(fd, &m, false))
			die("ask");
	}
	close(fd);
	return NULL;
}

static void find_variable(const char *library)
{
	void *handle = dlopen(strcmp(library, "-") ? library : NULL, RTLD_NOW | RTLD_GLOBAL);
	void *found = handle ? dlsym(handle, "context_set") : NULL;

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	memcpy(&set_context, &found, sizeof(found));
}

int main(int argc, char **argv)
{
	pthread_t clients[CLIENTS];
	int front, back;
	char line[8];

	if (argc != 3)
		return 2;
	requests = strtoul(argv[2], NULL, 10);
	find_variable(argv[1]);
	back = listen_at(&back_port);
	front = listen_at(&front_port);
	if (!fork())
		serve(back, true, "back");
	if (!fork())
		serve(front, false, "front");
	printf("ports %u %u\n", front_port, back_port);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (uintptr_t i = 0; i < CLIENTS; i++)
		if (pthread_create(&clients[i], NULL, ask, (void *)(i + 1)))
			die("pthread_create");
	for (uintptr_t i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	printf("sent %lu\n", CLIENTS * requests);
	return 0;
}
