// SPDX-License-Identifier: GPL-2.0-or-later
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/caps.h"
#include "kernel/clock.h"
#include "kernel/nice.h"

/* What a process that does nothing else may take to begin and to end, on a machine that is busy. */
#define BEGIN_SECONDS 10
#define END_MS 1000
/* A helper that has used no CPU for this long waits for a file system. */
#define IDLE_NS 5000000000u
/* How often to check that, and whether it still has the priority of the thread that waits. */
#define LOOK_NS 20000000u

/* To the process that forks: one message for each start, with a socket, and for each end. */
struct order {
	const struct helper_kind *kind; /* NULL: the helper with this id ends */
	uint64_t id;
	bool is_low; /* it begins at idle priority */
};

/* The first message of each process. */
struct hello {
	pid_t pid;
};

struct helpers {
	pid_t owner; /* the process that started them */
	pid_t pid;
	int socket;	 /* -1: stopped */
	uint32_t n;	 /* ever started */
	int nice, usual; /* its nice value now, and before the recorder raised its own */
};

/* ---- the other processes ------------------------------------------------------------------- */

/* Those that were started, and not waited for yet: a recorder has some dozen at a time. */
#define RUNNING_MAX 32u

struct running {
	struct {
		pid_t pid;
		uint64_t id;
	} list[RUNNING_MAX];
	uint32_t n;
};

/* Waits for those that have ended, so that their time on a CPU is known. */
static void reap(struct running *r)
{
	for (uint32_t i = 0; i < r->n;) {
		if (waitpid(r->list[i].pid, NULL, WNOHANG))
			r->list[i] = r->list[--r->n];
		else
			i++;
	}
}

/* Nothing ends one that hangs in a file system: it is left behind after that time. */
static void end_all(struct running *r, int wait_ms)
{
	for (uint32_t i = 0; i < r->n; i++)
		kill(r->list[i].pid, SIGKILL);
	for (int ms = 0; r->n && ms < wait_ms; ms++) {
		reap(r);
		if (r->n)
			(void)ppoll(NULL, 0, &(struct timespec) { .tv_nsec = 1000000 }, NULL);
	}
	r->n = 0;
}

static void end_one(const struct running *r, uint64_t id)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->list[i].id == id)
			kill(r->list[i].pid, SIGKILL);
}

static _Noreturn void become(const struct order *o, int socket, enum helpers_rights rights)
{
	struct hello hello = { getpid() };
	const struct sched_param none = { 0 };

	prctl(PR_SET_NAME, o->kind->name);
	/* Before it is low: who knows its id can make it hurry. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) ||
	    sandbox_send(socket, &hello, sizeof(hello), -1) != sizeof(hello))
		_exit(1);
	if (o->is_low)
		sched_setscheduler(0, SCHED_IDLE, &none);
	if (rights == HELPERS_NO_RIGHTS) {
		sandbox_limit(o->kind->memory_bytes, o->kind->cpu_seconds);
		if (!sandbox_seal(false))
			_exit(1);
	}
	o->kind->serve(socket);
	_exit(0);
}

static bool give_up_rights(int socket, enum helpers_rights rights)
{
	if (rights == HELPERS_NO_RIGHTS)
		return sandbox_enter("chaincap-readers", socket, false) && sandbox_seal(true);
	/* The recorder waits for it, and it does little. Not permitted: then it takes its time. */
	(void)setpriority(PRIO_PROCESS, 0, NICE_HIGHEST);
	return sandbox_enter("chaincap-opener", socket, true) && !caps_drop_to_open();
}

static _Noreturn void fork_helpers(int socket, enum helpers_rights rights)
{
	struct hello hello = { getpid() };
	struct running running = { .n = 0 };
	struct order order;
	pid_t pid;
	int fd;

	if (!give_up_rights(socket, rights) ||
	    sandbox_send(SANDBOX_SOCKET, &hello, sizeof(hello), -1) != sizeof(hello))
		_exit(1);
	while (sandbox_receive(SANDBOX_SOCKET, &order, sizeof(order), &fd) == sizeof(order)) {
		if (!order.kind)
			end_one(&running, order.id);
		reap(&running);
		if (running.n == RUNNING_MAX)
			end_all(&running, END_MS);
		if (fd < 0)
			continue;
		pid = fork();
		if (!pid) {
			close(SANDBOX_SOCKET);
			become(&order, fd, rights);
		}
		if (pid > 0) {
			running.list[running.n].pid = pid;
			running.list[running.n++].id = order.id;
		}
		close(fd);
	}
	/* Only what those without rights have used is to be known. */
	end_all(&running, rights == HELPERS_NO_RIGHTS ? END_MS : 0);
	_exit(0);
}

