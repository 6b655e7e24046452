/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stopped_thread.h - for the tests of unwinding: what the BPF side would send of a thread that is
 * stopped, and what libdwfl, which has nothing of ours in it, finds of its stack. Include test.h
 * before it.
 */
#pragma once

#include <dirent.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unwind/rule.h"
#include "unwind/unwind.h"

#define FRAMES 256

struct reference {
	uint64_t pc[FRAMES];
	bool is_exact[FRAMES]; /* not a return address */
	unsigned int n;
};

static inline int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct reference *r = arg;
	Dwarf_Addr pc;
	bool is_exact;

	if (!dwfl_frame_pc(frame, &pc, &is_exact) || r->n == FRAMES)
		return DWARF_CB_ABORT;
	r->is_exact[r->n] = is_exact;
	r->pc[r->n++] = pc;
	return DWARF_CB_OK;
}

/* Returns 0 if it came to the stack's end. */
static inline int unwind_by_libdwfl(pid_t pid, pid_t tid, struct reference *r)
{
	static char *debuginfo_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &debuginfo_path,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	int end;

	r->n = 0;
	assert_int_equal(dwfl_linux_proc_report(dwfl, pid), 0);
	assert_int_equal(dwfl_report_end(dwfl, NULL, NULL), 0);
	assert_true(dwfl_linux_proc_attach(dwfl, pid, true) >= 0);
	end = dwfl_getthread_frames(dwfl, tid, take_frame, r);
	dwfl_end(dwfl);
	return end;
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The registers of a stopped thread by DWARF's numbers. Returns whether it is in a system call. */
static inline bool read_registers(pid_t tid, __u64 *regs)
{
	struct user_regs_struct u;
	struct iovec out = { &u, sizeof(u) };

	assert_int_equal(ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &out), 0);
#if defined(__x86_64__)
	const unsigned long long *order[] = { &u.rax, &u.rdx, &u.rcx, &u.rbx, &u.rsi, &u.rdi,
					      &u.rbp, &u.rsp, &u.r8,  &u.r9,  &u.r10, &u.r11,
					      &u.r12, &u.r13, &u.r14, &u.r15, &u.rip };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		regs[i] = *order[i];
	return (long long)u.orig_rax != -1;
#elif defined(__aarch64__)
	struct iovec number = { &(int) { -1 }, sizeof(int) };

	memcpy(regs, u.regs, sizeof(u.regs));
	regs[UNWIND_SP] = u.sp;
	regs[UNWIND_PC] = u.pc;
	assert_int_equal(ptrace(PTRACE_GETREGSET, tid, NT_ARM_SYSTEM_CALL, &number), 0);
	return *(int *)number.iov_base != -1;
#endif
}

/* Stops a thread of a child, which is traced from then on. */
static inline void stop_thread(pid_t tid)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, tid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL), 0);
	assert_int_equal(waitpid(tid, &status, __WALL), tid);
}

/* What the BPF side would send of a stopped thread. */
static inline void copy_thread(struct wire_copy *c, pid_t pid, pid_t tid)
{
	__u64 regs[UNWIND_REGISTERS];
	bool in_call = read_registers(tid, regs);
	uint64_t pc = regs[UNWIND_PC], sp = regs[UNWIND_SP];
	char path[40];
	ssize_t n;
	int fd;

	*c = (struct wire_copy) {
		.r = { .time_ns = now_ns(), .kind = WIRE_COPY },
		.tgid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.sp = sp,
		.n = 1,
		.space = 5,
		.look = in_call ? pc - 1 : pc,
		.registers = 1,
		.base = sp,
		.frames = { pc },
	};
	memcpy(c->regs, regs, sizeof(regs));
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY);
	n = pread(fd, c->words, sizeof(c->words), (off_t)sp);
	close(fd);
	assert_true(n > 0);
	c->len = (uint32_t)n;
}

static inline bool is_asleep(pid_t pid, pid_t tid)
{
	char path[60], line[200], *state;
	FILE *f;
	bool asleep = false;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f) && (state = strrchr(line, ')')))
		asleep = state[2] == 'S';
	if (f)
		fclose(f);
	return asleep;
}

/* A thread of the process other than the first; 0: there is none yet. */
static inline pid_t second_thread(pid_t pid)
{
	char path[40];
	struct dirent *d;
	pid_t tid = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		if (atoi(d->d_name) && atoi(d->d_name) != pid)
			tid = atoi(d->d_name);
	if (dir)
		closedir(dir);
	return tid;
}

static inline pid_t wait_until_asleep(pid_t pid, bool second)
{
	pid_t tid = pid;

	for (int i = 0; i < 5000; i++) {
		usleep(2000);
		if (second)
			tid = second_thread(pid);
		if (tid && is_asleep(pid, tid))
			return tid;
	}
	fail_msg("it does not go to sleep");
	return 0;
}
