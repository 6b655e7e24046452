// SPDX-License-Identifier: GPL-2.0-or-later
#include "elftls.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "elfsym_private.h"

/* Of a table of symbols or relocations: what a browser has, ten times. */
#define TABLE_MAX_BYTES (64u << 20)

#if defined(__x86_64__)
#define RELOC_DESCRIPTOR 36 /* R_X86_64_TLSDESC */
#define RELOC_MODULE 16	    /* R_X86_64_DTPMOD64 */
#define RELOC_OFFSET 18	    /* R_X86_64_TPOFF64 */
#elif defined(__aarch64__)
#define RELOC_DESCRIPTOR 1031 /* R_AARCH64_TLSDESC */
#define RELOC_MODULE 1028     /* R_AARCH64_TLS_DTPMOD */
#define RELOC_OFFSET 1030     /* R_AARCH64_TLS_TPREL */
#endif

static Elf_Data *table_of(Elf_Scn *scn, const GElf_Shdr *sh)
{
	if (sh->sh_size > TABLE_MAX_BYTES || sh->sh_flags & SHF_COMPRESSED || !sh->sh_entsize)
		return NULL;
	return elf_getdata(scn, NULL);
}

/* The index of the symbol among those of section scn; 0: it is not there. */
static uint32_t find_symbol(struct elfsym *e, Elf_Scn *scn, const GElf_Shdr *sh, const char *name,
			    GElf_Sym *sym)
{
	Elf_Data *d = table_of(scn, sh);
	size_t n = d ? d->d_size / sh->sh_entsize : 0;

	for (size_t i = 1; i < n && i <= INT32_MAX; i++) {
		const char *s;

		if (!gelf_getsym(d, (int)i, sym))
			return 0;
		if (GELF_ST_TYPE(sym->st_info) != STT_TLS || sym->st_shndx == SHN_UNDEF)
			continue;
		s = elf_strptr(e->elf, sh->sh_link, sym->st_name);
		if (s && !strcmp(s, name))
			return (uint32_t)i;
	}
	return 0;
}

static bool set_way(const GElf_Rela *r, struct elftls *out)
{
	switch (GELF_R_TYPE(r->r_info)) {
	case RELOC_DESCRIPTOR:
		out->tls = WIRE_TLS_DESCRIPTOR;
		break;
	case RELOC_MODULE:
		out->tls = WIRE_TLS_MODULE_SLOT;
		break;
	case RELOC_OFFSET:
		out->tls = WIRE_TLS_OFFSET_SLOT;
		break;
	default:
		return false;
	}
	out->slot = r->r_offset;
	return r->r_offset != 0;
}

/* Looks for a relocation that names the symbol; false: there is none. */
static bool find_slot(struct elfsym *e, size_t symbols, uint32_t symbol, struct elftls *out)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(e->elf, scn))) {
		Elf_Data *d = NULL;
		size_t n;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA && sh.sh_link == symbols)
			d = table_of(scn, &sh);
		n = d ? d->d_size / sh.sh_entsize : 0;
		for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
			GElf_Rela r;

			if (!gelf_getrela(d, (int)i, &r))
				break;
			if (GELF_R_SYM(r.r_info) == symbol && set_way(&r, out))
				return true;
		}
	}
	return false;
}

/* Whether its block is the first one of each thread. */
static bool is_program(const struct elfsym *e)
{
	GElf_Phdr ph;

	if (e->header.e_type == ET_EXEC)
		return true;
	for (size_t i = 0; i < e->n_segments; i++)
		if (gelf_getphdr(e->elf, (int)i, &ph) && ph.p_type == PT_INTERP)
			return true;
	return false;
}

/* In a program: on x86-64 its block lies below the thread pointer, on arm64 behind two words. */
static bool find_offset(const struct elfsym *e, const GElf_Sym *sym, struct elftls *out)
{
	GElf_Phdr ph;

	for (size_t i = 0; i < e->n_segments && is_program(e); i++) {
		uint64_t align;

		if (!gelf_getphdr(e->elf, (int)i, &ph) || ph.p_type != PT_TLS)
			continue;
		align = ph.p_align ? ph.p_align : 1;
		if (align & (align - 1) || sym->st_value > ph.p_memsz)
			return false;
		out->tls = WIRE_TLS_STATIC;
#if defined(__x86_64__)
		out->offset = sym->st_value - ((ph.p_memsz + align - 1) & -align);
#elif defined(__aarch64__)
		out->offset = sym->st_value + ((16 + align - 1) & -align);
#endif
		return true;
	}
	return false;
}

int elftls_find(struct elfsym *e, const char *name, struct elftls *out)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	*out = (struct elftls) { 0 };
	if (!elfsym_is_native(e))
		return -ENOENT;
	while ((scn = elf_nextscn(e->elf, scn))) {
		uint32_t symbol;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNSYM)
			continue;
		symbol = find_symbol(e, scn, &sh, name, &sym);
		if (!symbol)
			continue;
		return find_slot(e, elf_ndxscn(scn), symbol, out) || find_offset(e, &sym, out)
			       ? 0
			       : -ENOTSUP;
	}
	return -ENOENT;
}
