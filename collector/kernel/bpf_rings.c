// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring buffers: made, put into the map of rings without waiting, drained. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf_private.h"
#include "clock.h"

/*
 * A CPU that only passes a byte to and fro makes about 20 MB of records a second: 16 MB last for
 * most of a second in which the collector gets no CPU. Large machines get less for each CPU, as not
 * all CPUs do that at once. CPUs that are offline now share less: virtual machines have hundreds of
 * such, which never come online.
 */
#define RING_DEFAULT (16u << 20)
#define RINGS_TOTAL (256u << 20)
#define RINGS_OFFLINE (32u << 20)
#define RING_LEAST (256u << 10)

/*
 * An update of a map of maps takes effect at once, and then waits for an RCU grace period, which
 * takes seconds on a busy machine: one for all entries of a call (since 6.8), or one for each. So a
 * process does that, and the recorder waits for none. A process, as neither the recorder's end nor
 * its dropping of capabilities may have to wait for it. Its threads wait side by side.
 */
#define FILLERS_MAX 64u
/* How long the entries may take to become visible. */
#define VISIBLE_MAX_MS 10000

/* Closes all files but these: a pipe's reader waits for its end, and so on. */
static void keep_files(int outer, const int *fds, uint32_t n)
{
	int top = outer;

	for (uint32_t i = 0; i < n; i++)
		if (fds[i] > top)
			top = fds[i];
	for (int fd = 0; fd < top; fd++) {
		uint32_t i = 0;

		while (i < n && fds[i] != fd)
			i++;
		if (i == n && fd != outer)
			close(fd);
	}
	syscall(SYS_close_range, (unsigned int)top + 1, ~0u, 0u);
}

/* What one thread puts into the map: every n_fillers-th one of the entries. */
struct filler {
	int outer, err;
	const int *fds;
	uint32_t cpus, first, n_fillers;
	bool has_thread;
	pthread_t thread;
};

/* Before 5.19 such a map takes them one by one only. */
static int put_entries(int outer, const __u32 *cpus, const int *fds, uint32_t n)
{
	uint32_t done = n;
	int err = bpf_map_update_batch(outer, cpus, fds, &done, NULL);

	if (!err)
		return 0;
	err = 0;
	for (uint32_t i = 0; i < n && !err; i++)
		err = bpf_map_update_elem(outer, &cpus[i], &fds[i], BPF_ANY);
	return err;
}

static void *fill(void *filler)
{
	struct filler *f = filler;
	uint32_t n = (f->cpus - f->first + f->n_fillers - 1) / f->n_fillers;
	__u32 *cpus = calloc(n, sizeof(*cpus));
	int *fds = calloc(n, sizeof(*fds));

	for (uint32_t i = 0; cpus && fds && i < n; i++) {
		cpus[i] = f->first + i * f->n_fillers;
		fds[i] = f->fds[cpus[i]];
	}
	f->err = cpus && fds ? put_entries(f->outer, cpus, fds, n) : -ENOMEM;
	free(cpus);
	free(fds);
	return NULL;
}

/* Returns 0 or a negative errno when the updates have returned. */
static int fill_all(int outer, const int *fds, uint32_t cpus)
{
	struct filler fillers[FILLERS_MAX];
	uint32_t n = cpus < FILLERS_MAX ? cpus : FILLERS_MAX;
	int err = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct filler *f = &fillers[i];

		*f = (struct filler) {
			.outer = outer, .fds = fds, .cpus = cpus, .first = i, .n_fillers = n
		};
		f->has_thread = i && !pthread_create(&f->thread, NULL, fill, f);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (fillers[i].has_thread)
			pthread_join(fillers[i].thread, NULL);
		else
			fill(&fillers[i]);
		err = err ? err : fillers[i].err;
	}
	return err;
}

/* Waits until the programs see all rings. Returns 0 or a negative errno. */
static int await_rings(struct bpf_session *s, int outer)
{
	uint32_t cpu = 0;

	for (int ms = 0; ms < VISIBLE_MAX_MS; ms++) {
		int status = 0;
		pid_t ended = s->helper ? waitpid(s->helper, &status, WNOHANG) : 0;
		__u32 id;

		while (cpu < s->cpus && !bpf_map_lookup_elem(outer, &cpu, &id))
			cpu++;
		if (ended)
			s->helper = 0;
		if (cpu == s->cpus)
			return 0;
		if (ended)
			return WIFEXITED(status) && WEXITSTATUS(status) ? -WEXITSTATUS(status)
									: -EIO;
		nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
	}
	return -ETIMEDOUT;
}

