// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forbid [-u FAMILIES] ERRNO SYSCALL[,SYSCALL...] COMMAND [ARG...] - runs a command under a seccomp
 * filter that answers these system calls (by number) with this errno, as container runtimes and
 * service managers do; errno 0 ends the process that makes one. -u: likewise calls with arguments
 * that systemd refuses to the packaged service: sockets of other than these families (numbers),
 * namespaces, realtime scheduling, memory that is written and run, set-user-ID bits.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSTRUCTIONS_MAX 1024u
#define NAMESPACES                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)
#define SET_ID 06000u

/* Refused where the argument (its lower half) has these of its bits in the mask; has 0: any. */
static const struct refused {
	uint32_t call, argument, mask, has;
} refused[] = {
	{ SYS_clone, 0, NAMESPACES, 0 },
	{ SYS_unshare, 0, NAMESPACES, 0 },
	{ SYS_setns, 1, NAMESPACES, 0 },
	{ SYS_sched_setscheduler, 1, UINT32_MAX, SCHED_FIFO },
	{ SYS_sched_setscheduler, 1, UINT32_MAX, SCHED_RR },
	{ SYS_mmap, 2, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC },
	{ SYS_mprotect, 2, PROT_EXEC, 0 },
	{ SYS_fchmod, 1, SET_ID, 0 },
	{ SYS_fchmodat, 2, SET_ID, 0 },
	{ SYS_mkdirat, 2, SET_ID, 0 },
};

static struct sock_filter filter[INSTRUCTIONS_MAX];
static struct sock_fprog program = { .filter = filter };

static void put(struct sock_filter instruction)
{
	if (program.len == INSTRUCTIONS_MAX) {
		fputs("forbid: too much to forbid\n", stderr);
		exit(2);
	}
	filter[program.len++] = instruction;
}

static void load(size_t at)
{
	put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)at));
}

static void answer(uint32_t with)
{
	put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, with));
}

/* Skips some instructions unless the accumulator is so. */
static void only_if(uint16_t how, uint32_t what, uint8_t skips)
{
	put((struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, what, 0, skips));
}

static void load_argument(uint32_t i)
{
	load(offsetof(struct seccomp_data, args) + i * 8ul);
}

static void refuse_arguments(char *families, uint32_t with)
{
	uint16_t jump;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct refused *r = &refused[i];

		load(offsetof(struct seccomp_data, nr));
		only_if(BPF_JEQ, r->call, 4);
		load_argument(r->argument);
		put((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask));
		jump = r->has ? BPF_JEQ : BPF_JSET;
		only_if(jump, r->has ? r->has : r->mask, 1);
		answer(with);
	}
	load(offsetof(struct seccomp_data, nr));
	/* Its flags are in memory; C libraries then take clone(2). */
	only_if(BPF_JEQ, SYS_clone3, 1);
	answer(SECCOMP_RET_ERRNO | ENOSYS);
	for (char *f = strtok(families, ","); f; f = strtok(NULL, ",")) {
		load(offsetof(struct seccomp_data, nr));
		only_if(BPF_JEQ, SYS_socket, 3);
		load_argument(0);
		only_if(BPF_JEQ, (uint32_t)strtoul(f, NULL, 10), 1);
		answer(SECCOMP_RET_ALLOW);
	}
	load(offsetof(struct seccomp_data, nr));
	only_if(BPF_JEQ, SYS_socket, 1);
	answer(with);
}

static uint32_t answer_of(const char *number)
{
	uint32_t n = (uint32_t)strtoul(number, NULL, 10);

	return n ? SECCOMP_RET_ERRNO | (n & SECCOMP_RET_DATA) : SECCOMP_RET_KILL_PROCESS;
}

int main(int argc, char **argv)
{
	char *families = NULL;

	if (argc > 2 && !strcmp(argv[1], "-u")) {
		families = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 4) {
		fputs("usage: forbid [-u FAMILIES] ERRNO SYSCALL[,SYSCALL...] COMMAND [ARG...]\n",
		      stderr);
		return 2;
	}
	if (families)
		refuse_arguments(families, answer_of(argv[1]));
	load(offsetof(struct seccomp_data, nr));
	for (char *p = strtok(argv[2], ","); p; p = strtok(NULL, ",")) {
		only_if(BPF_JEQ, (uint32_t)strtoul(p, NULL, 10), 1);
		answer(answer_of(argv[1]));
	}
	answer(SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("forbid: seccomp");
		return 125;
	}
	execvp(argv[3], argv + 3);
	fprintf(stderr, "forbid: %s: %s\n", argv[3], strerror(errno));
	return 127;
}
