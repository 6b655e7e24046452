// SPDX-License-Identifier: GPL-2.0-or-later
#include "helper_private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/caps.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"
#include "wait_budget.h"

/* What a process that does nothing else may take to begin, on a machine that is busy. */
#define BEGIN_SECONDS 30
/* A helper that has used no CPU for this long waits for a file system. */
#define IDLE_NS 5000000000u
/* For so long the end waits for helpers, all sets of them together. */
#define STOP_NS (3 * HELPER_ENDS_NS)
/* How often to check that, and whether it still has the priority of the thread that waits. */
#define LOOK_NS 20000000u

struct helpers {
	pid_t owner; /* the process that started them */
	pid_t pid;
	int socket;			   /* -1: stopped */
	uint64_t stop_ns;		   /* since then */
	struct wait_budget stopped_budget; /* with helpers that somebody has stopped by a signal */
	bool is_stuck;			   /* it has run out */
	uint32_t n;			   /* ever started */
	int nice, usual; /* its nice value now, and before the recorder raised its own */
	struct tally tally;
};

/* ---- the process that forks ---------------------------------------------------------------- */

static uint64_t to_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000;
}

/* Whether a signal has stopped the process: state T of proc_pid_stat(5). */
static bool is_stopped(pid_t pid)
{
	char stat[512], *state;
	FILE *f;

	snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)pid);
	f = pid && host_proc_has_own_ids() ? fopen(stat, "re") : NULL;
	if (!f)
		return false;
	stat[fread(stat, 1, sizeof(stat) - 1, f)] = '\0';
	fclose(f);
	state = strrchr(stat, ')'); /* the name may have any character */
	return state && (!strncmp(state, ") T", 3) || !strncmp(state, ") t", 3));
}

/* The CPU time that it has used. 0: it cannot be ended, as one cannot that its control group froze.
 */
static uint64_t end_forking(const struct helpers *all)
{
	uint64_t until_ns = all->stop_ns + STOP_NS, now_ns;
	struct rusage used = { 0 };

	while (!wait4(all->pid, NULL, WNOHANG, &used) && (now_ns = clock_now_ns()) < until_ns) {
		/* Then it ends its helpers, and itself. It may be another user's, but not another
		 * session's: that signal is permitted. */
		if (is_stopped(all->pid))
			kill(all->pid, SIGCONT);
		if (until_ns - now_ns < HELPER_ENDS_NS)
			kill(all->pid, SIGKILL); /* its helpers end with it */
		poll(NULL, 0, 1);
	}
	return to_ns(used.ru_utime) + to_ns(used.ru_stime);
}

