// SPDX-License-Identifier: GPL-2.0-or-later
/* A library with one function, NAME, which sleeps for 2 ms and calls nothing: x86-64 and arm64. */
static const long nap[2] = { 0, 2000000 };

__attribute__((visibility("default"), aligned(4096))) void NAME(void)
{
#if defined(__x86_64__)
	long ret = 35; /* nanosleep */

	__asm__ volatile("syscall" : "+a"(ret) : "D"(nap), "S"(0) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = 101;
	register const void *first __asm__("x0") = nap;
	register long second __asm__("x1") = 0;

	__asm__ volatile("svc #0" : "+r"(first) : "r"(number), "r"(second) : "memory");
#endif
}
