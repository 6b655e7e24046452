// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as /proc/kallsyms, as /sys/kernel/notes, and as pieces of code told of
 * one by one. A name found must have its function begin before the address.
 */
#include "collector.h"

#include "common/kallsyms.h"

static void check(const struct kallsyms *k, uint64_t addr)
{
	struct kallsyms_symbol s = { 0 };

	if (!kallsyms_find(k, addr, &s))
		return;
	/* The byte before a return address counts; before 0 that is the last one. */
	must(s.start <= addr - 1 && s.name && strlen(s.name) < 1024);
	must(!s.module || strlen(s.module) < 1024);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms *k;
	const char *path = path_of(file_of(data, size));
	uint8_t id[KALLSYMS_BUILD_ID_MAX];
	int err;

	must(!kallsyms_new(&k));
	must(kallsyms_build_id(path, id) <= KALLSYMS_BUILD_ID_MAX);
	err = kallsyms_load(k, path);
	must(err <= 0);
	for (size_t i = 0; i < 32; i++)
		check(k, number_at(data, size, i));
	for (const uint8_t *p = data; p < data + size; p++) {
		char text[20] = "";

		/* The addresses that the text itself names, and those around them. */
		memcpy(text, p, (size_t)(data + size - p) < 16 ? (size_t)(data + size - p) : 16);
		if (p != data && p[-1] != '\n')
			continue;
		check(k, strtoull(text, NULL, 16));
		check(k, strtoull(text, NULL, 16) + 1);
	}
	for (size_t i = 0; i + 1 < 64 && size >= 16; i += 2) {
		uint64_t addr = number_at(data, size, i);
		uint32_t len = (uint32_t)number_at(data, size, i + 1) >> (i % 32);

		if (!kallsyms_add(k, addr, len, i % 4 ? "bpf_prog_0123_name" : "")) {
			struct kallsyms_symbol s;

			must(kallsyms_find(k, addr + 1, &s) && s.start == addr);
		}
		check(k, addr + len);
	}
	kallsyms_free(k);
	return 0;
}
