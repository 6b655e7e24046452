/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contexts.h - scenarios in which something else than an ordinary call wakes the thread: a kernel
 * worker, ksoftirqd, a softirq on an interrupt's way out, an interrupt that hits a busy bystander;
 * and a waker whose own stack is too deep to be walked. A part of chainload's one translation unit.
 */
#pragma once

#include <linux/loop.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <termios.h>

#include "hop.h"
#include "options.h"
#include "scratch.h"
#include "threads.h"

/* More frames than any tracer walks. */
#define DEEP 200

/* ---- terminal: what typist writes to a pseudo terminal, a kernel worker passes on to reader -- */

static struct terminal {
	int master, slave;
} terminal;

IN_STACK int reader_waits(void)
{
	char byte;

	return TRANSFER(read(terminal.slave, &byte, 1), 1);
}

IN_STACK int reader_runs(struct thread *reader)
{
	int error = 0;

	for (; !error && reader->rounds < options.rounds; reader->rounds++)
		error = reader_waits();
	return error;
}

IN_STACK void typist_waits(struct thread *typist)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000;

	count_held(typist);
	sleep_until(until_ns);
	typist->let_go_ns = until_ns;
}

IN_STACK void typist_works(struct thread *typist)
{
	work_on_cpu(typist, options.work_us[0]);
}

IN_STACK int typist_types(void)
{
	char byte = 'c';

	return TRANSFER(write(terminal.master, &byte, 1), 1);
}

IN_STACK int typist_runs(struct thread *typist)
{
	int error = 0;

	for (; !error && typist->rounds < options.rounds; typist->rounds++) {
		typist_waits(typist);
		typist_works(typist);
		error = typist_types();
	}
	count_held(typist);
	return error;
}

