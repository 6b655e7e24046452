// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * classes.c - one thread for each class of thing that a thread can wait for: each waits for its own
 * again and again, and the main thread ends the waits. For two seconds, or as many as the argument
 * says. It prints, for each thread,
 *
 *	waits TID CLASS NAME
 *
 * with the name as the kernel's own interfaces say it (/proc, getsockname(), stat()), or
 * "cannot CLASS REASON" where the machine does not have it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 20000000 /* between two pokes */

/* What a thread has; init() fills it in, and the main thread pokes until the thread has ended. */
struct waiter {
	const char *class;
	bool (*init)(struct waiter *w);
	void (*wait)(struct waiter *w);
	void (*poke)(struct waiter *w);
	char name[PATH_MAX + 64];
	int fd, other;	/* the thread's end, and the one that the main thread pokes */
	uint32_t *word; /* futexes */
	bool without;
	pthread_t thread;
};

static char folder[] = "/tmp/chain-objects.XXXXXX";
static volatile bool ending;
static uint32_t lock_in_bss;

__attribute__((format(printf, 2, 3))) static void called(struct waiter *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->name, sizeof(w->name), format, args);
	va_end(args);
}

static bool cannot(const struct waiter *w)
{
	printf("cannot %s %s\n", w->class, strerror(errno));
	return false;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "classes: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- pipes and files ------------------------------------------------------------------------ */

static void read_byte(struct waiter *w)
{
	char c[8];

	if (read(w->fd, c, sizeof(c)) < 0)
		return;
}

static void write_byte(struct waiter *w)
{
	if (write(w->other, "x", 1) < 0)
		return;
}

static unsigned long inode_of(int fd)
{
	struct stat st;

	must(!fstat(fd, &st), "fstat");
	return (unsigned long)st.st_ino;
}

static bool init_pipe(struct waiter *w)
{
	int ends[2];

	must(!pipe(ends), "pipe");
	w->fd = ends[0];
	w->other = ends[1];
	called(w, "%lu", inode_of(ends[0]));
	return true;
}

static bool init_fifo(struct waiter *w)
{
	called(w, "%s/fifo", folder);
	must(!mkfifo(w->name, 0600), "mkfifo");
	w->fd = open(w->name, O_RDWR);
	w->other = open(w->name, O_WRONLY);
	must(w->fd >= 0 && w->other >= 0, "open fifo");
	return true;
}

/* A file that another description has locked, for most of the time. */
static bool init_file(struct waiter *w)
{
	called(w, "%s/some file", folder);
	w->fd = open(w->name, O_RDWR | O_CREAT, 0600);
	w->other = open(w->name, O_RDWR);
	must(w->fd >= 0 && w->other >= 0 && !flock(w->other, LOCK_EX), "flock");
	return true;
}

static void wait_file(struct waiter *w)
{
	if (flock(w->fd, LOCK_EX) || flock(w->fd, LOCK_UN))
		return;
}

static void poke_file(struct waiter *w)
{
	if (flock(w->other, LOCK_UN) || usleep(100) || flock(w->other, LOCK_EX))
		return;
}

/* ---- sockets -------------------------------------------------------------------------------- */

static int any_port(int family, int type, struct sockaddr_in6 *at)
{
	struct sockaddr_in *v4 = (void *)at;
	socklen_t len = sizeof(*at);
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	memset(at, 0, sizeof(*at));
	at->sin6_family = (sa_family_t)family;
	if (family == AF_INET)
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		at->sin6_addr = in6addr_loopback;
	if (fd < 0 || bind(fd, (void *)at, family == AF_INET ? sizeof(*v4) : sizeof(*at)) ||
	    getsockname(fd, (void *)at, &len))
		return -1;
	return fd;
}

/* The client's end; the server's is the one that pokes. */
static bool init_stream(struct waiter *w, int family)
{
	struct sockaddr_in6 at;
	int listener = any_port(family, SOCK_STREAM, &at);

	if (listener < 0)
		return cannot(w);
	must(!listen(listener, 5), "listen");
	w->fd = socket(family, SOCK_STREAM, 0);
	must(!connect(w->fd, (void *)&at, sizeof(at)), "connect");
	w->other = accept(listener, NULL, NULL);
	close(listener);
	called(w, family == AF_INET ? "127.0.0.1:%u" : "[::1]:%u", ntohs(at.sin6_port));
	return true;
}

static bool init_tcp(struct waiter *w)
{
	return init_stream(w, AF_INET);
}

static bool init_tcp6(struct waiter *w)
{
	return init_stream(w, AF_INET6);
}

static bool init_accept(struct waiter *w)
{
	struct sockaddr_in6 at;

	w->fd = any_port(AF_INET, SOCK_STREAM, &at);
	must(w->fd >= 0 && !listen(w->fd, 5), "listen");
	w->other = ntohs(at.sin6_port);
	called(w, ":%d", w->other);
	return true;
}

static void wait_accept(struct waiter *w)
{
	int fd = accept(w->fd, NULL, NULL);

	if (fd >= 0)
		close(fd);
}

static void poke_accept(struct waiter *w)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)w->other),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (void *)&at, sizeof(at)))
		return;
	close(fd);
}

