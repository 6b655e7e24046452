// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * evil_frames FILE KIND - changes the call frame information of an ELF program, which runs as
 * before as long as nothing is thrown. KIND:
 *
 *     none        the section is empty: it begins with the record that ends it
 *     ones        all bytes behind the first record's length; also: zeros, random
 *     flips       one bit of each hundredth byte
 *     long        each record says that it is as long as 4 GiB
 *     long64      as 2^63 bytes, in 64 bits
 *     self        each record of a function says that it is its own common part
 *     before      that this part is outside the file
 *     advance     all instructions of functions are advance_loc4 by all ones
 *     stack       they are remember_state
 *     unstack     restore_state, more often than there was one to remember
 *     cfa         def_cfa of the stack pointer and the largest offset
 *     expression  def_cfa_expression, which says that it is as long as 32 GiB
 *     loop        an expression that jumps to its own beginning
 *     covers      each record says that it is for all addresses
 *
 * The format is that of the Linux Standard Base, "Exception Frames", and DWARF 5, section 6.4.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ADVANCE_LOC4 = 0x04,
	REMEMBER = 0x0a,
	RESTORE = 0x0b,
	DEF_CFA = 0x0c,
	DEF_CFA_EXPRESSION = 0x0f
};
enum { OP_SKIP = 0x2f };

static const char *kind;
static uint32_t seed = 1;

static int is(const char *name)
{
	return !strcmp(kind, name);
}

static uint8_t random_byte(void)
{
	seed = seed * 1103515245 + 12345;
	return (uint8_t)(seed >> 16);
}

/* The instructions of a function's record, or of what is common to some. */
static void change_instructions(uint8_t *p, uint8_t *end)
{
	static const uint8_t advance[] = { ADVANCE_LOC4, 0xff, 0xff, 0xff, 0xff },
			     cfa[] = { DEF_CFA, 7,    0xff, 0xff, 0xff, 0xff,
				       0xff,	0xff, 0xff, 0xff, 0x7f },
			     longest[] = { DEF_CFA_EXPRESSION, 0xff, 0xff, 0xff, 0xff, 0x7f },
			     loop[] = { DEF_CFA_EXPRESSION, 3, OP_SKIP, 0xfd, 0xff };
	const uint8_t *what = NULL;
	size_t n = 0;

#define REPEAT(bytes) (what = (bytes), n = sizeof(bytes))
	if (is("advance"))
		REPEAT(advance);
	if (is("cfa"))
		REPEAT(cfa);
	if (is("expression"))
		REPEAT(longest);
	if (is("loop"))
		REPEAT(loop);
	if (is("stack") || is("unstack"))
		memset(p, is("stack") ? REMEMBER : RESTORE, (size_t)(end - p));
	for (; what && p + n <= end; p += n)
		memcpy(p, what, n);
}

static void change_record(uint8_t *p, uint32_t len, uint32_t id)
{
	static const uint64_t all = UINT64_MAX;
	uint32_t self = 4;

	if (is("long"))
		memcpy(p, &(uint32_t) { 0xfffffff0 }, 4);
	if (is("long64")) {
		memcpy(p, &(uint32_t) { 0xffffffff }, 4);
		memcpy(p + 4, &(uint64_t) { 1ull << 63 }, len >= 8 ? 8 : 4);
	}
	if (!id) /* what is common to some functions */
		return;
	if (is("self") || is("before"))
		memcpy(p + 4, is("self") ? &self : &(uint32_t) { 0x7ffffff0 }, 4);
	if (is("covers") && len >= 12)
		memcpy(p + 12, &all, 4);
	/* Behind the addresses and the length of what follows them, which is none in C. */
	if (len > 13)
		change_instructions(p + 4 + 13, p + 4 + len);
}

static void change(uint8_t *section, uint64_t bytes)
{
	uint32_t len, id;

	if (is("none"))
		memset(section, 0, 4);
	for (uint64_t i = 4; i < bytes; i++) {
		if (is("ones") || is("zeros"))
			section[i] = is("ones") ? 0xff : 0;
		if (is("random"))
			section[i] = random_byte();
		if (is("flips") && random_byte() < 3)
			section[i] ^= (uint8_t)(1u << (random_byte() & 7));
	}
	for (uint64_t at = 0; at + 8 <= bytes; at += 4 + (uint64_t)len) {
		memcpy(&len, section + at, 4);
		memcpy(&id, section + at + 4, 4);
		if (!len || len > bytes - at - 4 || is("ones") || is("zeros") || is("random") ||
		    is("flips"))
			break;
		change_record(section + at, len, id);
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	const Elf64_Shdr *sections;
	const Elf64_Ehdr *h;
	struct stat st;
	uint8_t *file;

	if (fd < 0 || fstat(fd, &st)) {
		perror("evil_frames FILE KIND");
		return 1;
	}
	kind = argv[2];
	file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	h = (const Elf64_Ehdr *)file;
	sections = (const Elf64_Shdr *)(file + h->e_shoff);
	for (unsigned int i = 0; i < h->e_shnum; i++) {
		const char *name = (const char *)file + sections[h->e_shstrndx].sh_offset +
				   sections[i].sh_name;

		if (strcmp(name, ".eh_frame"))
			continue;
		change(file + sections[i].sh_offset, sections[i].sh_size);
		return 0;
	}
	fputs("evil_frames: no .eh_frame\n", stderr);
	return 1;
}
