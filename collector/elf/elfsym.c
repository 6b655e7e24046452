// SPDX-License-Identifier: GPL-2.0-or-later
#include "elfsym_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Segments of code: linkers make one, tools that change programs add some. */
#define CODE_MAX 16u
/* Programs have some fifteen. */
#define SEGMENTS_MAX 256u
/* What is read of one file. A browser's symbol table takes some 100 MB. */
#define TABLES_MAX_BYTES (512ull << 20)
/* Names of sections. */
#define NAMES_MAX_BYTES (1u << 20)

/* ---- opening ------------------------------------------------------------------------------- */

/*
 * libelf allocates as many sections and segments as the file claims. Only a linker's object files
 * need more sections, and core dumps more segments, than fit in the header's fields (e_shnum 0,
 * e_phnum PN_XNUM), so refuse those.
 */
static bool is_sane_header(const unsigned char *h, size_t len)
{
	Elf64_Ehdr e64;
	Elf32_Ehdr e32;

	if (len < sizeof(e32) || memcmp(h, ELFMAG, SELFMAG))
		return false;
	if (h[EI_CLASS] == ELFCLASS64 && len >= sizeof(e64)) {
		memcpy(&e64, h, sizeof(e64));
		return (e64.e_shnum || !e64.e_shoff) && e64.e_phnum <= SEGMENTS_MAX;
	}
	memcpy(&e32, h, sizeof(e32));
	return h[EI_CLASS] == ELFCLASS32 && (e32.e_shnum || !e32.e_shoff) &&
	       e32.e_phnum <= SEGMENTS_MAX;
}

/* Owns elf (NULL: libelf refused it) and image. */
static int open_elf(struct elfsym **out, Elf *elf, void *image)
{
	struct elfsym *e = elf ? calloc(1, sizeof(*e)) : NULL;
	Elf_Scn *s = NULL;

	*out = NULL;
	if (!e) {
		elf_end(elf);
		free(image);
		return elf ? -ENOMEM : -ENOEXEC;
	}
	e->elf = elf;
	e->image = image;
	e->fd = -1;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &e->header) ||
	    elf_getphdrnum(elf, &e->n_segments)) {
		elfsym_close(e);
		return -ENOEXEC;
	}
	while ((s = elf_nextscn(elf, s))) {
		GElf_Shdr sh;

		if (gelf_getshdr(s, &sh) && sh.sh_type == SHT_SYMTAB)
			e->has_symtab = true;
	}
	*out = e;
	return 0;
}

