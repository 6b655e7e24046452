// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The objects for kernels that refuse the usual one: bpf/older.bpf.c, bpf/plain.bpf.c. All have the
 * same programs and maps, and the same variables up to the tables, so that one skeleton fits them:
 * the Makefile compares the variables, libbpf finds the rest by name.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "bpf_private.h"
#include "caps.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "older.skel.h"
#include "plain.skel.h"
#pragma GCC diagnostic pop

#define ENOTSUPP 524 /* in the kernel's include/linux/errno.h */

bool bpf_older_may_load(int err)
{
	static const int refusals[] = { E2BIG,	EINVAL, EACCES,	    EPERM,
					ENOENT, ESRCH,	EOPNOTSUPP, ENOTSUPP };
	char missing[40];

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (err == -refusals[i])
			return !caps_missing(missing, sizeof(missing));
	return false;
}

struct chaincap_bpf *bpf_older_open(enum bpf_programs programs)
{
	struct chaincap_bpf *skel;
	int err;

	if (programs == BPF_USUAL)
		return chaincap_bpf__open();
	skel = calloc(1, sizeof(*skel));
	err = skel ? chaincap_bpf__create_skeleton(skel) : -ENOMEM;
	if (!err) {
		skel->skeleton->data = programs == BPF_OLDER
					       ? older_bpf__elf_bytes(&skel->skeleton->data_sz)
					       : plain_bpf__elf_bytes(&skel->skeleton->data_sz);
		err = bpf_object__open_skeleton(skel->skeleton, NULL);
	}
	if (err) {
		chaincap_bpf__destroy(skel);
		errno = -err;
		return NULL;
	}
	return skel;
}

void bpf_older_options(struct bpf_options *o, enum bpf_programs programs)
{
	if (programs != BPF_USUAL) {
		o->requests = o->verify = false;
		o->verbose = false; /* what the kernel lacks has been said */
	}
	if (programs == BPF_PLAIN) {
		o->objects = o->disk_requests = o->contexts = false;
		o->code = 0;
	}
}

void bpf_session_load_work(struct chaincap_bpf *skel, bool wanted)
{
	skel->rodata->find_work = wanted;
	bpf_program__set_autoload(skel->progs.on_work_queued, wanted);
	bpf_program__set_autoload(skel->progs.on_work_begins, wanted);
	bpf_program__set_autoload(skel->progs.on_work_ends, wanted);
}

void bpf_older_load(struct chaincap_bpf *skel, enum bpf_programs programs)
{
	bpf_map__set_autocreate(skel->maps.plain_ids, programs == BPF_PLAIN);
	if (programs != BPF_USUAL) {
		bpf_program__set_autoload(skel->progs.list_all_threads, false);
		bpf_program__set_autoload(skel->progs.find_direct_map, false);
		bpf_program__set_autoload(skel->progs.on_long_sleep, false);
		bpf_program__set_autoload(skel->progs.list_bare_sleeps, false);
	}
	if (programs != BPF_PLAIN)
		return;
	bpf_program__set_autoload(skel->progs.find_stack_size, false);
	bpf_program__set_autoload(skel->progs.on_group_move, false);
	bpf_program__set_autoload(skel->progs.on_group_rename, false);
	bpf_session_load_work(skel, false);
	bpf_map__set_autocreate(skel->maps.unwindings, false);
}

/* The tables come last of all variables; plain.bpf.c does not use them. */
size_t bpf_older_variables(const struct chaincap_bpf *skel, enum bpf_programs programs)
{
	return programs == BPF_PLAIN ? offsetof(struct chaincap_bpf__bss, steps)
				     : bpf_map__value_size(skel->maps.bss);
}

int bpf_older_fill(const struct chaincap_bpf *skel)
{
	int fd = bpf_map__fd(skel->maps.plain_ids), err = 0;

	for (__u32 id = 1; !err && id <= WIRE_PLAIN_IDS; id++)
		err = bpf_map_update_elem(fd, NULL, &id, BPF_ANY);
	return err;
}

void bpf_older_tables(struct bpf_session *s)
{
	struct older_bpf__bss *tables = (void *)s->skel->bss;

	if (s->programs != BPF_OLDER || !s->skel->rodata->user_stacks)
		return;
	s->rules = (void *)tables->rules;
	s->generations = (void *)tables->generations;
	s->copiers = (void *)tables->copiers;
}
