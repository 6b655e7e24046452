// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's functions by address: a made /proc/kallsyms, and the real one. */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/kallsyms.h"

static const char *const text = "ffffffff81000000 T _text\n"
				"ffffffff81000000 T _stext\n"
				"ffffffff81000010 t __pfx_do_nothing\n"
				"ffffffff81000020 t do_nothing\n"
				"ffffffff81000100 W __x64_sys_read\n"
				"ffffffff81000100 T read_alias\n"
				"ffffffff81000200 D jiffies\n"
				"ffffffff81000300 t __traceiter_sched_switch\n"
				"ffffffff81000400 T schedule\n"
				"this is not a symbol\n"
				"ffffffffc0a00000 t ext4_first\t[ext4]\n"
				"ffffffffc0a00100 t ext4_last\t[ext4]\n"
				"ffffffffc0200000 t bpf_prog_6deef7357e7b4530_other\t[bpf]\n";

static struct kallsyms *load_text(const char *s, int *err)
{
	char path[] = "/tmp/kallsyms-test-XXXXXX";
	struct kallsyms *k;
	int fd = mkstemp(path);

	assert_int_equal(kallsyms_new(&k), 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, s, strlen(s)), (ssize_t)strlen(s));
	close(fd);
	*err = kallsyms_load(k, path);
	unlink(path);
	return k;
}

static struct kallsyms *load_made(void)
{
	int err;
	struct kallsyms *k = load_text(text, &err);

	assert_int_equal(err, 0);
	return k;
}

static void expect(const struct kallsyms *k, uint64_t addr, const char *name, const char *module)
{
	struct kallsyms_symbol s;

	assert_true(kallsyms_find(k, addr, &s));
	assert_string_equal(s.name, name);
	if (module)
		assert_string_equal(s.module, module);
	else
		assert_null(s.module);
}

TEST(an_address_belongs_to_the_function_before_it)
{
	struct kallsyms *k = load_made();
	struct kallsyms_symbol s;

	expect(k, 0xffffffff81000025, "do_nothing", NULL);
	expect(k, 0xffffffffc0a00110, "ext4_last", "ext4");
	assert_true(kallsyms_find(k, 0xffffffff81000425, &s));
	assert_int_equal(s.start, 0xffffffff81000400);
	kallsyms_free(k);
}

TEST(a_call_that_ends_its_function_returns_into_that_function)
{
	struct kallsyms *k = load_made();

	expect(k, 0xffffffff81000400, "__traceiter_sched_switch", NULL);
	kallsyms_free(k);
}

TEST(of_several_names_the_plain_one_is_shown_and_data_is_none)
{
	struct kallsyms *k = load_made();

	expect(k, 0xffffffff81000108, "read_alias", NULL);
	expect(k, 0xffffffff81000210, "read_alias", NULL);
	kallsyms_free(k);
}

TEST(nothing_is_named_far_from_any_function)
{
	struct kallsyms *k = load_made();
	struct kallsyms_symbol s;

	assert_false(kallsyms_find(k, 0xffffffff80ffffff, &s));
	assert_false(kallsyms_find(k, 0xffffffff81800000, &s));
	assert_false(kallsyms_find(k, 0xffffffffc0a50000, &s));
	assert_false(kallsyms_find(k, 0, &s));
	kallsyms_free(k);
}

TEST(the_tracers_own_frames_are_marked)
{
	struct kallsyms *k = load_made();
	struct kallsyms_symbol s;

	assert_true(kallsyms_find(k, 0xffffffff81000310, &s) && s.is_tracer);
	assert_true(kallsyms_find(k, 0xffffffffc0200010, &s) && s.is_tracer);
	assert_true(kallsyms_find(k, 0xffffffff81000410, &s) && !s.is_tracer);
	kallsyms_free(k);
}

TEST(a_program_loaded_later_counts_and_takes_the_place_of_older_ones)
{
	struct kallsyms *k = load_made();
	struct kallsyms_symbol s;

	assert_int_equal(kallsyms_add(k, 0xffffffffc0200080, 0x40, "bpf_prog_a"), 0);
	assert_int_equal(kallsyms_add(k, 0xffffffffc0300000, 0x40, "bpf_prog_b"), 0);
	assert_int_equal(kallsyms_add(k, 0xffffffffc0300100, 0x40, "bpf_prog_c"), 0);
	expect(k, 0xffffffffc0200090, "bpf_prog_a", "bpf");
	expect(k, 0xffffffffc0200070, "bpf_prog_6deef7357e7b4530_other", "bpf");
	expect(k, 0xffffffffc0300140, "bpf_prog_c", "bpf");
	assert_false(kallsyms_find(k, 0xffffffffc0300141, &s));
	/* The memory of b and c is used again. */
	assert_int_equal(kallsyms_add(k, 0xffffffffc0300020, 0x100, "bpf_trampoline_1"), 0);
	expect(k, 0xffffffffc0300030, "bpf_trampoline_1", "bpf");
	assert_false(kallsyms_find(k, 0xffffffffc0300010, &s));
	assert_false(kallsyms_find(k, 0xffffffffc0300140, &s));
	assert_int_equal(kallsyms_add(k, 0x1000, 0, "empty"), -EINVAL);
	kallsyms_free(k);
}