int elfsym_open(struct elfsym **out, int fd)
{
	unsigned char header[sizeof(Elf64_Ehdr)];
	ssize_t n = pread(fd, header, sizeof(header), 0);

	*out = NULL;
	if (n < 0)
		return -errno;
	if (!is_sane_header(header, (size_t)n) || elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	/* Read, not mapped: its owner may truncate the file at any time. */
	return open_elf(out, elf_begin(fd, ELF_C_READ, NULL), NULL);
}

int elfsym_take_fd(struct elfsym **out, int fd)
{
	int err = elfsym_open(out, fd);

	if (err)
		close(fd);
	else
		(*out)->fd = fd;
	return err;
}

int elfsym_open_memory(struct elfsym **out, const void *image, size_t len)
{
	void *copy;

	*out = NULL;
	if (!is_sane_header(image, len))
		return -ENOEXEC;
	copy = malloc(len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, image, len);
	return elfsym_take_memory(out, copy, len);
}

int elfsym_take_memory(struct elfsym **out, void *image, size_t len)
{
	*out = NULL;
	if (!is_sane_header(image, len) || elf_version(EV_CURRENT) == EV_NONE) {
		free(image);
		return -ENOEXEC;
	}
	return open_elf(out, elf_memory(image, len), image);
}

void elfsym_add(struct elfsym *e, struct elfsym *more)
{
	struct elfsym **last = &e->more;

	while (*last)
		last = &(*last)->more;
	*last = more;
}

void elfsym_close(struct elfsym *e)
{
	while (e) {
		struct elfsym *more = e->more;

		elf_end(e->elf);
		free(e->image);
		free(e->go);
		if (e->fd >= 0)
			close(e->fd);
		free(e);
		e = more;
	}
}

struct Elf *elfsym_libelf(const struct elfsym *e)
{
	return e->elf;
}

int elfsym_fd(const struct elfsym *e)
{
	return e->fd;
}

bool elfsym_has_symtab(const struct elfsym *e)
{
	return e->has_symtab;
}

bool elfsym_is_native(const struct elfsym *e)
{
#if defined(__x86_64__)
	const GElf_Half machine = EM_X86_64;
#elif defined(__aarch64__)
	const GElf_Half machine = EM_AARCH64;
#endif

	return e->header.e_ident[EI_CLASS] == ELFCLASS64 && e->header.e_machine == machine;
}

/* ---- segments and notes -------------------------------------------------------------------- */

size_t elfsym_build_id(const struct elfsym *e, uint8_t id[BUILD_ID_MAX])
{
	return build_id_find(e->elf, id);
}

bool elfsym_code(const struct elfsym *e, size_t i, struct elfsym_segment *out)
{
	GElf_Phdr ph;

	if (i >= CODE_MAX)
		return false;
	for (size_t k = 0; k < e->n_segments; k++) {
		if (!gelf_getphdr(e->elf, (int)k, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || i--)
			continue;
		*out = (struct elfsym_segment) { ph.p_offset, ph.p_filesz, ph.p_vaddr };
		return true;
	}
	return false;
}

bool elfsym_vaddr(const struct elfsym *e, uint64_t file_offset, uint64_t *vaddr)
{
	bool found = false;

	for (size_t i = 0; i < e->n_segments; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(e->elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    file_offset < ph.p_offset || file_offset - ph.p_offset >= ph.p_filesz)
			continue;
		/* A page where two segments meet is in both: prefer the code. */
		if (found && !(ph.p_flags & PF_X))
			continue;
		*vaddr = file_offset - ph.p_offset + ph.p_vaddr;
		found = true;
		if (ph.p_flags & PF_X)
			break;
	}
	return found;
}

bool elfsym_offset(const struct elfsym *e, uint64_t vaddr, GElf_Word flags, uint64_t *offset)
{
	for (size_t i = 0; i < e->n_segments; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(e->elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & flags) || vaddr < ph.p_vaddr ||
		    vaddr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = vaddr - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

const void *elfsym_bytes(struct elfsym *e, uint64_t vaddr, size_t n)
{
	uint64_t offset;
	Elf_Data *d;

	if (!elfsym_offset(e, vaddr, PF_R, &offset) || offset > INT64_MAX)
		return NULL;
	d = elf_getdata_rawchunk(e->elf, (int64_t)offset, n, ELF_T_BYTE);
	return d && d->d_size >= n ? d->d_buf : NULL;
}

/* ---- sections ------------------------------------------------------------------------------ */

Elf_Scn *elfsym_find_section(struct elfsym *e, GElf_Word type, const char *name, GElf_Shdr *sh)
{
	size_t names;
	Elf_Scn *scn = NULL;

	/* Compressed ones would be unpacked, to any size. */
	if (elf_getshdrstrndx(e->elf, &names) || !gelf_getshdr(elf_getscn(e->elf, names), sh) ||
	    sh->sh_size > NAMES_MAX_BYTES || sh->sh_flags & SHF_COMPRESSED)
		return NULL;
	while ((scn = elf_nextscn(e->elf, scn))) {
		const char *s;

		if (!gelf_getshdr(scn, sh) || sh->sh_type != type)
			continue;
		s = name ? elf_strptr(e->elf, names, sh->sh_name) : NULL;
		if (!name || (s && !strcmp(s, name)))
			return scn;
	}
	return NULL;
}

const void *elfsym_section(struct elfsym *e, const char *name, size_t max, size_t *len)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elfsym_find_section(e, SHT_PROGBITS, name, &sh);
	Elf_Data *d = scn && sh.sh_size <= max ? elf_rawdata(scn, NULL) : NULL;

	if (!d || !d->d_buf)
		return NULL;
	*len = d->d_size;
	return d->d_buf;
}

bool elfsym_may_read(struct elfsym *e, Elf_Scn *scn, const GElf_Shdr *sh)
{
	size_t i = elf_ndxscn(scn);

	/* Compressed ones would be unpacked, to any size. */
	if (sh->sh_flags & SHF_COMPRESSED)
		return false;
	for (size_t k = 0; k < e->n_read; k++)
		if (e->read[k] == i)
			return true;
	if (e->n_read == ELFSYM_TABLES_MAX || sh->sh_size > TABLES_MAX_BYTES - e->bytes_read)
		return false;
	e->read[e->n_read++] = i;
	e->bytes_read += sh->sh_size;
	return true;
}

/* ---- copies ---------------------------------------------------------------------------------- */

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

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names))
		names++;
	return *names;
}

static bool is_wanted(const GElf_Shdr *sh, const char *name, bool is_go)
{
	static const char *const names[] = {
		".rela.plt",	  ".eh_frame",	".eh_frame_hdr",	  ".gnu_debugdata",
		".gnu_debuglink", ".gopclntab", ".data.rel.ro.gopclntab", NULL
	};
	static const char *const go[] = { ".data.rel.ro", ".rela", ".rela.dyn", NULL };

	switch (sh->sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_STRTAB:
	case SHT_NOTE:
		return true;
	case SHT_NOBITS:
		return false;
	default:
		return is_one_of(name, names) || (is_go && is_one_of(name, go));
	}
}

static int copy_sections(struct elfsym *e, struct copy *c)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;
	bool is_go = elfsym_find_section(e, SHT_PROGBITS, ".go.buildinfo", &sh);
	int err = 0;

	if (elf_getshdrstrndx(e->elf, &names))
		return 0;
	while (!err && (scn = elf_nextscn(e->elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(e->elf, names, sh.sh_name) : NULL;

		if (name && is_wanted(&sh, name, is_go))
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
