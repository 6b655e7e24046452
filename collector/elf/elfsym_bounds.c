// SPDX-License-Identifier: GPL-2.0-or-later
/* Where functions begin and end, by the table for unwinding (.eh_frame), which stripping keeps. */
#include "elfsym_private.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

/* A browser's has 20 MB. */
#define EH_FRAME_MAX_BYTES (64u << 20)
/* A CIE has some 30 bytes. libdw must not look further for the end of the augmentation string. */
#define CIE_MAX_BYTES 512u

/* A section .eh_frame of this machine's byte order. */
struct eh_frame {
	const unsigned char *ident;
	Elf_Data data; /* owned */
	uint64_t vaddr;
	size_t address_bytes;
	Dwarf_Off cie;	  /* whose encoding is known */
	uint8_t encoding; /* of addresses in FDEs: DW_EH_PE_* */
};

static bool open_eh_frame(struct elfsym *e, struct eh_frame *t)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elfsym_find_section(e, SHT_PROGBITS, ".eh_frame", &sh);
	Elf_Data *raw;

	/* x86-64's own section type, which some linkers use. */
	if (!scn)
		scn = elfsym_find_section(e, SHT_X86_64_UNWIND, ".eh_frame", &sh);
	if (!scn || sh.sh_size > EH_FRAME_MAX_BYTES ||
	    e->header.e_ident[EI_DATA] != ELFSYM_OWN_ORDER)
		return false;
	raw = elf_rawdata(scn, NULL);
	if (!raw || !raw->d_buf)
		return false;
	*t = (struct eh_frame) {
		.ident = e->header.e_ident,
		.data = *raw,
		.vaddr = sh.sh_addr,
		.address_bytes = e->header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8,
		.cie = (Dwarf_Off)-1,
		.encoding = DW_EH_PE_omit,
	};
	/* libdw reads a LEB128 number in a CIE past the section's end: a zero byte ends it. */
	t->data.d_buf = calloc(1, raw->d_size + 1);
	if (t->data.d_buf)
		memcpy(t->data.d_buf, raw->d_buf, raw->d_size);
	return t->data.d_buf;
}

/* Bytes of an address in that encoding; 0: not a fixed number. */
static size_t encoded_bytes(const struct eh_frame *t, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return t->address_bytes;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

/* The encoding of addresses that a CIE states; DW_EH_PE_omit: none that is understood. */
static uint8_t encoding_of_cie(const struct eh_frame *t, const Dwarf_CIE *cie)
{
	const char *letter = cie->augmentation;
	const uint8_t *p = cie->augmentation_data, *end;
	size_t skip;

	if (!*letter)
		return DW_EH_PE_absptr;
	if (*letter++ != 'z' || !p)
		return DW_EH_PE_omit;
	end = p + cie->augmentation_data_size;
	for (; *letter && p < end; letter++) {
		switch (*letter) {
		case 'R':
			return *p;
		case 'L':
			p++;
			break;
		case 'P':
			skip = encoded_bytes(t, *p);
			if (!skip || *p == DW_EH_PE_aligned || skip >= (size_t)(end - p))
				return DW_EH_PE_omit;
			p += 1 + skip;
			break;
		case 'S': /* a signal frame */
		case 'B': /* return addresses are signed */
			break;
		default:
			return DW_EH_PE_omit;
		}
	}
	return *letter ? DW_EH_PE_omit : DW_EH_PE_absptr;
}

/* Neighbours share their CIE, so it is read once for all of them. */
static void read_cie(struct eh_frame *t, Dwarf_Off cie)
{
	Elf_Data head = t->data;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (cie == t->cie)
		return;
	t->cie = cie;
	t->encoding = DW_EH_PE_omit;
	if (cie >= head.d_size)
		return;
	if (head.d_size - cie > CIE_MAX_BYTES)
		head.d_size = cie + CIE_MAX_BYTES;
	if (!dwarf_next_cfi(t->ident, &head, true, cie, &next, &entry) && dwarf_cfi_cie_p(&entry))
		t->encoding = encoding_of_cie(t, &entry.cie);
}

static uint64_t read_number(const uint8_t *p, size_t bytes, bool is_signed)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (bytes) {
	case 2:
		memcpy(&v16, p, 2);
		return is_signed ? (uint64_t)(int16_t)v16 : v16;
	case 4:
		memcpy(&v32, p, 4);
		return is_signed ? (uint64_t)(int32_t)v32 : v32;
	default:
		memcpy(&v64, p, 8);
		return v64;
	}
}

/* The addresses [*start, *end) of an FDE. */
static bool fde_bounds(struct eh_frame *t, const Dwarf_FDE *fde, uint64_t *start, uint64_t *end)
{
	const uint8_t *p = fde->start;
	size_t bytes;

	read_cie(t, fde->CIE_pointer);
	bytes = encoded_bytes(t, t->encoding);
	if (t->encoding == DW_EH_PE_omit || !bytes || (size_t)(fde->end - p) < 2 * bytes)
		return false;
	*start = read_number(p, bytes, t->encoding & DW_EH_PE_signed);
	if ((t->encoding & 0x70) == DW_EH_PE_pcrel)
		*start += t->vaddr + (uint64_t)(p - (const uint8_t *)t->data.d_buf);
	else if (t->encoding & 0xf0)
		return false;
	*end = *start + read_number(p + bytes, bytes, false);
	if (t->address_bytes == 4) {
		*start = (uint32_t)*start;
		*end = (uint32_t)*end;
	}
	return *start < *end;
}

void elfsym_each_bounds(struct elfsym *e, elfsym_bounds_fn fn, void *ctx)
{
	struct eh_frame t;

	if (!open_eh_frame(e, &t))
		return;
	for (Dwarf_Off at = 0, next = 0; at < t.data.d_size; at = next) {
		uint64_t start, end;
		Dwarf_CFI_Entry entry;
		int ret = dwarf_next_cfi(t.ident, &t.data, true, at, &next, &entry);

		if (ret > 0 || next <= at)
			break;
		if (!ret && !dwarf_cfi_cie_p(&entry) && fde_bounds(&t, &entry.fde, &start, &end))
			fn(ctx, start, end);
	}
	free(t.data.d_buf);
}
