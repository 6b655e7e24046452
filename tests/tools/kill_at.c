// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kill_at STEP FROM COMMAND [ARG...] - runs the command, whose first thread is stopped at each of
 * its system calls, and ends it by SIGKILL at one of them, before it is made. A step is the first
 * system call of each kind, by its number and the command of bpf(2); they are counted from 0. With
 * a FROM that is not empty they are counted only from when the command gets SIGINT, which it does
 * when it has written that to standard error or, if FROM is a path, something to that file. STEP
 * -1: lets it end.
 *
 * Prints "steps N" that there were; and if it ends the command, "at NUMBER COMMAND" of the call,
 * "child PID" of each process below the command and "program ID" of each BPF program that it held.
 * Those are to be gone soon.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	pid_t pid;
	long step, steps;
	bool was[512][64]; /* calls, by their number and the command of bpf(2) */
	const char *from;
	bool counts;
} run;

/* Of the call that it stops at: its number, and whether it writes the text. */
static bool look(struct __ptrace_syscall_info *info)
{
	return ptrace(PTRACE_GET_SYSCALL_INFO, run.pid, sizeof(*info), info) > 0 &&
	       info->op == PTRACE_SYSCALL_INFO_ENTRY;
}

static bool writes_text(const struct __ptrace_syscall_info *info)
{
	char bytes[4096] = "";
	size_t len =
		info->entry.args[2] < sizeof(bytes) - 1 ? info->entry.args[2] : sizeof(bytes) - 1;
	struct iovec to = { bytes, len }, from = { (void *)(uintptr_t)info->entry.args[1], len };

	return info->entry.nr == SYS_write && info->entry.args[0] == 2 &&
	       process_vm_readv(run.pid, &to, 1, &from, 1, 0) > 0 && strstr(bytes, run.from);
}

static bool is_written(void)
{
	struct stat st;

	return !stat(run.from, &st) && st.st_size;
}

static void print_children(pid_t pid)
{
	char path[64];
	FILE *f;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1) {
		printf("child %d\n", child);
		print_children(child);
	}
	if (f)
		fclose(f);
}

static void print_programs(void)
{
	char path[300], line[100];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)run.pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		unsigned int id;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)run.pid, e->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "prog_id: %u", &id) == 1)
				printf("program %u\n", id);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
}

static void end_it(unsigned int call, unsigned int command)
{
	printf("at %u %u\n", call, command);
	print_children(run.pid);
	print_programs();
	fflush(stdout);
	kill(run.pid, SIGKILL);
}

/* At the beginning of a call. False: it was ended. */
static bool take_call(void)
{
	struct __ptrace_syscall_info info;
	unsigned int call, command;

	if (!look(&info))
		return true;
	if (!run.counts && (*run.from == '/' ? is_written() : writes_text(&info))) {
		run.counts = true;
		kill(run.pid, SIGINT);
	}
	if (!run.counts)
		return true;
	call = (unsigned int)info.entry.nr % 512;
	command = call == SYS_bpf ? (unsigned int)info.entry.args[0] % 64 : 0;
	if (run.was[call][command])
		return true;
	run.was[call][command] = true;
	if (run.steps++ != run.step)
		return true;
	end_it(call, command);
	return false;
}

int main(int argc, char **argv)
{
	int status, sig = 0;

	if (argc < 4)
		return 2;
	run.step = strtol(argv[1], NULL, 10);
	run.from = argv[2];
	run.counts = !*run.from;
	run.pid = fork();
	if (!run.pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(126);
		raise(SIGSTOP);
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (run.pid < 0 || waitpid(run.pid, &status, 0) != run.pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, run.pid, NULL,
		   (void *)(uintptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))) {
		perror("kill_at");
		return 1;
	}
	while (!ptrace(PTRACE_SYSCALL, run.pid, NULL, (void *)(uintptr_t)sig) &&
	       waitpid(run.pid, &status, 0) == run.pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status);
		if (sig == SIGTRAP)
			sig = 0;
		if (sig != (SIGTRAP | 0x80))
			continue;
		sig = 0;
		if (!take_call())
			break;
	}
	if (!WIFEXITED(status) && !WIFSIGNALED(status))
		waitpid(run.pid, &status, 0);
	printf("steps %ld\nstatus %d\n", run.steps,
	       WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	return 0;
}
