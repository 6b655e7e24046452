// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The object for kernels that refuse the other one (bpf/plain.bpf.c). Both have the same programs,
 * maps and variables, so that one skeleton fits both: the Makefile compares the variables, libbpf
 * finds the rest by name.
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
#include "plain.skel.h"
#pragma GCC diagnostic pop

#define ENOTSUPP 524 /* in the kernel's include/linux/errno.h */

bool bpf_plain_may_load(int err)
{
	static const int refusals[] = { E2BIG,	EINVAL, EACCES,	    EPERM,
					ENOENT, ESRCH,	EOPNOTSUPP, ENOTSUPP };
	char missing[40];

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (err == -refusals[i])
			return !caps_missing(missing, sizeof(missing));
	return false;
}

struct chaincap_bpf *bpf_plain_open(void)
{
	struct chaincap_bpf *skel = calloc(1, sizeof(*skel));
	int err = skel ? chaincap_bpf__create_skeleton(skel) : -ENOMEM;

	if (!err) {
		skel->skeleton->data = plain_bpf__elf_bytes(&skel->skeleton->data_sz);
		err = bpf_object__open_skeleton(skel->skeleton, NULL);
	}
	if (err) {
		chaincap_bpf__destroy(skel);
		errno = -err;
		return NULL;
	}
	return skel;
}

void bpf_plain_options(struct bpf_options *o)
{
	o->objects = o->disk_requests = o->requests = o->contexts = o->code = o->verify = false;
}

void bpf_plain_load(struct chaincap_bpf *skel, bool plain)
{
	bpf_map__set_autocreate(skel->maps.plain_ids, plain);
	if (!plain)
		return;
	bpf_program__set_autoload(skel->progs.find_stack_size, false);
	bpf_program__set_autoload(skel->progs.on_group_move, false);
	bpf_program__set_autoload(skel->progs.on_group_rename, false);
	bpf_program__set_autoload(skel->progs.list_all_threads, false);
	bpf_map__set_autocreate(skel->maps.unwindings, false);
}

/* The tables come last of all variables. What the collector writes there stays its own. */
size_t bpf_plain_variables(void)
{
	return offsetof(struct chaincap_bpf__bss, steps);
}

int bpf_plain_fill(const struct chaincap_bpf *skel)
{
	int fd = bpf_map__fd(skel->maps.plain_ids), err = 0;

	for (__u32 id = 1; !err && id <= WIRE_PLAIN_IDS; id++)
		err = bpf_map_update_elem(fd, NULL, &id, BPF_ANY);
	return err;
}
