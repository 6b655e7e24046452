// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program of 32 bits, without any library: sleeps for 2 ms again and again in odd_naps(), which
 * odd_middle() calls. With an argument it ends at once.
 */
static const struct {
	int seconds, ns;
} nap = { 0, 2000000 };

static int call(int number, int a, int b, int c)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

__attribute__((noinline)) static void odd_naps(void)
{
	call(162, (int)&nap, 0, 0); /* nanosleep */
	__asm__ volatile("");
}

__attribute__((noinline)) static void odd_middle(void)
{
	odd_naps();
	__asm__ volatile("");
}

__attribute__((noinline, used)) static void odd_begins(const int *argc)
{
	if (*argc > 1)
		call(1, 0, 0, 0);
	call(4, 1, (int)"ready\n", 6);
	for (;;)
		odd_middle();
}

__asm__(".globl _start\n_start:	xor %ebp, %ebp\n	push %esp\n	call odd_begins");
