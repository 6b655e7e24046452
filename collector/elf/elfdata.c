// SPDX-License-Identifier: GPL-2.0-or-later
#include "elfdata.h"

#include <string.h>

#include "elfsym_private.h"

struct wanted {
	const char *const *names;
	size_t n;
	uint64_t *vaddr;
};

static void take_symbol(void *wanted, const char *name, const GElf_Sym *sym)
{
	struct wanted *w = wanted;

	if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (!w->vaddr[i] && !strcmp(name, w->names[i]))
			w->vaddr[i] = sym->st_value;
}

void elfdata_find(struct elfsym *e, const char *const *names, size_t n, uint64_t *vaddr)
{
	struct wanted w = { names, n, vaddr };

	memset(vaddr, 0, n * sizeof(*vaddr));
	elfsym_each_symbol(e, SHT_DYNSYM, take_symbol, &w);
	elfsym_each_symbol(e, SHT_SYMTAB, take_symbol, &w);
}