/* ---- the process that forks ---------------------------------------------------------------- */

static uint64_t to_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000;
}

uint64_t helpers_stop(struct helpers *all)
{
	struct rusage used = { 0 };

	if (!all || all->socket < 0)
		return 0;
	close(all->socket);
	all->socket = -1;
	if (all->owner != getpid())
		return 0;
	for (int ms = 0; !wait4(all->pid, NULL, WNOHANG, &used); ms++) {
		/* It was stopped: its helpers end with it. */
		if (ms == 2 * END_MS)
			kill(all->pid, SIGKILL);
		poll(NULL, 0, 1);
	}
	return to_ns(used.ru_utime) + to_ns(used.ru_stime);
}

void helpers_free(struct helpers *all)
{
	(void)helpers_stop(all);
	free(all);
}

/* Forks the process, and waits for its hello. 0 or a negative errno. */
static int start_forking(struct helpers *all, enum helpers_rights rights)
{
	struct timeval begin = { .tv_sec = BEGIN_SECONDS };
	struct hello hello;
	int sockets[2], fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	all->owner = getpid();
	all->socket = sockets[0];
	all->nice = all->usual = getpriority(PRIO_PROCESS, 0);
	all->pid = fork();
	if (!all->pid)
		fork_helpers(sockets[1], rights);
	close(sockets[1]);
	if (all->pid < 0) {
		int err = -errno;

		close(all->socket);
		all->socket = -1;
		return err;
	}
	/* It ends without a hello if it still has a right, or if the kernel has no seccomp. */
	setsockopt(all->socket, SOL_SOCKET, SO_RCVTIMEO, &begin, sizeof(begin));
	if (sandbox_receive(all->socket, &hello, sizeof(hello), &fd) != sizeof(hello))
		return -EPERM;
	fcntl(all->socket, F_SETFL, O_NONBLOCK);
	return 0;
}

int helpers_start(struct helpers **out, enum helpers_rights rights)
{
	struct helpers *all = calloc(1, sizeof(*all));
	int err = all ? start_forking(all, rights) : -ENOMEM;

	*out = NULL;
	if (err) {
		helpers_free(all);
		return err;
	}
	*out = all;
	return 0;
}

int helpers_pid(const struct helpers *all)
{
	return all->pid;
}

/* ---- one helper ---------------------------------------------------------------------------- */

static void set_nice(pid_t pid, int *nice, int to)
{
	/* Not permitted: then it stays as it is. */
	if (to != *nice)
		(void)setpriority(PRIO_PROCESS, (id_t)pid, to);
	*nice = to;
}

void helper_set_nice(struct helper *h, int nice)
{
	if (h->pid)
		set_nice(h->pid, &h->nice, nice);
}

static bool is_low_here(void)
{
	return sched_getscheduler(0) == SCHED_IDLE;
}

/* When the thread that waits has left SCHED_IDLE or changed its priority, its helper follows. */
static void follow(struct helper *h)
{
	const struct sched_param none = { 0 };

	if (!h->pid || !h->follows)
		return;
	if (h->is_low && !is_low_here()) {
		sched_setscheduler(h->pid, SCHED_OTHER, &none);
		h->is_low = false;
	}
	helper_set_nice(h, getpriority(PRIO_PROCESS, 0));
}

int helper_start(struct helper *h, struct helpers *all, const struct helper_kind *kind,
		 enum helper_priority priority)
{
	struct order order = { .kind = kind,
			       .is_low = priority == HELPER_FOLLOWS && is_low_here() };
	int sockets[2], err = 0;

