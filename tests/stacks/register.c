// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * register ROUNDS [mixed]
 *
 * Sleeps ROUNDS times below generated code that has data in the frame pointer's register, another
 * value each time: none that could be a frame pointer; with "mixed", often 0, and often the address
 * of what looks like a frame.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* code(fn, value): calls fn with the value in the register. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xf5, /* mov %rsi, %rbp */
	0xff, 0xd7,	  /* call *%rdi */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
	0xfd, 0x03, 0x01, 0xaa, /* mov x29, x1 */
	0x00, 0x00, 0x3f, 0xd6, /* blr x0 */
	0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], #16 */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
};

static volatile int never;

__attribute__((noinline)) static void naps(void)
{
	usleep(20);
	never++;
}

int main(int argc, char **argv)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	uintptr_t frame[2] = { 0, (uintptr_t)main + 4 }, value;
	int rounds = argc > 1 ? atoi(argv[1]) : 0;

	memcpy(p, code, sizeof(code));
	__builtin___clear_cache((char *)p, (char *)p + sizeof(code));
	for (int i = 1; i <= rounds; i++) {
		value = (uintptr_t)i * 0x9e3779b97f4a7c15u;
		/* Too high, too low, not aligned. */
		value = i % 3 == 0   ? value | (uintptr_t)1 << 63
			: i % 3 == 1 ? value >> 40
				     : value | 1;
		if (argc > 2 && i % 4 < 2)
			value = i % 4 ? (uintptr_t)frame : 0;
		((void (*)(void (*)(void), uintptr_t))(uintptr_t)p)(naps, value);
	}
}
