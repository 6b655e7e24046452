// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of ELF files by address: this test itself, the vdso, and files that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elfsym.h"

extern const char __executable_start[];

__attribute__((noinline)) static int a_static_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

/* Assembly without sizes, between functions that have one. */
__asm__(".text\n"
	".type asm_without_size, @function\n"
	"asm_without_size:\n"
	".fill 16, 1, 0x90\n"
	"asm_without_type:\n"
	".fill 16, 1, 0x90\n"
	".Lasm_label:\n"
	".fill 16, 1, 0x90\n"
	".type asm_with_size, @function\n"
	"asm_another_name:\n"
	"asm_with_size:\n"
	".fill 16, 1, 0x90\n"
	".size asm_with_size, 16\n"
	".fill 64, 1, 0x90\n"
	".type asm_behind_a_gap, @function\n"
	"asm_behind_a_gap:\n"
	".fill 16, 1, 0x90\n"
	".size asm_behind_a_gap, 16\n"
	".fill 16, 1, 0x90\n"
	"asm_described:\n"
	".cfi_startproc\n"
	".fill 16, 1, 0x90\n"
	".cfi_endproc\n"
	".cfi_startproc\n" /* another function, whose symbol is gone */
	".fill 16, 1, 0x90\n"
	".cfi_endproc\n");
extern const char asm_without_size[] __attribute__((visibility("hidden")));

static int open_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* This program's address in memory as the file's: it is position independent, linked at 0. */
static uint64_t vaddr_of(const void *p)
{
	return (uint64_t)((const char *)p - __executable_start);
}

static struct elfsym_address find_one(uint64_t vaddr)
{
	struct elfsym_address a = { .vaddr = vaddr };
	static char name[256];
	struct elfsym *e;
	int fd = open_self();

	assert_int_equal(elfsym_open(&e, fd), 0);
	elfsym_find(e, &a, 1);
	if (a.name) {
		snprintf(name, sizeof(name), "%s", a.name);
		a.name = name;
	}
	elfsym_close(e);
	close(fd);
	return a;
}

static void a_static_function_is_found_from_its_first_byte_to_its_end(void **state)
{
	uint64_t start = vaddr_of((const void *)(uintptr_t)a_static_function);
	struct elfsym_address a;

	(void)state;
	assert_int_equal(a_static_function(1), 2);
	for (uint64_t i = 0; i < 3; i++) {
		a = find_one(start + i);
		assert_non_null(a.name);
		assert_string_equal(a.name, "a_static_function");
		assert_int_equal(a.start, start);
		assert_false(a.is_plt);
	}
}

static void assembly_reaches_to_the_next_symbol_and_sizes_are_honoured(void **state)
{
	uint64_t asm_start = vaddr_of(asm_without_size);
	static const struct {
		uint64_t offset;
		const char *name;
	} want[] = {
		{ 1, "asm_without_size" },
		{ 16, "asm_without_size" },
		{ 17, "asm_without_type" },
		{ 33, "asm_without_type" }, /* past a local label */
		{ 48, "asm_without_type" },
		{ 49, "asm_with_size" },
		{ 64, "asm_with_size" }, /* returned to from a call at its very end */
		{ 66, NULL },		 /* its other name has no size of its own */
		{ 127, NULL },
		{ 128, "asm_behind_a_gap" },
		{ 144, "asm_behind_a_gap" },
		{ 161, "asm_described" },
		{ 176, "asm_described" },
		{ 177, NULL },
		{ 191, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct elfsym_address a = find_one(asm_start + want[i].offset);

		if (want[i].name)
			assert_string_equal(a.name ? a.name : "none", want[i].name);
		else
			assert_null(a.name);
	}
}

static void check_many(uint64_t start)
{
	enum { N = 400 };
	struct elfsym_address *a = calloc(N, sizeof(*a));
	struct elfsym *e;
	int fd = open_self();

	assert_non_null(a);
	for (size_t i = 0; i < N; i++)
		a[i].vaddr = start + i * 7;
	assert_int_equal(elfsym_open(&e, fd), 0);
	elfsym_find(e, a, N);
	for (size_t i = 0; i < N; i++) {
		struct elfsym_address one = find_one(a[i].vaddr);

		assert_string_equal(a[i].name ? a[i].name : "none", one.name ? one.name : "none");
	}
	elfsym_close(e);
	close(fd);
	free(a);
}

static void many_addresses_at_once_give_what_each_gives_alone(void **state)
{
	(void)state;
	check_many(vaddr_of((const void *)(uintptr_t)a_static_function) & ~15ull);
	check_many(vaddr_of(asm_without_size) - 20);
}

static void a_file_offset_leads_to_the_address_it_was_linked_for(void **state)
{
	const char *code = (const char *)(uintptr_t)a_static_function;
	uint64_t vaddr = 0, offset = 0, start, end, pgoff;
	char line[4096], perms[5];
	FILE *f = fopen("/proc/self/maps", "r");
	struct elfsym *e;
	int fd = open_self();

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %4s %lx", &start, &end, perms, &pgoff) == 4 &&
		    (uint64_t)(uintptr_t)code >= start && (uint64_t)(uintptr_t)code < end)
			offset = (uint64_t)(uintptr_t)code - start + pgoff;
	fclose(f);
	assert_true(offset != 0);
	assert_int_equal(elfsym_open(&e, fd), 0);
	assert_true(elfsym_vaddr(e, offset, &vaddr));
	assert_int_equal(vaddr, vaddr_of(code));
	assert_false(elfsym_vaddr(e, UINT64_MAX - 5, &vaddr));
	elfsym_close(e);
	close(fd);
}

