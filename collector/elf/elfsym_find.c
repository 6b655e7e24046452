// SPDX-License-Identifier: GPL-2.0-or-later
#include "elfsym_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/lower_bound.h"

/* Of a table that is read for a few names only. Python's have less than 1 MB. */
#define EACH_MAX_BYTES (64u << 20)
/* Bounds symbols times addresses that they cover: overlapping functions make it quadratic. */
#define HITS_MAX (16u << 20)
/*
 * Of a function without a size in a file that has only the symbols of what it exports: what lies
 * further up may be another one, as musl's system calls lie above its memset(), which has 196
 * bytes.
 */
#define UNSIZED_MAX 256u

/* One address while the tables are being read. */
struct candidate {
	uint64_t at;	/* the byte that a symbol must cover */
	uint64_t below; /* start of the nearest symbol at or below it */
	bool has_below;
	bool below_has_size; /* so it covers what its size says, and no more */
	bool is_unsized;     /* the best symbol has no size */
	uint64_t start;	     /* of the best symbol that covers it */
	const char *name;    /* its name, NULL: none yet */
	unsigned char bind;
};

/* So much of names is compared: a table of strings may be one of hundreds of megabytes. */
#define NAME_BYTES 4096u

struct lookup {
	struct candidate *c;
	size_t n;
	uint64_t hits;
	bool has_unsized; /* some candidate has a symbol without a size */
};

/* ---- symbols ------------------------------------------------------------------------------- */

/* The index of the first candidate whose byte is at or above addr. */
static size_t first_at(const struct lookup *s, uint64_t addr)
{
	return LOWER_BOUND(i, s->n, s->c[i].at < addr);
}

static size_t underscores(const char *name)
{
	size_t n = 0;

	while (n < NAME_BYTES && name[n] == '_')
		n++;
	return n;
}

/* Which name of a function to show: with fewer leading underscores, then the more public one. */
static bool is_better_name(const char *a, unsigned char bind_a, const char *b, unsigned char bind_b)
{
	size_t under_a = underscores(a), under_b = underscores(b);
	size_t len_a = strnlen(a, NAME_BYTES), len_b = strnlen(b, NAME_BYTES);

	if (under_a != under_b)
		return under_a < under_b;
	if (bind_a != bind_b)
		return bind_a == STB_GLOBAL || bind_b == STB_LOCAL;
	if (len_a != len_b)
		return len_a < len_b;
	return strncmp(a, b, NAME_BYTES) < 0;
}

static void take_name(struct candidate *c, uint64_t start, const char *name, unsigned char bind,
		      bool is_unsized)
{
	c->start = start;
	c->name = name;
	c->bind = bind;
	c->is_unsized = is_unsized;
}

/* Offers the symbol to all candidates in [start, end); the innermost one wins. */
static void offer(struct lookup *s, uint64_t start, uint64_t end, const char *name,
		  unsigned char bind)
{
	for (size_t i = first_at(s, start); i < s->n && s->c[i].at < end; i++) {
		struct candidate *c = &s->c[i];

		if (s->hits++ >= HITS_MAX)
			return;
		if (!c->name || start > c->start ||
		    (start == c->start && is_better_name(name, bind, c->name, c->bind)))
			take_name(c, start, name, bind, false);
	}
}

/* A symbol table. */
struct table {
	Elf_Data *data;
	size_t n, names; /* symbols; index of the section of names */
};

