// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"
#include "common/build_id.h"
#include "common/demangle.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"
#include "debug_files.h"

/* Longer names are shown as they are in the file. */
#define NAME_SIZE 4096u
/* Programs have a handful of segments. */
#define SEGMENTS_MAX 64u

struct symbols {
	const struct options *options;
	struct debug_files *files;
	char *path;
	struct symbols_counts counts;
};

/* A frame that debug files are asked about. */
struct wanted {
	uint64_t vaddr; /* or, as long as no file says it, the offset in the file */
	uint32_t module, frame;
	bool is_offset;
	bool is_exact; /* not a return address */
	bool needs_name, needs_places;
};

/* ---- one file ------------------------------------------------------------------------------ */

/* Code of a compilation unit. */
struct unit_range {
	Dwarf_Addr start, end;
	Dwarf_Die unit;
};

/* Of a symbol table. */
struct symbol {
	GElf_Addr start, end;
	GElf_Addr ends_before; /* the last end of those up to it, in order */
	const char *name;
	uint32_t index;
	uint8_t binding; /* 0: local; weak, global */
};

/* By start. */
struct symbols_by_start {
	struct symbol *at;
	size_t n, cap;
};

/*
 * The functions in one file with symbols or debug information, by link-time address, through
 * libdwfl.
 */
struct debug_names {
	struct symbols_by_start globals, locals; /* with a size */
	struct symbols_by_start labels;		 /* without */
	bool has_symbols;
	Dwfl_Callbacks callbacks;
	char *path; /* of the callbacks, which keep a pointer to it; borrowed */
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct unit_range *ranges; /* by start */
	size_t n_ranges, cap_ranges;
	bool has_ranges;
	Dwarf_Addr bias; /* of the debug information */
};

static bool has_build_id(Elf *elf, const char *build_id)
{
	uint8_t id[BUILD_ID_MAX];
	size_t len = build_id_find(elf, id);

	if (!len || len * 2 != strlen(build_id))
		return false;
	for (size_t i = 0; i < len; i++) {
		char hex[3];

		snprintf(hex, sizeof(hex), "%02x", id[i]);
		if (memcmp(hex, build_id + 2 * i, 2))
			return false;
	}
	return true;
}

static int check_build_id(int fd, const char *build_id)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	int err = elf_kind(elf) != ELF_K_ELF ? -ENOEXEC : has_build_id(elf, build_id) ? 0 : -ESTALE;

	elf_end(elf);
	return err;
}

static void debug_names_close(struct debug_names *d)
{
	if (!d)
		return;
	dwfl_end(d->dwfl);
	free(d->ranges);
	free(d->globals.at);
	free(d->locals.at);
	free(d->labels.at);
	free(d);
}

/*
 * Opens the file, and closes fd also in case of an error. name is for libdwfl, which looks beside
 * it and in the folders of path (joined by ':'; it must outlive what is opened) for what belongs to
 * it. Returns 0; -ENOEXEC if it is no ELF file; -ESTALE if its build ID is not build_id (hex);
 * -ENOMEM.
 */
static int debug_names_open(struct debug_names **out, int fd, const char *name,
			    const char *build_id, char *path)
{
	struct debug_names *d = xcalloc(1, sizeof(*d));
	int err = check_build_id(fd, build_id);

	*out = NULL;
	if (err)
		goto fail;
	d->path = path;
	d->callbacks = (Dwfl_Callbacks) {
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &d->path,
	};
	err = -ENOMEM;
	d->dwfl = dwfl_begin(&d->callbacks);
	if (!d->dwfl)
		goto fail;
	dwfl_report_begin(d->dwfl);
	/* With this base, addresses are those that the file was linked for. */
	d->module = dwfl_report_elf(d->dwfl, name, name, fd, 0, true);
	dwfl_report_end(d->dwfl, NULL, NULL);
	if (!d->module) {
		err = -ENOEXEC;
		goto fail;
	}
	/* It keeps the descriptor. */
	*out = d;
	return 0;
fail:
	close(fd);
	debug_names_close(d);
	return err;
}

/* By start; then those first that are preferred. */
static int by_symbol_start(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;

	if (a->start != b->start)
		return compare_numbers(a->start, b->start);
	if (a->binding != b->binding)
		return compare_numbers(b->binding, a->binding);
	return compare_numbers(a->index, b->index);
}

static void sort_symbols(struct symbols_by_start *s)
{
	GElf_Addr last = 0;

	if (s->n)
		qsort(s->at, s->n, sizeof(*s->at), by_symbol_start);
	for (size_t i = 0; i < s->n; i++) {
		last = last > s->at[i].end ? last : s->at[i].end;
		s->at[i].ends_before = last;
	}
}

