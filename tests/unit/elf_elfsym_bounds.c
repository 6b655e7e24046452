// SPDX-License-Identifier: GPL-2.0-or-later
/* Bounds of functions without a symbol: of this program stripped, and of tables that lie. */
#include "test.h"

#include "stripped_program.h"

__attribute__((noinline, used)) static int another_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 2;
}

/* Code that no table describes. */
__asm__(".text\n"
	".type undescribed, @function\n"
	"undescribed:\n"
	".fill 64, 1, 0x90\n"
	/* A function without a size, and far above it another one, whose symbol only is exported.
	 */
	".globl exported\n"
	".type exported, @function\n"
	"exported:\n"
	".fill 300, 1, 0x90\n"
	".type above_exported, @function\n"
	"above_exported:\n"
	".fill 64, 1, 0x90\n");
extern const char undescribed[] __attribute__((visibility("hidden")));
extern const char exported[];

static uint64_t vaddr_of(const void *p)
{
	return (uint64_t)((const char *)p - __executable_start);
}

static const void *code(int (*f)(int))
{
	return (const void *)(uintptr_t)f;
}

static struct elfsym_address bounds_of(const char *path, uint64_t vaddr)
{
	struct elfsym_address a = { .vaddr = vaddr };
	struct elfsym *e;
	int fd;

	e = open_program(path, &fd);
	elfsym_find(e, &a, 1);
	assert_null(a.name);
	elfsym_find_bounds(e, &a, 1);
	elfsym_close(e);
	close(fd);
	return a;
}

static int set_up(void **state)
{
	static char folder[32];

	*state = folder;
	enter_folder_with_stripped(folder);
	return 0;
}

static int tear_down(void **state)
{
	leave_folder(*state);
	return 0;
}

TEST_IN(functions_of_a_stripped_program_are_told_apart, set_up, tear_down)
{
	const void *functions[] = { code(a_local_function), code(another_function) };

	for (size_t i = 0; i < 2; i++) {
		uint64_t start = vaddr_of(functions[i]);

		/* Not at its first byte: the byte before that may be another function's. */
		for (uint64_t at = start + 1; at < start + 4; at++) {
			struct elfsym_address a = bounds_of("stripped", at);

			assert_true(a.is_bounded);
			assert_null(a.name);
			assert_int_equal(a.start, start);
		}
	}
}

TEST_IN(code_that_no_table_describes_has_no_bounds, set_up, tear_down)
{
	assert_false(bounds_of("stripped", vaddr_of(undescribed) + 8).is_bounded);
}

TEST_IN(a_function_with_a_symbol_keeps_it, set_up, tear_down)
{
	struct elfsym_address a = { .vaddr = vaddr_of(code(a_local_function)) + 1 };
	struct elfsym *e;
	int fd;

	e = open_program("whole", &fd);
	elfsym_find(e, &a, 1);
	elfsym_find_bounds(e, &a, 1);
	assert_string_equal(a.name, "a_local_function");
	assert_false(a.is_bounded);
	elfsym_close(e);
	close(fd);
}

static const char *name_at(const char *path, uint64_t vaddr)
{
	struct elfsym_address a = { .vaddr = vaddr };
	static char name[32];
	struct elfsym *e;
	int fd;

	e = open_program(path, &fd);
	elfsym_find(e, &a, 1);
	snprintf(name, sizeof(name), "%s", a.name ? a.name : "none");
	elfsym_close(e);
	close(fd);
	return name;
}

TEST_IN(what_is_exported_without_a_size_does_not_name_what_lies_far_above, set_up, tear_down)
{
	uint64_t start = vaddr_of(exported);

	assert_string_equal(name_at("stripped", start + 1), "exported");
	assert_string_equal(name_at("stripped", start + 256), "exported");
	assert_string_equal(name_at("stripped", start + 257), "none");
	assert_string_equal(name_at("stripped", start + 310), "none");
	assert_string_equal(name_at("whole", start + 299), "exported");
	assert_string_equal(name_at("whole", start + 310), "above_exported");
}

TEST_IN(many_addresses_at_once_give_what_each_gives_alone, set_up, tear_down)
{
	enum { N = 200 };
	uint64_t first = vaddr_of(code(a_local_function)) - 300;
	struct elfsym_address a[N] = { 0 };
	struct elfsym *e;
	size_t bounded = 0;
	int fd;

	for (size_t i = 0; i < N; i++)
		a[i].vaddr = first + 7 * i;
	e = open_program("stripped", &fd);
	elfsym_find_bounds(e, a, N);
	for (size_t i = 0; i < N; i++) {
		struct elfsym_address one = { .vaddr = a[i].vaddr };

		elfsym_find_bounds(e, &one, 1);
		assert_int_equal(a[i].is_bounded, one.is_bounded);
		if (one.is_bounded)
			assert_int_equal(a[i].start, one.start);
		bounded += one.is_bounded;
	}
	assert_true(bounded > N / 4);
	elfsym_close(e);
	close(fd);
}

/* ---- tables that lie ----------------------------------------------------------------------- */

static uint8_t *put(uint8_t *p, uint32_t number)
{
	memcpy(p, &number, 4);
	return p + 4;
}

/* Looks up an address in the stripped program with len bytes as its .eh_frame; false: no objcopy.
 */
static bool with_table(const uint8_t *table, size_t len, struct elfsym_address *a)
{
	FILE *f = fopen("table", "w");

	assert_non_null(f);
	assert_int_equal(fwrite(table, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	if (!shell("objcopy --update-section .eh_frame=table stripped lying 2>objcopy.log"))
		return false;
	*a = bounds_of("lying", vaddr_of(code(a_local_function)) + 1);
	return true;
}

/* Two million descriptions of all addresses, each with another one of two large CIEs. */
TEST_IN(a_table_of_overlapping_functions_takes_bounded_time, set_up, tear_down)
{
	enum { CIE = 8 << 20, FDE = 16, N = 2000000 };
	size_t len = 2 * (size_t)CIE + (size_t)N * FDE + 4;
	uint8_t *table = calloc(1, len), *p = table;
	struct elfsym_address a;
	bool done;

	assert_non_null(table);
	for (int i = 0; i < 2; i++) {
		memset(put(put(p, CIE - 4), 0), 1, CIE - 8); /* one long augmentation string */
		p += CIE;
	}
	for (uint32_t i = 0; i < N; i++) {
		uint32_t cie = i % 2 ? CIE : 0;

		p = put(p, FDE - 4);
		p = put(p, (uint32_t)(p - table) - cie);
		p = put(put(p, 0), UINT32_MAX);
	}
	alarm(60);
	done = with_table(table, len, &a);
	alarm(0);
	free(table);
	if (!done) {
		print_message("needs objcopy --update-section\n");
		skip();
	}
}
