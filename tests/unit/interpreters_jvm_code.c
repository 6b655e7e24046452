// SPDX-License-Identifier: GPL-2.0-or-later
/* How frames of a JVM's code are found, by the structs of one that this process makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/types.h>

#include "chainwire.h"
#include "files/jvm_structs.h"
#include "interpreters/jvm_code.h"

#include "../attacks/made_up_jvm.h"

static const void *structs_at = structs, *types_at = types;
static struct jvm *jvm;

static int set_up(void **state)
{
	(void)state;
	memset(code_heap, 0x90, sizeof(code_heap));
	memset(codelets, 0, sizeof(codelets));
	make_up();
	return jvm_open(&jvm, open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
			(uint64_t)(uintptr_t)&structs_at, (uint64_t)(uintptr_t)&types_at);
}

static int tear_down(void **state)
{
	(void)state;
	free(jvm);
	return 0;
}

static struct jvm_frame frames[JVM_DEPTH];

static int find_all(const void *at, bool is_exact, uint32_t *n)
{
	return jvm_find_frame(jvm, (uint64_t)(uintptr_t)at, is_exact, frames, n);
}

static struct jvm_frame find(const void *at, bool is_exact)
{
	uint32_t n;

	assert_int_equal(find_all(at, is_exact, &n), 0);
	assert_int_equal(n, 1);
	return frames[0];
}

static void expect_rule(const struct jvm_frame *f, enum jvm_rule_kind kind, int bytes,
			bool saves_fp)
{
	assert_int_equal(f->rule.kind, kind);
	assert_int_equal(f->rule.bytes, bytes);
	assert_int_equal(f->rule.saves_fp, saves_fp);
}

static void code_has_the_size_of_its_frame_and_its_method(void **state)
{
	struct blob *b = put_compiled();
	struct jvm_frame f = find(b->begin + 100, false);

	(void)state;
	expect_rule(&f, JVM_BY_SP, 48, true);
	assert_true(f.is_method);
	assert_string_equal(f.name, "shop.Cart.total");
	assert_string_equal(f.file, "Cart.java");
}

static void what_was_compiled_into_a_method_is_there_at_calls(void **state)
{
	static struct method inner;
	static struct const_method inner_const;
	/* Of the caller, what was compiled: none around it, the first method. Of the other: the one
	 * around it. */
	static uint8_t scopes[300] = { 0, 0, 0, [192 + 5] = 0, 1, 4, [250] = 192 + 5, 0, 2, 0 };
	struct place {
		int32_t offset, scope, objects, flags;
	} places[] = { { -1, 0, 0, 0 }, { 101, 250, 0, 0 }, { 120, 197, 0, 0 } };
	struct blob *b = put_compiled();
	struct method *metadata[] = { &method, &inner };
	struct jvm_frame f;
	uint32_t n;

	(void)state;
	inner_const = (struct const_method) { .constants = &pool, .name = 3 };
	inner.constant = &inner_const;
	/* From bytecode 3 on line 7, in that of which the caller calls. */
	const_method.code_size = 8;
	const_method.flags = 1;
	memcpy(const_method.code + 8, (uint8_t[]) { 3 << 3 | 7, 0 }, 2);
	memcpy(b->rest, places, sizeof(places));
	memcpy(b->rest + sizeof(places), metadata, sizeof(metadata));
	b->scopes = scopes;
	b->places = offsetof(struct blob, rest);
	b->places_end = b->places + (int32_t)sizeof(places);
	b->metadata = b->places_end;
	assert_int_equal(find_all(b->begin + 100, false, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(frames[0].name, "shop.Cart.Cart.java");
	assert_string_equal(frames[1].name, "shop.Cart.total");
	assert_int_equal(frames[1].line, 7);
	assert_int_equal(frames[0].line, 0);
	/* A call of the method itself, one that is not described, and no call. */
	f = find(b->begin + 119, false);
	assert_string_equal(f.name, "shop.Cart.total");
	f = find(b->begin + 110, false);
	assert_string_equal(f.name, "shop.Cart.total");
	f = find(b->begin + 100, true);
	assert_string_equal(f.name, "shop.Cart.total");
	/* What is said does not end with what was compiled, or is for another version. */
	metadata[0] = &inner;
	memcpy(b->rest + sizeof(places), metadata, sizeof(metadata));
	f = find(b->begin + 100, false);
	assert_string_equal(f.name, "shop.Cart.total");
	scopes[250 + 2] = 200;
	f = find(b->begin + 100, false);
	assert_string_equal(f.name, "shop.Cart.total");
	b->places_end = INT32_MAX;
	f = find(b->begin + 100, false);
	assert_string_equal(f.name, "shop.Cart.total");
}

/* The line of the interpreted method, at that byte of it. */
static uint32_t line_at(const void *bytecode)
{
	struct jvm_frame f;

	assert_true(jvm_find_method(jvm, (uint64_t)(uintptr_t)&method,
				    (uint32_t)((uintptr_t)bytecode & WIRE_JAVA_BYTECODE), &f));
	return f.line;
}

static void lines_are_those_of_bytecodes(void **state)
{
	/* Bytecodes, from 0 on line 300, from 3 on 305, from 13 on 304. */
	static const uint8_t lines[] = { 0xff, 0, 192 + 24, 6, 3 << 3 | 5, 0xff, 20, 1, 0 };
	uint8_t *code = const_method.code;

	(void)state;
	const_method.code_size = 20;
	const_method.flags = 1;
	memcpy(code + 20, lines, sizeof(lines));
	assert_int_equal(line_at(code), 300);
	assert_int_equal(line_at(code + 2), 300);
	assert_int_equal(line_at(code + 3), 305);
	assert_int_equal(line_at(code + 12), 305);
	assert_int_equal(line_at(code + 19), 304);
	/* Beyond the method, and where it is not known. */
	assert_int_equal(line_at(code + 20), 0);
	assert_int_equal(line_at(code - 1), 0);
	const_method.flags = 0;
	assert_int_equal(line_at(code), 0);
	const_method.flags = 1;
	/* A table without an end, as far as it is looked at. */
	memset(code + 20, 0xff, sizeof(const_method.code) - 20);
	assert_int_equal(line_at(code), 0);
	version = 21;
	free(jvm);
	assert_int_equal(jvm_open(&jvm, open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
				  (uint64_t)(uintptr_t)&structs_at, (uint64_t)(uintptr_t)&types_at),
			 0);
	memcpy(code + 20, lines, sizeof(lines));
	assert_int_equal(line_at(code), 0);
}

static void where_a_frame_is_made_or_given_up_instructions_say_so(void **state)
{
	static const uint8_t end[] = { 0x5d, 0x49, 0x3b, 0xa7, 1, 2, 3,	  4,
				       0x0f, 0x87, 1,	 2,    3, 4, 0xc3 };
	struct blob *b = put_compiled();
	uint8_t *at = b->begin + 100;
	struct jvm_frame f;

	(void)state;
	memcpy(at, end, sizeof(end));
	f = find(at - 1, true);
	expect_rule(&f, JVM_BY_SP, 48, true);
	f = find(at, true);
	expect_rule(&f, JVM_BY_SP, 16, true);
	for (const int *i = (const int[]) { 1, 8, 14, 0 }; *i; i++) {
		f = find(at + *i, true);
		expect_rule(&f, JVM_BY_SP, 8, false);
	}
	f = find(b->entry, true);
	expect_rule(&f, JVM_BY_SP, 8, false);
	assert_int_equal(find(b->entry + 1, true).rule.kind, JVM_CUT);
	f = find(b->begin + b->complete, true);
	expect_rule(&f, JVM_BY_SP, 48, true);
	/* Something else is popped there, or the frame was given up otherwise. */
	at[1] = 0x90;
	assert_int_equal(find(at, true).rule.kind, JVM_CUT);
	assert_int_equal(find(at + 1, true).rule.kind, JVM_CUT);
	/* A loop is entered in its middle. */
	b->bci = 5;
	b->osr_entry = b->begin + 60;
	assert_int_equal(find(b->osr_entry + 10, true).rule.kind, JVM_CUT);
}

static void code_that_was_given_up_while_it_ran_says_where_it_was(void **state)
{
	struct blob *b = put_compiled();
	struct jvm_frame f;

	(void)state;
	b->given_up = b->begin + 120;
	b->given_up_mh = b->begin + 140;
	b->pc_at = 16;
	for (int i = 120; i <= 140; i += 20) {
		f = find(b->begin + i - 1, false);
		expect_rule(&f, JVM_GIVEN_UP, 48, true);
		assert_int_equal(f.rule.pc_at, 16);
	}
	f = find(b->begin + 130, false);
	expect_rule(&f, JVM_BY_SP, 48, true);
	assert_int_not_equal(find(b->begin + 119, true).rule.kind, JVM_GIVEN_UP);
	/* Beyond the frame. */
	b->pc_at = 41;
	assert_int_equal(find(b->begin + 119, false).rule.kind, JVM_CUT);
	b->pc_at = -1;
	assert_int_equal(find(b->begin + 119, false).rule.kind, JVM_CUT);
	b->pc_at = 40;
	b->frame = 1;
	assert_int_equal(find(b->begin + 119, false).rule.kind, JVM_CUT);
}

static void stubs_are_no_methods(void **state)
{
	struct blob *b = put_blob(20, 8, "_new_instance_Java");
	struct jvm_frame f;

	(void)state;
	call_stub = b->begin + 41;
	f = find(b->begin + 30, false);
	expect_rule(&f, JVM_BY_SP, 48, true);
	assert_false(f.is_method);
	assert_string_equal(f.name, "_new_instance_Java");
	assert_int_equal(find(b->begin + 30, true).rule.kind, JVM_CUT);
	f = find(b->begin + 40, false);
	expect_rule(&f, JVM_BY_FP, 16, true);
	b->name = "native nmethod";
	f = find(b->begin + 60, false);
	expect_rule(&f, JVM_BY_FP, 16, true);
	b->name = "DeoptimizationBlob";
	assert_int_equal(find(b->begin + 60, false).rule.kind, JVM_CUT);
	b->frame = 1 << 20;
	b->name = "_new_instance_Java";
	assert_int_equal(find(b->begin + 60, false).rule.kind, JVM_CUT);
}

static void the_interpreter_has_frames_where_it_runs_a_bytecode(void **state)
{
	(void)state;
	assert_int_equal(find(&codelets[0].code[20], false).rule.kind, JVM_INTERPRETED);
	assert_int_equal(find(&codelets[0].code[20], true).rule.kind, JVM_CUT);
	assert_int_equal(find(&codelets[1].code[20], true).rule.kind, JVM_INTERPRETED);
	/* It returns. */
	assert_int_equal(find(&codelets[2].code[20], true).rule.kind, JVM_CUT);
}

static void what_changes_is_noticed(void **state)
{
	struct blob *b = put_compiled();
	bool changed = false;
	uint32_t n;

	(void)state;
	find(b->begin + 100, false);
	for (int i = 0; i < 20; i++)
		changed |= jvm_has_changed(jvm);
	assert_false(changed);
	/* It is not entered any more, but may still be running. */
	b->state = 2;
	assert_false(jvm_has_changed(jvm));
	b->state = 4;
	assert_true(jvm_has_changed(jvm));
	assert_int_equal(find_all(b->begin + 100, false, &n), -ENOENT);
	/* What is there now is found anew, and no change. */
	assert_false(jvm_has_changed(jvm));
	b->state = 0;
	find(b->begin + 100, false);
	pool.entries[1] = &file_name;
	const_method.name = 1;
	assert_true(jvm_has_changed(jvm));
	find(b->begin + 100, false);
	b->id++;
	assert_true(jvm_has_changed(jvm));
}

static bool is_method(const void *at)
{
	struct jvm_frame f;

	return jvm_find_method(jvm, (uint64_t)(uintptr_t)at, UINT32_MAX, &f);
}

static void lies_are_bounded(void **state)
{
	struct blob *b = put_compiled();
	const void *at = b->begin + 100;
	struct jvm_frame f;
	uint32_t n;

	(void)state;
	assert_true(is_method(&method));
	assert_false(is_method((char *)&method + 1));
	assert_false(is_method(NULL));
	assert_false(is_method((void *)(uintptr_t)0x7fffdeadbee8));
	const_method.name = 4;
	assert_false(is_method(&method));
	const_method.name = 0;
	assert_false(is_method(&method));
	const_method.name = 2;
	/* A name of 64 KiB, all of which cannot be read, or is not kept. */
	method_name.length = 65535;
	memset(&f, 1, sizeof(f));
	if (jvm_find_method(jvm, (uint64_t)(uintptr_t)&method, UINT32_MAX, &f))
		assert_true(strlen(f.name) < sizeof(f.name));
	/* The map of segments leads nowhere. */
	segmap[4] = 5;
	assert_int_equal(find_all(at, false, &n), -ENOENT);
	segmap[4] = 0;
	array.len = INT32_MAX;
	heaps[0] = (void *)8;
	assert_int_equal(find_all(at, false, &n), -ENOENT);
	array_at = NULL;
	assert_int_equal(find_all(at, false, &n), -ENOENT);
}

static void a_jvm_without_the_descriptions_is_not_known(void **state)
{
	struct struct_entry first = structs[0];
	struct jvm *other;
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	(void)state;
	structs[0].type = "CodeCash";
	assert_int_equal(jvm_open(&other, memory, (uint64_t)(uintptr_t)&structs_at,
				  (uint64_t)(uintptr_t)&types_at),
			 -ENOENT);
	structs[0] = first;
	structs[4].offset = 1 << 20;
	assert_int_equal(jvm_open(&other, memory, (uint64_t)(uintptr_t)&structs_at,
				  (uint64_t)(uintptr_t)&types_at),
			 -ENOENT);
	structs[4].offset = offsetof(struct heap, segmap);
	close(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(code_has_the_size_of_its_frame_and_its_method),
		TEST(what_was_compiled_into_a_method_is_there_at_calls),
		TEST(lines_are_those_of_bytecodes),
		TEST(where_a_frame_is_made_or_given_up_instructions_say_so),
		TEST(code_that_was_given_up_while_it_ran_says_where_it_was),
		TEST(stubs_are_no_methods),
		TEST(the_interpreter_has_frames_where_it_runs_a_bytecode),
		TEST(what_changes_is_noticed),
		TEST(lies_are_bounded),
		TEST(a_jvm_without_the_descriptions_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
