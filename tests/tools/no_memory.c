// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: from the allocation with the number $NO_MEMORY_FROM on there is no memory. Writes
 * the number of allocations into the file $NO_MEMORY_COUNT, if that is given.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static atomic_ulong count;

static int fails(void)
{
	static atomic_ulong from;
	const char *text;

	if (!from) {
		text = getenv("NO_MEMORY_FROM");
		from = text ? strtoul(text, NULL, 10) : -1ul;
	}
	if (++count < from)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("NO_MEMORY_COUNT");
	unsigned long n = count;
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", n);
	fclose(f);
}