static void the_vdso_is_read_from_memory(void **state)
{
	const unsigned char *vdso = (const unsigned char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct elfsym_address *a;
	uint8_t id[BUILD_ID_MAX];
	size_t len = 2 * (size_t)sysconf(_SC_PAGESIZE), named = 0;
	bool gettime = false;
	struct elfsym *e;
	Elf64_Ehdr h;

	(void)state;
	if (!vdso) {
		print_message("this kernel gives no vdso\n");
		skip();
	}
	memcpy(&h, vdso, sizeof(h));
	if (h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize <= (uint64_t)sysconf(_SC_PAGESIZE))
		len = (size_t)sysconf(_SC_PAGESIZE);
	assert_int_equal(elfsym_open_memory(&e, vdso, len), 0);
	assert_true(elfsym_build_id(e, id) >= 8);
	a = calloc(len / 4, sizeof(*a));
	assert_non_null(a);
	for (size_t i = 0; i < len / 4; i++)
		a[i].vaddr = i * 4;
	elfsym_find(e, a, len / 4);
	for (size_t i = 0; i < len / 4; i++) {
		named += a[i].name != NULL;
		gettime |= a[i].name && strstr(a[i].name, "clock_gettime");
	}
	assert_true(named > 10);
	assert_true(gettime);
	free(a);
	elfsym_close(e);
}

#if defined(__x86_64__) || defined(__aarch64__)
/* Every stub of the PLT bears the name of a function that this program does call. */
static void a_stub_bears_its_functions_name(void **state)
{
	struct elfsym *e;
	struct stat st;
	int fd = open_self();
	struct elfsym_address *a;
	size_t n, found = 0;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	n = (size_t)st.st_size / 8;
	a = calloc(n, sizeof(*a));
	assert_non_null(a);
	for (size_t i = 0; i < n; i++)
		a[i].vaddr = i * 8;
	assert_int_equal(elfsym_open(&e, fd), 0);
	elfsym_find(e, a, n);
	for (size_t i = 0; i < n; i++)
		if (a[i].is_plt && (!strcmp(a[i].name, "fopen") || !strcmp(a[i].name, "calloc") ||
				    !strcmp(a[i].name, "sysconf")))
			found++;
	elfsym_close(e);
	close(fd);
	free(a);
	if (!found) {
		print_message("linked without a PLT (-z now, or no-plt)\n");
		skip();
	}
	assert_true(found >= 3);
}
#endif

static void what_is_no_elf_file_is_said_to_be_none(void **state)
{
	struct elfsym *e;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elfsym_open(&e, fd), -ENOEXEC);
	assert_null(e);
	close(fd);
	assert_int_equal(elfsym_open_memory(&e, "\177ELF", 4), -ENOEXEC);
	assert_int_equal(elfsym_open_memory(&e, "", 0), -ENOEXEC);
	fd = open("/tmp", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elfsym_open(&e, fd), -EISDIR);
	close(fd);
}

