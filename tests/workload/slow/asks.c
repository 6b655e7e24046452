// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A child reads from a pipe that has a byte, but a supervisor of seccomp has to allow each read,
 * and takes MS for it.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int send_fd(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	*(int *)CMSG_DATA(c) = fd;
	return sendmsg(to, &m, 0) == 1 ? 0 : -1;
}

static int take_fd(int from)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };

	if (recvmsg(from, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		return -1;
	return *(int *)CMSG_DATA(CMSG_FIRSTHDR(&m));
}

static int be_asker(const int *pipe_ends, int to)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };
	char byte;
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 1;
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			  &filter);
	if (fd < 0 || send_fd(to, fd))
		return 77;
	prctl(PR_SET_NAME, "asker");
	for (int i = 0; i < 3; i++)
		if (read(pipe_ends[0], &byte, 1) != 1)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 100;
	int pipe_ends[2], pair[2], fd, status;
	pid_t pid;

	if (pipe(pipe_ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    write(pipe_ends[1], "abc", 3) != 3)
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid)
		_exit(be_asker(pipe_ends, pair[1]));
	close(pair[1]);
	fd = take_fd(pair[0]);
	if (fd < 0)
		return 77;
	for (int i = 0; i < 3; i++) {
		struct seccomp_notif asked = { 0 };
		struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &asked))
			return 1;
		usleep((useconds_t)ms * 1000);
		answer.id = asked.id;
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer))
			return 1;
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	printf("allowed 3 after %ld ms each\n", ms);
	return 0;
}