static bool open_table(struct elfsym *e, Elf_Scn *scn, const GElf_Shdr *sh, struct table *t)
{
	size_t entry = gelf_fsize(e->elf, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Shdr names;
	Elf_Scn *names_scn = elf_getscn(e->elf, sh->sh_link);

	if (!entry || !gelf_getshdr(names_scn, &names) || names.sh_type != SHT_STRTAB ||
	    !elfsym_may_read(e, scn, sh) || !elfsym_may_read(e, names_scn, &names))
		return false;
	t->data = elf_getdata(scn, NULL);
	if (!t->data || t->data->d_type != ELF_T_SYM)
		return false;
	t->n = t->data->d_size / entry;
	t->names = sh->sh_link;
	return t->n <= INT32_MAX;
}

/* True for the symbol of a function; *section_end is the end address of its section. */
static bool is_function(struct elfsym *e, const GElf_Sym *sym, uint64_t *section_end)
{
	unsigned char type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr sh;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE || !sym->st_name ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return false;
	if (!gelf_getshdr(elf_getscn(e->elf, sym->st_shndx), &sh) || !(sh.sh_flags & SHF_EXECINSTR))
		return false;
	*section_end = sh.sh_addr + sh.sh_size;
	return sym->st_value >= sh.sh_addr && sym->st_value < *section_end;
}

/* Assembler labels, which are no functions: .L1, and the mapping symbols $x, $d. */
static bool is_label(const char *name)
{
	return !name[0] || name[0] == '$' || !strncmp(name, ".L", 2);
}

/* Symbols with a size cover that many bytes. */
static void take_sized(struct elfsym *e, const struct table *t, void *lookup)
{
	struct lookup *s = lookup;

	for (size_t i = 1; i < t->n; i++) {
		uint64_t section_end, end;
		const char *name;
		GElf_Sym sym;
		size_t at;

		if (!gelf_getsym(t->data, (int)i, &sym))
			return;
		end = sym.st_value + sym.st_size;
		at = first_at(s, sym.st_value);
		/* Most symbols cover no recorded address: skip them early. */
		if (at == s->n)
			continue;
		if (!is_function(e, &sym, &section_end))
			continue;
		if (!s->c[at].has_below || sym.st_value > s->c[at].below) {
			s->c[at].below = sym.st_value;
			s->c[at].has_below = true;
			s->c[at].below_has_size = false;
		}
		if (sym.st_size && sym.st_value == s->c[at].below)
			s->c[at].below_has_size = true;
		if (end <= sym.st_value || s->c[at].at >= end)
			continue;
		name = elf_strptr(e->elf, t->names, sym.st_name);
		if (name && !is_label(name))
			offer(s, sym.st_value, end, name, GELF_ST_BIND(sym.st_info));
	}
}

/*
 * Symbols without a size, from assembly, reach to the next symbol or the end of their section,
 * or to UNSIZED_MAX; unless another symbol at their address has a size: then they are just another
 * name for it.
 */
static void take_unsized(struct elfsym *e, const struct table *t, void *lookup)
{
	struct lookup *s = lookup;

	for (size_t i = 1; i < t->n; i++) {
		uint64_t section_end;
		const char *name;
		GElf_Sym sym;
		size_t at;

		if (!gelf_getsym(t->data, (int)i, &sym))
			return;
		at = first_at(s, sym.st_value);
		if (sym.st_size || at == s->n || s->c[at].below != sym.st_value ||
		    !s->c[at].has_below || !is_function(e, &sym, &section_end))
			continue;
		name = elf_strptr(e->elf, t->names, sym.st_name);
		if (!name || is_label(name))
			continue;
		if (!e->has_symtab && section_end - sym.st_value > UNSIZED_MAX)
			section_end = sym.st_value + UNSIZED_MAX;
		for (; at < s->n && s->c[at].at < section_end; at++) {
			struct candidate *c = &s->c[at];

			if (c->below != sym.st_value || c->below_has_size || s->hits++ >= HITS_MAX)
				break;
			if (!c->name ||
			    (c->start == sym.st_value &&
			     is_better_name(name, GELF_ST_BIND(sym.st_info), c->name, c->bind))) {
				take_name(c, sym.st_value, name, GELF_ST_BIND(sym.st_info), true);
				s->has_unsized = true;
			}
		}
	}
}

/* Ends an unsized symbol where the unwinding table has another function begin. */
static void end_unsized(void *lookup, uint64_t start, uint64_t end)
{
	struct lookup *s = lookup;

	for (size_t i = first_at(s, start); i < s->n && s->c[i].at < end; i++) {
		if (s->hits++ >= HITS_MAX)
			return;
		if (s->c[i].is_unsized && s->c[i].start < start)
			s->c[i].name = NULL;
	}
}

typedef void (*table_pass)(struct elfsym *e, const struct table *t, void *ctx);

static void each_table(struct elfsym *e, void *ctx, table_pass pass)
{
	for (; e; e = e->more) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(e->elf, scn))) {
			struct table t;
			GElf_Shdr sh;

			if (gelf_getshdr(scn, &sh) &&
			    (sh.sh_type == SHT_SYMTAB ||
			     (sh.sh_type == SHT_DYNSYM && !e->has_symtab)) &&
			    open_table(e, scn, &sh, &t))
				pass(e, &t, ctx);
		}
	}
}

