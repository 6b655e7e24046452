// SPDX-License-Identifier: GPL-2.0-or-later
#include "deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "caps.h"
#include "clock.h"
#include "nice.h"
#include "patience.h"
#include "sandbox.h"

/* A new process gets a CPU in this time, however busy the machine is. */
#define BEGIN_NS 1000000000u
/* Processes that hang at the same time. */
#define LATE_MAX 16u

/* Forks have the same addresses, so a function's is as good there. */
struct message {
	deadline_fn fn;
	uint8_t data[DEADLINE_MAX_BYTES];
};
#define HEAD_BYTES offsetof(struct message, data)

/* The processes: one that forks the others, one that is free, and those that were late. */
static struct {
	pid_t owner; /* whose they are: a fork of it has none */
	pid_t pid;
	int socket; /* -1: not started */
	int worker; /* socket; -1: none */
	struct patience patience;
	struct {
		int socket; /* -1: it does not hang any more */
		uint64_t key;
	} late[LATE_MAX];
} all = { .socket = -1, .worker = -1 };

/* ---- the other processes ------------------------------------------------------------------- */

/* The first byte says that it runs. */
static _Noreturn void work(int socket)
{
	static struct message m;
	ssize_t n;
	int fd;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || sandbox_send(socket, "", 1, -1) != 1)
		_exit(1);
	while ((n = sandbox_receive(socket, &m, sizeof(m), &fd)) >= (ssize_t)HEAD_BYTES) {
		int out = m.fn(m.data, fd);

		if (fd >= 0)
			close(fd);
		if (sandbox_send(socket, &m, (size_t)n, out) != n)
			break;
		if (out >= 0)
			close(out);
	}
	_exit(0);
}

static _Noreturn void fork_workers(int socket)
{
	char c;
	int fd;

	/* The recorder waits for it, and it does little. Not permitted: then it takes its time. */
	(void)setpriority(PRIO_PROCESS, 0, NICE_HIGHEST);
	if (!sandbox_enter_to_open("chaincap-opener", socket) || caps_drop_to_open())
		_exit(1);
	if (sandbox_send(SANDBOX_SOCKET, "", 1, -1) != 1)
		_exit(1);
	while (sandbox_receive(SANDBOX_SOCKET, &c, 1, &fd) == 1) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (fd < 0)
			continue;
		if (!fork()) {
			close(SANDBOX_SOCKET);
			work(fd);
		}
		close(fd);
	}
	/* Those that hang are not waited for. */
	_exit(0);
}

/* ---- this one ------------------------------------------------------------------------------ */

int deadline_start(void)
{
	int sockets[2], fd, err = 0;
	char c;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	all.pid = fork();
	if (!all.pid)
		fork_workers(sockets[1]);
	if (all.pid < 0)
		err = -errno;
	close(sockets[1]);
	if (!err && sandbox_receive(sockets[0], &c, 1, &fd) != 1) {
		waitpid(all.pid, NULL, 0);
		err = -EPERM;
	}
	if (err) {
		close(sockets[0]);
		return err;
	}
	all.owner = getpid();
	all.socket = sockets[0];
	for (uint32_t i = 0; i < LATE_MAX; i++)
		all.late[i].socket = -1;
	return 0;
}

int deadline_pid(void)
{
	return all.owner == getpid() ? all.pid : 0;
}

static void close_socket(int *socket)
{
	if (*socket >= 0)
		close(*socket);
	*socket = -1;
}

static void forget_workers(void)
{
	close_socket(&all.worker);
	for (uint32_t i = 0; i < LATE_MAX; i++)
		close_socket(&all.late[i].socket);
}

void deadline_end(void)
{
	if (all.socket < 0)
		return;
	forget_workers();
	close_socket(&all.socket);
	if (all.owner == getpid())
		while (waitpid(all.pid, NULL, 0) < 0 && errno == EINTR)
			;
}

/* The answer: its length; 0: it has ended; -EAGAIN: there is none by then. */
static ssize_t hear(int socket, struct message *m, uint64_t until_ns, int *fd)
{
	for (;;) {
		ssize_t n = sandbox_receive(socket, m, sizeof(*m), fd);
		uint64_t now_ns = clock_now_ns();
		struct timespec left = { .tv_sec = (time_t)((until_ns - now_ns) / 1000000000u),
					 .tv_nsec = (long)((until_ns - now_ns) % 1000000000u) };
		struct pollfd in = { .fd = socket, .events = POLLIN };

		if (n != -EAGAIN)
			return n < 0 ? 0 : n;
		if (now_ns >= until_ns)
			return n;
		(void)ppoll(&in, 1, &left, NULL);
	}
}

static int start_worker(void)
{
	struct message hello;
	int sockets[2], fd;
	bool is_sent;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	is_sent = sandbox_send(all.socket, "", 1, sockets[1]) == 1;
	close(sockets[1]);
	fcntl(sockets[0], F_SETFL, O_NONBLOCK);
	if (!is_sent || hear(sockets[0], &hello, clock_now_ns() + BEGIN_NS, &fd) != 1) {
		close(sockets[0]);
		return -EPIPE;
	}
	all.worker = sockets[0];
	return 0;
}

/* A place in all.late for a call that may come to need it; or a negative errno. */
static int find_place(uint64_t key)
{
	static struct message m;
	int place = -EBUSY;

	for (int i = 0; i < (int)LATE_MAX; i++) {
		int *socket = &all.late[i].socket, fd = -1;

		if (*socket >= 0 && hear(*socket, &m, 0, &fd) != -EAGAIN)
			close_socket(socket); /* it was late: nobody wants its answer */
		if (fd >= 0)
			close(fd);
		if (*socket >= 0 && all.late[i].key == key)
			return -ETIMEDOUT;
		if (*socket < 0)
			place = i;
	}
	return place;
}

static void leave(int place, uint64_t key)
{
	all.late[place].socket = all.worker;
	all.late[place].key = key;
	all.worker = -1;
}

int deadline_call(deadline_fn fn, uint64_t key, void *data, size_t bytes, int fd, int *out)
{
	static struct message m;
	ssize_t n, len = (ssize_t)(HEAD_BYTES + bytes);
	int place, err;

	*out = -1;
	if (all.socket < 0) {
		*out = fn(data, fd);
		return 0;
	}
	if (all.owner != getpid()) {
		forget_workers();
		all.owner = getpid();
	}
	place = find_place(key);
	if (place < 0)
		return place;
	err = all.worker < 0 ? start_worker() : 0;
	if (err)
		return err;
	m.fn = fn;
	memcpy(m.data, data, bytes);
	n = sandbox_send(all.worker, &m, (size_t)len, fd);
	if (n == len)
		n = hear(all.worker, &m, clock_now_ns() + patience_now(&all.patience), out);
	patience_spend(&all.patience);
	if (n == -EAGAIN) {
		leave(place, key);
		return -ETIMEDOUT;
	}
	if (n != len) {
		close_socket(&all.worker);
		return -EPIPE;
	}
	memcpy(data, m.data, bytes);
	return 0;
}