/* Begins to put the rings into the map. Returns 0 or a negative errno. */
static int put_rings(struct bpf_session *s)
{
	int outer = bpf_map__fd(s->skel->maps.rings), err = 0;
	int *fds = calloc(s->cpus, sizeof(*fds));

	if (!fds)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++)
		fds[cpu] = s->rings[cpu].fd;
	s->helper = fork();
	if (!s->helper) {
		keep_files(outer, fds, s->cpus);
		_exit(-fill_all(outer, fds, s->cpus) & 0xff);
	}
	if (s->helper < 0) {
		s->helper = 0;
		err = fill_all(outer, fds, s->cpus);
	}
	free(fds);
	return err;
}

/* ---- draining ------------------------------------------------------------------------------ */

/* Records of one ring before the next one's: copies of stacks take some ms. */
#define TURN 64u

/* What is in the order of time with it: switches and wakings without stacks. */
static int give_edges_before(struct cpu_ring *ring, const struct wire_record *r)
{
	/* What says more of a waking follows it, at the same time: the shorter form refers to that.
	 */
	uint64_t until_ns = r->time_ns + (r->kind >= WIRE_EVENT_KINDS);

	if (r->kind >= WIRE_COUNTED_KINDS || !ring->session->edges)
		return 0;
	return bpf_session_edges(ring->session, r->cpu, until_ns, ring->fn, ring->ctx);
}

static int take_record(void *ctx, void *data, size_t len)
{
	struct cpu_ring *ring = ctx;
	int err;

	if (len < sizeof(struct wire_record))
		return -EBADMSG;
	err = give_edges_before(ring, data);
	if (err)
		return err;
	if (((const struct wire_record *)data)->kind == WIRE_STACK_LAYOUT_SAMPLE)
		__atomic_fetch_add(&ring->session->n_samples, 1, __ATOMIC_RELAXED);
	bpf_session_note_use(ring->session, data, len);
	err = ring->fn(ring->ctx, data, len);
	if (err < 0)
		return err;
	/*
	 * libbpf drops positive results: the end of the budget must look like an error. It ends
	 * with an event: its stacks are right before it.
	 */
	ring->taken++;
	ring->budget -= ring->budget > 0;
	return ring->budget || ((const struct wire_record *)data)->kind != WIRE_SWITCH ? 0
										       : -EAGAIN;
}

/* Rings are hardly ever empty, and only asking for rules wakes: edges, not levels. */
int bpf_session_watch(const struct bpf_session *s, int epoll)
{
	for (uint32_t cpu = 0; s->rules && cpu < s->cpus; cpu++) {
		struct epoll_event in = { .events = EPOLLIN | EPOLLET, .data.u32 = 1 };

		if (s->rings[cpu].buffer && epoll_ctl(epoll, EPOLL_CTL_ADD, s->rings[cpu].fd, &in))
			return -errno;
	}
	return 0;
}

/* Takes `most` records of a ring, or a few more. Returns how many, or a negative errno. */
static long drain_some(struct cpu_ring *ring, size_t most, bpf_record_fn fn, void *ctx)
{
	int n;

	if (!ring->buffer)
		return 0;
	ring->fn = fn;
	ring->ctx = ctx;
	ring->budget = most;
	ring->taken = 0;
	n = ring_buffer__consume(ring->buffer);
	if (n < 0 && !(n == -EAGAIN && !ring->budget))
		return n;
	return (long)ring->taken;
}

/* By turns: the stacks of a CPU are not copied while its ring is filling. */
long bpf_session_drain(struct bpf_session *s, uint32_t first, uint32_t end, bpf_record_fn fn,
		       void *ctx)
{
	uint64_t until_ns = clock_now_ns() - BPF_SESSION_SUBMIT_NS;
	size_t left = s->ring_size / sizeof(struct wire_of_thread);
	long total = 0;
	bool has_more = true;

	while (has_more && left) {
		size_t most = left < TURN ? left : TURN;

		has_more = false;
		left -= most;
		for (uint32_t cpu = first; cpu < end && cpu < s->cpus; cpu++) {
			long n = drain_some(&s->rings[cpu], most, fn, ctx);

			if (n < 0)
				return n;
			total += n;
			has_more |= (size_t)n >= most;
		}
	}
	/* All that is in the rings from before that has been passed. */
	for (uint32_t cpu = first; !has_more && cpu < end && cpu < s->cpus; cpu++) {
		int err = bpf_session_edges(s, cpu, until_ns, fn, ctx);

		if (err)
			return err;
	}
	return total;
}

/* ---- what the kernel says of each CPU ------------------------------------------------------ */

#define CPUS "/sys/devices/system/cpu"
#define NODES "/sys/devices/system/node/online"

/* The first line of a small file; "" if there is none. */
static void read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, size, f))
		*line = '\0';
	if (f)
		fclose(f);
}