/* The nearest start below one candidate is that of the next ones, too, up to the next start. */
static void spread_below(struct lookup *s)
{
	for (size_t i = 1; i < s->n; i++) {
		if (s->c[i - 1].has_below &&
		    (!s->c[i].has_below || s->c[i].below < s->c[i - 1].below)) {
			s->c[i].below = s->c[i - 1].below;
			s->c[i].below_has_size = s->c[i - 1].below_has_size;
			s->c[i].has_below = true;
		}
	}
}

/* ---- PLT stubs ----------------------------------------------------------------------------- */

/* Linkers put one stub per JUMP_SLOT relocation, in the same order: header and entry size. */
static bool plt_layout(const struct elfsym *e, const char *section, uint64_t *header,
		       uint64_t *entry)
{
	*entry = 16;
	if (e->header.e_machine == EM_X86_64) {
		*header = !strcmp(section, ".plt") ? 16 : 0;
		return !strcmp(section, ".plt") || !strcmp(section, ".plt.sec");
	}
	*header = 32;
	return e->header.e_machine == EM_AARCH64 && !strcmp(section, ".plt");
}

static const char *relocation_symbol(struct elfsym *e, Elf_Data *relocations, const struct table *t,
				     size_t index)
{
	const char *name;
	GElf_Rela r;
	GElf_Sym sym;

	if (index > INT32_MAX || !gelf_getrela(relocations, (int)index, &r) ||
	    GELF_R_SYM(r.r_info) >= t->n || !GELF_R_SYM(r.r_info) ||
	    !gelf_getsym(t->data, (int)GELF_R_SYM(r.r_info), &sym))
		return NULL;
	name = elf_strptr(e->elf, t->names, sym.st_name);
	return name && *name ? name : NULL;
}

static void find_plt(struct elfsym *e, struct elfsym_address *a, size_t n)
{
	static const char *const sections[] = { ".plt.sec", ".plt" };
	GElf_Shdr rela_sh, sym_sh, plt;
	Elf_Scn *rela = elfsym_find_section(e, SHT_RELA, ".rela.plt", &rela_sh);
	Elf_Scn *sym = elfsym_find_section(e, SHT_DYNSYM, NULL, &sym_sh);
	Elf_Data *relocations;
	struct table t;

	if (!rela || !sym || !open_table(e, sym, &sym_sh, &t) ||
	    !elfsym_may_read(e, rela, &rela_sh))
		return;
	relocations = elf_getdata(rela, NULL);
	for (size_t k = 0; relocations && k < sizeof(sections) / sizeof(sections[0]); k++) {
		uint64_t header, entry;

		if (!plt_layout(e, sections[k], &header, &entry) ||
		    !elfsym_find_section(e, SHT_PROGBITS, sections[k], &plt))
			continue;
		for (size_t i = 0; i < n; i++) {
			uint64_t in = a[i].vaddr - plt.sh_addr;

			if (a[i].name || a[i].vaddr < plt.sh_addr || in >= plt.sh_size ||
			    in < header)
				continue;
			a[i].name = relocation_symbol(e, relocations, &t, (in - header) / entry);
			a[i].start = a[i].vaddr - (in - header) % entry;
			a[i].is_plt = a[i].name != NULL;
		}
	}
}

/* ---- all functions -------------------------------------------------------------------------- */

struct each_function {
	elfsym_function_fn fn;
	void *ctx;
};

static void tell_functions(struct elfsym *e, const struct table *t, void *each)
{
	const struct each_function *f = each;
	uint64_t section_end;
	const char *name;
	GElf_Sym sym;

	for (size_t i = 1; i < t->n && gelf_getsym(t->data, (int)i, &sym); i++) {
		if (!is_function(e, &sym, &section_end))
			continue;
		name = elf_strptr(e->elf, t->names, sym.st_name);
		if (name && !is_label(name))
			f->fn(f->ctx, name, sym.st_value, sym.st_size);
	}
}

