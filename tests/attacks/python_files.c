// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes COUNT files in FOLDER that are called as Python's would be, with megabytes of code that has
 * nothing in it, and maps them. Prints "ready", and sleeps until it is ended.
 *
 *     python_files FOLDER COUNT
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_BYTES ((size_t)5 << 20)

static int make_file(const char *path)
{
	const struct {
		Elf64_Ehdr head;
		Elf64_Phdr code;
	} elf = {
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
		},
		.code = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_filesz = CODE_BYTES,
			.p_memsz = CODE_BYTES,
			.p_align = 4096,
		},
	};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, &elf, sizeof(elf)) != (ssize_t)sizeof(elf) ||
	    ftruncate(fd, (off_t)CODE_BYTES))
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	char path[4096];

	for (unsigned long i = 0; i < count; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/python-%lu", argv[1], i);
		fd = make_file(path);
		if (fd < 0 ||
		    mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return 1;
		close(fd);
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
