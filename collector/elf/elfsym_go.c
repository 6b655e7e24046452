// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of the functions of Go programs without a symbol table, by the table that Go's runtime has
 * of them, which stripping leaves in the program. It begins with a number that says which layout it
 * has: 0xfffffffb since Go 1.2, 0xfffffffa since 1.16, 0xfffffff0 since 1.18, 0xfffffff1 since 1.20
 * (golang.org/s/go12symtab, and Go's debug/gosym/pclntab.go and runtime/symtab.go). A header is
 * followed by:
 *
 *     functions   (start, offset of a description) for each, sorted by start; the end of the last
 *     description start, offset of the name, and more
 *     names       each ended by a zero byte
 */
#include "elfsym_private.h"

#include <stdlib.h>
#include <string.h>

/* Places that look like the begin of a table, where a section has other things, too. */
#define CANDIDATES_MAX 64u
/* Of the header: the magic number, two zeros, the unit of code lengths, the size of pointers. */
#define FIXED_BYTES 8u

struct go_table {
	const uint8_t *p;
	size_t len;
	uint64_t n;    /* functions */
	uint64_t base; /* is added to their starts */
	size_t pointer_bytes;
	size_t field_bytes;		/* of the two fields of a function in the table */
	size_t start_bytes;		/* of the first field of a description */
	size_t functions, names, descs; /* where these begin; offsets are from there */
};

enum layout {
	LAYOUT_NONE,
	LAYOUT_1_2,
	LAYOUT_1_16,
	LAYOUT_1_18, /* 1.20 changed only what is not read here */
};

static uint64_t read_number(const uint8_t *p, size_t bytes)
{
	uint32_t v32;
	uint64_t v64;

	if (bytes == sizeof(v32)) {
		memcpy(&v32, p, sizeof(v32));
		return v32;
	}
	memcpy(&v64, p, sizeof(v64));
	return v64;
}

/* The i-th pointer-sized word of the header, which has_header() checked. */
static uint64_t header_word(const struct go_table *t, size_t i)
{
	return read_number(t->p + FIXED_BYTES + i * t->pointer_bytes, t->pointer_bytes);
}

static enum layout layout_of(const uint8_t *p, size_t len)
{
	/* The largest header, with eight pointers. */
	if (len < FIXED_BYTES + 8 * sizeof(uint64_t) || p[4] || p[5] ||
	    (p[6] != 1 && p[6] != 2 && p[6] != 4) || (p[7] != 4 && p[7] != 8))
		return LAYOUT_NONE;
	switch (read_number(p, sizeof(uint32_t))) {
	case 0xfffffffb:
		return LAYOUT_1_2;
	case 0xfffffffa:
		return LAYOUT_1_16;
	case 0xfffffff0:
	case 0xfffffff1:
		return LAYOUT_1_18;
	default:
		return LAYOUT_NONE;
	}
}

/*
 * The words of the header from the first-th on are offsets: of the names, three other tables, and
 * the functions.
 */
static bool take_offsets(struct go_table *t, size_t first)
{
	for (size_t i = first; i < first + 4; i++)
		if (header_word(t, i) >= header_word(t, i + 1))
			return false;
	if (header_word(t, first + 4) >= t->len)
		return false;
	t->names = header_word(t, first);
	t->functions = t->descs = header_word(t, first + 4);
	return true;
}

static bool open_table(struct go_table *t, const uint8_t *p, size_t len, enum layout layout)
{
	*t = (struct go_table) { .p = p, .len = len, .pointer_bytes = p[7] };
	t->field_bytes = t->start_bytes = layout == LAYOUT_1_18 ? sizeof(uint32_t) : p[7];
	t->n = header_word(t, 0);
	if (layout == LAYOUT_1_2)
		t->functions = FIXED_BYTES + t->pointer_bytes; /* descs, names: from the begin */
	else if (!take_offsets(t, layout == LAYOUT_1_16 ? 2 : 3))
		return false;
	return t->n && t->n < (t->len - t->functions) / (2 * t->field_bytes);
}

/* ---- where code begins ---------------------------------------------------------------------- */

static bool is_relative(const struct elfsym *e, const GElf_Rela *r)
{
	switch (e->header.e_machine) {
	case EM_X86_64:
		return GELF_R_TYPE(r->r_info) == R_X86_64_RELATIVE;
	case EM_AARCH64:
		return GELF_R_TYPE(r->r_info) == R_AARCH64_RELATIVE;
	default:
		return false;
	}
}

/* What the dynamic linker will write to that address of a position independent program. */
static bool relocated(struct elfsym *e, uint64_t vaddr, uint64_t *value)
{
	static const char *const names[] = { ".rela.dyn", ".rela" };

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		GElf_Shdr sh;
		Elf_Scn *scn = elfsym_find_section(e, SHT_RELA, names[k], &sh);
		Elf_Data *d = scn && elfsym_may_read(e, scn, &sh) ? elf_getdata(scn, NULL) : NULL;
		GElf_Rela r;

		for (int i = 0; d && gelf_getrela(d, i, &r); i++)
			if (r.r_offset == vaddr && is_relative(e, &r)) {
				*value = (uint64_t)r.r_addend;
				return true;
			}
	}
	return false;
}

