// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_private.h"
#include "clock.h"
#include "common/grow.h"

void bpf_session_load_requests(struct chaincap_bpf *skel, bool wanted, bool routes)
{
	skel->rodata->find_requests = wanted;
	skel->rodata->find_routes = wanted && routes;
	bpf_program__set_autoload(skel->progs.on_receive, wanted);
	bpf_program__set_autoload(skel->progs.on_send, wanted);
	bpf_program__set_autoload(skel->progs.on_state, wanted);
	bpf_program__set_autoload(skel->progs.list_tcp, wanted);
	bpf_program__set_autoload(skel->progs.list_unix, wanted);
	bpf_program__set_autoload(skel->progs.list_file_tables, wanted);
	bpf_program__set_autoload(skel->progs.list_open_requests, wanted);
	bpf_program__set_autoattach(skel->progs.on_receive, false);
	bpf_program__set_autoattach(skel->progs.on_send, false);
	bpf_program__set_autoattach(skel->progs.on_state, false);
	bpf_program__set_autoattach(skel->progs.list_tcp, false);
	bpf_program__set_autoattach(skel->progs.list_unix, false);
	bpf_program__set_autoattach(skel->progs.list_file_tables, false);
	bpf_program__set_autoattach(skel->progs.list_open_requests, false);
	bpf_map__set_autocreate(skel->maps.connections, wanted);
	bpf_map__set_autocreate(skel->maps.datagram_sockets, wanted);
	bpf_map__set_autocreate(skel->maps.listeners, wanted);
	bpf_map__set_autocreate(skel->maps.first_bytes, wanted && routes);
	bpf_map__set_autocreate(skel->maps.known_bytes, wanted && routes);
	bpf_map__set_autocreate(skel->maps.streams, wanted && routes);
}

/* The most time for a list of sockets, and for all files at the end. */
#define SOCKETS_NS 1000000000u
#define FILES_NS 1000000000u

int bpf_session_iterate(struct bpf_session *s, int fd)
{
	char unused[64];
	int err = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while (!err && (n = read(fd, unused, sizeof(unused))) != 0)
		if (n < 0 && errno == EAGAIN)
			err = clock_now_ns() >= s->skel->data->list_until_ns ? -ETIME : 0;
		else if (n < 0 && errno != EINTR)
			err = -errno;
	close(fd);
	return err;
}

/* The same with sockets, whose list may be cut off. */
static int list_sockets(struct bpf_session *s, const struct bpf_program *prog)
{
	int err;

	s->skel->data->list_until_ns = clock_now_ns() + SOCKETS_NS;
	err = bpf_session_iterate(s, bpf_session_iterator(prog, 0));
	if (err == -ETIME)
		bpf_session_leave_out(s, CHAINLOG_LEFT_LISTS, 1);
	return err == -ETIME ? 0 : err;
}

void bpf_session_list_unix(struct bpf_session *s)
{
	if (s->finds_requests)
		(void)list_sockets(s, s->skel->progs.list_unix);
}

/* Finds the connections that exist, to whatever listens now. */
static int list_connections(struct bpf_session *s)
{
	int err = list_sockets(s, s->skel->progs.list_tcp);

	s->skel->bss->list_connections = true;
	if (!err)
		err = list_sockets(s, s->skel->progs.list_tcp);
	return err ? err : list_sockets(s, s->skel->progs.list_unix);
}

void bpf_session_attach_requests(struct bpf_session *s)
{
	struct chaincap_bpf *skel = s->skel;
	int err;

	if (!s->finds_requests)
		return;
	/* The one that makes connections known comes last. */
	skel->links.on_receive = bpf_program__attach(skel->progs.on_receive);
	err = skel->links.on_receive ? 0 : -errno;
	if (!err) {
		skel->links.on_send = bpf_program__attach(skel->progs.on_send);
		err = skel->links.on_send ? 0 : -errno;
	}
	if (!err) {
		skel->links.on_state = bpf_program__attach(skel->progs.on_state);
		err = skel->links.on_state ? 0 : -errno;
	}
	if (!err)
		err = list_connections(s);
	if (!err)
		return;
	bpf_link__destroy(skel->links.on_receive);
	bpf_link__destroy(skel->links.on_send);
	bpf_link__destroy(skel->links.on_state);
	skel->links.on_receive = skel->links.on_send = skel->links.on_state = NULL;
	s->finds_requests = false;
	fprintf(stderr, "chaincap: requests are not recorded: %s\n", strerror(-err));
}

/* ---- requests that are open at the end ------------------------------------------------------ */

struct file_tables {
	struct wire_file_table *at;
	size_t n, cap;
};

static int add_table(void *tables, const void *table)
{
	struct file_tables *t = tables;

	if (!GROW(t->at, t->n, t->cap))
		return -ENOMEM;
	memcpy(&t->at[t->n++], table, sizeof(*t->at));
	return 0;
}

/* Small ones first: strangers' large ones are to take nobody else's time. */
static int by_room(const void *a, const void *b)
{
	const struct wire_file_table *x = a, *y = b;

	if (x->room != y->room)
		return x->room < y->room ? -1 : 1;
	return x->files < y->files ? -1 : x->files > y->files;
}

