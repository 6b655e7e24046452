// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_private.h"

static bool is_of_tls(const struct wire_probe_site *site)
{
	return site->act >= WIRE_PROBE_TLS_READ;
}

static bool is_return(const struct wire_probe_site *site)
{
	return site->act == WIRE_PROBE_RETURN || site->act == WIRE_PROBE_TLS_READ_DONE ||
	       site->act == WIRE_PROBE_TLS_READ_EX_DONE;
}

void bpf_session_load_probes(struct bpf_session *s, const struct bpf_options *o)
{
	struct chaincap_bpf *skel = s->skel;
	bool wanted = false, tls = false;

	s->probes = o->probes;
	s->n_probes = o->n_probes;
	for (size_t i = 0; i < o->n_probes; i++) {
		const struct wire_probe_site *site = &o->probes[i].site;

		tls |= is_of_tls(site);
		wanted |= !is_of_tls(site);
		if (!is_of_tls(site) && !site->by_id)
			skel->rodata->probed_by_thread |= 1u << site->request;
		skel->rodata->find_calls |= is_return(site);
	}
	skel->rodata->find_plain = tls;
	bpf_program__set_autoload(skel->progs.on_tls, tls);
	bpf_program__set_autoattach(skel->progs.on_tls, false);
	bpf_map__set_autocreate(skel->maps.tls_reads, tls);
	bpf_map__set_autocreate(skel->maps.tls_connections, tls);
	bpf_map__set_autocreate(skel->maps.plain_bytes, tls);
	bpf_program__set_autoload(skel->progs.on_probe, wanted);
	bpf_program__set_autoload(skel->progs.on_exit_of_probed, wanted);
	bpf_program__set_autoload(skel->progs.on_exec_of_probed, wanted);
	bpf_program__set_autoload(skel->progs.list_open_probed, wanted);
	bpf_program__set_autoattach(skel->progs.on_probe, false);
	bpf_map__set_autocreate(skel->maps.probe_sites, wanted || tls);
	bpf_map__set_autocreate(skel->maps.open_probed, wanted);
	bpf_map__set_autocreate(skel->maps.request_accounts, wanted || skel->rodata->find_requests);
}

/*
 * By its open file: a path may be another file by now. libbpf reads nothing of it, as it gets an
 * offset.
 */
static struct bpf_link *attach(const struct bpf_session *s, size_t i)
{
	const struct bpf_probe *p = &s->probes[i];
	char path[40];
	LIBBPF_OPTS(bpf_uprobe_opts, opts);

	opts.bpf_cookie = i;
	opts.ref_ctr_offset = p->semaphore;
	opts.retprobe = is_return(&p->site);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->fd);
	return bpf_program__attach_uprobe_opts(is_of_tls(&p->site) ? s->skel->progs.on_tls
								   : s->skel->progs.on_probe,
					       -1, path, p->offset, &opts);
}

static int attach_all(struct bpf_session *s)
{
	const struct chaincap_bpf *skel = s->skel;
	int err = 0;

	s->probe_links = calloc(s->n_probes, sizeof(struct bpf_link *));
	if (!s->probe_links)
		return -ENOMEM;
	for (__u32 i = 0; !err && i < s->n_probes; i++)
		err = bpf_map_update_elem(bpf_map__fd(skel->maps.probe_sites), &i,
					  &s->probes[i].site, BPF_ANY);
	/* Ends first: a request that begins is then ended. */
	for (size_t i = s->n_probes; !err && i--;) {
		s->probe_links[i] = attach(s, i);
		err = s->probe_links[i] ? 0 : -errno;
	}
	return err;
}

int bpf_session_attach_probes(struct bpf_session *s, char *why, size_t why_size)
{
	int err = s->n_probes ? attach_all(s) : 0;

	s->probes = NULL;
	if (err)
		snprintf(why, why_size, "--request, --tls: the kernel refuses the probes: %s",
			 strerror(-err));
	return err;
}

void bpf_session_detach_probes(struct bpf_session *s)
{
	for (size_t i = 0; s->probe_links && i < s->n_probes; i++)
		bpf_link__destroy(s->probe_links[i]);
	free(s->probe_links);
	s->probe_links = NULL;
}
