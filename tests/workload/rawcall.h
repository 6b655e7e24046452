/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rawcall.h - system calls without the C library in between.
 *
 * Distributions build glibc without frame pointers: a frame-pointer walk that starts inside its
 * wrapper of futex(2) or read(2) loses the caller. A thread whose stack is checked frame by
 * frame therefore enters the kernel from its own function, by the instruction itself.
 */
#ifndef CHAINLOAD_RAWCALL_H
#define CHAINLOAD_RAWCALL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INLINED static inline __attribute__((always_inline))

/* Functions that must be found in a stack under their own name: never inlined, cloned or folded. */
#if defined(__has_attribute)
#if __has_attribute(noipa)
#define IN_STACK static __attribute__((noipa))
#endif
#endif
#ifndef IN_STACK
#define IN_STACK static __attribute__((noinline))
#endif

/* Result of the system call, or a negative errno. Unused arguments are 0. */
INLINED long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	/* Uses the frame pointer, so that even a function that only does this call sets one up. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
#if defined(__x86_64__)
	long result = number;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
	long result = syscall(number, a, b, c, d, e, f);

	return result < 0 ? -errno : result;
#endif
}

/* Reads or writes exactly len bytes at once; 0, or a negative errno (-EPIPE at the end of file). */
INLINED int raw_transfer(long number, int fd, void *buffer, size_t len)
{
	long done;

	do
		done = raw_call(number, fd, (long)(intptr_t)buffer, (long)len, 0, 0, 0);
	while (done == -EINTR);
	if (done < 0)
		return (int)done;
	return (size_t)done == len ? 0 : -EPIPE;
}

/* The clock in nanoseconds. */
INLINED uint64_t raw_clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	raw_call(SYS_clock_gettime, clock, (long)(intptr_t)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Sleeps until CLOCK_MONOTONIC shows deadline_ns. */
INLINED void raw_sleep_until(uint64_t deadline_ns)
{
	struct timespec until = { (time_t)(deadline_ns / 1000000000u),
				  (long)(deadline_ns % 1000000000u) };

	while (raw_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)(intptr_t)&until,
			0, 0, 0) == -EINTR)
		;
}

#endif
