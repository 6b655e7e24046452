// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf_private.h"

void bpf_session_load_contexts(struct chaincap_bpf *skel, bool wanted)
{
	skel->rodata->find_contexts = wanted;
	bpf_map__set_autocreate(skel->maps.publishers, wanted);
	bpf_map__set_autocreate(skel->maps.last_contexts, wanted);
}

void bpf_session_publisher(void *session, uint32_t tgid, const struct wire_publisher *p)
{
	struct bpf_session *s = session;
	int fd = bpf_map__fd(s->skel->maps.publishers);

	if (fd < 0)
		return;
	if (p)
		(void)bpf_map_update_elem(fd, &tgid, p, BPF_ANY);
	else
		(void)bpf_map_delete_elem(fd, &tgid);
}
