// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A 32-bit program without a C library: 20 times outer() calls inner(), which sleeps 20 ms by the
 * function of the vDSO (AT_SYSINFO) that enters the kernel.
 */
/* <elf.h> needs the headers of a 32-bit C library. */
#define AT_NULL 0
#define AT_SYSINFO 32
#define NR_EXIT 1
#define NR_NANOSLEEP 162

static unsigned int enter_kernel;

static int call(int number, const void *a, const void *b)
{
	int result;

	__asm__ volatile("call *%1"
			 : "=a"(result)
			 : "m"(enter_kernel), "0"(number), "b"(a), "c"(b), "d"(0)
			 : "memory");
	return result;
}

__attribute__((noinline)) static int inner(void)
{
	static const int time[2] = { 0, 20000000 };

	return call(NR_NANOSLEEP, time, 0);
}

__attribute__((noinline)) static int outer(void)
{
	int result = inner();

	__asm__ volatile("" : "+r"(result)); /* no call at the end */
	return result;
}

__attribute__((used)) static void begin(unsigned int *stack)
{
	unsigned int *p = stack + 1 + stack[0] + 1;

	while (*p)
		p++;
	for (p++; p[0] != AT_NULL; p += 2)
		if (p[0] == AT_SYSINFO)
			enter_kernel = p[1];
	for (int i = 0; enter_kernel && i < 20; i++)
		outer();
	__asm__ volatile("int $0x80" : : "a"(NR_EXIT), "b"(enter_kernel ? 0 : 77));
	for (;;)
		;
}

__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %esp, %eax\n push %eax\n call begin\n");
