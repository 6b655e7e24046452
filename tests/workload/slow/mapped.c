// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a mapped file (argument: its path) page by page, none of which is in memory. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "slow.h"

static NOINLINE int sum_page(const volatile char *page)
{
	int sum = 0;

	for (int i = 0; i < 4096; i += 64)
		sum += page[i];
	return sum;
}

int main(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "", O_RDONLY);
	uint64_t end = now_us() + RUN_US;
	struct stat st;
	char *map;

	if (fd < 0 || fstat(fd, &st))
		die("open");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	madvise(map, (size_t)st.st_size, MADV_RANDOM);
	call_it("summer");
	while (now_us() < end) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		for (off_t at = 0; at + 4096 <= st.st_size && now_us() < end; at += 4096)
			after += sum_page(map + at);
		madvise(map, (size_t)st.st_size, MADV_DONTNEED);
	}
	return 0;
}