/* Takes all symbols: dwfl_module_addrinfo() goes through the whole table for each address. */
static void take_symbols(struct debug_names *d)
{
	int n = dwfl_module_getsymtab(d->module);
	int first_global = dwfl_module_getsymtab_first_global(d->module);

	d->has_symbols = true;
	for (int i = 1; i < n; i++) {
		struct symbols_by_start *to = i < first_global ? &d->locals : &d->globals;
		GElf_Addr start;
		GElf_Sym sym;
		const char *name =
			dwfl_module_getsym_info(d->module, i, &sym, &start, NULL, NULL, NULL);
		int type = name ? GELF_ST_TYPE(sym.st_info) : STT_FILE;

		if (!name || !*name || sym.st_shndx == SHN_UNDEF || type == STT_SECTION ||
		    type == STT_FILE || type == STT_TLS || start + sym.st_size < start)
			continue;
		to = sym.st_size ? to : &d->labels;
		XAPPEND(to->at, to->n, to->cap) = (struct symbol) {
			.start = start,
			.end = start + sym.st_size,
			.name = name,
			.index = (uint32_t)i,
			.binding = GELF_ST_BIND(sym.st_info) == STB_LOCAL  ? 0
				   : GELF_ST_BIND(sym.st_info) == STB_WEAK ? 1
									   : 2,
		};
	}
	sort_symbols(&d->globals);
	sort_symbols(&d->locals);
	sort_symbols(&d->labels);
}

/* The symbol that begins last before an address and goes beyond it; NULL: none does. */
static const struct symbol *symbol_over(const struct symbols_by_start *s, uint64_t addr)
{
	size_t after = LOWER_BOUND(i, s->n, s->at[i].start <= addr);
	const struct symbol *found = NULL;

	for (size_t i = after; i-- > 0 && s->at[i].ends_before > addr;) {
		if (found && s->at[i].start != found->start)
			break;
		if (s->at[i].end > addr)
			found = &s->at[i];
	}
	return found;
}

/* The last end of the symbols that begin up to an address. */
static GElf_Addr end_up_to(const struct symbols_by_start *s, uint64_t addr)
{
	size_t after = LOWER_BOUND(i, s->n, s->at[i].start <= addr);

	return after ? s->at[after - 1].ends_before : 0;
}

/* Whether a label may name an address: no symbol with a size goes beyond it. */
static bool has_label(const struct debug_names *d, uint64_t addr)
{
	size_t after = LOWER_BOUND(i, d->labels.n, d->labels.at[i].start <= addr);

	return after && d->labels.at[after - 1].start >= end_up_to(&d->globals, addr) &&
	       d->labels.at[after - 1].start >= end_up_to(&d->locals, addr);
}

/* As dwfl_module_addrinfo(), which is asked about labels: it knows in which section they are. */
static const char *symbol_at(struct debug_names *d, uint64_t addr, uint64_t *start)
{
	const struct symbol *s;
	const char *name;
	GElf_Off offset;
	GElf_Sym sym;

	if (!d->has_symbols)
		take_symbols(d);
	s = symbol_over(&d->globals, addr);
	if (!s)
		s = symbol_over(&d->locals, addr);
	if (s) {
		*start = s->start;
		return s->name;
	}
	if (!has_label(d, addr))
		return NULL;
	name = dwfl_module_addrinfo(d->module, addr, &offset, &sym, NULL, NULL, NULL);
	*start = addr - offset;
	return name;
}

/*
 * The function at a return address: the byte before decides, then the byte itself; at an exact
 * address only that. The name is as in the file, until debug_names_close(). False: no symbol covers
 * it.
 */
static bool debug_names_symbol(struct debug_names *d, uint64_t vaddr, bool is_exact,
			       const char **name, uint64_t *start)
{
	for (uint64_t before = !is_exact; before <= vaddr && before <= 1; before--) {
		*name = symbol_at(d, vaddr - before, start);
		if (*name && **name)
			return true;
	}
	return false;
}

/* ---- debug information --------------------------------------------------------------------- */

/* A function whose code is at an address, and the line in it. */
struct debug_place {
	const char *name; /* as in the file, perhaps mangled; "": not known */
	const char *file; /* NULL: not known */
	uint32_t line;	  /* 0: not known */
};

static int by_start(const void *pa, const void *pb)
{
	const struct unit_range *a = pa, *b = pb;

	return compare_numbers(a->start, b->start);
}

