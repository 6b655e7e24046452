// SPDX-License-Identifier: GPL-2.0-or-later
/* The threads that there are, in whatever PID namespace. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_private.h"
#include "clock.h"
#include "host_proc.h"

void bpf_session_load_list(struct chaincap_bpf *skel, const struct btf *kernel)
{
	bool has = kernel && btf__find_by_name_kind(kernel, "bpf_task_from_pid", BTF_KIND_FUNC) > 0;

	bpf_program__set_autoload(skel->progs.list_all_threads, !host_proc_is_here() && has);
}

bool bpf_session_lists_all(const struct bpf_session *s)
{
	return host_proc_is_here() || bpf_program__autoload(s->skel->progs.list_all_threads);
}

/* The most time for the list of threads: a hundred times what ten thousand take. */
#define THREADS_NS 10000000000u

struct taker {
	bpf_thread_fn fn;
	void *ctx;
};

static int take(void *taker, const void *thread)
{
	struct taker *t = taker;

	return t->fn(t->ctx, thread);
}

static int list(int fd, uint64_t until_ns, bpf_thread_fn fn, void *ctx)
{
	struct taker t = { .fn = fn, .ctx = ctx };

	return bpf_session_list(fd, sizeof(struct wire_thread), until_ns, take, &t);
}

int bpf_session_threads(struct bpf_session *s, bool stacks, bpf_thread_fn fn, void *ctx)
{
	struct bpf_link *all = s->skel->links.list_all_threads, *link = s->skel->links.list_threads;
	volatile __u32 *next = &s->skel->bss->list_next;
	uint64_t until_ns = clock_now_ns() + THREADS_NS;
	int err = 0;

	if (!link)
		return -ENOENT;
	s->skel->bss->list_stacks = stacks;
	if (!all)
		err = list(bpf_iter_create(bpf_link__fd(link)), until_ns, fn, ctx);
	for (*next = 1; all && !err && *next < WIRE_IDS;) {
		__u32 before = *next;

		err = list(bpf_iter_create(bpf_link__fd(all)), until_ns, fn, ctx);
		if (!err && *next == before)
			err = -ESRCH; /* the recorder's own thread was not found */
	}
	if (err == -ETIME)
		bpf_session_leave_out(s, CHAINLOG_LEFT_LISTS, 1);
	return err == -ETIME ? 0 : err;
}

/* ---- ids of the recorder's own processes ----------------------------------------------------- */

struct wanted {
	__u32 tid_here, tid;
};

static int compare_id(void *wanted, const struct wire_thread *t)
{
	struct wanted *w = wanted;

	if (t->tid_here == w->tid_here)
		w->tid = t->tid;
	return 0;
}

/* The iterator lists the threads of this process's own PID namespace. */
uint32_t bpf_session_id(struct bpf_session *s, pid_t pid)
{
	struct wanted w = { .tid_here = (__u32)pid };

	if (host_proc_is_here() || !pid)
		return (uint32_t)pid;
	s->skel->bss->list_stacks = false;
	(void)list(bpf_session_iterator(s->skel->progs.list_threads, 0),
		   clock_now_ns() + THREADS_NS, compare_id, &w);
	return w.tid;
}
