// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_functions FILE - prints "ADDRESS NAME" of each function that the recorder knows of an ELF
 * file, for tests that compare them with another tool's; and looks each up from its first byte, its
 * middle and its last. Exit status: 0 done, 1 a look-up gave another function, or there is none.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elf/elfsym_private.h"

struct check {
	struct elfsym *e;
	unsigned long n, wrong;
};

static void print_one(void *ctx, const char *name, uint64_t start, uint64_t size)
{
	const uint64_t at[] = { start + 1, start + size / 2 + 1, start + size };
	struct check *c = ctx;

	printf("%" PRIx64 " %s\n", start, name);
	c->n++;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct elfsym_address a = { .vaddr = at[i] };

		elfsym_find(c->e, &a, 1);
		if (a.name && !strcmp(a.name, name) && a.start == start)
			continue;
		fprintf(stderr, "%" PRIx64 " in %s: %s\n", at[i], name, a.name ? a.name : "none");
		c->wrong++;
	}
}

int main(int argc, char **argv)
{
	struct check c = { .n = 0 };
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int err = fd < 0 ? -1 : elfsym_open(&c.e, fd);

	if (err) {
		fprintf(stderr, "elf_functions: cannot read a file\n");
		return 1;
	}
	elfsym_each_function(c.e, print_one, &c);
	elfsym_close(c.e);
	close(fd);
	return c.wrong || !c.n;
}
