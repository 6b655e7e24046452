// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes in whose memory the BPF side is to look, and where. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "bpf_private.h"

/* value NULL: the process is to be forgotten. The map may not have been made. */
static void tell(struct bpf_session *s, const struct bpf_map *map, uint32_t tgid, const void *value)
{
	int fd = bpf_map__fd(map);

	if (fd < 0)
		return;
	if (value && bpf_map_update_elem(fd, &tgid, value, BPF_ANY))
		bpf_session_leave_out(s, CHAINLOG_LEFT_PROCESSES, 1);
	else if (!value)
		(void)bpf_map_delete_elem(fd, &tgid);
}

void bpf_session_load_contexts(struct chaincap_bpf *skel, bool wanted)
{
	skel->rodata->find_contexts = wanted;
	bpf_map__set_autocreate(skel->maps.publishers, wanted);
	bpf_map__set_autocreate(skel->maps.last_contexts, wanted);
}

void bpf_session_publisher(void *session, uint32_t tgid, const struct wire_publisher *p)
{
	struct bpf_session *s = session;

	tell(s, s->skel->maps.publishers, tgid, p);
}

void bpf_session_load_code(struct chaincap_bpf *skel, uint32_t languages)
{
	bool wanted = languages;

	skel->rodata->find_code = languages;
	bpf_map__set_autocreate(skel->maps.interpreters, wanted);
	bpf_map__set_autocreate(skel->maps.codes, wanted);
	bpf_map__set_autocreate(skel->maps.codes_sent, wanted);
	bpf_map__set_autocreate(skel->maps.code_chains, wanted);
}

void bpf_session_interpreter(void *session, uint32_t tgid, const struct wire_interpreter *in)
{
	struct bpf_session *s = session;

	tell(s, s->skel->maps.interpreters, tgid, in);
	if (in)
		s->skel->bss->interpreted[tgid % WIRE_INTERPRETED] = 1;
}

#define FORGET_EVERY (WIRE_CODES / 2)
#define FORGET_BATCH 4096u

void bpf_session_forget_code(struct bpf_session *s)
{
	uint32_t last = s->skel->bss->last_code_id, n;
	const struct bpf_map *codes = s->skel->maps.codes;
	int fd = bpf_map__fd(codes), err = 0;
	void *keys, *values;
	uint64_t at;

	if (fd < 0 || last - s->code_forgotten_at < FORGET_EVERY)
		return;
	/* By the map itself, as the kernel writes as much of each as that says. */
	keys = malloc(FORGET_BATCH * bpf_map__key_size(codes));
	values = malloc(FORGET_BATCH * bpf_map__value_size(codes));
	for (bool first = true; keys && values && !err; first = false) {
		n = FORGET_BATCH;
		err = bpf_map_lookup_and_delete_batch(fd, first ? NULL : &at, &at, keys, values, &n,
						      NULL);
	}
	free(keys);
	free(values);
	s->code_forgotten_at = last;
}
