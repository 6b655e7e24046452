// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs of realtime classes on one CPU. "fifo": a program that computes for long with
 * SCHED_FIFO, by several names in turn, while another one waits for the CPU. "deadline": one of
 * SCHED_DEADLINE that needs more than its runtime of 10 ms in each 100 ms. Each says by its own
 * clock how long it took, in us.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "slow.h"

#define HOG_US 150000 /* under each name */

struct deadline_attr { /* struct sched_attr, of which headers have several */
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static NOINLINE void control_loop(uint64_t us)
{
	uint64_t end = now_us() + us;

	while (now_us() < end)
		after++;
}

/* As soon as it has the CPU for itself, it says when. */
static void hog(const char *self, int out)
{
	struct sched_param p = { 50 };
	uint64_t now;

	call_it("init-phase");
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		die("sched_setscheduler");
	now = now_us();
	if (write(out, &now, sizeof(now)) != sizeof(now))
		die("write");
	control_loop(HOG_US);
	call_it("control-phase");
	control_loop(HOG_US);
	execl(self, "last-phase", "rest", NULL);
	die("exec");
}

static void fifo(const char *self)
{
	uint64_t begin;
	int fds[2];
	pid_t pid;

	stay_on(0);
	if (pipe(fds))
		die("pipe");
	call_it("handler"); /* it may not come to anything more before the other one has the CPU */
	pid = fork();
	if (!pid)
		hog(self, fds[1]);
	close(fds[1]);
	if (read(fds[0], &begin, sizeof(begin)) != sizeof(begin))
		exit(1); /* the other one has said why */
	compute(1000);
	printf("handler %llu\n", (unsigned long long)(now_us() - begin));
	waitpid(pid, NULL, 0);
}

static void deadline(void)
{
	struct deadline_attr a = { .size = sizeof(a), .policy = 6, .runtime = 10000000 };
	uint64_t begin;

	a.deadline = a.period = 100000000;
	call_it("controller");
	if (syscall(SYS_sched_setattr, 0, &a, 0))
		die("sched_setattr");
	begin = now_us();
	compute(60000);
	printf("controller %llu\n", (unsigned long long)(now_us() - begin));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "rest"))
		control_loop(HOG_US);
	else if (!strcmp(what, "deadline"))
		deadline();
	else
		fifo(argv[0]);
	return 0;
}
