// SPDX-License-Identifier: GPL-2.0-or-later
#include "sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

struct sampler {
	uint32_t n, hz;
	bool by_clock; /* the period is a time, and not adapted by the kernel */
	uint32_t seed;
	int fds[]; /* of CPUs that were online */
};

static int open_event(const struct perf_event_attr *attr, uint32_t cpu, int prog_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	if (!ioctl((int)fd, PERF_EVENT_IOC_SET_BPF, prog_fd) &&
	    !ioctl((int)fd, PERF_EVENT_IOC_ENABLE, 0))
		return (int)fd;
	err = -errno;
	close((int)fd);
	return err;
}

static int open_all(struct sampler *s, const struct perf_event_attr *attr, uint32_t cpus,
		    int prog_fd)
{
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		int fd = open_event(attr, cpu, prog_fd);

		if (fd == -ENODEV) /* offline */
			continue;
		if (fd < 0)
			return fd;
		s->fds[s->n++] = fd;
	}
	return s->n ? 0 : -ENODEV;
}

static void close_all(struct sampler *s)
{
	while (s->n)
		close(s->fds[--s->n]);
}

int sampler_open(struct sampler **out, int prog_fd, uint32_t cpus, uint32_t hz, bool by_clock)
{
	struct sampler *s = calloc(1, sizeof(*s) + cpus * sizeof(s->fds[0]));
	struct perf_event_attr cycles = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(cycles),
		.freq = 1,
		.sample_freq = hz,
		.disabled = 1,
	};
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(clock),
		.sample_period = 1000000000 / hz,
		.exclude_idle = 1,
		.disabled = 1,
	};
	int err;

	*out = s;
	if (!s)
		return -ENOMEM;
	s->hz = hz;
	s->seed = (uint32_t)clock_now_ns() | 1;
	err = by_clock ? -EOPNOTSUPP : open_all(s, &cycles, cpus, prog_fd);
	if (!err)
		return 0;
	close_all(s);
	s->by_clock = true;
	return open_all(s, &clock, cpus, prog_fd);
}

void sampler_poll(struct sampler *s)
{
	for (uint32_t i = 0; s->by_clock && i < s->n; i++) {
		/* Between 7/8 and 9/8 of the mean. */
		uint64_t mean = 1000000000 / s->hz, period;

		/* xorshift32, Marsaglia 2003 */
		s->seed ^= s->seed << 13;
		s->seed ^= s->seed >> 17;
		s->seed ^= s->seed << 5;
		period = mean - mean / 8 + s->seed % (mean / 4 + 1);
		ioctl(s->fds[i], PERF_EVENT_IOC_PERIOD, &period);
	}
}

void sampler_enable(struct sampler *s, bool on)
{
	for (uint32_t i = 0; i < s->n; i++)
		ioctl(s->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	close_all(s);
	free(s);
}