/* Takes the ranges of all units. Not every compiler writes .debug_aranges, the index of them. */
static void take_ranges(struct debug_names *d)
{
	Dwarf_Die *unit = NULL;

	d->has_ranges = true;
	while ((unit = dwfl_module_nextcu(d->module, unit, &d->bias))) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0)
			XAPPEND(d->ranges, d->n_ranges, d->cap_ranges) =
				(struct unit_range) { start + d->bias, end + d->bias, *unit };
	}
	if (d->n_ranges)
		qsort(d->ranges, d->n_ranges, sizeof(*d->ranges), by_start);
}

static Dwarf_Die *unit_at(struct debug_names *d, uint64_t addr)
{
	size_t after;

	if (!d->has_ranges)
		take_ranges(d);
	after = LOWER_BOUND(i, d->n_ranges, d->ranges[i].start <= addr);
	return after && addr < d->ranges[after - 1].end ? &d->ranges[after - 1].unit : NULL;
}

/* The linkage name, as a symbol table has it; else the name. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	if (!name)
		name = dwarf_diename(die);
	return name ? name : "";
}

/* Where the inlined function was called. */
static void take_call(Dwarf_Die *unit, Dwarf_Die *die, struct debug_place *out)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word file, line;
	size_t n;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &file) ||
	    dwarf_getsrcfiles(unit, &files, &n))
		return;
	out->file = dwarf_filesrc(files, file, NULL, NULL);
	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &line))
		out->line = (uint32_t)line;
}

/* The entries around an address, from the innermost to the function. Returns how many; to free. */
static int scopes_at(struct debug_names *d, Dwarf_Die *unit, uint64_t addr, Dwarf_Die **scopes)
{
	Dwarf_Die innermost, *found = NULL;
	int n = dwarf_getscopes(unit, addr - d->bias, &found);

	*scopes = NULL;
	if (n <= 0)
		return 0;
	/* Those of an inlined function lead to where it was written, not to its callers. */
	innermost = found[0];
	free(found);
	return dwarf_getscopes_die(&innermost, scopes);
}

/*
 * The functions at a return address, or an exact one, by the debug information: those that were
 * inlined there, the innermost first, then the function itself. Returns how many, at most max; 0:
 * no debug information covers the address.
 */
static size_t debug_names_places(struct debug_names *d, uint64_t vaddr, bool is_exact,
				 struct debug_place *out, size_t max)
{
	uint64_t addr = vaddr && !is_exact ? vaddr - 1 : vaddr;
	Dwarf_Die *unit = unit_at(d, addr), *scopes;
	struct debug_place at = { .name = "" };
	Dwarf_Line *line;
	size_t n = 0;
	int n_scopes, number = 0;

	if (!unit)
		return 0;
	line = dwarf_getsrc_die(unit, addr - d->bias);
	if (line && !dwarf_lineno(line, &number))
		at.file = dwarf_linesrc(line, NULL, NULL);
	at.line = number > 0 ? (uint32_t)number : 0;
	n_scopes = scopes_at(d, unit, addr, &scopes);
	for (int i = 0; i < n_scopes && n < max; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		at.name = name_of(&scopes[i]);
		out[n++] = at;
		if (tag == DW_TAG_subprogram)
			break;
		at = (struct debug_place) { .name = "" };
		take_call(unit, &scopes[i], &at);
	}
	free(scopes);
	return n;
}

/* ---- the state over all traces ------------------------------------------------------------- */

bool symbols_wanted(const struct options *o)
{
	return o->debug_dirs.n || o->debuginfod || o->inlined;
}

void symbols_new(struct symbols **out, const struct options *o)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	debug_files_new(&s->files, o);
	*out = NULL;
	s->options = o;
	s->path = debug_files_path(s->files);
	*out = s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	debug_files_free(s->files);
	free(s->path);
	free(s);
}

struct symbols_counts symbols_counts(const struct symbols *s)
{
	return s->counts;
}

const char *symbols_complaint(const struct symbols *s)
{
	return debug_files_complaint(s->files);
}

/* ---- one frame ----------------------------------------------------------------------------- */

static void put_name(struct symbols *s, struct trace *t, struct debug_names *d, struct wanted *w)
{
	char buf[NAME_SIZE];
	const char *name;
	uint64_t start;

	if (!w->needs_name || !debug_names_symbol(d, w->vaddr, w->is_exact, &name, &start))
		return;
	w->needs_name = false;
	s->counts.named++;
	trace_name_frame(t, w->frame, demangle(name, buf, sizeof(buf)), w->vaddr - start);
}

