// SPDX-License-Identifier: GPL-2.0-or-later
/* What names take of a file, at the same places in a copy with holes. */
#include "elfsym_private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct copy {
	int from;
	uint8_t *to;
	uint64_t bytes, left; /* of the file; that may still be copied */
};

static int copy_range(struct copy *c, uint64_t at, uint64_t len)
{
	if (at > c->bytes || len > c->bytes - at)
		return -ENOEXEC;
	if (len > c->left)
		return -EFBIG;
	c->left -= len;
	while (len) {
		ssize_t n = pread(c->from, c->to + at, len, (off_t)at);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

static bool is_wanted(const GElf_Shdr *sh, const char *name)
{
	static const char *const names[] = { ".rela.plt", ".eh_frame", ".eh_frame_hdr",
					     ".gnu_debugdata", ".gnu_debuglink" };

	switch (sh->sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_STRTAB:
	case SHT_NOTE:
		return true;
	case SHT_NOBITS:
		return false;
	default:
		for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(name, names[i]))
				return true;
		return false;
	}
}

static int copy_sections(struct elfsym *e, struct copy *c)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;
	int err = 0;

	if (elf_getshdrstrndx(e->elf, &names))
		return 0;
	while (!err && (scn = elf_nextscn(e->elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(e->elf, names, sh.sh_name) : NULL;

		if (name && is_wanted(&sh, name))
			err = copy_range(c, sh.sh_offset, sh.sh_size);
	}
	return err;
}

int elfsym_copy(struct elfsym *e, int from, int to, uint64_t max_bytes)
{
	const GElf_Ehdr *h = &e->header;
	struct copy c = { .from = from, .left = max_bytes };
	struct stat st;
	int err;

	if (fstat(to, &st))
		return -errno;
	c.bytes = (uint64_t)st.st_size;
	c.to = mmap(NULL, c.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	if (c.to == MAP_FAILED)
		return -errno;
	err = copy_range(&c, 0, h->e_ehsize);
	if (!err)
		err = copy_range(&c, h->e_phoff, (uint64_t)h->e_phnum * h->e_phentsize);
	if (!err && h->e_shoff)
		err = copy_range(&c, h->e_shoff, (uint64_t)h->e_shnum * h->e_shentsize);
	if (!err)
		err = copy_sections(e, &c);
	munmap(c.to, c.bytes);
	return err;
}
