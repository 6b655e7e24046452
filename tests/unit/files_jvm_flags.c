// SPDX-License-Identifier: GPL-2.0-or-later
/* What a JVM's descriptions of itself say, read from this process, which makes some up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/jvm_flags.h"
#include "files/runtimes.h"

struct struct_entry {
	const char *type, *field, *type_of_field;
	int32_t is_static;
	uint64_t offset;
	const void *address;
};

struct type_entry {
	const char *name, *super;
	int32_t is_oop, is_integer, is_unsigned;
	uint64_t size;
};

struct flag {
	const void *addr;
	const char *name;
	uint32_t flags, type;
};

static bool on = true, off = false;
static uint8_t odd = 7;
static struct flag flags[4];
static const struct flag *flags_at = flags;
static uint64_t n_flags = 4;
static struct struct_entry structs[6];
static struct type_entry types[3];
static const struct struct_entry *structs_at = structs;
static const struct type_entry *types_at = types;

static int set_up(void **state)
{
	(void)state;
	flags[0] = (struct flag) { &off, "PreserveFramePointerToo", 0, 0 };
	flags[1] = (struct flag) { &on, "UseCompiler", 0, 0 };
	flags[2] = (struct flag) { &off, "PreserveFramePointer", 0, 0 };
	flags[3] = (struct flag) { &on, "DisableAttachMechanism", 0, 0 };
	flags_at = flags;
	n_flags = 4;
	structs[0] = (struct struct_entry) { "Klass", "_name", "", 0, 100, NULL };
	structs[1] = (struct struct_entry) { "JVMFlag", "_name", "", 0, offsetof(struct flag, name),
					     NULL };
	structs[2] = (struct struct_entry) { "JVMFlag", "_addr", "", 0, 0, NULL };
	structs[3] = (struct struct_entry) { "JVMFlag", "flags", "", 1, 0, &flags_at };
	structs[4] = (struct struct_entry) { "JVMFlag", "numFlags", "", 1, 0, &n_flags };
	structs[5] = (struct struct_entry) { 0 };
	types[0] = (struct type_entry) { "Klass", NULL, 0, 0, 0, 200 };
	types[1] = (struct type_entry) { "JVMFlag", NULL, 0, 0, 0, sizeof(struct flag) };
	types[2] = (struct type_entry) { 0 };
	structs_at = structs;
	types_at = types;
	return 0;
}

static int read_flags(struct jvm_flags *out)
{
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC), err;

	assert_true(memory >= 0);
	err = jvm_flags_read(memory, (uint64_t)(uintptr_t)&structs_at,
			     (uint64_t)(uintptr_t)&types_at, out);
	close(memory);
	return err;
}

static void options_are_found_by_the_descriptions(void **state)
{
	struct jvm_flags f;

	(void)state;
	assert_int_equal(read_flags(&f), 0);
	assert_false(f.frame_pointers);
	assert_true(f.compiles);
	assert_true(f.is_deaf);
	flags[2].addr = &on;
	flags[1].addr = &off;
	assert_int_equal(read_flags(&f), 0);
	assert_true(f.frame_pointers);
	assert_false(f.compiles);
}

static void that_of_jdk_8_has_another_name(void **state)
{
	struct jvm_flags f;

	(void)state;
	for (int i = 1; i < 5; i++)
		structs[i].type = "Flag";
	types[1].name = "Flag";
	assert_int_equal(read_flags(&f), 0);
	assert_true(f.compiles);
}

static void what_is_missing_or_wild_gives_nothing(void **state)
{
	struct jvm_flags f;

	(void)state;
	flags[2].name = "Renamed";
	assert_int_equal(read_flags(&f), -ENOENT);
	set_up(NULL);
	flags[2].addr = &odd;
	assert_int_equal(read_flags(&f), -ENOENT);
	set_up(NULL);
	flags[2].addr = (void *)16;
	assert_int_equal(read_flags(&f), -ENOENT);
	set_up(NULL);
	types[1].size = 1 << 20;
	assert_int_equal(read_flags(&f), -ENOENT);
	set_up(NULL);
	structs[1].offset = UINT64_MAX;
	assert_int_equal(read_flags(&f), -ENOENT);
	set_up(NULL);
	structs[3].address = (void *)-8;
	assert_int_equal(read_flags(&f), -ENOENT);
	set_up(NULL);
	structs_at = (void *)1;
	assert_int_equal(read_flags(&f), -ENOENT);
	set_up(NULL);
	n_flags = UINT64_MAX; /* what is behind them is none, and is read in bounded time */
	flags[2].name = "Renamed";
	alarm(60);
	assert_int_equal(read_flags(&f), -ENOENT);
	alarm(0);
}

/* ---- whether a process has an option --------------------------------------------------------- */

static void programs_are_known_by_their_files(void **state)
{
	(void)state;
	assert_true(runtime_of("/usr/lib/jvm/java-17/lib/server/libjvm.so")->is_jvm);
	assert_non_null(runtime_of("/usr/bin/node"));
	assert_ptr_equal(runtime_of("/usr/lib/libnode.so.108"), runtime_of("nodejs"));
	assert_null(runtime_of("/usr/bin/node.sh"));
	assert_null(runtime_of("/usr/bin/nodecompile"));
	assert_null(runtime_of(""));
	assert_non_null(runtime_bare_library("/lib/ld-musl-x86_64.so.1"));
	assert_non_null(runtime_bare_library("ld-musl-aarch64.so.1"));
	assert_null(runtime_bare_library("/lib/x86_64-linux-gnu/libc.so.6"));
	assert_null(runtime_bare_library("/srv/ld-musl-x/app"));
	assert_null(runtime_bare_library(""));
}

static void options_are_looked_for_in_the_command_line_and_the_environment(void **state)
{
	static char long_text[20000];
	char *argv[] = { "sleep", "60", NULL };
	int go[2], status;
	pid_t pid;
	char c;

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	memcpy(long_text + 4090, "--odd_option", 12); /* over the end of what is read at once */
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char *envp[] = { "NODE_OPTIONS=--one-option", long_text, NULL };

		execve("/bin/sleep", argv, envp);
		_exit(1);
	}
	close(go[1]);
	assert_int_equal(read(go[0], &c, 1), 0); /* it was closed by exec */
	close(go[0]);
	assert_true(runtime_has_option((uint32_t)pid, "--one-option"));
	assert_true(runtime_has_option((uint32_t)pid, "--odd-option"));
	assert_false(runtime_has_option((uint32_t)pid, "--no-option"));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* Nothing is claimed of what cannot be read. */
	assert_true(runtime_has_option((uint32_t)pid, "--no-option"));
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(options_are_found_by_the_descriptions),
		TEST(that_of_jdk_8_has_another_name),
		TEST(what_is_missing_or_wild_gives_nothing),
		TEST(programs_are_known_by_their_files),
		TEST(options_are_looked_for_in_the_command_line_and_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