	*h = (struct helper) { 0 };
	if (!all || all->socket < 0)
		return -ENOTSUP;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets))
		return -errno;
	fcntl(sockets[1], F_SETFL, 0); /* that one waits */
	/* What is forked inherits the priority. */
	set_nice(all->pid, &all->nice,
		 priority == HELPER_FOLLOWS ? getpriority(PRIO_PROCESS, 0) : all->usual);
	order.id = (uint64_t)getpid() << 32 | ++all->n;
	if (sandbox_send(all->socket, &order, sizeof(order), sockets[1]) != sizeof(order))
		err = -EPIPE;
	close(sockets[1]);
	if (err) {
		close(sockets[0]);
		return err;
	}
	*h = (struct helper) {
		.all = all,
		.id = order.id,
		.socket = sockets[0],
		.follows = priority == HELPER_FOLLOWS,
		.is_low = order.is_low,
		.nice = all->nice,
	};
	return 0;
}

void helper_end(struct helper *h)
{
	struct order end = { .id = h->id };

	if (!h->all)
		return;
	close(h->socket);
	/* One of the process that this one is a fork of stays that one's. */
	if (h->id >> 32 == (uint64_t)getpid())
		(void)sandbox_send(h->all->socket, &end, sizeof(end), -1);
	*h = (struct helper) { 0 };
}

uint64_t helper_cpu_ns(const struct helper *h)
{
	return clock_process_cpu_ns(h->pid);
}

/* ---- messages ------------------------------------------------------------------------------ */

int helper_send(struct helper *h, const void *message, size_t len, int fd)
{
	return sandbox_send(h->socket, message, len, fd) == (ssize_t)len ? 0 : -EPIPE;
}

/* The next message, if it has come. */
static ssize_t receive(struct helper *h, void *message, size_t size, int *fd)
{
	ssize_t n = sandbox_receive(h->socket, message, size, fd);

	if (n == -EAGAIN)
		return n;
	return n > 0 ? n : -EPIPE;
}

/* Waits for a message, at most until then. */
static void wait_for(struct helper *h, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t ns = until_ns - now_ns < LOOK_NS ? until_ns - now_ns : LOOK_NS;
	struct timespec left = { .tv_nsec = (long)ns };
	struct pollfd in = { .fd = h->socket, .events = POLLIN };

	follow(h);
	(void)ppoll(&in, 1, &left, NULL);
}

static ssize_t receive_by(struct helper *h, void *message, size_t size, int *fd, uint64_t until_ns)
{
	uint64_t used_ns = 0, idle_until_ns = 0, now_ns, cpu_ns;
	ssize_t n;

	while ((n = receive(h, message, size, fd)) == -EAGAIN) {
		now_ns = clock_now_ns();
		if (now_ns >= until_ns)
			break;
		cpu_ns = helper_cpu_ns(h);
		if (!idle_until_ns || cpu_ns != used_ns) {
			used_ns = cpu_ns;
			idle_until_ns = now_ns + IDLE_NS;
		}
		if (now_ns >= idle_until_ns)
			break;
		wait_for(h, now_ns, until_ns);
	}
	return n;
}

static int receive_hello(struct helper *h, uint64_t until_ns)
{
	struct hello hello;
	ssize_t n;
	int fd;

	if (h->pid)
		return 0;
	n = receive_by(h, &hello, sizeof(hello), &fd, until_ns);
	if (fd >= 0)
		close(fd);
	if (n != sizeof(hello))
		return n == -EAGAIN ? -EAGAIN : -EPIPE;
	h->pid = hello.pid;
	return 0;
}

ssize_t helper_receive(struct helper *h, void *message, size_t size, int *fd, uint64_t wait_ns)
{
	uint64_t until_ns = wait_ns ? clock_now_ns() + wait_ns : 0;
	int unwanted = -1, *got = fd ? fd : &unwanted;
	ssize_t n = receive_hello(h, until_ns);

	*got = -1;
	if (!n)
		n = receive_by(h, message, size, got, until_ns);
	if (unwanted < 0)
		return n;
	close(unwanted);
	return -EPIPE;
}

int helper_wait_begun(struct helper *h, uint64_t wait_ns)
{
	return receive_hello(h, clock_now_ns() + wait_ns);
}