/* Everything that is asked of a file, whatever it is; only crashing or hanging is wrong. */
static void ask_all(int fd)
{
	struct elfsym_address a[64] = { 0 };
	uint8_t id[BUILD_ID_MAX];
	uint64_t vaddr;
	struct elfsym *e;
	size_t total = 0;

	if (elfsym_open(&e, fd))
		return;
	elfsym_build_id(e, id);
	elfsym_has_symtab(e);
	for (uint64_t i = 0; i < 64; i++) {
		elfsym_vaddr(e, i * 777, &vaddr);
		a[i].vaddr = i * 1024;
	}
	elfsym_find(e, a, 64);
	elfsym_find_bounds(e, a, 64);
	for (size_t i = 0; i < 64; i++)
		if (a[i].name)
			total += strlen(a[i].name);
	assert_true(total < (1u << 30));
	elfsym_close(e);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Where a lie hurts: the headers, the section table, the symbols. */
static void a_damaged_file_gives_no_crash(void **state)
{
	static const uint8_t evil[] = { 0, 1, 0x7f, 0x80, 0xff };
	int self = open_self(), fd;
	uint32_t seed = 42;
	struct stat st;
	uint8_t *good;
	Elf64_Ehdr h;

	(void)state;
	assert_int_equal(fstat(self, &st), 0);
	good = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, self, 0);
	assert_ptr_not_equal(good, MAP_FAILED);
	memcpy(&h, good, sizeof(h));
	fd = memfd_create("damaged", MFD_CLOEXEC);
	assert_true(fd >= 0);
	alarm(120);
	assert_int_equal(write(fd, good, (size_t)st.st_size), st.st_size);
	for (int round = 0; round < 3000; round++) {
		off_t touched[8];

		for (int k = 0; k < 8; k++) {
			uint32_t r = next_random(&seed), where = next_random(&seed) % 4;
			uint8_t byte = evil[r % 5];

			if (where == 0)
				touched[k] = (off_t)(r % 64);
			else if (where == 1)
				touched[k] = (off_t)(r % 1024);
			else if (where == 2)
				touched[k] = (off_t)(h.e_shoff + r % (h.e_shnum * 64u));
			else
				touched[k] = (off_t)((uint64_t)r * 64 % (uint64_t)st.st_size);
			if (touched[k] >= 0 && touched[k] < 5 && round % 50)
				touched[k] = 5; /* mostly let it still be an ELF file */
			assert_int_equal(pwrite(fd, &byte, 1, touched[k]), 1);
		}
		ask_all(fd);
		for (int k = 0; k < 8; k++)
			assert_int_equal(pwrite(fd, good + touched[k], 1, touched[k]), 1);
	}
	for (off_t len = st.st_size; len; len = len * 9 / 10) {
		assert_int_equal(ftruncate(fd, len), 0);
		ask_all(fd);
	}
	alarm(0);
	munmap(good, (size_t)st.st_size);
	close(fd);
	close(self);
}

/* A header that promises a million sections or more, in a sparse file large enough for them. */
static void a_claim_of_endless_sections_is_refused(void **state)
{
	int fd = memfd_create("endless", MFD_CLOEXEC);
	Elf64_Ehdr h = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shoff = 64,
	};
	static const uint64_t claims[] = { UINT32_MAX, 1u << 20 };
	Elf64_Shdr first = { 0 };
	struct elfsym *e;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1ll << 39), 0);
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), (ssize_t)sizeof(h));
	for (size_t i = 0; i < 2; i++) {
		first.sh_size = claims[i];
		assert_int_equal(pwrite(fd, &first, sizeof(first), 64), (ssize_t)sizeof(first));
		assert_int_equal(elfsym_open(&e, fd), -ENOEXEC);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_static_function_is_found_from_its_first_byte_to_its_end),
		cmocka_unit_test(assembly_reaches_to_the_next_symbol_and_sizes_are_honoured),
		cmocka_unit_test(many_addresses_at_once_give_what_each_gives_alone),
		cmocka_unit_test(a_file_offset_leads_to_the_address_it_was_linked_for),
		cmocka_unit_test(the_vdso_is_read_from_memory),
#if defined(__x86_64__) || defined(__aarch64__)
		cmocka_unit_test(a_stub_bears_its_functions_name),
#endif
		cmocka_unit_test(what_is_no_elf_file_is_said_to_be_none),
		cmocka_unit_test(a_damaged_file_gives_no_crash),
		cmocka_unit_test(a_claim_of_endless_sections_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