/* Tells what is open of the requests in one table. Returns whether it was searched. */
static bool search_table(struct bpf_session *s, const struct wire_file_table *t)
{
	const struct bpf_program *prog = s->skel->progs.list_open_requests;

	return clock_now_ns() < s->skel->data->list_until_ns &&
	       bpf_session_iterate(s, bpf_session_iterator(prog, t->tgid)) != -ETIME;
}

/* Returns how many processes' files were not searched. */
static uint64_t search_files(struct bpf_session *s, uint64_t for_ns)
{
	uint64_t until_ns = clock_now_ns() + for_ns, not_searched = 0;
	struct file_tables t = { 0 };
	int err = bpf_session_list(bpf_session_iterator(s->skel->progs.list_file_tables, 0),
				   sizeof(*t.at), until_ns, add_table, &t);

	/* Some are not in the list. */
	not_searched += err != 0;
	if (t.n)
		qsort(t.at, t.n, sizeof(*t.at), by_room);
	s->skel->data->list_until_ns = until_ns;
	for (size_t i = 0; i < t.n; i++) {
		if (!t.at[i].tgid || (i && t.at[i].files == t.at[i - 1].files))
			continue;
		not_searched += !search_table(s, &t.at[i]);
	}
	free(t.at);
	return not_searched;
}

void bpf_session_end_requests(struct bpf_session *s)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	if (s->finds_requests)
		bpf_session_leave_out(s, CHAINLOG_LEFT_OPEN, search_files(s, FILES_NS));
	if (s->n_probes)
		bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.list_open_probed), &run);
}

/* ---- sockets ---------------------------------------------------------------------------- */

/* How long the recorder may look at files while it should read its rings, and how often. */
#define COUNT_NS 50000000u
#define COUNT_EVERY_NS 2000000000u

/* What a socket's takes in the kernel: bpf_local_storage, an element of 512 bytes at most. */
#define SOCKET_BYTES 768u
/* The same of the first bytes of its requests, an element of 1024 bytes at most. */
#define FIRST_BYTES 1024u
/* Of --memory. */
#define SOCKETS_PART 4

static uint64_t socket_bytes(const struct chaincap_bpf *skel)
{
	return SOCKET_BYTES + (skel->rodata->find_routes ? FIRST_BYTES : 0);
}

void bpf_session_limit_sockets(struct chaincap_bpf *skel, uint64_t memory)
{
	skel->rodata->max_sockets = memory / SOCKETS_PART / socket_bytes(skel);
}

/*
 * Nothing says when a socket is gone with what was kept of it, so that they are found by the files
 * of processes: all but those that nobody has accepted, of which each takes more of its own.
 */
void bpf_session_count_sockets(struct bpf_session *s)
{
	struct chaincap_bpf__bss *v = s->skel->bss;
	uint64_t before = v->n_sockets, now_ns = clock_now_ns();

	if (!s->finds_requests || before < s->skel->rodata->max_sockets / 4 * 3 ||
	    now_ns - s->counted_ns < COUNT_EVERY_NS)
		return;
	s->counted_ns = now_ns;
	v->sockets_found = 0;
	v->count_sockets = true;
	/* If there was not enough time for all, they are as many as before. */
	if (!search_files(s, COUNT_NS) && v->sockets_found < before)
		__atomic_fetch_sub(&v->n_sockets, before - v->sockets_found, __ATOMIC_RELAXED);
	v->count_sockets = false;
}

uint64_t bpf_session_socket_bytes(const struct bpf_session *s)
{
	return s->finds_requests ? s->skel->bss->n_sockets * socket_bytes(s->skel) : 0;
}

/* ---- what was left out ---------------------------------------------------------------------- */

/* Adds those that came too fast, and those for which others stand. */
static void untold_requests(const struct bpf_session *s, uint64_t n[CHAINLOG_LEFT_OUTS])
{
	struct wire_request_account *accounts = calloc(s->cpus, sizeof(*accounts));
	const struct bpf_map *map = s->skel->maps.request_accounts;
	__u32 zero = 0;

	if (accounts && bpf_session_finds_requests(s) &&
	    !bpf_map_lookup_elem(bpf_map__fd(map), &zero, accounts))
		for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
			n[CHAINLOG_LEFT_REQUESTS] += accounts[cpu].untold;
			n[CHAINLOG_LEFT_QUICK] += accounts[cpu].quick;
		}
	free(accounts);
}

/* Of the elements that were added to a map that forgets, and not taken out, those not there. */
static uint64_t forgotten(const struct bpf_map *map, uint64_t added)
{
	int fd = bpf_map__fd(map);
	uint64_t key, n = 0;

	if (fd < 0 || !added)
		return 0;
	for (int err = bpf_map_get_next_key(fd, NULL, &key); !err && n < added;
	     err = bpf_map_get_next_key(fd, &key, &key))
		n++;
	return added - n;
}

void bpf_session_left_out(const struct bpf_session *s, uint64_t n[CHAINLOG_LEFT_OUTS])
{
	for (int i = 0; i < CHAINLOG_LEFT_OUTS; i++)
		n[i] = s->skel->bss->left_out[i];
	untold_requests(s, n);
	n[CHAINLOG_LEFT_WORK] += forgotten(s->skel->maps.queued_items, s->skel->bss->n_queued);
}

bool bpf_session_finds_requests(const struct bpf_session *s)
{
	return s->finds_requests || s->n_probes;
}
