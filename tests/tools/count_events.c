// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * count_events RECORDER [ARG...] - runs a recorder and counts the same events beside it, in the
 * kernel, on each CPU, by programs that keep nothing but the count.
 *
 * So that a stretch of a trace can be compared exactly, there are marks: for each line on standard
 * input this program renames itself three times on each CPU. The rename is an event of that CPU,
 * so it is in the trace, and the counter notes how many events the CPU had before it. Between two
 * marks of a CPU both must have counted the same. (An interrupt within a mark can put one event on
 * different sides of it: hence three.)
 *
 * Prints "recorder PID", then for each mark "mark CPU NAME EVENTS STEAL_NS", and exits with the
 * recorder's status. STEAL_NS is what a hypervisor had taken of the CPU since boot, at its last
 * switch before the mark; 0 if that is not known. At the end of standard input it waits for the
 * recorder.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "count_events.skel.h"
#pragma GCC diagnostic pop

#define MARKS 64
#define MARKS_AT_ONCE 3

/* As the BPF side has it. */
struct cpu_count {
	__u64 events, steal_ns, n_marks;
	struct {
		__u64 events, steal_ns;
	} marks[MARKS];
};

struct counter {
	struct count_events_bpf *skel;
	int cpus;
	unsigned int n_marks; /* made so far on each CPU */
};

static _Noreturn void become(char **argv, int gate)
{
	int null = open("/dev/null", O_RDONLY);
	char go;

	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (read(gate, &go, 1) != 1)
		_exit(125);
	execv(argv[0], argv);
	_exit(127);
}

static int attach(struct counter *c, pid_t recorder)
{
	int err;

	c->cpus = libbpf_num_possible_cpus();
	c->skel = count_events_bpf__open();
	if (!c->skel)
		return -errno;
	c->skel->rodata->recorder_tgid = (__u32)recorder;
	c->skel->rodata->marker_tgid = (__u32)getpid();
	err = count_events_bpf__load(c->skel);
	return err ? err : count_events_bpf__attach(c->skel);
}

/* Marks each CPU that this process may run on. */
static int mark(struct counter *c)
{
	struct cpu_count *counts = calloc((size_t)c->cpus, sizeof(*counts));
	unsigned int first = c->n_marks;
	__u32 zero = 0;
	cpu_set_t set;
	int err = 0;

	if (!counts)
		return -ENOMEM;
	if (first + MARKS_AT_ONCE > MARKS) {
		err = -ENOSPC;
		goto out;
	}
	for (unsigned int cpu = 0; cpu < (unsigned int)c->cpus; cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			continue;
		for (unsigned int i = 0; i < MARKS_AT_ONCE; i++) {
			char name[40]; /* the kernel keeps 15 characters: enough for 1000 CPUs */

			snprintf(name, sizeof(name), "mark-%u-%u", cpu, first + i);
			prctl(PR_SET_NAME, name);
		}
	}
	c->n_marks += MARKS_AT_ONCE;
	err = bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.counts), &zero, counts);
	for (int cpu = 0; !err && cpu < c->cpus; cpu++)
		for (unsigned int n = first; n < c->n_marks && n < counts[cpu].n_marks; n++)
			printf("mark %d mark-%d-%u %llu %llu\n", cpu, cpu, n,
			       (unsigned long long)counts[cpu].marks[n].events,
			       (unsigned long long)counts[cpu].marks[n].steal_ns);
	fflush(stdout);
out:
	free(counts);
	return err;
}

int main(int argc, char **argv)
{
	struct counter c = { 0 };
	int gate[2], status, err;
	char line[64];
	pid_t recorder;

	if (argc < 2) {
		fputs("usage: count_events RECORDER [ARG...]\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (pipe2(gate, O_CLOEXEC)) {
		perror("count_events: pipe");
		return 125;
	}
	recorder = fork();
	if (recorder < 0) {
		perror("count_events: fork");
		return 125;
	}
	if (!recorder) {
		close(gate[1]);
		become(argv + 1, gate[0]);
	}
	close(gate[0]);
	err = attach(&c, recorder);
	if (!err && write(gate[1], "", 1) != 1)
		err = -errno;
	close(gate[1]);
	if (!err) {
		printf("recorder %d\n", (int)recorder);
		fflush(stdout);
	}
	while (!err && fgets(line, sizeof(line), stdin))
		err = mark(&c);
	if (waitpid(recorder, &status, 0) != recorder)
		err = -errno;
	count_events_bpf__destroy(c.skel);
	if (err) {
		fprintf(stderr, "count_events: %s\n", strerror(-err));
		return 125;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