static void *share_page(void)
{
	void *page =
		mmap(NULL, TALLY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

static bool share(struct tally *t)
{
	t->given_up = share_page();
	t->short_of = share_page();
	t->hanging = share_page();
	return t->given_up && t->short_of && t->hanging;
}

static void unshare_tally(const struct tally *t)
{
	if (t->given_up)
		munmap(t->given_up, TALLY_BYTES);
	if (t->short_of)
		munmap(t->short_of, TALLY_BYTES);
	if (t->hanging)
		munmap(t->hanging, TALLY_BYTES);
}

void helpers_begin_stop(struct helpers *all)
{
	if (!all || all->socket < 0)
		return;
	close(all->socket);
	all->socket = -1;
	all->stop_ns = clock_now_ns();
}

uint64_t helpers_stop(struct helpers *all)
{
	uint64_t used_ns;

	helpers_begin_stop(all);
	if (!all || all->owner != getpid() || all->pid <= 0)
		return 0;
	used_ns = end_forking(all);
	all->pid = 0;
	return used_ns;
}

void helpers_free(struct helpers *all)
{
	if (!all)
		return;
	(void)helpers_stop(all);
	unshare_tally(&all->tally);
	free(all);
}

/* Forks the process, and waits for its hello. 0 or a negative errno. */
static int start_forking(struct helpers *all, enum helpers_rights rights)
{
	struct timeval begin = { .tv_sec = BEGIN_SECONDS };
	struct hello hello;
	int sockets[2], fd;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	all->owner = getpid();
	all->socket = sockets[0];
	all->nice = all->usual = getpriority(PRIO_PROCESS, 0);
	all->pid = fork();
	if (!all->pid)
		forking_run(sockets[1], rights, &all->tally, HELPERS_MEMORY);
	close(sockets[1]);
	if (all->pid < 0) {
		int err = -errno;

		close(all->socket);
		all->socket = -1;
		return err;
	}
	/* It ends without a hello if it still has a right, or if the kernel has no seccomp. */
	setsockopt(all->socket, SOL_SOCKET, SO_RCVTIMEO, &begin, sizeof(begin));
	n = sandbox_receive(all->socket, &hello, sizeof(hello), &fd);
	if (n != sizeof(hello))
		return n == -EAGAIN ? -ETIMEDOUT : -EPERM;
	fcntl(all->socket, F_SETFL, O_NONBLOCK);
	return 0;
}

int helpers_start(struct helpers **out, enum helpers_rights rights)
{
	struct helpers *all = calloc(1, sizeof(*all));
	int err = -ENOMEM;

	*out = NULL;
	if (!all)
		return err;
	all->socket = -1;
	if (share(&all->tally))
		err = start_forking(all, rights);
	if (err)
		helpers_free(all);
	else
		*out = all;
	return err;
}

void helpers_memory(struct helpers *all, uint64_t bytes)
{
	struct order order = { .what = ORDER_MEMORY, .memory_bytes = bytes };

	if (all && all->socket >= 0)
		(void)sandbox_send(all->socket, &order, sizeof(order), -1);
}

uint32_t helpers_given_up(const struct helpers *all)
{
	return all ? *all->tally.given_up + *all->tally.short_of : 0;
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

/* Whether it makes no sense to start one, as somebody stops them. */
static bool is_stuck(struct helpers *all)
{
	if (all->is_stuck && !is_stopped(all->pid) &&
	    wait_budget_now(&all->stopped_budget) >= WAIT_ONCE_NS)
		all->is_stuck = false;
	return all->is_stuck;
}

int helper_start(struct helper *h, struct helpers *all, const struct helper_kind *kind,
		 enum helper_priority priority)
{
	struct order order = { .what = ORDER_START,
			       .kind = kind,
			       .is_low = priority == HELPER_FOLLOWS && is_low_here() };
	int sockets[2], err = 0;

	*h = (struct helper) { 0 };
	if (!all || all->socket < 0)
		return -ENOTSUP;
	if (is_stuck(all))
		return -EBUSY;
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

void helper_end_late(struct helper *h, uint64_t key)
{
	struct order end = { .what = ORDER_END, .id = h->id, .key = key };

	if (!h->all)
		return;
	/* Who waits for its memory waits for it to end. */
	if (h->pid && h->is_low)
		sched_setscheduler(h->pid, SCHED_OTHER, &(struct sched_param) { 0 });
	close(h->socket);
	/* One of the process that this one is a fork of stays that one's. */
	if (h->id >> 32 == (uint64_t)getpid())
		(void)sandbox_send(h->all->socket, &end, sizeof(end), -1);
	*h = (struct helper) { 0 };
}

void helper_end(struct helper *h)
{
	helper_end_late(h, 0);
}

bool helpers_hang(const struct helpers *all, uint64_t key)
{
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; all && i < HANGING_MAX; i++) {
		const struct hanging *h = &all->tally.hanging[i];

		if (h->key == key && h->since_ns + HELPER_ENDS_NS < now_ns)
			return true;
	}
	return false;
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

/*
 * Whether it has been stopped by a signal, or before it begins the process that is to fork it, for
 * as long as is to be waited: since *stopped_ns, 0: it was not. Then it counts as one that has
 * ended.
 */
static bool stays_stopped(struct helper *h, uint64_t now_ns, uint64_t *stopped_ns)
{
	struct helpers *all = h->all;

	if (!is_stopped(h->pid ? h->pid : all->pid)) {
		*stopped_ns = 0;
		return false;
	}
	if (!*stopped_ns) {
		*stopped_ns = now_ns;
		(void)wait_budget_now(&all->stopped_budget);
	}
	if (now_ns - *stopped_ns < WAIT_ONCE_NS &&
	    all->stopped_budget.left_ns > now_ns - *stopped_ns)
		return false;
	wait_budget_spend(&all->stopped_budget);
	all->is_stuck = !h->pid || all->stopped_budget.left_ns < WAIT_ONCE_NS;
	return true;
}

static ssize_t receive_by(struct helper *h, void *message, size_t size, int *fd, uint64_t until_ns)
{
	uint64_t used_ns = 0, idle_until_ns = 0, stopped_ns = 0, now_ns, cpu_ns;
	ssize_t n;

	while ((n = receive(h, message, size, fd)) == -EAGAIN) {
		now_ns = clock_now_ns();
		if (now_ns >= until_ns)
			break;
		if (stays_stopped(h, now_ns, &stopped_ns))
			return -EPIPE;
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

const char *helpers_refusal(int err)
{
	if (err == -ETIMEDOUT)
		return "the process without rights does not begin";
	if (err != -EPERM)
		return strerror(-err);
	/* Root's become another user. */
	if (!geteuid() && !caps_have(CAP_SETUID))
		return "CAP_SETUID is missing";
	if (!geteuid() && !caps_have(CAP_SETGID))
		return "CAP_SETGID is missing";
	return "no process without rights can be made (seccomp)";
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
