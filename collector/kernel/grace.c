// SPDX-License-Identifier: GPL-2.0-or-later
#include "grace.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * An update of a map of maps returns when all programs have ended that may have seen the map before
 * (maybe_wait_bpf_programs() in kernel/bpf/syscall.c, since 4.20): an RCU grace period. That can
 * take seconds on a busy machine, so a thread does it.
 */
struct grace {
	int outer, inner;
	pthread_t thread;
	bool has_thread;
	atomic_int result; /* 0: not yet; 1: over; -1: failed */
};

int grace_new(struct grace **out)
{
	struct grace *g = calloc(1, sizeof(*g));
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int err;

	*out = NULL;
	if (!g)
		return -ENOMEM;
	g->inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "grace", 4, 4, 1, NULL);
	opts.inner_map_fd = (__u32)g->inner;
	g->outer = g->inner < 0
			   ? g->inner
			   : bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "graces", 4, 4, 1, &opts);
	if (g->outer >= 0) {
		*out = g;
		return 0;
	}
	err = g->inner < 0 ? g->inner : g->outer;
	grace_free(g);
	return err;
}

void grace_free(struct grace *g)
{
	if (!g)
		return;
	if (g->has_thread)
		pthread_join(g->thread, NULL);
	if (g->outer >= 0)
		close(g->outer);
	if (g->inner >= 0)
		close(g->inner);
	free(g);
}

static void *wait_for_programs(void *grace)
{
	struct grace *g = grace;
	int zero = 0, err = bpf_map_update_elem(g->outer, &zero, &g->inner, BPF_ANY);

	atomic_store(&g->result, err ? -1 : 1);
	return NULL;
}

bool grace_begin(struct grace *g)
{
	sigset_t all, before;

	atomic_store(&g->result, 0);
	/* Signals are to interrupt the waits of the thread that records. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	g->has_thread = !pthread_create(&g->thread, NULL, wait_for_programs, g);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return g->has_thread;
}

bool grace_is_over(struct grace *g)
{
	int result = g->has_thread ? atomic_load(&g->result) : 0;

	if (!result)
		return false;
	pthread_join(g->thread, NULL);
	g->has_thread = false;
	return result > 0;
}
