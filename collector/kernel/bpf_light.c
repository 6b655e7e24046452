// SPDX-License-Identifier: GPL-2.0-or-later
/* --light: stacks of sleeping threads, which are read from their memory when they are woken. */
#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf_private.h"
#include "clock.h"

/* The most time for the threads that are asleep. */
#define SLEEPERS_NS 300000000u

void bpf_session_load_light(struct chaincap_bpf *skel, uint64_t light_ns)
{
	skel->rodata->light_ns = light_ns;
	bpf_program__set_autoload(skel->progs.find_direct_map, light_ns);
	bpf_program__set_autoload(skel->progs.on_long_sleep, light_ns);
	bpf_program__set_autoload(skel->progs.list_bare_sleeps, light_ns);
	bpf_program__set_autoload(skel->progs.on_sleepers_timer, light_ns);
	if (light_ns)
		return;
	bpf_map__set_max_entries(skel->maps.bare_sleeps, 1);
	bpf_map__set_max_entries(skel->maps.request_kinds, 1);
}

/* So often, as the kernel may move or take a page just while it is looked at. */
#define FIND_PAGES_TRIES 16

int bpf_session_find_pages(struct bpf_session *s)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	LIBBPF_OPTS(bpf_test_run_opts, run);
	uint64_t *there, *gone;

	if (!s->skel->rodata->light_ns)
		return 0;
	if (s->programs != BPF_USUAL)
		return -EOPNOTSUPP;
	there = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (there == MAP_FAILED)
		return -errno;
	gone = (void *)((char *)there + page);
	s->skel->bss->page_there = (uint64_t)(uintptr_t)there;
	s->skel->bss->page_gone = (uint64_t)(uintptr_t)gone;
	for (int tries = 0; tries < FIND_PAGES_TRIES && !s->skel->bss->direct_map; tries++) {
		*there = clock_now_ns() * 0x9e3779b97f4a7c15u;
		*gone = ~*there;
		(void)madvise(gone, page, MADV_DONTNEED);
		bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.find_direct_map), &run);
	}
	munmap(there, 2 * page);
	return s->skel->bss->direct_map ? 0 : -EOPNOTSUPP;
}

int bpf_session_sleepers(struct bpf_session *s)
{
	struct bpf_link *link = s->skel->links.list_bare_sleeps;
	int err;

	if (!link)
		return 0;
	s->skel->data->list_until_ns = clock_now_ns() + SLEEPERS_NS;
	err = bpf_session_iterate(s, bpf_iter_create(bpf_link__fd(link)));
	return err == -ETIME ? 0 : err;
}
