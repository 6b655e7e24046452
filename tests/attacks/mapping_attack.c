// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps COUNT pages of its own file executable, each as a mapping of its own. Then it sleeps or,
 * with "again", maps the one in the middle anew for ever. Prints "ready" before that.
 *
 *     mapping_attack COUNT [again]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *at = mmap(NULL, (count + 1) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || at == MAP_FAILED)
		return 1;
	/* Neighbours that follow each other in the file would become one mapping. */
	for (size_t i = 0; i < count; i++)
		if (mmap(at + i * page, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			 (off_t)(i % 2 * page)) == MAP_FAILED)
			return 1;
	puts("ready");
	fflush(stdout);
	for (size_t i = 0; argc > 2 && !strcmp(argv[2], "again"); i++)
		if (mmap(at + count / 2 * page, page, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, (off_t)(i % 2 * page)) == MAP_FAILED)
			return 1;
	pause();
	return 0;
}
