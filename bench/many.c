// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many - writes a trace that has very many of one kind of thing, as a hostile or an unusual machine
 * has: many KIND N FILE. In each of N rounds a thread sleeps until a server wakes it, and there is
 * one more of that kind.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/encoder.h"

#define START_NS UINT64_C(1000000000)
#define ROUND_NS 100000u
#define MINUTE_NS UINT64_C(60000000000)
#define SERVER 101u
#define CLIENT 102u
#define FIRST_TID 1000u
#define MAX 4000000u /* tids are below 2^22 */
#define MAX_CPUS 65536u

enum kind {
	ENDPOINTS, /* requests, each to another address */
	ROUTES,	   /* requests, each with another route */
	THREADS,
	NAMES, /* of one thread */
	PROCESSES,
	GROUPS,
	OBJECTS,
	BUCKETS, /* rounds are a minute apart */
	CPUS,
	HOSTS, /* addresses of other machines that are waited for */
	KINDS,
};

static const char *const kinds[KINDS] = {
	[ENDPOINTS] = "endpoints", [ROUTES] = "routes",	      [THREADS] = "threads",
	[NAMES] = "names",	   [PROCESSES] = "processes", [GROUPS] = "groups",
	[OBJECTS] = "objects",	   [BUCKETS] = "buckets",     [CPUS] = "cpus",
	[HOSTS] = "hosts",
};

struct maker {
	struct encoder *e;
	FILE *out;
	enum kind kind;
	uint32_t n;
	uint32_t sleeps, wakes, interrupts; /* stacks */
	uint64_t aux;			    /* events of these kinds */
};

static int write_block(void *ctx, const void *block, size_t len)
{
	struct maker *m = ctx;

	return fwrite(block, 1, len, m->out) == len ? 0 : -EIO;
}

static uint32_t stack(struct encoder *e, const char *const *names, size_t n)
{
	uint32_t frames[8];

	for (size_t i = 0; i < n; i++) {
		frames[i] = encoder_frame(e, 0, 0xffffffff81000000u + (uintptr_t)names[i] % 65536);
		encoder_name(e, frames[i], encoder_text(e, names[i]), 0, 5);
	}
	return encoder_stack(e, frames, n, 0);
}

static void make_stacks(struct maker *m)
{
	static const char *const sleeps[] = { "__schedule", "schedule", "tcp_recvmsg",
					      "__x64_sys_recvfrom" };
	static const char *const wakes[] = { "try_to_wake_up", "sock_def_readable", "tcp_sendmsg",
					     "__x64_sys_sendto" };
	static const char *const interrupts[] = { "try_to_wake_up", "sock_def_readable",
						  "tcp_v4_rcv", "net_rx_action",
						  "asm_common_interrupt" };

	m->sleeps = stack(m->e, sleeps, 4);
	m->wakes = stack(m->e, wakes, 4);
	m->interrupts = stack(m->e, interrupts, 5);
}

static uint32_t tid_of(const struct maker *m, uint32_t round)
{
	return m->kind == THREADS || m->kind == PROCESSES ? FIRST_TID + round : CLIENT;
}

static uint32_t cpu_of(const struct maker *m, uint32_t round)
{
	return m->kind == CPUS ? round % MAX_CPUS : 0;
}

/* ---- events --------------------------------------------------------------------------------- */

static void put(struct maker *m, struct event ev)
{
	m->aux += ev.kind >= CHAINLOG_AUX;
	(void)encoder_event(m->e, &ev); /* errors are kept: encoder_error() */
}

static uint32_t object(struct maker *m, const char *class, const char *format, uint32_t i)
{
	char name[64];

	snprintf(name, sizeof(name), format, i >> 16, i >> 8 & 255, i & 255);
	return encoder_object(m->e,
			      &(struct encoder_object) {
				      .class = class,
				      .name = name,
				      .own = strcmp(class, "tcp") ? "" : "tcp 10.0.0.1:40000" });
}

