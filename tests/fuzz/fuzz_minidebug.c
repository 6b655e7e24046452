// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as the section .gnu_debugdata of a program. After an even first byte they
 * are the section as it is; after an odd one they are what is packed in it, to get past the xz
 * format's checksums, and have to come out as what they are without that.
 */
#include "collector.h"

#include <elf.h>
#include <errno.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#include "elf/elfsym.h"
#include "elf/debugfile.h"

#define ADDRESSES 24u

static const char section_names[] = "\0.gnu_debugdata\0.shstrtab";

/* A program with nothing but that section; *len is its size. To be freed. */
static uint8_t *program_with(const uint8_t *section, size_t n, size_t *len)
{
	size_t names_at = sizeof(Elf64_Ehdr) + n,
	       headers_at = (names_at + sizeof(section_names) + 7) & ~(size_t)7;
	Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = headers_at,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	Elf64_Shdr sections[3] = {
		[1] = { .sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_offset = sizeof(h),
			.sh_size = n,
			.sh_addralign = 1 },
		[2] = { .sh_name = 16,
			.sh_type = SHT_STRTAB,
			.sh_offset = names_at,
			.sh_size = sizeof(section_names),
			.sh_addralign = 1 },
	};
	uint8_t *p = calloc(1, headers_at + sizeof(sections));

	must(p != NULL);
	memcpy(p, &h, sizeof(h));
	if (n)
		memcpy(p + sizeof(h), section, n);
	memcpy(p + names_at, section_names, sizeof(section_names));
	memcpy(p + headers_at, sections, sizeof(sections));
	*len = headers_at + sizeof(sections);
	return p;
}

#ifdef HAVE_LZMA
static uint8_t *put_le32(uint8_t *p, uint32_t v)
{
	for (unsigned int i = 0; i < 32; i += 8)
		*p++ = (uint8_t)(v >> i);
	return p;
}

static uint8_t *put_varint(uint8_t *p, size_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Zeros up to a multiple of four bytes from start. */
static uint8_t *pad(uint8_t *p, const uint8_t *start)
{
	while ((p - start) % 4)
		*p++ = 0;
	return p;
}

/* In chunks that are not compressed: an encoder would take a hundred times as long as the rest. */
static uint8_t *put_chunks(uint8_t *p, const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t n = size - at < 0x10000 ? size - at : 0x10000;

		*p++ = at ? 2 : 1; /* the first one resets the dictionary */
		*p++ = (uint8_t)((n - 1) >> 8);
		*p++ = (uint8_t)(n - 1);
		memcpy(p, data + at, n);
		p += n;
		at += n;
	}
	*p++ = 0;
	return p;
}
#endif

/* An xz file of one block (the xz file format, version 1.1), in at most size * 2 + 1024 bytes. */
static size_t pack(const uint8_t *data, size_t size, uint8_t *out)
{
#ifdef HAVE_LZMA
	static const uint8_t magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0, 0, 1 };
	static const uint8_t block[] = { 2, 0, 0x21, 1, 0, 0, 0, 0 };
	uint8_t *p = out, *start, *index;
	size_t unpadded;

	memcpy(p, magic, sizeof(magic));
	p = put_le32(p + sizeof(magic), lzma_crc32(magic + 6, 2, 0));
	start = p;
	memcpy(p, block, sizeof(block));
	p = put_le32(p + sizeof(block), lzma_crc32(block, sizeof(block), 0));
	p = put_chunks(p, data, size);
	unpadded = (size_t)(p - start) + 4;
	p = put_le32(pad(p, start), lzma_crc32(data, size, 0));
	index = p;
	*p++ = 0;
	*p++ = 1;
	p = pad(put_varint(put_varint(p, unpadded), size), index);
	p = put_le32(p, lzma_crc32(index, (size_t)(p - index), 0));
	start = p + 4;
	put_le32(start, (uint32_t)(p - index) / 4 - 1);
	memcpy(start + 4, "\0\1YZ", 4);
	put_le32(p, lzma_crc32(start, 6, 0));
	return (size_t)(start + 8 - out);
#else
	memcpy(out, data, size);
	return size;
#endif
}

static void find(struct elfsym *e, const uint8_t *data, size_t size)
{
	struct elfsym_address a[ADDRESSES];

	for (size_t i = 0; i < ADDRESSES; i++)
		a[i] = (struct elfsym_address) { .vaddr = number_at(data, size, i) };
	for (size_t i = 1; i < ADDRESSES; i++) {
		struct elfsym_address key = a[i];
		size_t at = i;

		for (; at && a[at - 1].vaddr > key.vaddr; at--)
			a[at] = a[at - 1];
		a[at] = key;
	}
	elfsym_find(e, a, ADDRESSES);
	for (size_t i = 0; i < ADDRESSES; i++)
		must(!a[i].name || (a[i].start <= a[i].vaddr && *a[i].name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elfsym *e, *more;
	uint8_t *image, *packed;
	size_t len, packed_len;
	int err;

	if (!size)
		return 0;
	packed = malloc(size * 2 + 1024);
	must(packed != NULL);
	if (data[0] % 2) {
		packed_len = pack(data + 1, size - 1, packed);
		must(packed_len <= size * 2 + 1024);
	} else {
		packed_len = size - 1;
		memcpy(packed, data + 1, packed_len);
	}
	image = program_with(packed, packed_len, &len);
	must(elfsym_take_memory(&e, image, len) == 0);
	err = minidebug_open(&more, e);
	must(err == 0 || err == -ENOEXEC || err == -E2BIG || err == -ENOENT ||
	     (err == -ENOTSUP && !minidebug_is_supported()));
	must(!err == (more != NULL));
	if (data[0] % 2 && minidebug_is_supported()) {
		struct elfsym *plain;

		must(!elfsym_open_memory(&plain, data + 1, size - 1) == !err);
		elfsym_close(plain);
	}
	if (more) {
		find(more, data, size);
		elfsym_add(e, more);
	}
	find(e, data, size);
	elfsym_close(e);
	free(packed);
	return 0;
}
