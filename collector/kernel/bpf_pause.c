// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Between two recordings of the same programs: those of frequent events are detached, so that the
 * machine does not even call them, and what they remembered is forgotten, which is not true any
 * more when they are attached again.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf_private.h"
#include "clock.h"

/*
 * Programs that stay attached, as they are called rarely. By forks, execs and exits it is known
 * which processes are the recorder's own, and which have their parent's interpreter; likewise the
 * names of control groups, and which connections are accepted. Those of probes return early.
 */
static bool stays_attached(const struct bpf_session *s, const struct bpf_program *prog)
{
	const struct chaincap_bpf *skel = s->skel;
	const struct bpf_program *const rare[] = {
		skel->progs.on_fork,	       skel->progs.on_exec,
		skel->progs.on_exit,	       skel->progs.on_rename,
		skel->progs.on_group_move,     skel->progs.on_group_rename,
		skel->progs.on_exit_of_probed, skel->progs.on_exec_of_probed,
		skel->progs.list_threads,      skel->progs.list_all_threads,
	};

	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		if (prog == rare[i])
			return true;
	return false;
}

/* Sets all values of a small map to 0, which has one for each CPU. */
static int zero(const struct bpf_session *s, const struct bpf_map *map)
{
	size_t size = (bpf_map__value_size(map) + 7) / 8 * 8;
	void *zeros = calloc(s->cpus, size);
	int err = zeros ? 0 : -ENOMEM;

	for (__u32 key = 0; !err && key < bpf_map__max_entries(map); key++)
		err = bpf_map_update_elem(bpf_map__fd(map), &key, zeros, BPF_ANY);
	free(zeros);
	return err;
}

/* Empties a hash map that no program writes. */
static void empty(const struct bpf_map *map)
{
	int fd = bpf_map__fd(map);
	char key[64];

	if (fd < 0 || bpf_map__key_size(map) > sizeof(key))
		return;
	for (__u32 i = 0; i < bpf_map__max_entries(map) && !bpf_map_get_next_key(fd, NULL, key);
	     i++)
		bpf_map_delete_elem(fd, key);
}

static int forget(struct bpf_session *s)
{
	const struct chaincap_bpf *skel = s->skel;
	const struct bpf_map *const by_cpu[] = {
		skel->maps.recorder_since,  skel->maps.new_thread,  skel->maps.last_ready_socket,
		skel->maps.interrupt_times, skel->maps.steal_times, skel->maps.last_flush,
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(by_cpu) / sizeof(by_cpu[0]); i++)
		err = zero(s, by_cpu[i]);
	empty(skel->maps.recorder_ran);
	empty(skel->maps.asked_bios);
	empty(skel->maps.issued_requests);
	empty(skel->maps.asked_first);
	/* The next recording begins with the contexts of its threads. */
	empty(skel->maps.last_contexts);
	empty(skel->maps.open_probed);
	empty(skel->maps.throttled_threads);
	s->skel->bss->n_throttled = 0;
	s->skel->bss->n_asking = 0;
	empty(skel->maps.queued_items);
	s->skel->bss->n_queued = 0;
	return err;
}

/* Losses that were passed on are not to be reported once more by the next recording. */
static int clear_pending(struct bpf_session *s)
{
	struct wire_kind_state *k = calloc(s->cpus, sizeof(*k));
	int fd = bpf_map__fd(s->skel->maps.kinds), err = k ? 0 : -ENOMEM;

	for (__u32 kind = 0; !err && kind < WIRE_COUNTED_KINDS; kind++) {
		bool pending = false;

		err = bpf_map_lookup_elem(fd, &kind, k);
		for (uint32_t cpu = 0; !err && cpu < s->cpus; cpu++) {
			pending |= k[cpu].pending > 0;
			k[cpu].pending = 0;
		}
		if (!err && pending)
			err = bpf_map_update_elem(fd, &kind, k, BPF_ANY);
	}
	free(k);
	return err;
}

/* Nothing is recorded, but accepted connections are noted, as before the first recording. */
static void close_gate(struct bpf_session *s)
{
	struct chaincap_bpf__data *data = s->skel->data;

	data->record_from_ns = UINT64_MAX;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	data->record_until_ns = UINT64_MAX;
}

int bpf_session_pause(struct bpf_session *s, bpf_record_fn fn, void *ctx)
{
	const struct bpf_object_skeleton *all = s->skel->skeleton;
	int err;

	if (!s->paused)
		s->paused = calloc((size_t)all->prog_cnt, sizeof(*s->paused));
	if (!s->paused)
		return -ENOMEM;
	s->skipped_at_pause = bpf_session_skipped_runs(s);
	s->is_paused = true;
	if (s->sampler)
		sampler_enable(s->sampler, false);
	for (int i = 0; i < all->prog_cnt; i++) {
		struct bpf_link **link = all->progs[i].link;

		if (!*link || stays_attached(s, *all->progs[i].prog))
			continue;
		bpf_link__destroy(*link);
		*link = NULL;
		s->paused[i] = true;
	}
	bpf_session_end_requests(s);
	close_gate(s);
	err = fn ? bpf_session_pending(s, fn, ctx) : 0;
	if (!err)
		err = clear_pending(s);
	return err ? err : forget(s);
}

int bpf_session_resume(struct bpf_session *s)
{
	const struct bpf_object_skeleton *all = s->skel->skeleton;

	for (int i = 0; s->paused && i < all->prog_cnt; i++) {
		if (!s->paused[i])
			continue;
		*all->progs[i].link = bpf_program__attach(*all->progs[i].prog);
		if (!*all->progs[i].link)
			return -errno;
		s->paused[i] = false;
	}
	if (s->sampler)
		sampler_enable(s->sampler, true);
	s->skel->bss->noted_from_ns = clock_now_ns();
	/* Those of unix sockets are known by what they look like: later they would be new ones. */
	bpf_session_list_unix(s);
	return 0;
}

uint64_t bpf_session_begin_at(struct bpf_session *s, uint64_t at_ns, uint64_t duration_ns)
{
	struct chaincap_bpf__data *data = s->skel->data;
	uint64_t least_ns;

	/* First the end, which nothing may be recorded before that the last beginning allows. */
	data->record_from_ns = UINT64_MAX;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	s->skipped_before += bpf_session_skipped_runs(s) - s->skipped_at_pause;
	s->skipped_at_pause = bpf_session_skipped_runs(s);
	s->is_paused = false;
	least_ns = clock_now_ns() + BPF_SESSION_AHEAD_NS;
	if (at_ns < least_ns)
		at_ns = least_ns;
	data->record_until_ns = duration_ns ? at_ns + duration_ns : UINT64_MAX;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	data->record_from_ns = at_ns;
	return at_ns;
}
