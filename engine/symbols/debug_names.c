// SPDX-License-Identifier: GPL-2.0-or-later
#include "debug_names.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"
#include "common/grow.h"
#include "common/lower_bound.h"

/* Code of a compilation unit. */
struct unit_range {
	Dwarf_Addr start, end;
	Dwarf_Die unit;
};

struct debug_names {
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
	const uint8_t *id;
	const void *bytes;
	ssize_t len = dwelf_elf_gnu_build_id(elf, &bytes);

	if (len <= 0 || (size_t)len * 2 != strlen(build_id))
		return false;
	id = bytes;
	for (ssize_t i = 0; i < len; i++) {
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

int debug_names_open(struct debug_names **out, int fd, const char *name, const char *build_id,
		     char *path)
{
	struct debug_names *d = calloc(1, sizeof(*d));
	int err = d ? check_build_id(fd, build_id) : -ENOMEM;

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

void debug_names_close(struct debug_names *d)
{
	if (!d)
		return;
	dwfl_end(d->dwfl);
	free(d->ranges);
	free(d);
}

bool debug_names_symbol(struct debug_names *d, uint64_t vaddr, const char **name, uint64_t *start)
{
	for (uint64_t before = 1; before <= vaddr && before <= 1; before--) {
		GElf_Off offset;
		GElf_Sym sym;

		*name = dwfl_module_addrinfo(d->module, vaddr - before, &offset, &sym, NULL, NULL,
					     NULL);
		if (*name && **name) {
			*start = vaddr - before - offset;
			return true;
		}
	}
	return false;
}

/* ---- debug information --------------------------------------------------------------------- */

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

		while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
			struct unit_range *r =
				grow_array(d->ranges, d->n_ranges, &d->cap_ranges, sizeof(*r));

			if (!r)
				return;
			d->ranges = r;
			r[d->n_ranges++] =
				(struct unit_range) { start + d->bias, end + d->bias, *unit };
		}
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

size_t debug_names_places(struct debug_names *d, uint64_t vaddr, struct debug_place *out,
			  size_t max)
{
	uint64_t addr = vaddr ? vaddr - 1 : 0;
	Dwarf_Die *unit = unit_at(d, addr), *scopes;
	struct debug_place at = { .name = "" };
	Dwfl_Line *line;
	size_t n = 0;
	int n_scopes, number = 0;

	if (!unit)
		return 0;
	line = dwfl_module_getsrc(d->module, addr);
	if (line)
		at.file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
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
