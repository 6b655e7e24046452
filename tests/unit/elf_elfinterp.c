// SPDX-License-Identifier: GPL-2.0-or-later
/* Which files have an interpreter: the distribution's, and made ones, some of which lie. */
#define OWN_MAIN
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elfinterp.h"
#include "elf/elfv8.h"
#include "interpreters/layout.h"

static char folder[] = "/tmp/elf_elfinterp.XXXXXX";

static int find_in(const char *path, struct elfinterp *out)
{
	struct elfsym *e;
	int err;

	memset(out, 0, sizeof(*out));
	err = elfsym_take_fd(&e, open(path, O_RDONLY | O_CLOEXEC));
	if (err)
		fail_msg("%s: %s", path, strerror(-err));
	err = elfinterp_find(e, out);
	elfsym_close(e);
	return err;
}

/* The address of a symbol of .dynsym, as nm has it. */
static uint64_t address_of(const char *path, const char *symbol)
{
	char line[300];
	uint64_t at = 0;
	FILE *p;

	snprintf(line, sizeof(line), "nm -D %s | sed -n 's/^\\([0-9a-f]*\\) . %s$/\\1/p'", path,
		 symbol);
	p = popen(line, "r");
	assert_non_null(p);
	if (fscanf(p, "%lx", &at) != 1)
		at = 0;
	pclose(p);
	return at;
}

/* ---- the distribution's ---------------------------------------------------------------------- */

TEST(python_is_found)
{
	const char path[] = "/usr/bin/python3.11";
	struct wire_interpreter at;
	struct elfinterp found;

	if (access(path, R_OK)) {
		print_message("needs python3.11\n");
		skip();
	}
	assert_int_equal(find_in(path, &found), 0);
	assert_int_equal(found.language, WIRE_PYTHON);
	assert_int_equal(found.version, 11);
	assert_int_equal(found.state, address_of(path, "_PyRuntime"));
	assert_int_equal(found.eval_start, address_of(path, "_PyEval_EvalFrameDefault"));
	assert_true(found.eval_end > found.eval_start + 1000);
	assert_int_equal(found.offsets[0], 0); /* since 3.13 */
	assert_true(layout_find(&found, 0x1000, &at));
	assert_int_equal(at.root, found.state + 0x1000 + 592);
	assert_int_equal(at.eval_start, found.eval_start + 0x1000);
}

TEST(php_is_found)
{
	const char path[] = "/usr/bin/php8.2";
	struct wire_interpreter at;
	struct elfinterp found;

	if (access(path, R_OK)) {
		print_message("needs php8.2-cli\n");
		skip();
	}
	assert_int_equal(find_in(path, &found), 0);
	assert_int_equal(found.language, WIRE_PHP);
	assert_int_equal(found.version, 8 << 8 | 2);
	assert_int_equal(found.state, address_of(path, "executor_globals"));
	assert_int_equal(found.eval_start, address_of(path, "execute_ex"));
	assert_true(layout_find(&found, 0, &at));
}

TEST(ruby_is_found)
{
	const char path[] = "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1";
	struct wire_interpreter at;
	struct elfinterp found;

	if (access(path, R_OK)) {
		print_message("needs libruby3.1\n");
		skip();
	}
	assert_int_equal(find_in(path, &found), 0);
	assert_int_equal(found.language, WIRE_RUBY);
	assert_int_equal(found.version, 3 << 8 | 1);
	assert_int_equal(found.eval_start, address_of(path, "rb_vm_exec"));
	assert_int_equal(found.variable.tls, WIRE_TLS_MODULE_SLOT);
	assert_true(layout_find(&found, 0x1000, &at));
	assert_int_equal(at.variable.slot, found.variable.slot + 0x1000);
	assert_int_equal(at.stride, 64);
	/* What a helper says may be anything. */
	found.variable.tls = WIRE_TLS_MODULE;
	assert_false(layout_find(&found, 0, &at));
	found.variable.tls = WIRE_TLS_STATIC;
	for (uint32_t minor = 0; minor < 7; minor++) {
		found.version = 3 << 8 | minor;
		assert_int_equal(layout_find(&found, 0, &at), minor < 5);
	}
}

TEST(node_is_found)
{
	const char path[] = "/usr/bin/node";
	struct wire_interpreter at;
	struct elfinterp found;

	struct stat st;

	/* A smaller one has V8 in a library. */
	if (stat(path, &st) || st.st_size < 50 << 20) {
		print_message("needs a node with V8 in it\n");
		skip();
	}
	assert_int_equal(find_in(path, &found), 0);
	assert_int_equal(found.language, WIRE_V8);
	assert_true(layout_find(&found, 0, &at));
	assert_int_equal(at.v8.shared, found.offsets[ELFV8_TYPE_SHARED]);
	/* Another layout is not known, and no type is so large. */
	for (int i = 0; i < ELFV8_CONSTANTS; i++) {
		struct elfinterp other = found;

		other.offsets[i] += 1 << 16;
		assert_false(layout_find(&other, 0, &at));
	}
}