void elfsym_each_function(struct elfsym *e, elfsym_function_fn fn, void *ctx)
{
	struct each_function f = { fn, ctx };

	each_table(e, &f, tell_functions);
	elfsym_each_go_function(e, fn, ctx);
}

void elfsym_each_symbol(struct elfsym *e, GElf_Word type, elfsym_symbol_fn fn, void *ctx)
{
	GElf_Shdr sh, names;
	Elf_Scn *scn = elfsym_find_section(e, type, NULL, &sh);
	struct table t;
	GElf_Sym sym;

	if (!scn || sh.sh_size > EACH_MAX_BYTES ||
	    !gelf_getshdr(elf_getscn(e->elf, sh.sh_link), &names) ||
	    names.sh_size > EACH_MAX_BYTES || !open_table(e, scn, &sh, &t))
		return;
	for (size_t i = 1; i < t.n && gelf_getsym(t.data, (int)i, &sym); i++) {
		const char *name =
			sym.st_shndx != SHN_UNDEF ? elf_strptr(e->elf, t.names, sym.st_name) : NULL;

		if (name)
			fn(ctx, name, &sym);
	}
}

/* ---- Go -------------------------------------------------------------------------------------- */

/* Go's functions have a symbol table of their own, without gaps. */
static void take_go(struct elfsym *e, struct lookup *s)
{
	for (size_t i = 0; i < s->n; i++) {
		uint64_t start;
		const char *name = elfsym_go_function(e, s->c[i].at, &start);

		if (name)
			take_name(&s->c[i], start, name, STB_LOCAL, false);
	}
}

/* ---- the search ---------------------------------------------------------------------------- */

static void offer_symbols(struct elfsym *e, struct lookup *s)
{
	take_go(e, s);
	each_table(e, s, take_sized);
	spread_below(s);
	each_table(e, s, take_unsized);
	if (s->has_unsized)
		elfsym_each_bounds(e, end_unsized, s);
}

static void offer_one(void *s, uint64_t start, uint64_t end)
{
	offer(s, start, end, "", STB_LOCAL);
}

static void offer_bounds(struct elfsym *e, struct lookup *s)
{
	elfsym_each_bounds(e, offer_one, s);
}

/* Finds addresses that have no name yet by the byte that lies `before` bytes before them. */
static void find_by_byte(struct elfsym *e, struct elfsym_address *a, size_t n, uint64_t before,
			 void (*offer_all)(struct elfsym *e, struct lookup *s))
{
	struct lookup s = { 0 };

	s.c = calloc(n, sizeof(*s.c));
	if (!s.c)
		return;
	/* An address below `before` would wrap around, and break the order. */
	for (size_t i = 0; i < n; i++)
		if (!a[i].name && a[i].vaddr >= before)
			s.c[s.n++].at = a[i].vaddr - before;
	if (s.n)
		offer_all(e, &s);
	for (size_t i = 0, k = 0; k < s.n; i++) {
		if (a[i].name || a[i].vaddr < before)
			continue;
		a[i].name = s.c[k].name;
		a[i].start = s.c[k].start;
		a[i].is_plt = false;
		k++;
	}
	free(s.c);
}

void elfsym_find(struct elfsym *e, struct elfsym_address *a, size_t n)
{
	if (!n)
		return;
	find_by_byte(e, a, n, 1, offer_symbols);
	find_by_byte(e, a, n, 0, offer_symbols);
	find_plt(e, a, n);
}

void elfsym_find_bounds(struct elfsym *e, struct elfsym_address *a, size_t n)
{
	if (!n)
		return;
	find_by_byte(e, a, n, 1, offer_bounds);
	find_by_byte(e, a, n, 0, offer_bounds);
	for (size_t i = 0; i < n; i++) {
		a[i].is_bounded = a[i].name && !*a[i].name;
		if (a[i].is_bounded)
			a[i].name = NULL;
	}
}
