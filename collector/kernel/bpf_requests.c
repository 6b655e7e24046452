// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_private.h"

void bpf_session_load_requests(struct chaincap_bpf *skel, bool wanted)
{
	skel->rodata->find_requests = wanted;
	bpf_program__set_autoload(skel->progs.on_receive, wanted);
	bpf_program__set_autoload(skel->progs.on_send, wanted);
	bpf_program__set_autoload(skel->progs.on_state, wanted);
	bpf_program__set_autoload(skel->progs.list_tcp, wanted);
	bpf_program__set_autoload(skel->progs.list_unix, wanted);
	bpf_program__set_autoload(skel->progs.list_open_requests, wanted);
	bpf_program__set_autoattach(skel->progs.on_receive, false);
	bpf_program__set_autoattach(skel->progs.on_send, false);
	bpf_program__set_autoattach(skel->progs.on_state, false);
	bpf_program__set_autoattach(skel->progs.list_tcp, false);
	bpf_program__set_autoattach(skel->progs.list_unix, false);
	bpf_program__set_autoattach(skel->progs.list_open_requests, false);
	bpf_map__set_autocreate(skel->maps.connections, wanted);
	bpf_map__set_autocreate(skel->maps.datagram_sockets, wanted);
	bpf_map__set_autocreate(skel->maps.listening_ports, wanted);
	bpf_map__set_autocreate(skel->maps.taken_datagrams, wanted);
}

int bpf_session_iterator(const struct bpf_program *prog)
{
	struct bpf_link *link;
	int fd;

	link = bpf_program__attach_iter(prog, NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd;
}

int bpf_session_iterate(int fd)
{
	char unused[64];
	int err = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while (!err && (n = read(fd, unused, sizeof(unused))) != 0)
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			err = -errno;
	close(fd);
	return err;
}

/* Finds the connections that exist, to whatever listens now. */
static int list_connections(struct bpf_session *s)
{
	int err = bpf_session_iterate(bpf_session_iterator(s->skel->progs.list_tcp));

	s->skel->bss->list_connections = true;
	if (!err)
		err = bpf_session_iterate(bpf_session_iterator(s->skel->progs.list_tcp));
	return err ? err : bpf_session_iterate(bpf_session_iterator(s->skel->progs.list_unix));
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
	/* Made now, as rights are dropped before it runs. */
	if (!err) {
		s->open_requests = bpf_session_iterator(skel->progs.list_open_requests);
		err = s->open_requests < 0 ? s->open_requests : 0;
	}
	if (!err)
		return;
	bpf_link__destroy(skel->links.on_receive);
	bpf_link__destroy(skel->links.on_send);
	bpf_link__destroy(skel->links.on_state);
	skel->links.on_receive = skel->links.on_send = skel->links.on_state = NULL;
	s->finds_requests = false;
	fprintf(stderr, "chaincap: requests are not recorded: %s\n", strerror(-err));
}

void bpf_session_end_requests(struct bpf_session *s)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	if (s->open_requests >= 0)
		bpf_session_iterate(s->open_requests);
	/* It has been read: one more for the next recording, if there is one. */
	s->open_requests = s->paused && s->finds_requests
				   ? bpf_session_iterator(s->skel->progs.list_open_requests)
				   : -1;
	if (s->n_probes)
		bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.list_open_probed), &run);
}

uint64_t bpf_session_untold_requests(const struct bpf_session *s)
{
	struct wire_request_account *accounts = calloc(s->cpus, sizeof(*accounts));
	const struct bpf_map *map = s->skel->maps.request_accounts;
	__u32 zero = 0;
	uint64_t n = 0;

	if (accounts && bpf_session_finds_requests(s) &&
	    !bpf_map_lookup_elem(bpf_map__fd(map), &zero, accounts))
		for (uint32_t cpu = 0; cpu < s->cpus; cpu++)
			n += accounts[cpu].untold;
	free(accounts);
	return n;
}

bool bpf_session_finds_requests(const struct bpf_session *s)
{
	return s->finds_requests || s->n_probes;
}