static void put_places(struct symbols *s, struct trace *t, struct debug_names *d, struct wanted *w)
{
	struct debug_place places[TRACE_INLINE_MAX + 1];
	size_t n = w->needs_places ? debug_names_places(d, w->vaddr, w->is_exact, places,
							TRACE_INLINE_MAX + 1)
				   : 0;
	char buf[NAME_SIZE];

	if (!n)
		return;
	w->needs_places = false;
	s->counts.inlined += n > 1;
	for (size_t i = 0; i < n - 1; i++) {
		uint32_t id;

		trace_inline_frame(t, w->frame, demangle(places[i].name, buf, sizeof(buf)), &id);
		trace_locate_frame(t, id, places[i].file, places[i].line);
	}
	trace_locate_frame(t, w->frame, places[n - 1].file, places[n - 1].line);
}

/* ---- one module ---------------------------------------------------------------------------- */

/*
 * Puts addresses in the place of offsets, as the program headers of the file say. (Those of a file
 * with nothing but debug information have no bytes in the file.)
 */
static void put_addresses(struct debug_names *d, struct wanted *w, size_t n)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(d->module, &bias);
	size_t headers = 0;

	if (!elf || elf_getphdrnum(elf, &headers))
		return;
	for (size_t k = 0; k < headers && k < SEGMENTS_MAX; k++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)k, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		for (size_t i = 0; i < n; i++) {
			if (!w[i].is_offset || w[i].vaddr - ph.p_offset >= ph.p_filesz)
				continue;
			w[i].vaddr = w[i].vaddr - ph.p_offset + ph.p_vaddr;
			w[i].is_offset = false;
		}
	}
}

static bool any_offset(const struct wanted *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (w[i].is_offset)
			return true;
	return false;
}

static bool is_done(const struct wanted *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (w[i].needs_name || w[i].needs_places)
			return false;
	return true;
}

static void ask_file(struct symbols *s, struct trace *t, struct debug_names *d, struct wanted *w,
		     size_t n)
{
	uint64_t before = s->counts.named + s->counts.inlined;

	for (size_t i = 0; i < n; i++) {
		if (w[i].is_offset)
			continue;
		put_name(s, t, d, &w[i]);
		put_places(s, t, d, &w[i]);
	}
	s->counts.files += s->counts.named + s->counts.inlined != before;
}

/* Names the n frames of a module by the first files that know them. */
static int name_module(struct symbols *s, struct trace *t, struct wanted *w, size_t n)
{
	const char *build_id = trace_module_build_id(t, w->module);
	const char *path = trace_module_path(t, w->module);
	size_t sources = debug_files_sources(s->files);
	char name[PATH_MAX];

	/* First where the code is, which another file may say than the one with the names. */
	for (size_t i = 0; i < 2 * sources && !is_done(w, n); i++) {
		bool named = i >= sources;
		struct debug_names *d;
		int fd;

		if (!named && !any_offset(w, n))
			continue;
		fd = debug_files_open(s->files, i % sources, build_id, path, name, sizeof(name));
		if (fd == -ENOMEM)
			return fd;
		if (fd < 0 || debug_names_open(&d, fd, name, build_id, s->path))
			continue;
		if (named)
			ask_file(s, t, d, w, n);
		else
			put_addresses(d, w, n);
		debug_names_close(d);
	}
	return 0;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int by_module(const void *pa, const void *pb)
{
	const struct wanted *a = pa, *b = pb;

	if (a->module != b->module)
		return compare_numbers(a->module, b->module);
	return compare_numbers(a->frame, b->frame);
}

/* The frames to ask about, by module; their number. */
static size_t take_wanted(struct symbols *s, const struct trace *t, struct wanted *w)
{
	size_t n = 0;

	for (uint32_t id = 1; id < trace_frames_end(t); id++) {
		const struct trace_frame *f = trace_frame(t, id);

		if (!f || !f->space || f->code)
			continue;
		s->counts.unnamed += f->unnamed;
		if ((!f->unnamed && !s->options->inlined) || !*trace_module_build_id(t, f->module))
			continue;
		w[n].is_offset = !trace_frame_vaddr(t, id, &w[n].vaddr);
		if (w[n].is_offset && !trace_frame_file_offset(t, id, &w[n].vaddr))
			continue;
		w[n].module = f->module;
		w[n].frame = id;
		w[n].is_exact = f->exact;
		w[n].needs_name = f->unnamed;
		w[n].needs_places = s->options->inlined;
		n++;
	}
	if (n)
		qsort(w, n, sizeof(*w), by_module);
	return n;
}

int symbols_apply(struct symbols *s, struct trace *t)
{
	struct wanted *w = xmalloc(trace_frames_end(t) * sizeof(*w));
	size_t n = take_wanted(s, t, w);
	int err = 0;

	for (size_t i = 0, end; i < n && !err; i = end) {
		for (end = i + 1; end < n && w[end].module == w[i].module; end++)
			;
		err = name_module(s, t, w + i, end - i);
	}
	free(w);
	if (!err)
		trace_inline_stacks(t);
	return err;
}
