// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * odd_processes WHAT [FILE...] - processes that sleep in functions whose names are known. WHAT:
 *
 *     stopped  a process in odd_naps() that another one stops, with ptrace(2), and lets go on, for
 * ever moved    the same, and while it is stopped its registers are others', some of them nonsense
 *     vfork    a child in odd_child() on its parent's stack, which waits for it in odd_forks()
 *     shared   two processes in one address space, without being threads of one: the child maps
 * FILE in the place of the code that its parent is in next, which is odd_first() in the first FILE,
 * odd_second() in the second; the third is where these are in the file reuse    FILE... is a
 * command; it runs and is ended, and then the one behind "--" has its id uring    odd_uring() waits
 * for a read that a worker of io_uring makes, and a thread of the kernel submits
 *
 * Prints "ready" before all that, with ids where they are needed. Exit status 77: this cannot be
 * done here.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *what;

static _Noreturn void cannot(const char *why)
{
	printf("%s: %s: %s\n", what, why, strerror(errno));
	fflush(stdout);
	_exit(77);
}

static void say_ready(int pid)
{
	printf("ready %d\n", pid);
	fflush(stdout);
}

static void nap(long ms)
{
	nanosleep(&(struct timespec) { .tv_nsec = ms * 1000000 }, NULL);
}

__attribute__((noinline)) static void odd_naps(void)
{
	nap(2);
	__asm__ volatile("");
}

__attribute__((noinline)) static void odd_begins(void)
{
	for (;;)
		odd_naps();
}

/* ---- traced ---------------------------------------------------------------------------------- */

static int make_traced(void)
{
	int pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		odd_begins();
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		cannot("ptrace");
	return pid;
}

static bool stop(int pid)
{
	int status;

	return !ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status);
}

static void run_stopped(void)
{
	int pid = make_traced();

	say_ready(pid);
	while (stop(pid)) {
		nap(3);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		nap(3);
	}
}

#if defined(__x86_64__)
static void run_moved(void)
{
	static const uint64_t at[] = {
		0, 1, 0x7fffffffe000, 0x7ffffffff000, 0xffff800000000000, UINT64_MAX - 7
	};
	struct user_regs_struct regs, moved;
	struct iovec io = { &regs, sizeof(regs) };
	int pid = make_traced();

	say_ready(pid);
	for (unsigned int i = 0; stop(pid); i++) {
		if (ptrace(PTRACE_GETREGSET, pid, (void *)1, &io))
			return;
		moved = regs;
		moved.rsp = i % 2 ? at[i / 2 % 6] : regs.rsp + i;
		moved.rbp = i % 3 ? at[i / 3 % 6] : regs.rsp;
		moved.rip = i % 5 ? (uintptr_t)odd_naps + i % 16 : at[i / 5 % 6];
		moved.orig_rax = (uint64_t)-1;
		io.iov_base = &moved;
		(void)ptrace(PTRACE_SETREGSET, pid, (void *)1, &io);
		nap(3);
		io.iov_base = &regs;
		if (ptrace(PTRACE_SETREGSET, pid, (void *)1, &io))
			return;
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		nap(3);
	}
}
#else
static void run_moved(void)
{
	cannot("x86-64 only");
}
#endif

/* ---- shared memory --------------------------------------------------------------------------- */

__attribute__((noinline)) static void odd_child(void)
{
	nap(1);
	nap(1);
	__asm__ volatile("");
}