/* Sets is_online[cpu] for each CPU below n; if it is not known which are online, for all. */
static void cpus_online(bool *is_online, uint32_t n)
{
	unsigned int first, last;
	char list[4096], *at = list; /* "0-3,8,10-11" */
	int len;

	read_line(CPUS "/online", list, sizeof(list));
	for (uint32_t cpu = 0; cpu < n; cpu++)
		is_online[cpu] = !*list;
	while (sscanf(at, "%u%n", &first, &len) == 1) {
		at += len;
		last = first;
		if (sscanf(at, "-%u%n", &last, &len) == 1)
			at += len;
		for (uint32_t cpu = first; cpu <= last && cpu < n; cpu++)
			is_online[cpu] = true;
		at += *at == ',';
	}
}

/* The number of the CPU's NUMA node; -1: not known, or the machine has one node only. */
static int cpu_node(uint32_t cpu)
{
	char path[64], nodes[64];
	struct dirent *entry;
	int node = -1;
	DIR *dir;

	/* "0", or a list: "0-1", "0,2". */
	read_line(NODES, nodes, sizeof(nodes));
	if (!strpbrk(nodes, "-,"))
		return -1;
	snprintf(path, sizeof(path), CPUS "/cpu%u", cpu);
	dir = opendir(path);
	while (dir && node < 0 && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%d", &node) != 1)
			node = -1;
	if (dir)
		closedir(dir);
	return node;
}

int bpf_session_find_online(struct bpf_session *s)
{
	s->is_online = calloc(s->cpus, sizeof(*s->is_online));
	if (!s->is_online)
		return -ENOMEM;
	cpus_online(s->is_online, s->cpus);
	return 0;
}

/* ---- making -------------------------------------------------------------------------------- */

/* At most `most` bytes for each of the CPUs, and for all of them `total`, if that is enough. */
static size_t default_ring_size(size_t most, uint32_t cpus, size_t total)
{
	size_t size = most;

	while (size > RING_LEAST && size * cpus > total)
		size /= 2;
	return size;
}

static size_t round_ring_size(size_t want)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	while (size < want && size < 1u << 30)
		size *= 2;
	return size;
}

/* Returns the descriptor of a new ring in the memory of the CPU's node, or a negative errno. */
static int new_ring(uint32_t cpu, size_t size)
{
	int node = cpu_node(cpu);
	struct bpf_map_create_opts opts = {
		.sz = sizeof(opts),
		.map_flags = node < 0 ? 0 : BPF_F_NUMA_NODE,
		.numa_node = node < 0 ? 0 : (__u32)node,
	};

	return bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, (__u32)size, &opts);
}

/* Makes s->rings, which are not mapped yet. Returns 0 or a negative errno. */
static int new_rings(struct bpf_session *s, size_t buffer_size)
{
	uint32_t online = 0;
	int fd = 0;

	for (uint32_t cpu = 0; cpu < s->cpus; cpu++)
		online += s->is_online[cpu];
	s->ring_size = round_ring_size(
		buffer_size ? buffer_size : default_ring_size(RING_DEFAULT, online, RINGS_TOTAL));
	s->offline_ring_size =
		buffer_size ? s->ring_size
			    : default_ring_size(s->ring_size, s->cpus - online, RINGS_OFFLINE);
	for (uint32_t cpu = 0; fd >= 0 && cpu < s->cpus; cpu++) {
		fd = new_ring(cpu, s->is_online[cpu] ? s->ring_size : s->offline_ring_size);
		s->rings[cpu].fd = fd;
	}
	return fd < 0 ? fd : 0;
}

int bpf_session_make_rings(struct bpf_session *s, size_t buffer_size)
{
	int err;

	s->rings = aligned_alloc(_Alignof(struct cpu_ring), s->cpus * sizeof(*s->rings));
	if (!s->rings)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++)
		s->rings[cpu] = (struct cpu_ring) { .session = s, .fd = -1 };
	err = new_rings(s, buffer_size);
	if (err)
		return err;
	/* Before they are mapped: forking would copy the page tables of all of them. */
	err = put_rings(s);
	for (uint32_t cpu = 0; !err && cpu < s->cpus; cpu++) {
		struct cpu_ring *ring = &s->rings[cpu];

		ring->buffer = ring_buffer__new(ring->fd, take_record, ring, NULL);
		if (!ring->buffer)
			err = -errno;
	}
	return err ? err : await_rings(s, bpf_map__fd(s->skel->maps.rings));
}

void bpf_session_free_rings(struct bpf_session *s)
{
	for (uint32_t cpu = 0; s->rings && cpu < s->cpus; cpu++) {
		if (s->rings[cpu].buffer)
			ring_buffer__free(s->rings[cpu].buffer);
		if (s->rings[cpu].fd >= 0)
			close(s->rings[cpu].fd);
	}
	free(s->rings);
	free(s->is_online);
	/* It ends by itself, whoever is its parent then. */
	if (s->helper)
		waitpid(s->helper, NULL, WNOHANG);
}
