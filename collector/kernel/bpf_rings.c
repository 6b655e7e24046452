// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring buffers, and how they get into the map of rings without waiting. */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf_private.h"

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
		f[cpu] = (struct filling) { outer, s->ring_fds[cpu], cpu, 0 };
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

int bpf_session_make_rings(struct bpf_session *s, ring_buffer_sample_fn fn)
{
	s->rings = calloc(s->cpus, sizeof(struct ring_buffer *));
	s->ring_fds = calloc(s->cpus, sizeof(*s->ring_fds));
	if (!s->rings || !s->ring_fds)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, (__u32)s->ring_size,
					NULL);

		if (fd < 0)
			return fd;
		s->rings[cpu] = ring_buffer__new(fd, fn, s, NULL);
		if (!s->rings[cpu]) {
			int err = -errno;

			close(fd);
			return err;
		}
		s->ring_fds[cpu] = fd;
	}
	return put_rings(s);
}

void bpf_session_free_rings(struct bpf_session *s)
{
	for (uint32_t cpu = 0; s->rings && cpu < s->cpus; cpu++) {
		if (!s->rings[cpu])
			continue;
		ring_buffer__free(s->rings[cpu]);
		close(s->ring_fds[cpu]);
	}
	free(s->rings);
	free(s->ring_fds);
	/* It ends by itself, whoever is its parent then. */
	if (s->helper)
		waitpid(s->helper, NULL, WNOHANG);
}