static bool init_udp(struct waiter *w)
{
	struct sockaddr_in6 a, b;

	w->fd = any_port(AF_INET, SOCK_DGRAM, &a);
	w->other = any_port(AF_INET, SOCK_DGRAM, &b);
	must(w->fd >= 0 && w->other >= 0 &&
		     !connect(w->fd, (void *)&b, sizeof(struct sockaddr_in)) &&
		     !connect(w->other, (void *)&a, sizeof(struct sockaddr_in)),
	     "udp");
	called(w, "127.0.0.1:%u", ntohs(b.sin6_port));
	return true;
}

/* Of a server that listens at a path; the peer is this process. */
static bool init_unix(struct waiter *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", folder);
	must(!bind(listener, (void *)&at, sizeof(at)) && !listen(listener, 5), "bind");
	w->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	must(!connect(w->fd, (void *)&at, sizeof(at)), "connect");
	w->other = accept(listener, NULL, NULL);
	called(w, "%s classes/%d", at.sun_path, (int)getpid());
	return true;
}

/* ---- futexes -------------------------------------------------------------------------------- */

static long futex(uint32_t *word, int op)
{
	struct timespec never_long = { 1, 0 };

	return syscall(SYS_futex, word, op, op & FUTEX_WAKE ? INT_MAX : 0,
		       op & FUTEX_WAKE ? NULL : &never_long, NULL, 0);
}

static void wait_futex(struct waiter *w)
{
	futex(w->word, FUTEX_WAIT_PRIVATE);
}

static void poke_futex(struct waiter *w)
{
	futex(w->word, FUTEX_WAKE_PRIVATE);
}

/* Where /proc has a mapping of a file that ends before the word, or contains it. */
static void call_by_maps(struct waiter *w)
{
	unsigned long start, end, offset, before_end = 0, before_start = 0, before_offset = 0;
	unsigned long at = (unsigned long)w->word;
	char line[PATH_MAX + 128], path[PATH_MAX], before[PATH_MAX] = "";
	FILE *f = fopen("/proc/self/maps", "r");

	must(f, "maps");
	while (fgets(line, sizeof(line), f)) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %[^\n]", &start, &end, &offset, path) < 3)
			continue;
		if (at >= start && at < end) {
			if (*path == '/')
				called(w, "%d:%s+0x%lx", (int)getpid(), strrchr(path, '/') + 1,
				       at - start + offset);
			else if (start == before_end && *before == '/')
				called(w, "%d:%s+0x%lx", (int)getpid(), strrchr(before, '/') + 1,
				       at - before_start + before_offset);
			else
				called(w, "%d:0x%lx", (int)getpid(), at);
		}
		before_start = start;
		before_end = end;
		before_offset = offset;
		snprintf(before, sizeof(before), "%s", path);
	}
	fclose(f);
}

