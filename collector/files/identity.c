// SPDX-License-Identifier: GPL-2.0-or-later
#include "identity.h"

#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct shown {
	unsigned int maj, min;
	uint64_t ino;
};

/* What /proc/self/maps shows for the mapping at addr. */
static bool find_shown(uint64_t addr, struct shown *out)
{
	FILE *f = fopen("/proc/self/maps", "re");
	bool is_found = false;
	char *line = NULL;
	size_t cap = 0;

	if (!f)
		return false;
	while (!is_found && getline(&line, &cap, f) > 0) {
		uint64_t start, end;

		is_found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %*x %x:%x %" SCNu64, &start,
				  &end, &out->maj, &out->min, &out->ino) == 5 &&
			   start <= addr && addr < end;
	}
	free(line);
	fclose(f);
	return is_found;
}

/* As the kernel shows any process's mapping of the file. Nothing of the file is read. */
static bool is_shown_as(int fd, uint32_t maj, uint32_t min, uint64_t ino)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	struct shown s;
	bool is_it;

	if (p == MAP_FAILED)
		return false;
	is_it = find_shown((uint64_t)(uintptr_t)p, &s) && s.maj == maj && s.min == min &&
		s.ino == ino;
	munmap(p, page);
	return is_it;
}

bool identity_is(int fd, uint32_t maj, uint32_t min, uint64_t ino)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	/* Device numbers belong to one file system at a time, so this cannot be another's. */
	if (st.st_ino == ino && major(st.st_dev) == maj && minor(st.st_dev) == min)
		return true;
	return is_shown_as(fd, maj, min, ino);
}

uint32_t identity_generation(int fd)
{
	/* The kernel writes an int, although the number of the request says long. */
	long generation = 0;

	return ioctl(fd, FS_IOC_GETVERSION, &generation) ? 0 : (uint32_t)generation;
}
