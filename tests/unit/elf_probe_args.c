// SPDX-License-Identifier: GPL-2.0-or-later
/* Where arguments of probes are, and which names are near another one. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/near_names.h"
#include "elf/probe_args.h"

/* As numbers: source, bytes, sign, register, index, scale, number; "": there is none. */
static const char *arg(const char *text, unsigned int n)
{
	static char is[128];
	struct wire_probe_value v;
	/* Just as long as the text, so that reading beyond it is found. */
	char *copy = memcpy(malloc(strlen(text) + 1), text, strlen(text));

	*is = '\0';
	if (probe_args_of_usdt(copy, strlen(text), n, &v))
		snprintf(is, sizeof(is), "%u %u%s %u %u*%u %lld", v.source, v.bytes,
			 v.is_signed ? "s" : "u", v.reg, v.index, v.scale, (long long)v.number);
	free(copy);
	return is;
}

static void none(const char *text, unsigned int n)
{
	assert_string_equal(arg(text, n), "");
}

TEST(arguments_of_notes)
{
#if defined(__x86_64__)
	/* Offsets of <asm/ptrace.h>: rbp 32, rax 80, rcx 88, rdi 112, rsp 152, r8 72 */
	assert_string_equal(arg("-4@$1", 1), "1 4s 0 0*0 1");
	assert_string_equal(arg("8@%rdi -4@$-5", 2), "1 4s 0 0*0 -5");
	assert_string_equal(arg("8@%rdi", 1), "2 8u 112 0*0 0");
	assert_string_equal(arg("1@%al 2@%r8w", 1), "2 1u 80 0*0 0");
	assert_string_equal(arg("1@%al 2@%r8w", 2), "2 2u 72 0*0 0");
	assert_string_equal(arg("8@-16(%rbp)", 1), "3 8u 32 0*0 -16");
	assert_string_equal(arg("8@(%rsp)", 1), "3 8u 152 0*0 0");
	assert_string_equal(arg("8@0x10(%rax,%rcx,4)", 1), "3 8u 80 88*4 16");
	assert_string_equal(arg("8@8(%rax,%rcx)", 1), "3 8u 80 88*1 8");
	none("8@%xmm0", 1);
	none("8f@%rdi", 1);
	none("8@counter(%rip)", 1);
	none("8@8(%rip)", 1);
	none("8@8(%rax", 1);
	none("8@8(%rax,%rcx,9)", 1);
	none("8@%rdix", 1);
	none("8@%", 1);
	none("8@$", 1);
	none("8@$99999999999999999999", 1);
#else
	assert_string_equal(arg("-4@1", 1), "1 4s 0 0*0 1");
	assert_string_equal(arg("8@x2", 1), "2 8u 16 0*0 0");
	assert_string_equal(arg("8@[sp, 16] 4@w3", 1), "3 8u 248 0*0 16");
	assert_string_equal(arg("8@[sp, 16] 4@w3", 2), "2 4u 24 0*0 0");
	assert_string_equal(arg("8@[x0, x1]", 1), "3 8u 0 8*1 0");
	assert_string_equal(arg("8@[x0]", 1), "3 8u 0 0*0 0");
	none("8@x31", 1);
	none("8@[x0, 16", 1);
#endif
	none("", 1);
	none("8", 1);
	none("8@", 1);
	none("3@", 1);
	none("8@%rdi", 2);
	none("8@%rdi", 0);
}

TEST(arguments_of_functions)
{
#if defined(__x86_64__)
	assert_int_equal(probe_args_passed(), 6);
	assert_int_equal(probe_args_of_function(1, false).reg, 112);
	assert_int_equal(probe_args_of_function(6, false).reg, 64); /* r9 */
	assert_int_equal(probe_args_of_function(1, true).reg, 80);  /* rax */
	assert_int_equal(probe_args_of_function(6, true).reg, 72);  /* r8 */
#else
	assert_int_equal(probe_args_passed(), 8);
	assert_int_equal(probe_args_of_function(8, false).reg, 56);
	assert_int_equal(probe_args_of_function(8, true).reg, 56);
#endif
	assert_int_equal(probe_args_of_function(1, false).bytes, 8);
}

static void near(const char *wanted, const char *names, const char *expected)
{
	struct near_names n = { .wanted = wanted };
	char text[512] = "", *copy = strdup(names), *rest = copy, *name;

	while ((name = strsep(&rest, " ")))
		near_names_offer(&n, name);
	for (size_t i = 0; i < n.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 n.names[i]);
	assert_string_equal(text, expected);
	free(copy);
}

TEST(names_that_are_near)
{
	near("dispatch_comand", "main dispatch_command dispatch", "dispatch_command");
	near("handel", "handle handler hand han", "handle handler hand");
	near("Handle", "handle unhandled_thing other", "handle unhandled_thing");
	/* Of methods the last part may be near. */
	near("Get", "main.(*Store).Get main.Put", "main.(*Store).Get");
	near("execute", "sql::Statement::execute sql::Statement::prepare",
	     "sql::Statement::execute");
	near("nothing", "main start work", "");
	/* No more than five, each once, and those that were first of equals. */
	near("fn", "f1 f2 f2 f3 f4 f5 f6 fn_", "f1 f2 f3 f4 f5");
	near("fn", "f1 f2 f3 f4 f5 fn", "fn f1 f2 f3 f4");
}

TEST(long_names_are_cut)
{
	struct near_names n = { .wanted = "ffffffff" };
	char name[1000];

	memset(name, 'f', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	near_names_offer(&n, name);
	assert_int_equal(n.n, 1);
	assert_int_equal(strlen(n.names[0]), NEAR_NAMES_LEN - 1);
}
