/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_private.h - what bpf.c (loading, rings, counters) and bpf_stacks.c (what the BPF side is told
 * of stacks) share. Nobody else includes it.
 */
#ifndef BPF_PRIVATE_H
#define BPF_PRIVATE_H

#include <bpf/libbpf.h>

#include "bpf.h"
#include "layout.h"
#include "steps.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "chaincap.skel.h"
#pragma GCC diagnostic pop

struct bpf_session {
	struct chaincap_bpf *skel;
	uint32_t cpus;
	uint32_t layouts;  /* taught so far */
	uint32_t swept_at; /* the last id given when stacks were last recycled */
	struct layout_finder *finder;
	bool learning;	    /* samples came at the last drain */
	struct steps steps; /* as the BPF side sees them */
	size_t ring_size;
	struct ring_buffer **rings; /* by CPU; NULL where there is none */
	/* While draining: who takes the records, and how many of this ring are left to take. */
	bpf_record_fn fn;
	void *ctx;
	size_t budget;
};

/* What both sides have in memory. Returns 0 or a negative errno. */
int bpf_session_map_steps(struct bpf_session *s);
void bpf_session_unmap_steps(struct bpf_session *s);

#endif /* BPF_PRIVATE_H */
