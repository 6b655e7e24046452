// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as an ELF file, out of a file and out of memory. Both must say the same,
 * and a function that is found must begin no later than the address.
 */
#include "collector.h"

#include "elf/elfinterp.h"
#include "elf/elfprobe.h"
#include "elf/elfsym.h"
#include "elf/elftls.h"

#define ADDRESSES 24u

static int compare(const void *a, const void *b)
{
	const struct elfsym_address *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Small addresses, as in files that are linked for 0, and what the file itself is about. */
static void find(struct elfsym *e, const uint8_t *data, size_t size, struct elfsym_address *a)
{
	for (size_t i = 0; i < ADDRESSES; i++) {
		uint64_t at = number_at(data, size, i);

		a[i] = (struct elfsym_address) { .vaddr = i % 2 ? at : at % (4 * (size + 1)) };
		if (i % 3 == 0)
			elfsym_vaddr(e, a[i].vaddr, &a[i].vaddr);
	}
	qsort(a, ADDRESSES, sizeof(*a), compare);
	elfsym_find(e, a, ADDRESSES);
	elfsym_find_bounds(e, a, ADDRESSES);
}

/* A function and a USDT probe, by names that the file may have, or that are near these. */
static void find_probes(struct elfsym *e)
{
	static const struct elfprobe_query queries[] = {
		{ .name = "main" },
		{ .name = "*a*", .offset = 1 },
		{ .is_usdt = 1, .provider = "jobs", .name = "begin", .args = { 1, 2 } },
	};
	struct elfprobe_answer a;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		elfprobe_find(e, &queries[i], &a);
		must(a.n_places <= ELFPROBE_PLACES && a.n_names <= NEAR_NAMES_MAX);
		must(a.fault || a.n_places);
		for (uint32_t k = 0; k < a.n_names; k++)
			must(memchr(a.names[k], 0, NEAR_NAMES_LEN) != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elfsym_address a[ADDRESSES], b[ADDRESSES];
	uint8_t id[2][BUILD_ID_MAX];
	struct elfsym *file = NULL, *memory = NULL;
	struct elfinterp interp[2];
	struct elftls tls[2];
	int err = elfsym_open(&file, file_of(data, size));
	size_t len;

	must((elfsym_open_memory(&memory, data, size) == 0) == (err == 0));
	if (err)
		return 0;
	len = elfsym_build_id(file, id[0]);
	must(len <= BUILD_ID_MAX && elfsym_build_id(memory, id[1]) == len);
	must(!memcmp(id[0], id[1], len));
	must(elfsym_has_symtab(file) == elfsym_has_symtab(memory));
	must(!elftls_find(file, "variable", &tls[0]) == !elftls_find(memory, "variable", &tls[1]));
	must(tls[0].tls < WIRE_TLS_MODULE && tls[0].slot == tls[1].slot);
	err = elfinterp_find(file, &interp[0]);
	must(elfinterp_find(memory, &interp[1]) == err);
	must(err || !memcmp(&interp[0], &interp[1], sizeof(interp[0])));
	find(file, data, size, a);
	find(memory, data, size, b);
	for (size_t i = 0; i < ADDRESSES; i++) {
		must(!a[i].name == !b[i].name && a[i].is_bounded == b[i].is_bounded);
		must(!a[i].name || (*a[i].name && !strcmp(a[i].name, b[i].name)));
		if (a[i].name || a[i].is_bounded)
			must(a[i].start == b[i].start && a[i].start <= a[i].vaddr);
	}
	find_probes(file);
	elfsym_close(file);
	elfsym_close(memory);
	return 0;
}