/* What the client waits for from now on. */
static uint32_t waited_for(struct maker *m, uint32_t round)
{
	if (m->kind == OBJECTS)
		return object(m, "file", "/srv/%u/%u/%u", round);
	return m->kind == HOSTS ? object(m, "tcp", "10.%u.%u.%u:80", round) : 0;
}

static void put_request(struct maker *m, uint32_t round, uint64_t ns)
{
	uint32_t endpoint = object(m, "tcp", ":%u%u%u", m->kind == ENDPOINTS ? round : 80);

	if (m->kind == ROUTES)
		put(m, (struct event) { .time_ns = ns,
					.cpu = 1,
					.kind = EVENT_CONTEXT,
					.tid = SERVER,
					.context = { object(m, "route", "/shop/%u/%u/%u", round), 7,
						     round + 1, round + 1 } });
	put(m, (struct event) { .time_ns = ns + 2000,
				.cpu = 1,
				.kind = EVENT_REQUEST,
				.tid = SERVER,
				.other = SERVER,
				.kstack = m->wakes,
				.request = { .connection = 1,
					     .endpoint = endpoint,
					     .arrival_ns = ns - 3000 - round % 1000,
					     .taken_ns = ns - 2000,
					     .answer_ns = ns + 1900,
					     .bytes_read = 10,
					     .bytes_written = 10 } });
}

static void put_round(struct maker *m, uint32_t round)
{
	uint64_t ns = START_NS + round * (m->kind == BUCKETS ? MINUTE_NS : ROUND_NS);
	uint32_t tid = tid_of(m, round), cpu = cpu_of(m, round), what = waited_for(m, round);
	bool by_interrupt = m->kind == HOSTS;
	char text[32];

	snprintf(text, sizeof(text), "%s%u", m->kind == GROUPS ? "/tenants/" : "", round);
	if (m->kind == NAMES)
		put(m, (struct event) { .time_ns = ns,
					.cpu = cpu,
					.kind = CHAINLOG_RENAME,
					.tid = tid,
					.string = encoder_text(m->e, text) });
	if (m->kind == GROUPS)
		put(m, (struct event) { .time_ns = ns,
					.cpu = cpu,
					.kind = EVENT_GROUP,
					.tid = tid,
					.group.object = encoder_object(
						m->e, &(struct encoder_object) {
							      .class = CHAINLOG_CLASS_GROUP,
							      .name = text,
							      .own = "" }) });
	put(m, (struct event) { .time_ns = ns + 1000,
				.cpu = cpu,
				.kind = CHAINLOG_SWITCH,
				.tid = tid,
				.state = 'S',
				.kstack = m->sleeps });
	if (what)
		put(m, (struct event) { .time_ns = ns + 1000,
					.cpu = cpu,
					.kind = EVENT_WAITS_FOR,
					.awaited = { what } });
	put(m, (struct event) { .time_ns = ns + 20000,
				.cpu = by_interrupt ? 2 : 1,
				.kind = CHAINLOG_WAKING,
				.tid = by_interrupt ? 0 : SERVER,
				.other = tid,
				.kstack = by_interrupt ? m->interrupts : m->wakes });
	put(m, (struct event) { .time_ns = ns + 25000,
				.cpu = cpu,
				.kind = CHAINLOG_SWITCH,
				.other = tid,
				.state = 'R' });
	if (m->kind == ENDPOINTS || m->kind == ROUTES)
		put_request(m, round, ns + 30000);
	/* Others have to get there. */
	if (tid != CLIENT || cpu_of(m, round + 1) != cpu)
		put(m, (struct event) { .time_ns = ns + 40000,
					.cpu = cpu,
					.kind = CHAINLOG_SWITCH,
					.tid = tid,
					.state = tid == CLIENT ? 'R' : 'S',
					.kstack = m->sleeps });
	if (tid == CLIENT && cpu_of(m, round + 1) != cpu)
		put(m, (struct event) { .time_ns = ns + 50000,
					.cpu = cpu_of(m, round + 1),
					.kind = CHAINLOG_SWITCH,
					.state = 'R',
					.other = tid });
}