TEST(other_programs_have_none)
{
	struct elfinterp found;

	assert_int_equal(find_in("/bin/sh", &found), -ENOENT);
}

/* ---- made ones ------------------------------------------------------------------------------- */

/* Builds a program or library from a line of C, in the folder; then finds what it has. */
static int find_built(const char *how, const char *code, struct elfinterp *out)
{
	char line[2000], path[100];

	snprintf(path, sizeof(path), "%s/built", folder);
	snprintf(line, sizeof(line), "printf '%%s\\n' '%s' | gcc -x c -O0 -w %s -o %s -", code, how,
		 path);
	if (system(line))
		fail_msg("%s", line);
	return find_in(path, out);
}

#define EVAL "int _PyEval_EvalFrameDefault(void) { return 1; } "
#define RUNTIME "struct { char c[8]; unsigned long w[99]; } _PyRuntime = { \"xdebugpy\", 5 }; "
#define VERSION(hex) "const unsigned long Py_Version = " hex "; "

TEST(symbols_count_and_not_the_name)
{
	struct elfinterp found;

	assert_int_equal(find_built("-shared -fPIC", EVAL RUNTIME VERSION("0x030d00f0"), &found),
			 0);
	assert_int_equal(found.version, 13);
	assert_int_equal(found.offsets[1], 5);
	/* In a program that exports nothing. */
	assert_int_equal(
		find_built("", EVAL RUNTIME VERSION("0x030c01f0") "int main() { }", &found), 0);
	assert_int_equal(found.version, 12);
	assert_true(found.state && found.eval_end > found.eval_start);
	/* With one of the two there is none. */
	assert_int_equal(find_built("-shared -fPIC", EVAL, &found), -ENOENT);
	assert_int_equal(find_built("-shared -fPIC", RUNTIME, &found), -ENOENT);
	/* It uses them, and another file has them. */
	assert_int_equal(find_built("-shared -fPIC",
				    "extern int _PyRuntime, _PyEval_EvalFrameDefault(void); "
				    "int f() { return _PyRuntime + _PyEval_EvalFrameDefault(); }",
				    &found),
			 -ENOENT);
}

TEST(versions_are_read)
{
	struct elfinterp found;

	/* Before 3.11: a constant, which stands in longer ones, too. */
	assert_int_equal(find_built("-shared -fPIC",
				    EVAL RUNTIME "const char a[] = \".cpython-37-x86\", "
						 "b[] = \"cpython-310\", c[] = \"cpython-39\";",
				    &found),
			 0);
	assert_int_equal(found.version, 10);
	assert_int_equal(find_built("-shared -fPIC", EVAL RUNTIME, &found), 0);
	assert_int_equal(found.version, 0);
	/* An alpha release may differ from what came of it; 4.0 surely does. */
	assert_int_equal(find_built("-shared -fPIC", EVAL RUNTIME VERSION("0x030e00a1"), &found),
			 0);
	assert_int_equal(found.version, 0);
	assert_int_equal(find_built("-shared -fPIC", EVAL RUNTIME VERSION("0x040b00f0"), &found),
			 0);
	assert_int_equal(found.version, 0);
	/* PHP. */
	assert_int_equal(find_built("-shared -fPIC",
				    "char executor_globals[99]; void execute_ex(void) { } "
				    "const char v[] = \"X-Powered-By: PHP/8.3.1\";",
				    &found),
			 0);
	assert_int_equal(found.version, 8 << 8 | 3);
	assert_int_equal(find_built("-shared -fPIC",
				    "char executor_globals[99]; void execute_ex(void) { } "
				    "const char v[] = \"X-Powered-By: PHP/9999.1\";",
				    &found),
			 0);
	assert_int_equal(found.version, 0);
}

/* Symbols that lie about where they are, of which the rest of the file says nothing. */
TEST(wild_addresses_are_not_followed)
{
	static const char wild[] = "asm(\".globl _PyRuntime, Py_Version; "
				   ".set _PyRuntime, 0x7fffffffffff0000; "
				   ".set Py_Version, 0xfffffffffffffffe\");";
	struct wire_interpreter at;
	struct elfinterp found;
	char code[500];

	snprintf(code, sizeof(code), "%s%s", EVAL, wild);
	assert_int_equal(find_built("-shared -fPIC", code, &found), 0);
	assert_int_equal(found.state, 0x7fffffffffff0000);
	assert_int_equal(found.version, 0);
	assert_int_equal(found.offsets[0], 0);
	assert_false(layout_find(&found, 0, &at));
}

TEST(an_evaluator_without_a_size_is_none)
{
	struct elfinterp found;

	assert_int_equal(find_built("-shared -fPIC",
				    RUNTIME "asm(\".globl _PyEval_EvalFrameDefault; "
					    "_PyEval_EvalFrameDefault: nop\");",
				    &found),
			 -ENOENT);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char line[100];

	(void)state;
	snprintf(line, sizeof(line), "rm -r %s", folder);
	return system(line);
}

int main(void)
{
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