/*
 * Since 1.18 starts are offsets from runtime.text, whose address is in the header, which lies at
 * vaddr. Where it is not, code may begin with others' (C's) before Go's: then only a section of
 * code that ends where the functions do is Go's alone.
 */
static bool find_base(struct elfsym *e, struct go_table *t, uint64_t vaddr)
{
	uint64_t end = read_number(t->p + t->functions + 2 * t->n * t->field_bytes, t->field_bytes);
	GElf_Shdr sh;

	t->base = header_word(t, 2);
	if (e->header.e_type == ET_DYN)
		(void)relocated(e, vaddr + FIXED_BYTES + 2 * t->pointer_bytes, &t->base);
	if (t->base)
		return true;
	if (!elfsym_find_section(e, SHT_PROGBITS, ".text", &sh) || sh.sh_size != end)
		return false;
	t->base = sh.sh_addr;
	return true;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Where the table may be: alone, or (linked with C, position independent) among other data. */
static const struct place {
	const char *name;
	bool is_mixed;
} places[] = {
	{ ".gopclntab", false },
	{ ".data.rel.ro.gopclntab", false },
	{ ".data.rel.ro", true },
};

static bool find_table(struct elfsym *e, const struct place *place, struct go_table *t)
{
	GElf_Shdr sh, go;
	Elf_Scn *scn = elfsym_find_section(e, SHT_PROGBITS, place->name, &sh);
	Elf_Data *d;
	unsigned int candidates = 0;

	if (!scn ||
	    (place->is_mixed && !elfsym_find_section(e, SHT_PROGBITS, ".go.buildinfo", &go)))
		return false;
	d = elfsym_may_read(e, scn, &sh) ? elf_rawdata(scn, NULL) : NULL;
	/* Go's linker aligns it to pointers at least. */
	for (size_t at = 0; d && d->d_buf && at < d->d_size && candidates < CANDIDATES_MAX;
	     at += sizeof(uint64_t)) {
		const uint8_t *p = (const uint8_t *)d->d_buf + at;
		enum layout layout = layout_of(p, d->d_size - at);

		if (layout != LAYOUT_NONE) {
			candidates++;
			if (open_table(t, p, d->d_size - at, layout) &&
			    (layout != LAYOUT_1_18 || find_base(e, t, sh.sh_addr + at)))
				return true;
		}
		if (!place->is_mixed)
			break;
	}
	return false;
}

/* The table of e, which is looked for once; NULL: there is none, or e has a symbol table. */
static const struct go_table *table_of(struct elfsym *e)
{
	struct go_table t;

	for (const struct elfsym *f = e; f; f = f->more)
		if (f->has_symtab)
			return NULL;
	if (e->looked_for_go)
		return e->go;
	e->looked_for_go = true;
	if (e->header.e_ident[EI_DATA] != ELFSYM_OWN_ORDER)
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !e->go; i++)
		if (find_table(e, &places[i], &t) && (e->go = malloc(sizeof(t))))
			*e->go = t;
	return e->go;
}

/* Where the i-th function begins; the n-th begins where the last one ends. */
static uint64_t start_of(const struct go_table *t, uint64_t i)
{
	return t->base + read_number(t->p + t->functions + 2 * i * t->field_bytes, t->field_bytes);
}

/* NULL: the table is damaged there. */
static const char *name_of(const struct go_table *t, uint64_t i)
{
	uint64_t desc =
		read_number(t->p + t->functions + (2 * i + 1) * t->field_bytes, t->field_bytes);
	uint64_t name, left = t->len - t->descs, bytes = t->start_bytes + sizeof(uint32_t);

	if (left < bytes || desc > left - bytes)
		return NULL;
	name = read_number(t->p + t->descs + desc + t->start_bytes, sizeof(uint32_t));
	left = t->len - t->names;
	if (name >= left || !t->p[t->names + name] ||
	    !memchr(t->p + t->names + name, 0, left - name))
		return NULL;
	return (const char *)t->p + t->names + name;
}

const char *elfsym_go_function(struct elfsym *e, uint64_t vaddr, uint64_t *start)
{
	const struct go_table *t = table_of(e);
	uint64_t low = 0, high = t ? t->n : 0;

	/* The last one that begins at vaddr or below. */
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (start_of(t, mid) <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || start_of(t, low) <= vaddr)
		return NULL;
	*start = start_of(t, low - 1);
	return *start <= vaddr ? name_of(t, low - 1) : NULL;
}

void elfsym_each_go_function(struct elfsym *e, elfsym_function_fn fn, void *ctx)
{
	const struct go_table *t = table_of(e);

	for (uint64_t i = 0; t && i < t->n; i++) {
		uint64_t start = start_of(t, i), end = start_of(t, i + 1);
		const char *name = end > start ? name_of(t, i) : NULL;

		if (name)
			fn(ctx, name, start, end - start);
	}
}
