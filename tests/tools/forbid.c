// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forbid ERRNO SYSCALL[,SYSCALL...] COMMAND [ARG...] - runs a command under a seccomp filter that
 * answers these system calls (by number) with this errno, as container runtimes and service
 * managers do.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CALLS_MAX 256

int main(int argc, char **argv)
{
	struct sock_filter filter[2 * CALLS_MAX + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog prog = { .len = 1, .filter = filter };
	unsigned int calls = 0;

	if (argc < 4) {
		fputs("usage: forbid ERRNO SYSCALL[,SYSCALL...] COMMAND [ARG...]\n", stderr);
		return 2;
	}
	for (char *p = strtok(argv[2], ","); p && calls < CALLS_MAX; p = strtok(NULL, ",")) {
		filter[prog.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)strtoul(p, NULL, 10), 0, 1);
		filter[prog.len++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K,
			SECCOMP_RET_ERRNO |
				((unsigned int)strtoul(argv[1], NULL, 10) & SECCOMP_RET_DATA));
		calls++;
	}
	filter[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("forbid: seccomp");
		return 125;
	}
	execvp(argv[3], argv + 3);
	fprintf(stderr, "forbid: %s: %s\n", argv[3], strerror(errno));
	return 127;
}