static int pair_opens(struct terminal *pair)
{
	struct termios raw;

	pair->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (pair->master < 0 || unlockpt(pair->master))
		return -errno;
	pair->slave = open(ptsname(pair->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (pair->slave < 0 || tcgetattr(pair->slave, &raw))
		return -errno;
	cfmakeraw(&raw);
	return tcsetattr(pair->slave, TCSANOW, &raw) ? -errno : 0;
}

static int terminal_sets_up(void)
{
	int error = pair_opens(&terminal);

	crew_add("reader", reader_runs);
	crew_add("typist", typist_runs);
	return error;
}

/* ---- terminals: and the same workers pass on what noisy writes to another one, each 2 ms ----- */

#define NOISE_US 2000

static struct terminal other_terminal;
static atomic_bool is_quiet;

IN_STACK int noisy_types(char byte)
{
	return TRANSFER(write(other_terminal.master, &byte, 1), 1);
}

IN_STACK int noisy_runs(struct thread *noisy)
{
	int error = 0;

	for (; !error && !atomic_load(&is_quiet); noisy->rounds++) {
		sleep_until(clock_ns(CLOCK_MONOTONIC) + NOISE_US * 1000);
		error = noisy_types('c');
	}
	return error ? error : noisy_types('q');
}

IN_STACK int listener_runs(struct thread *listener)
{
	char byte = 'c';
	int error = 0;

	for (; !error && byte != 'q'; listener->rounds++)
		error = TRANSFER(read(other_terminal.slave, &byte, 1), 1);
	return error;
}

IN_STACK int busy_typist_runs(struct thread *typist)
{
	int error = 0;

	for (; !error && typist->rounds < options.rounds; typist->rounds++) {
		typist_works(typist);
		error = typist_types();
	}
	count_held(typist);
	atomic_store(&is_quiet, true);
	return error;
}

static int terminals_sets_up(void)
{
	int error = pair_opens(&terminal);

	if (!error)
		error = pair_opens(&other_terminal);
	crew_add("reader", reader_runs);
	crew_add("typist", busy_typist_runs);
	crew_add("noisy", noisy_runs);
	crew_add("listener", listener_runs);
	return error;
}

/*
 * ---- loopdev: reads from a loop device ----
 *
 * A kernel worker does the reading. Outside of any interrupt it then raises the block softirq
 * (blk_mq_complete_request() with one queue for several CPUs), and this is ksoftirqd's to run.
 */

#define LOOP_BLOCK 4096
#define LOOP_BLOCKS 256

static struct {
	int fd;
	void *block;
} loopdev;

IN_STACK int loopdev_reads(uint64_t offset)
{
	return TRANSFER(pread(loopdev.fd, loopdev.block, LOOP_BLOCK, (off_t)offset), LOOP_BLOCK);
}

IN_STACK int loopdev_runs(struct thread *thread)
{
	for (; thread->rounds < options.rounds; thread->rounds++) {
		uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
		int done = loopdev_reads(thread->rounds % LOOP_BLOCKS * LOOP_BLOCK);

		if (done < 0)
			return done;
		thread->waited_ns += clock_ns(CLOCK_MONOTONIC) - began_ns;
	}
	return 0;
}

/* A free loop device on top of file, gone when it is closed: a descriptor or a negative errno. */
static int open_loop_device(int file)
{
	struct loop_config config = { .fd = (uint32_t)file,
				      .info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_READ_ONLY };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), number, fd, error;
	char path[32];

	if (control < 0)
		return -errno;
	for (int tries = 0; tries < 20; tries++) {
		number = ioctl(control, LOOP_CTL_GET_FREE);
		snprintf(path, sizeof(path), "/dev/loop%d", number);
		fd = number < 0 ? -1 : open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
		if (fd >= 0 && !ioctl(fd, LOOP_CONFIGURE, &config))
			return fd;
		error = errno;
		if (fd >= 0)
			close(fd);
		/* Another process may have been faster. */
		if (fd < 0 || error != EBUSY)
			return -error;
	}
	return -EBUSY;
}

static int loopdev_sets_up(void)
{
	int file = open_scratch(0);

	if (file < 0)
		return file;
	loopdev.block = aligned_alloc(LOOP_BLOCK, LOOP_BLOCK);
	if (!loopdev.block)
		return -ENOMEM;
	if (ftruncate(file, LOOP_BLOCKS * LOOP_BLOCK))
		return -errno;
	loopdev.fd = open_loop_device(file);
	if (loopdev.fd < 0)
		return loopdev.fd;
	crew_add("loopdev", loopdev_runs);
	return 0;
}

/* ---- timeout: a receive that nobody answers is ended by the timer softirq ---- */

static int timeout_fds[2];

IN_STACK int receiver_waits(void)
{
	char byte;

	return TRANSFER(recv(timeout_fds[0], &byte, 1, 0), 1);
}

IN_STACK int receiver_runs(struct thread *thread)
{
	for (; thread->rounds < options.rounds; thread->rounds++) {
		uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
		int result = receiver_waits();

		if (result != -EAGAIN)
			return result ? result : -EPROTO;
		thread->waited_ns += clock_ns(CLOCK_MONOTONIC) - began_ns;
	}
	return 0;
}

static int timeout_sets_up(void)
{
	struct timeval timeout = { (time_t)(options.sleep_us / 1000000),
				   (suseconds_t)(options.sleep_us % 1000000) };

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, timeout_fds) ||
	    setsockopt(timeout_fds[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		return -errno;
	crew_add("receiver", receiver_runs);
	return 0;
}

/* ---- bystander: works in a deep recursion on the CPU whose interrupts wake sleeper ---- */

static _Atomic uint32_t sleeper_done;

/* The last CPU that this process may use. */
static int stay_on_one_cpu(void)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	while (cpu && !CPU_ISSET((size_t)cpu, &set))
		cpu--;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

IN_STACK void bystander_works(int depth)
{
	if (depth > 1)
		bystander_works(depth - 1);
	while (depth == 1 && !sleeper_done)
		for (int i = 0; i < 200; i++)
			__asm__ volatile("" ::: "memory");
	/* Nothing may follow the call in its place. */
	__asm__ volatile("" ::: "memory");
}

IN_STACK int bystander_runs(struct thread *bystander)
{
	int error = stay_on_one_cpu();

	if (!error)
		bystander_works(DEEP);
	bystander->rounds++;
	return error;
}

IN_STACK void sleeper_waits(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK int sleeper_runs(struct thread *sleeper)
{
	int error = stay_on_one_cpu();

	for (; !error && sleeper->rounds < options.rounds; sleeper->rounds++)
		sleeper_waits();
	sleeper_done = 1;
	return error;
}

static int bystander_sets_up(void)
{
	crew_add("bystander", bystander_runs);
	crew_add("sleeper", sleeper_runs);
	return 0;
}

/* ---- deep: wakes shallow from a recursion deeper than what is recorded of a stack ---- */

static struct hop shallow_hop;

IN_STACK int shallow_waits(void)
{
	return hop_wait(&shallow_hop);
}

IN_STACK int shallow_runs(struct thread *shallow)
{
	int error = 0;

	for (; !error && shallow->rounds < options.rounds; shallow->rounds++) {
		count_wait();
		error = shallow_waits();
	}
	return error;
}

IN_STACK int deep_wakes_shallow(void)
{
	return hop_pass(&shallow_hop);
}

IN_STACK void deep_works(struct thread *deep)
{
	work_on_cpu(deep, options.work_us[0]);
}

IN_STACK void deep_waits(struct thread *deep)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000;

	count_held(deep);
	sleep_until(until_ns);
	deep->let_go_ns = until_ns;
}

IN_STACK int deep_descends(struct thread *deep, int depth)
{
	int error;

	if (depth > 1) {
		error = deep_descends(deep, depth - 1);
	} else {
		awaits_waiter(deep->rounds + 1);
		deep_waits(deep);
		deep_works(deep);
		error = deep_wakes_shallow();
	}
	__asm__ volatile("" ::: "memory");
	return error;
}

IN_STACK int deep_runs(struct thread *deep)
{
	int error = 0;

	for (; !error && deep->rounds < options.rounds; deep->rounds++)
		error = deep_descends(deep, DEEP);
	count_held(deep);
	return error;
}

static int deep_sets_up(void)
{
	int error = hop_open(&shallow_hop, HOP_FUTEX);

	crew_add("shallow", shallow_runs);
	crew_add("deep", deep_runs);
	return error;
}
