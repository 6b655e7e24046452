// SPDX-License-Identifier: GPL-2.0-or-later
/* Pipes, files, page faults of mapped files, and descriptors without a file. */
#define _GNU_SOURCE
#include "waiter.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

void read_byte(struct waiter *w)
{
	char c[8];

	if (read(w->fd, c, sizeof(c)) < 0)
		return;
}

void write_byte(struct waiter *w)
{
	if (write(w->other, "x", 1) < 0)
		return;
}

unsigned long inode_of(int fd)
{
	struct stat st;

	must(!fstat(fd, &st), "fstat");
	return (unsigned long)st.st_ino;
}

bool init_pipe(struct waiter *w)
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
	char path[64];

	snprintf(path, sizeof(path), "%s/fifo", folder);
	must(!mkfifo(path, 0600), "mkfifo");
	w->fd = open(path, O_RDWR);
	w->other = open(path, O_WRONLY);
	must(w->fd >= 0 && w->other >= 0, "open fifo");
	called(w, "%s", path);
	return true;
}

/* A file that another description has locked, for most of the time; each class has its own. */
static bool init_file(struct waiter *w)
{
	called(w, "%s/some %s", folder, w->class);
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

/* Asks again and again; and the same by the first byte of a file. */
static void poll_file(struct waiter *w)
{
	if (flock(w->fd, LOCK_EX | LOCK_NB))
		usleep(10000);
}

static bool init_range(struct waiter *w)
{
	struct flock first = { .l_type = F_WRLCK, .l_len = 1 };

	called(w, "%s/some range", folder);
	w->fd = open(w->name, O_RDWR | O_CREAT, 0600);
	w->other = open(w->name, O_RDWR);
	must(w->fd >= 0 && w->other >= 0 && !fcntl(w->other, F_OFD_SETLK, &first), "fcntl");
	return true;
}

static void poll_range(struct waiter *w)
{
	struct flock first = { .l_type = F_RDLCK, .l_len = 1 };

	if (fcntl(w->fd, F_OFD_SETLK, &first))
		poll(NULL, 0, 10);
}

/* ---- page faults ---------------------------------------------------------------------------- */

#define FAULT_PAGES 8192u

/* Memory with a file behind it, whose pages are there only when the main thread puts them there. */
static bool init_fault(struct waiter *w)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = memfd_create("not there", 0);

	w->other = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (w->other < 0)
		return cannot(w);
	must(fd >= 0 && !ftruncate(fd, (off_t)(FAULT_PAGES * page)), "memfd");
	w->word = mmap(NULL, FAULT_PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(w->word != MAP_FAILED, "mmap");
	all.range.start = (uintptr_t)w->word;
	all.range.len = FAULT_PAGES * page;
	if (ioctl(w->other, UFFDIO_API, &api) || ioctl(w->other, UFFDIO_REGISTER, &all))
		return cannot(w);
	called(w, ".../memfd:not there"); /* it is in no folder */
	return true;
}

static void wait_fault(struct waiter *w)
{
	size_t words = (size_t)sysconf(_SC_PAGESIZE) / sizeof(*w->word);

	for (unsigned int i = 0; i < FAULT_PAGES && !ending; i++) {
		__atomic_store_n(&w->fd, (int)i, __ATOMIC_RELEASE);
		*(volatile uint32_t *)(w->word + i * words) = i;
	}
}

/* The page that the thread has come to. */
static void poke_fault(struct waiter *w)
{
	static char zeros[65536];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_copy one = {
		.dst = (uintptr_t)w->word +
		       (unsigned int)__atomic_load_n(&w->fd, __ATOMIC_ACQUIRE) * page,
		.src = (uintptr_t)zeros,
		.len = page,
	};

	/* -EEXIST: it is there already. */
	ioctl(w->other, UFFDIO_COPY, &one);
}

/* ---- descriptors without a file ------------------------------------------------------------- */

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

struct waiter of_files[] = {
	WAITER("pipe", init_pipe, read_byte, write_byte),
	WAITER("pipe", init_fifo, read_byte, write_byte),
	WAITER("file", init_file, wait_file, poke_file),
	WAITER("file_lock", init_file, poll_file, poke_nothing),
	WAITER("file_lock", init_range, poll_range, poke_nothing),
	WAITER("file", init_fault, wait_fault, poke_fault),
	WAITER("eventfd", init_eventfd, read_byte, poke_eventfd),
	WAITER("timerfd", init_timerfd, read_byte, poke_nothing),
	WAITER("signalfd", init_signalfd, wait_signalfd, poke_signalfd),
	WAITER("inotify", init_inotify, wait_inotify, write_byte),
	{ .class = NULL },
};
