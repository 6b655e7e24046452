// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring buffers: made, put into the map of rings without waiting, drained. */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf_private.h"
#include "cpus.h"

/*
 * A CPU that only passes a byte to and fro makes about 20 MB of records a second: 16 MB last for
 * most of a second in which the collector gets no CPU. Large machines get less for each CPU, as not
 * all CPUs do that at once. A CPU that is offline now gets the least: virtual machines have
 * hundreds of such.
 */
#define RING_DEFAULT (16u << 20)
#define RINGS_TOTAL (256u << 20)
#define RING_LEAST (256u << 10)

/*
 * An update of a map of maps takes effect at once, and then waits for an RCU grace period, which
 * takes seconds on a busy machine. So a process does that, with a thread for each ring: all of them
 * wait for the same grace period, and the recorder for none. A process, as neither the recorder's
 * end nor its dropping of capabilities may have to wait for these threads.
 */
#define STACK_BYTES (64u << 10)
/* How long the entries may take to become visible. */
#define PATIENCE_MS 10000

struct filling {
	int outer, fd;
	__u32 cpu;
	int err;
};

static void *fill(void *arg)
{
	struct filling *f = arg;

	f->err = bpf_map_update_elem(f->outer, &f->cpu, &f->fd, BPF_ANY);
	return NULL;
}

/* Closes all other files: a pipe's reader waits for its end, and so on. */
static void keep_files(const struct filling *f, uint32_t n)
{
	int top = f[0].outer;

	for (uint32_t i = 0; i < n; i++)
		if (f[i].fd > top)
			top = f[i].fd;
	for (int fd = 0; fd < top; fd++) {
		uint32_t i = 0;

		while (i < n && f[i].fd != fd)
			i++;
		if (i == n && fd != f[0].outer)
			close(fd);
	}
	syscall(SYS_close_range, (unsigned int)top + 1, ~0u, 0u);
}

/* Returns 0 or a negative errno when all updates have returned. */
static int fill_all(struct filling *f, uint32_t n)
{
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_attr_t attr;
	int err = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (uint32_t i = 0; i < n; i++)
		if (!threads || pthread_create(&threads[i], &attr, fill, &f[i])) {
			fill(&f[i]);
			if (threads)
				threads[i] = pthread_self();
		}
	for (uint32_t i = 0; i < n; i++) {
		if (threads && !pthread_equal(threads[i], pthread_self()))
			pthread_join(threads[i], NULL);
		err = err ? err : f[i].err;
	}
	pthread_attr_destroy(&attr);
	free(threads);
	return err;
}

/* Waits until the programs see all rings. Returns 0 or a negative errno. */
static int await_rings(struct bpf_session *s, int outer)
{
	uint32_t cpu = 0;

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		int status = 0;
		pid_t ended = waitpid(s->helper, &status, WNOHANG);
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

static int put_rings(struct bpf_session *s)
{
	int outer = bpf_map__fd(s->skel->maps.rings), err;
	struct filling *f = calloc(s->cpus, sizeof(*f));

	if (!f)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++)
		f[cpu] = (struct filling) { outer, s->rings[cpu].fd, cpu, 0 };
	s->helper = fork();
	if (!s->helper) {
		keep_files(f, s->cpus);
		_exit(-fill_all(f, s->cpus) & 0xff);
	}
	if (s->helper > 0) {
		bpf_session_helper(s, s->helper);
		err = await_rings(s, outer);
	} else {
		s->helper = 0;
		err = fill_all(f, s->cpus);
	}
	free(f);
	return err;
}

/* ---- draining ------------------------------------------------------------------------------ */

static int take_record(void *ctx, void *data, size_t len)
{
	struct cpu_ring *ring = ctx;
	int err;

	if (len < sizeof(struct wire_record))
		return -EBADMSG;
	if (((const struct wire_record *)data)->kind == WIRE_SAMPLE)
		__atomic_store_n(&ring->session->learning, true, __ATOMIC_RELAXED);
	bpf_session_note_use(ring->session, data, len);
	err = ring->fn(ring->ctx, data, len);
	if (err < 0)
		return err;
	/* libbpf drops positive results: the end of the budget must look like an error. */
	return --ring->budget ? 0 : -EAGAIN;
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

long bpf_session_drain(struct bpf_session *s, uint32_t first, uint32_t end, bpf_record_fn fn,
		       void *ctx)
{
	long total = 0;

	for (uint32_t cpu = first; cpu < end && cpu < s->cpus; cpu++) {
		size_t budget = s->ring_size / sizeof(struct wire_exit);
		struct cpu_ring *ring = &s->rings[cpu];
		int n;

		if (!ring->buffer)
			continue;
		ring->fn = fn;
		ring->ctx = ctx;
		ring->budget = budget;
		n = ring_buffer__consume(ring->buffer);
		if (n < 0 && !(n == -EAGAIN && !ring->budget))
			return n;
		total += (long)(budget - ring->budget);
	}
	return total;
}

/* ---- making -------------------------------------------------------------------------------- */

static size_t default_ring_size(uint32_t cpus)
{
	size_t size = RING_DEFAULT;

	while (size > RING_LEAST && size * cpus > RINGS_TOTAL)
		size /= 2;
	return size;
}

static uint32_t count_online(uint32_t cpus)
{
	uint32_t n = 0;

	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		n += cpu_is_online(cpu);
	return n;
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
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = node < 0 ? 0 : BPF_F_NUMA_NODE,
		    .numa_node = node < 0 ? 0 : (__u32)node);

	return bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, (__u32)size, &opts);
}

int bpf_session_make_rings(struct bpf_session *s, size_t buffer_size)
{
	s->ring_size = round_ring_size(buffer_size ? buffer_size
						   : default_ring_size(count_online(s->cpus)));
	s->offline_ring_size = buffer_size ? s->ring_size : round_ring_size(RING_LEAST);
	s->rings = aligned_alloc(_Alignof(struct cpu_ring), s->cpus * sizeof(*s->rings));
	if (!s->rings)
		return -ENOMEM;
	memset(s->rings, 0, s->cpus * sizeof(*s->rings));
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		struct cpu_ring *ring = &s->rings[cpu];
		int fd = new_ring(cpu, cpu_is_online(cpu) ? s->ring_size : s->offline_ring_size);

		if (fd < 0)
			return fd;
		ring->session = s;
		ring->buffer = ring_buffer__new(fd, take_record, ring, NULL);
		if (!ring->buffer) {
			int err = -errno;

			close(fd);
			return err;
		}
		ring->fd = fd;
	}
	return put_rings(s);
}

void bpf_session_free_rings(struct bpf_session *s)
{
	for (uint32_t cpu = 0; s->rings && cpu < s->cpus; cpu++) {
		if (!s->rings[cpu].buffer)
			continue;
		ring_buffer__free(s->rings[cpu].buffer);
		close(s->rings[cpu].fd);
	}
	free(s->rings);
	/* It ends by itself, whoever is its parent then. */
	if (s->helper)
		waitpid(s->helper, NULL, WNOHANG);
}