/* ---- the trace ------------------------------------------------------------------------------ */

static void put_thread(struct maker *m, uint32_t tid, uint32_t tgid, const char *name)
{
	(void)encoder_thread(m->e, &(struct encoder_thread) { .tid = tid,
							      .tgid = tgid,
							      .seen_ns = START_NS,
							      .state = 'R',
							      .name = encoder_text(m->e, name) });
}

static void put_threads(struct maker *m)
{
	char name[16];

	put_thread(m, SERVER, SERVER, "server");
	put_thread(m, CLIENT, CLIENT, "client");
	for (uint32_t i = 0; i < m->n && (m->kind == THREADS || m->kind == PROCESSES); i++) {
		snprintf(name, sizeof(name), "%u", i);
		put_thread(m, FIRST_TID + i, m->kind == THREADS ? CLIENT : FIRST_TID + i, name);
	}
}

static int make(struct maker *m)
{
	struct chainlog_info info = {
		.host = "many",
		.release = "6.1.0",
		.arch = "x86_64",
		.options = "many",
		.tool = "many " CHAIN_VERSION,
		.cpus = m->kind == CPUS ? m->n : 4,
		.start_ns = START_NS,
		.parts = 3,
		.aux = 1u << CHAINLOG_WAITS_FOR | 1u << CHAINLOG_REQUEST | 1u << CHAINLOG_CONTEXT |
		       1u << CHAINLOG_GROUP,
	};
	struct encoder_counts counts;
	int err = encoder_new(&m->e, write_block, m);

	if (err)
		return err;
	encoder_keep_all(m->e);
	if (m->kind == CPUS && m->n > MAX_CPUS)
		info.cpus = MAX_CPUS;
	err = encoder_info(m->e, &info);
	make_stacks(m);
	put_threads(m);
	put(m, (struct event) { .time_ns = START_NS,
				.cpu = 1,
				.kind = CHAINLOG_SWITCH,
				.other = SERVER,
				.state = 'R' });
	if (tid_of(m, 0) == CLIENT)
		put(m, (struct event) { .time_ns = START_NS,
					.kind = CHAINLOG_SWITCH,
					.other = CLIENT,
					.state = 'R' });
	for (uint32_t i = 0; i < m->n; i++)
		put_round(m, i);
	encoder_counts(m->e, &counts);
	encoder_aux_counted(m->e, m->aux);
	if (!err)
		err = encoder_end(m->e,
				  START_NS + m->n * (m->kind == BUCKETS ? MINUTE_NS : ROUND_NS),
				  counts.events, 0);
	if (!err)
		err = encoder_error(m->e);
	encoder_free(m->e);
	return err;
}

int main(int argc, char **argv)
{
	struct maker m = { .kind = 0 };
	char *end;
	unsigned long n = argc == 4 ? strtoul(argv[2], &end, 10) : 0;
	int err;

	while (n && m.kind < KINDS && strcmp(argv[1], kinds[m.kind]))
		m.kind++;
	if (!n || *end || n > MAX || m.kind == KINDS) {
		fputs("usage: many KIND N FILE; kinds:", stderr);
		for (int i = 0; i < KINDS; i++)
			fprintf(stderr, " %s", kinds[i]);
		fputs("\n", stderr);
		return 2;
	}
	m.n = (uint32_t)n;
	m.out = fopen(argv[3], "we");
	err = m.out ? make(&m) : -errno;
	if (m.out && fclose(m.out) && !err)
		err = -errno;
	if (err)
		fprintf(stderr, "many: %s: %s\n", argv[3], strerror(-err));
	return err ? 1 : 0;
}
