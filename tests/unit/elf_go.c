// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of stripped Go programs by .gopclntab: its four layouts, as Go's debug/gosym/pclntab.go
 * describes them, in small ELF files, and tables that lie. user_stacks_go_stripped.sh compares all
 * names of a real program.
 */
#include "test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elfsym_private.h"

#define TEXT 0x401000u	/* of runtime.text */
#define TABLE 0x500000u /* of the section with the table */
#define N 3u

static const struct {
	uint32_t start;
	const char *name;
} functions[N + 1] = {
	{ 0, "runtime.text" },
	{ 0x40, "main.main" },
	{ 0x100, "main.(*T).Get[...]" },
	{ 0x180, NULL }, /* the end */
};

enum { MAGIC_1_2 = 0xfb, MAGIC_1_16 = 0xfa, MAGIC_1_18 = 0xf0, MAGIC_1_20 = 0xf1 };

struct bytes {
	uint8_t p[4096];
	size_t len;
};

static void put(struct bytes *b, const void *p, size_t len)
{
	assert_true(len <= sizeof(b->p) - b->len);
	memcpy(b->p + b->len, p, len);
	b->len += len;
}

static void put32(struct bytes *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put64(struct bytes *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

static void set64(struct bytes *b, size_t at, uint64_t v)
{
	memcpy(b->p + at, &v, sizeof(v));
}

/* Names, each with a zero byte before it, so that no name has the offset 0. */
static void put_names(struct bytes *b, size_t from, uint32_t offsets[N])
{
	for (size_t i = 0; i < N; i++) {
		put(b, "", 1);
		offsets[i] = (uint32_t)(b->len - from);
		put(b, functions[i].name, strlen(functions[i].name) + 1);
	}
	while (b->len % 8)
		put(b, "", 1);
}

/* The table in one of its layouts; text is what its header says. */
static struct bytes table(uint8_t magic, uint64_t text)
{
	struct bytes b = { .len = 0 };
	bool is_1_2 = magic == MAGIC_1_2, is_1_18 = magic == MAGIC_1_18 || magic == MAGIC_1_20;
	uint32_t names[N], first[N];
	size_t words = is_1_2 ? 1 : is_1_18 ? 8 : 7, functab, origin;

	put(&b, (uint8_t[]) { magic, 0xff, 0xff, 0xff, 0, 0, 1, 8 }, 8);
	put64(&b, N);
	for (size_t i = 1; i < words; i++)
		put64(&b, 0);
	if (is_1_18)
		set64(&b, 24, text);
	if (!is_1_2) {
		set64(&b, is_1_18 ? 32 : 24, b.len);
		put_names(&b, b.len, names);
		/* cutab, filetab, pctab, functab */
		for (size_t i = words - 4; i < words; i++) {
			set64(&b, 8 + 8 * i, b.len);
			put64(&b, 0);
		}
		b.len -= 8;
	}
	functab = b.len;
	origin = is_1_2 ? 0 : functab;
	for (size_t i = 0; i <= N; i++) {
		if (is_1_18) {
			put32(&b, functions[i].start);
			put32(&b, 0);
		} else {
			put64(&b, TEXT + functions[i].start);
			put64(&b, 0);
		}
	}
	if (is_1_2)
		put_names(&b, 0, names);
	for (size_t i = 0; i < N; i++) {
		first[i] = (uint32_t)(b.len - origin);
		if (is_1_18)
			put32(&b, functions[i].start);
		else
			put64(&b, TEXT + functions[i].start);
		put32(&b, names[i]);
		put64(&b, 0);
		memcpy(b.p + functab + (is_1_18 ? 8 * i + 4 : 16 * i + 8), &first[i],
		       sizeof(first[i]));
	}
	return b;
}

struct section {
	const char *name;
	uint32_t type;
	uint64_t flags, address;
	struct bytes bytes;
};

/* An ELF file with these sections. */
static struct bytes elf_file(uint16_t type, const struct section *s, size_t n)
{
	struct bytes b = { .len = 0 }, names = { .len = 1 };
	Elf64_Ehdr h = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = type,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(n + 2),
		.e_shstrndx = (uint16_t)(n + 1),
	};
	Elf64_Shdr sh[8] = { 0 };

	put(&b, &h, sizeof(h));
	for (size_t i = 0; i <= n; i++) {
		sh[i + 1] = (Elf64_Shdr) {
			.sh_name = (uint32_t)names.len,
			.sh_type = i < n ? s[i].type : SHT_STRTAB,
			.sh_flags = i < n ? s[i].flags : 0,
			.sh_addr = i < n ? s[i].address : 0,
			.sh_offset = b.len,
			.sh_addralign = 8,
		};
		if (i < n) {
			put(&names, s[i].name, strlen(s[i].name) + 1);
			put(&b, s[i].bytes.p, s[i].bytes.len);
		} else {
			put(&names, ".shstrtab", sizeof(".shstrtab"));
			put(&b, names.p, names.len);
		}
		sh[i + 1].sh_size = b.len - sh[i + 1].sh_offset;
		if (i < n && s[i].type == SHT_RELA)
			sh[i + 1].sh_entsize = sizeof(Elf64_Rela);
		while (b.len % 8)
			put(&b, "", 1);
	}
	h.e_shoff = b.len;
	memcpy(b.p, &h, sizeof(h));
	put(&b, sh, (n + 2) * sizeof(*sh));
	return b;
}

static struct section text_section(uint64_t bytes)
{
	return (struct section) {
		".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, { .len = bytes }
	};
}

static struct section table_section(const char *name, struct bytes t)
{
	return (struct section) { name, SHT_PROGBITS, SHF_ALLOC, TABLE, t };
}

/* The name of the function at a return address of these files; *start: where it begins. */
static char *name_at(const struct bytes *file, uint64_t vaddr, uint64_t *start)
{
	struct elfsym_address a = { .vaddr = vaddr };
	struct elfsym *e;
	char *name;

	assert_int_equal(elfsym_open_memory(&e, file->p, file->len), 0);
	elfsym_find(e, &a, 1);
	name = a.name ? strdup(a.name) : NULL;
	*start = a.start;
	elfsym_close(e);
	return name;
}

static void expect_names(const struct bytes *file)
{
	uint64_t start;
	char *name;

	for (size_t i = 0; i < N; i++) {
		const uint32_t at[] = { functions[i].start + 1, functions[i + 1].start };

		for (size_t k = 0; k < 2; k++) {
			name = name_at(file, TEXT + at[k], &start);
			assert_non_null(name);
			assert_string_equal(name, functions[i].name);
			assert_int_equal(start, TEXT + functions[i].start);
			free(name);
		}
	}
	assert_null(name_at(file, TEXT + functions[N].start + 1, &start));
	assert_null(name_at(file, TEXT - 1, &start));
	assert_null(name_at(file, 0, &start));
	assert_null(name_at(file, UINT64_MAX, &start));
}

static void expect_no_names(const struct bytes *file)
{
	uint64_t start;

	for (size_t i = 0; i < N; i++)
		assert_null(name_at(file, TEXT + functions[i].start + 1, &start));
}

TEST(all_four_layouts_name_functions_from_their_first_byte_to_their_last)
{
	static const uint8_t magics[] = { MAGIC_1_2, MAGIC_1_16, MAGIC_1_18, MAGIC_1_20 };

	for (size_t i = 0; i < sizeof(magics); i++) {
		struct section s[] = { text_section(0x200),
				       table_section(".gopclntab", table(magics[i], TEXT)) };
		struct bytes file = elf_file(ET_EXEC, s, 2);

		expect_names(&file);
	}
}

TEST(a_layout_that_is_not_known_gives_no_names)
{
	struct section s[] = { text_section(0x180),
			       table_section(".gopclntab", table(0xf2, TEXT)) };
	struct bytes file = elf_file(ET_EXEC, s, 2);

	expect_no_names(&file);
}

TEST(a_symbol_table_counts_alone)
{
	struct section s[] = { text_section(0x180),
			       table_section(".gopclntab", table(MAGIC_1_18, TEXT)),
			       { ".symtab", SHT_SYMTAB, 0, 0, { .len = 0 } } };
	struct bytes file = elf_file(ET_EXEC, s, 3);

	expect_no_names(&file);
}

/* In position independent programs the header's word is written by the dynamic linker. */
TEST(a_relocation_says_where_code_begins)
{
	Elf64_Rela r[] = { { TABLE, ELF64_R_INFO(0, R_X86_64_RELATIVE), 7 },
			   { TABLE + 24, ELF64_R_INFO(1, R_X86_64_64), 8 },
			   { TABLE + 24, ELF64_R_INFO(0, R_X86_64_RELATIVE), TEXT } };
	struct section s[] = {
		text_section(0x200),
		table_section(".data.rel.ro.gopclntab", table(MAGIC_1_18, 0)),
		{ ".rela.dyn", SHT_RELA, SHF_ALLOC, 0, { .len = 0 } },
	};
	struct bytes file;

	put(&s[2].bytes, r, sizeof(r));
	file = elf_file(ET_DYN, s, 3);
	expect_names(&file);
	/* Without it, code that is not Go's may come first: only a section without others counts.
	 */
	file = elf_file(ET_DYN, s, 2);
	expect_no_names(&file);
	s[0].bytes.len = 0x180;
	file = elf_file(ET_DYN, s, 2);
	expect_names(&file);
}

/* The host's linker merges the table with other data of position independent programs. */
TEST(a_table_is_found_among_other_data_of_a_go_program)
{
	struct bytes mixed = { .len = 64 }, t = table(MAGIC_1_20, TEXT);
	struct section s[] = { text_section(0x180),
			       { ".data.rel.ro", SHT_PROGBITS, SHF_ALLOC, TABLE, mixed },
			       { ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC, 0, { .len = 16 } } };
	struct bytes file;

	/* What looks like one comes first. */
	memcpy(s[1].bytes.p, t.p, 16);
	put(&s[1].bytes, t.p, t.len);
	put64(&s[1].bytes, 0);
	file = elf_file(ET_EXEC, s, 3);
	expect_names(&file);
	file = elf_file(ET_EXEC, s, 2);
	expect_no_names(&file);
}

static void expect_next_function(void *ctx, const char *name, uint64_t start, uint64_t size)
{
	size_t *n = ctx;

	assert_true(*n < N);
	assert_string_equal(name, functions[*n].name);
	assert_int_equal(start, TEXT + functions[*n].start);
	assert_int_equal(size, functions[*n + 1].start - functions[*n].start);
	++*n;
}

TEST(each_function_has_its_bounds)
{
	struct section s[] = { text_section(0x180),
			       table_section(".gopclntab", table(MAGIC_1_18, TEXT)) };
	struct bytes file = elf_file(ET_EXEC, s, 2);
	struct elfsym *e;
	size_t n = 0;

	assert_int_equal(elfsym_open_memory(&e, file.p, file.len), 0);
	elfsym_each_function(e, expect_next_function, &n);
	assert_int_equal(n, N);
	elfsym_close(e);
}

/* What is found must end within the file, and begin at or before the address. */
static void ask(const struct bytes *file)
{
	struct elfsym_address a[64] = { 0 };
	size_t n = 0, total = 0;
	struct elfsym *e;

	if (elfsym_open_memory(&e, file->p, file->len))
		return;
	for (uint32_t at = 0; at < 62; at++)
		a[n++].vaddr = TEXT + 8 * at;
	a[n++].vaddr = (uint64_t)1 << 40;
	a[n++].vaddr = UINT64_MAX;
	elfsym_find(e, a, n);
	for (size_t i = 0; i < n; i++) {
		if (!a[i].name)
			continue;
		assert_true(a[i].start <= a[i].vaddr);
		assert_true(*a[i].name);
		total += strlen(a[i].name);
	}
	assert_true(total < sizeof(file->p) * n);
	elfsym_close(e);
}

TEST(a_damaged_table_gives_no_crash)
{
	static const uint8_t magics[] = { MAGIC_1_2, MAGIC_1_16, MAGIC_1_18 };
	static const uint8_t evil[] = { 0, 1, 0x7f, 0x80, 0xff };

	for (size_t i = 0; i < sizeof(magics); i++) {
		const struct bytes good = table(magics[i], TEXT);

		for (size_t at = 0; at < good.len; at++) {
			for (size_t k = 0; k < sizeof(evil); k++) {
				struct section s[] = { text_section(0x180),
						       table_section(".gopclntab", good) };
				struct bytes file;

				s[1].bytes.p[at] = evil[k];
				/* Two neighbours: numbers near the limits of 16 bits. */
				if (at + 1 < good.len && k == 4)
					s[1].bytes.p[at + 1] = evil[k];
				file = elf_file(ET_EXEC, s, 2);
				ask(&file);
			}
		}
		for (size_t len = 0; len < good.len; len++) {
			struct section s[] = { text_section(0x180),
					       table_section(".gopclntab", good) };
			struct bytes file;

			s[1].bytes.len = len;
			file = elf_file(ET_EXEC, s, 2);
			ask(&file);
		}
	}
}