static bool init_futex(struct waiter *w)
{
	w->word = &lock_in_bss;
	call_by_maps(w);
	return true;
}

static bool init_heap_futex(struct waiter *w)
{
	w->word = calloc(1, 1 << 20);
	must(w->word, "calloc");
	call_by_maps(w);
	return true;
}

/* In memory that a file is behind of: processes meet there. */
static bool init_shared_futex(struct waiter *w)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/shared", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	must(fd >= 0 && !ftruncate(fd, 8192), "shared file");
	w->word = (uint32_t *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) + 1025;
	called(w, "%s+0x1004", path);
	return true;
}

static void wait_shared_futex(struct waiter *w)
{
	futex(w->word, FUTEX_WAIT);
}

static void poke_shared_futex(struct waiter *w)
{
	futex(w->word, FUTEX_WAKE);
}

/* ---- poll and its kind ---------------------------------------------------------------------- */

static bool init_epoll(struct waiter *w)
{
	struct epoll_event in = { .events = EPOLLIN };
	int ends[2];

	must(!pipe(ends), "pipe");
	w->fd = epoll_create1(0);
	in.data.fd = ends[0];
	must(w->fd >= 0 && !epoll_ctl(w->fd, EPOLL_CTL_ADD, ends[0], &in), "epoll");
	w->other = ends[1];
	called(w, "%d:%d", (int)getpid(), w->fd);
	return true;
}

static void wait_epoll(struct waiter *w)
{
	struct epoll_event ev;
	char c[8];

	if (epoll_wait(w->fd, &ev, 1, 1000) == 1 && read(ev.data.fd, c, sizeof(c)) < 0)
		return;
}

static bool init_poll(struct waiter *w)
{
	init_pipe(w);
	called(w, "pipe %lu", inode_of(w->fd));
	return true;
}

static void wait_poll(struct waiter *w)
{
	struct pollfd p = { w->fd, POLLIN, 0 };

	if (poll(&p, 1, 1000) == 1)
		read_byte(w);
}

static bool init_poll_2(struct waiter *w)
{
	init_pipe(w);
	w->name[0] = '\0';
	return true;
}

static void wait_poll_2(struct waiter *w)
{
	struct pollfd p[2] = { { w->fd, POLLIN, 0 }, { -1, 0, 0 } };

	if (poll(p, 2, 1000) == 1)
		read_byte(w);
}

static void wait_select(struct waiter *w)
{
	struct timeval second = { 1, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(w->fd, &set);
	if (select(w->fd + 1, &set, NULL, NULL, &second) == 1)
		read_byte(w);
}

static bool init_eventfd(struct waiter *w)
{
	w->fd = w->other = eventfd(0, 0);
	called(w, "%d:%d", (int)getpid(), w->fd);
	return true;
}

static void poke_eventfd(struct waiter *w)
{
	uint64_t one = 1;

	if (write(w->other, &one, sizeof(one)) < 0)
		return;
}

static bool init_timerfd(struct waiter *w)
{
	struct itimerspec each = { { 0, PAUSE_NS }, { 0, PAUSE_NS } };

	w->fd = timerfd_create(CLOCK_MONOTONIC, 0);
	must(w->fd >= 0 && !timerfd_settime(w->fd, 0, &each, NULL), "timerfd");
	called(w, "%d:%d", (int)getpid(), w->fd);
	return true;
}

static bool init_signalfd(struct waiter *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	w->fd = signalfd(-1, &set, 0);
	called(w, "%d:%d", (int)getpid(), w->fd);
	return true;
}

static void wait_signalfd(struct waiter *w)
{
	struct signalfd_siginfo info;

	if (read(w->fd, &info, sizeof(info)) < 0)
		return;
}

static void poke_signalfd(struct waiter *w)
{
	pthread_kill(w->thread, SIGUSR2);
}

static bool init_inotify(struct waiter *w)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/watched", folder);
	w->other = open(path, O_RDWR | O_CREAT, 0600);
	w->fd = inotify_init1(0);
	must(w->other >= 0 && inotify_add_watch(w->fd, path, IN_MODIFY) >= 0, "inotify");
	called(w, "%d:%d", (int)getpid(), w->fd);
	return true;
}