__attribute__((noinline)) static void odd_forks(void)
{
	int pid = vfork();

	if (!pid) {
		odd_child();
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void run_vfork(void)
{
	say_ready(getpid());
	for (;;)
		odd_forks();
}

/* Shared libraries with one function each, which naps and is at the same place in both. */
static struct {
	int files[2], to_child[2], to_parent[2];
	char *place;
	size_t bytes;
	uintptr_t offset;
} shared;

static int map_in_turn(void *unused)
{
	char which;

	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(shared.to_child[0], &which, 1) == 1) {
		if (mmap(shared.place, shared.bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			 shared.files[which & 1], 0) == MAP_FAILED ||
		    write(shared.to_parent[1], &which, 1) != 1)
			break;
	}
	_exit(1);
}

__attribute__((noinline)) static void odd_calls(void)
{
	((void (*)(void))(uintptr_t)(shared.place + shared.offset))();
	__asm__ volatile("");
}

static void run_shared(int n, char **paths)
{
	static char stack[65536] __attribute__((aligned(16)));
	int child;

	if (n != 3)
		exit(2);
	for (int i = 0; i < 2; i++)
		shared.files[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
	shared.offset = strtoul(paths[2], NULL, 0);
	shared.bytes = (shared.offset | 4095) + 1;
	shared.place = mmap(NULL, shared.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shared.files[0] < 0 || shared.files[1] < 0 || shared.place == MAP_FAILED ||
	    pipe(shared.to_child) || pipe(shared.to_parent))
		cannot("open");
	child = clone(map_in_turn, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	if (child < 0)
		cannot("clone");
	say_ready(child);
	for (int i = 0;; i++) {
		char which = (char)(i & 1);

		if (write(shared.to_child[1], &which, 1) != 1 ||
		    read(shared.to_parent[0], &which, 1) != 1)
			return;
		prctl(PR_SET_NAME, i & 1 ? "second" : "first");
		/* What was mapped takes a moment to be known. */
		for (int k = 0; k < 20; k++)
			odd_calls();
		prctl(PR_SET_NAME, "maps");
	}
}

/* ---- the same id ----------------------------------------------------------------------------- */

/* A process with that id; 0: any. Returns its id, or another one's, which has ended. */
static int start_as(int wanted, char **command)
{
	char text[16];
	int fd, pid, gate[2], n;

	if (pipe(gate))
		cannot("pipe");
	fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	n = snprintf(text, sizeof(text), "%d", wanted - 1);
	if (fd < 0 || (wanted && write(fd, text, (size_t)n) != n))
		cannot("ns_last_pid");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(gate[0], text, 1) != 1)
			_exit(1);
		execv(command[0], command);
		_exit(1);
	}
	if (pid < 0)
		cannot("fork");
	if (!wanted || pid == wanted)
		(void)!write(gate[1], "", 1);
	close(gate[1]);
	close(gate[0]);
	close(fd);
	if (wanted && pid != wanted)
		waitpid(pid, NULL, 0);
	return pid;
}

static void run_reuse(char **commands)
{
	char **second = commands;
	int id = 0;

	while (*second && strcmp(*second, "--"))
		second++;
	if (!*second)
		exit(2);
	*second++ = NULL;
	for (unsigned int i = 0;; i++) {
		int pid = start_as(id, i & 1 ? second : commands);

		/* It may still be a thread's that has not ended. */
		for (int tries = 0; id && pid != id; tries++) {
			if (tries == 500)
				cannot("the id is not free");
			nap(20);
			pid = start_as(id, i & 1 ? second : commands);
		}
		if (!id)
			say_ready(pid);
		id = pid;
		nap(250);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* ---- io_uring -------------------------------------------------------------------------------- */

static int pipes[2];

__attribute__((noinline)) static void odd_writes(void)
{
	nap(20); /* the kernel's thread is busy for 1 ms after each read */
	if (write(pipes[1], "", 1) != 1)
		_exit(1);
}

static void *write_for_ever(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "writes");
	for (;;)
		odd_writes();
	return NULL;
}

__attribute__((noinline)) static void odd_uring(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	char byte;

	io_uring_prep_read(sqe, pipes[0], &byte, 1, (uint64_t)-1);
	io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	if (io_uring_submit(ring) < 0 || io_uring_wait_cqe(ring, &cqe))
		_exit(1);
	io_uring_cqe_seen(ring, cqe);
}

static void run_uring(void)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 1 };
	struct io_uring ring;
	pthread_t writer;

	errno = -io_uring_queue_init_params(8, &ring, &params);
	if (errno || pipe(pipes) || pthread_create(&writer, NULL, write_for_ever, NULL))
		cannot("io_uring");
	prctl(PR_SET_NAME, "waits");
	say_ready(getpid());
	for (;;)
		odd_uring(&ring);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	what = argv[1];
	if (!strcmp(what, "stopped"))
		run_stopped();
	else if (!strcmp(what, "moved"))
		run_moved();
	else if (!strcmp(what, "vfork"))
		run_vfork();
	else if (!strcmp(what, "shared"))
		run_shared(argc - 2, argv + 2);
	else if (!strcmp(what, "reuse"))
		run_reuse(argv + 2);
	else if (!strcmp(what, "uring"))
		run_uring();
	else
		return 2;
	return 1;
}