TEST(hidden_addresses_are_told_from_a_missing_file)
{
	struct kallsyms *k;
	int err;

	k = load_text("0000000000000000 T _text\n0000000000000000 t schedule\n", &err);
	assert_int_equal(err, -EPERM);
	assert_int_equal(kallsyms_load(k, "/nonexistent/kallsyms"), -ENOENT);
	kallsyms_free(k);
}

TEST(a_failed_load_leaves_the_table)
{
	struct kallsyms *k = load_made();

	assert_int_equal(kallsyms_load(k, "/nonexistent/kallsyms"), -ENOENT);
	expect(k, 0xffffffff81000405, "schedule", NULL);
	kallsyms_free(k);
}

/* Looks up, in the real table, the address that a plain search of the file gives. */
TEST(the_running_kernels_functions_are_found)
{
	struct kallsyms *k;
	char line[512], name[256];
	uint64_t addr = 0, want = 0;
	FILE *f;
	int err;

	assert_int_equal(kallsyms_new(&k), 0);
	err = kallsyms_load(k, "/proc/kallsyms");
	if (err) {
		assert_int_equal(err, -EPERM);
		kallsyms_free(k);
		print_message("the kernel hides its addresses\n");
		skip();
	}
	f = fopen("/proc/kallsyms", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) == 2 &&
		    !strcmp(name, "schedule"))
			want = addr;
	fclose(f);
	assert_true(want != 0);
	expect(k, want + 5, "schedule", NULL);
	kallsyms_free(k);
}

TEST(the_build_id_is_found_among_other_notes_and_not_past_the_end)
{
	static const uint8_t notes[] = {
		4, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0,   0,	'X', 'e', 'n', 0,   1,	 2,   3,   0, 4, 0,
		0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,	  0xa, 0xb, 0xc, 0xd, 0xe, 0, 0, 0,
	};
	char path[] = "/tmp/kallsyms-test-XXXXXX";
	uint8_t id[KALLSYMS_BUILD_ID_MAX];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, notes, sizeof(notes)), (ssize_t)sizeof(notes));
	assert_int_equal(kallsyms_build_id(path, id), 5);
	assert_memory_equal(id, notes + 36, 5);
	for (off_t len = (off_t)sizeof(notes) - 1; len >= 0; len--) {
		assert_int_equal(ftruncate(fd, len), 0);
		assert_int_equal(kallsyms_build_id(path, id), 0);
	}
	close(fd);
	unlink(path);
	assert_int_equal(kallsyms_build_id("/nonexistent", id), 0);
}

static bool is_asm(const char *name)
{
	return !strncmp(name, "asm_", 4);
}

static void note_stretch(void *ctx, uint64_t start, uint64_t end)
{
	uint64_t **next = ctx;

	*(*next)++ = start;
	*(*next)++ = end;
}

TEST(neighbours_of_a_kind_are_one_stretch)
{
	int err;
	struct kallsyms *k = load_text("ffffffff81000100 T before\n"
				       "ffffffff81000200 T asm_one\n"
				       "ffffffff81000220 T asm_two\n"
				       "ffffffff81000250 T between\n"
				       "ffffffff81000300 T asm_three\n"
				       "ffffffff81000310 T after\n"
				       "ffffffffc0000000 t asm_module\t[ext4]\n"
				       "ffffffffc0000100 t other\t[ext4]\n",
				       &err);
	uint64_t found[8] = { 0 }, *next = found;

	assert_int_equal(err, 0);
	kallsyms_each_run(k, is_asm, note_stretch, &next);
	assert_int_equal(next - found, 4);
	assert_int_equal(found[0], 0xffffffff81000200);
	assert_int_equal(found[1], 0xffffffff81000250);
	assert_int_equal(found[2], 0xffffffff81000300);
	assert_int_equal(found[3], 0xffffffff81000310);
	kallsyms_free(k);
}