static void wait_inotify(struct waiter *w)
{
	char events[4096];

	if (read(w->fd, events, sizeof(events)) < 0)
		return;
}

/* ---- without a descriptor ------------------------------------------------------------------- */

static bool init_nothing(struct waiter *w)
{
	w->name[0] = '\0';
	return true;
}

static void poke_nothing(struct waiter *w)
{
	(void)w;
}

static bool init_sleep(struct waiter *w)
{
	called(w, "20ms");
	return true;
}

static void wait_sleep(struct waiter *w)
{
	struct timespec t = { 0, PAUSE_NS };

	(void)w;
	nanosleep(&t, NULL);
}

static void wait_signal(struct waiter *w)
{
	sigset_t set;

	(void)w;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &(struct timespec) { 1, 0 });
}

static void poke_signal(struct waiter *w)
{
	pthread_kill(w->thread, SIGUSR1);
}

/* A child that lives as long as the test does. */
static bool init_child(struct waiter *w)
{
	int ends[2];

	must(!pipe2(ends, O_CLOEXEC), "pipe");
	w->fd = fork();
	must(w->fd >= 0, "fork");
	if (!w->fd) {
		char c;

		close(ends[1]);
		if (read(ends[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(ends[0]);
	w->other = ends[1];
	called(w, "%d", w->fd);
	return true;
}

static void wait_child(struct waiter *w)
{
	waitpid(w->fd, NULL, 0);
	while (!ending)
		usleep(1000);
}

static bool init_semaphore(struct waiter *w)
{
	w->fd = semget(IPC_PRIVATE, 1, 0600);
	if (w->fd < 0)
		return cannot(w);
	called(w, "%d", w->fd);
	return true;
}

static void change_semaphore(struct waiter *w, short by)
{
	struct sembuf op = { 0, by, 0 };

	if (semop(w->fd, &op, 1))
		return;
}

static void wait_semaphore(struct waiter *w)
{
	change_semaphore(w, -1);
}

static void poke_semaphore(struct waiter *w)
{
	change_semaphore(w, 1);
}

/* A ring that has nothing to do until its timeout. */
static bool init_uring(struct waiter *w)
{
	struct io_uring_params p = { 0 };

	w->fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	if (w->fd < 0)
		return cannot(w);
	called(w, "%d:%d", (int)getpid(), w->fd);
	return true;
}

static void wait_uring(struct waiter *w)
{
	syscall(SYS_io_uring_enter, w->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static void handle(int signal)
{
	(void)signal;
}

#if defined(__x86_64__)
/* A system call of a 32-bit program: its number and registers are others. */
static long call_32(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static bool init_32(struct waiter *w)
{
	init_pipe(w);
	w->word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
		       -1, 0);
	must(w->word != MAP_FAILED, "mmap");
	/* read() of nothing: -ENOSYS where the kernel has no such calls */
	errno = (int)-call_32(3, -1, (long)w->word, 0);
	return errno == EBADF || cannot(w);
}

static void wait_32(struct waiter *w)
{
	call_32(3, w->fd, (long)w->word, 8);
}
#endif

/* ---- all of them ---------------------------------------------------------------------------- */

#define WAITER(c, i, w, p)                                  \
	{                                                   \
		.class = c, .init = i, .wait = w, .poke = p \
	}

static struct waiter waiters[] = {
	WAITER("pipe", init_pipe, read_byte, write_byte),
	WAITER("pipe", init_fifo, read_byte, write_byte),
	WAITER("file", init_file, wait_file, poke_file),
	WAITER("tcp", init_tcp, read_byte, write_byte),
	WAITER("tcp", init_tcp6, read_byte, write_byte),
	WAITER("tcp", init_accept, wait_accept, poke_accept),
	WAITER("udp", init_udp, read_byte, write_byte),
	WAITER("unix", init_unix, read_byte, write_byte),
	WAITER("futex", init_futex, wait_futex, poke_futex),
	WAITER("futex", init_heap_futex, wait_futex, poke_futex),
	WAITER("futex", init_shared_futex, wait_shared_futex, poke_shared_futex),
	WAITER("epoll", init_epoll, wait_epoll, write_byte),
	WAITER("poll", init_poll, wait_poll, write_byte),
	WAITER("poll", init_poll_2, wait_poll_2, write_byte),
	WAITER("select", init_poll_2, wait_select, write_byte),
	WAITER("eventfd", init_eventfd, read_byte, poke_eventfd),
	WAITER("timerfd", init_timerfd, read_byte, poke_nothing),
	WAITER("signalfd", init_signalfd, wait_signalfd, poke_signalfd),
	WAITER("inotify", init_inotify, wait_inotify, write_byte),
	WAITER("sleep", init_sleep, wait_sleep, poke_nothing),
	WAITER("signal", init_nothing, wait_signal, poke_signal),
	WAITER("child", init_child, wait_child, poke_nothing),
	WAITER("ipc", init_semaphore, wait_semaphore, poke_semaphore),
	WAITER("io_uring", init_uring, wait_uring, poke_signal),
#if defined(__x86_64__)
	WAITER("pipe", init_32, wait_32, write_byte),
#endif
};

#define N_WAITERS (sizeof(waiters) / sizeof(waiters[0]))

static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *arg)
{
	struct waiter *w = arg;
	sigset_t unblocked;

	/* A ring's wait ends by a signal alone. */
	sigemptyset(&unblocked);
	if (!strcmp(w->class, "io_uring")) {
		sigaddset(&unblocked, SIGUSR1);
		pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
	}
	pthread_mutex_lock(&telling);
	printf("waits %d %s%s%s\n", (int)gettid(), w->class, *w->name ? " " : "", w->name);
	pthread_mutex_unlock(&telling);
	while (!ending)
		w->wait(w);
	return NULL;
}

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		fprintf(stderr, "classes: %s stays\n", folder);
}

int main(int argc, char **argv)
{
	int pokes = (argc > 1 ? atoi(argv[1]) : 2) * (1000000000 / PAUSE_NS);
	sigset_t blocked;

	must(mkdtemp(folder), "mkdtemp");
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGUSR1, &(struct sigaction) { .sa_handler = handle }, NULL);
	/* The child first: it has none of the other descriptors. */
	for (size_t i = 0; i < N_WAITERS; i++) {
		struct waiter *w = &waiters[i];

		w->without = !w->init(w);
	}
	for (size_t i = 0; i < N_WAITERS; i++)
		if (!waiters[i].without)
			must(!pthread_create(&waiters[i].thread, NULL, run, &waiters[i]),
			     "pthread_create");
	for (int n = 0; n < pokes; n++) {
		usleep(PAUSE_NS / 1000);
		for (size_t i = 0; i < N_WAITERS; i++)
			if (!waiters[i].without)
				waiters[i].poke(&waiters[i]);
	}
	ending = true;
	for (size_t i = 0; i < N_WAITERS; i++) {
		struct waiter *w = &waiters[i];

		if (w->without)
			continue;
		if (!strcmp(w->class, "child"))
			close(w->other);
		for (int n = 0; pthread_tryjoin_np(w->thread, NULL) && n < 1000; n++) {
			w->poke(w);
			usleep(2000);
		}
		if (!strcmp(w->class, "ipc"))
			semctl(w->fd, 0, IPC_RMID);
	}
	clean();
	return 0;
}
