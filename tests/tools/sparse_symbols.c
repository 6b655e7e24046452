// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sparse_symbols FILE MIB - makes the symbol table of an ELF program and its names as large as that
 * together: zeros after its end, which take no place on the disk and all of that in memory. The
 * program runs as before. Exit status: 0 done.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_large(uint8_t *file, uint64_t end, uint64_t half)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)file;
	Elf64_Shdr *sections = (Elf64_Shdr *)(file + h->e_shoff);

	for (unsigned int i = 0; i < h->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		sections[i].sh_offset = end;
		sections[i].sh_size = half - half % sizeof(Elf64_Sym);
		sections[sections[i].sh_link].sh_offset = end + half;
		sections[sections[i].sh_link].sh_size = half;
		return 0;
	}
	fputs("sparse_symbols: no symbol table\n", stderr);
	return 1;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1, failed;
	uint64_t half, end;
	struct stat st;
	uint8_t *file;

	if (fd < 0 || fstat(fd, &st)) {
		perror("sparse_symbols FILE MIB");
		return 1;
	}
	file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	half = strtoull(argv[2], NULL, 10) << 19;
	end = ((uint64_t)st.st_size + 4095) & ~UINT64_C(4095);
	if (file == MAP_FAILED || ftruncate(fd, (off_t)(end + 2 * half))) {
		perror(argv[1]);
		return 1;
	}
	failed = make_large(file, end, half);
	munmap(file, (size_t)st.st_size);
	close(fd);
	return failed;
}
