// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Page faults of a mapped file, each in the first instruction of peek(), which lies right behind
 * before_peek(). Then gives_up() sleeps in a call that does not return, its last instruction,
 * behind which after_it() begins. Arguments: a folder on a disk, how many faults.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 4096u

int peek(const char *p);
void gives_up(void);
void sleep_and_exit(void);
#if defined(__x86_64__)
__asm__(".text\n.globl before_peek, peek\n.type before_peek, @function\n.type peek, @function\n"
	"before_peek: .cfi_startproc\n mov %eax, %eax\n ret\n .cfi_endproc\n"
	".size before_peek, . - before_peek\n"
	"peek: .cfi_startproc\n movsbl (%rdi), %eax\n ret\n .cfi_endproc\n"
	".size peek, . - peek\n"
	".globl gives_up, after_it\n.type gives_up, @function\n.type after_it, @function\n"
	"gives_up: .cfi_startproc\n sub $8, %rsp\n .cfi_def_cfa_offset 16\n call sleep_and_exit\n "
	".cfi_endproc\n"
	".size gives_up, . - gives_up\n"
	"after_it: .cfi_startproc\n ret\n .cfi_endproc\n"
	".size after_it, . - after_it\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl before_peek, peek\n.type before_peek, @function\n.type peek, @function\n"
	"before_peek: .cfi_startproc\n mov w0, w0\n ret\n .cfi_endproc\n"
	".size before_peek, . - before_peek\n"
	"peek: .cfi_startproc\n ldrsb w0, [x0]\n ret\n .cfi_endproc\n"
	".size peek, . - peek\n"
	".globl gives_up, after_it\n.type gives_up, @function\n.type after_it, @function\n"
	"gives_up: .cfi_startproc\n stp x29, x30, [sp, -16]!\n .cfi_def_cfa_offset 16\n"
	" .cfi_offset 29, -16\n .cfi_offset 30, -8\n mov x29, sp\n bl sleep_and_exit\n "
	".cfi_endproc\n"
	".size gives_up, . - gives_up\n"
	"after_it: .cfi_startproc\n ret\n .cfi_endproc\n"
	".size after_it, . - after_it\n");
#endif

void sleep_and_exit(void)
{
	usleep(20000);
	exit(0);
}

int main(int argc, char **argv)
{
	static char page[4096];
	long faults = argc > 2 ? atol(argv[2]) : 0, sum = 0;
	char path[4096];
	char *map;
	int fd;

	if (argc < 3)
		return 2;
	snprintf(path, sizeof(path), "%s/first.XXXXXX", argv[1]);
	fd = mkstemp(path);
	if (fd < 0 || unlink(path))
		return 1;
	for (unsigned int i = 0; i < PAGES; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			return 1;
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		return 1;
	map = mmap(NULL, PAGES * sizeof(page), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || madvise(map, PAGES * sizeof(page), MADV_RANDOM))
		return 1;
	for (long i = 0; i < faults; i++)
		sum += peek(map + (size_t)(i * 7919 % PAGES) * sizeof(page));
	printf("%ld faults, %ld\n", faults, sum);
	fflush(stdout);
	gives_up();
}
