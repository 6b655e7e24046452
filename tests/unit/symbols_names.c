// SPDX-License-Identifier: GPL-2.0-or-later
/* Names for frames that had none: from this test itself, by its build ID; inlined functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "../workload/calls.h"
#include "synth.h"
#include "symbols/symbols.h"

extern const char __executable_start[];

static inline __attribute__((always_inline)) const char *innermost(const char *x)
{
	__asm__ volatile("" : "+r"(x));
	/* The address after this instruction, wherever the function was inlined. */
#if defined(__x86_64__)
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(x));
#elif defined(__aarch64__)
	__asm__ volatile("adr %0, . + 4" : "=r"(x));
#endif
	return x;
}

static inline __attribute__((always_inline)) const char *between(const char *x)
{
	return innermost(x);
}

IN_STACK const char *outermost(const char *x)
{
	x = between(x);
	__asm__ volatile("" : "+r"(x));
	return x;
}

/* A trace with one stack of one frame, at an address of this program. */
struct world {
	struct synth *m;
	struct trace *t;
	uint32_t frame, stack;
	struct options o;
	struct symbols *s;
	bool has_offsets; /* the trace says where in the file code is, not where it is linked for */
	bool at_start;	  /* the frame is at the function's first instruction, */
	bool is_exact;	  /* which was interrupted */
};

static size_t own_build_id(uint8_t *out, size_t size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const void *id;
	Elf *elf;
	ssize_t len;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	len = dwelf_elf_gnu_build_id(elf, &id);
	if (len > (ssize_t)size)
		len = 0;
	if (len > 0)
		memcpy(out, id, (size_t)len);
	elf_end(elf);
	close(fd);
	return len > 0 ? (size_t)len : 0;
}

/* Where in the file of this program an address of it is. */
static uint64_t offset_of(uint64_t addr)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t offset = 0;
	size_t n = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_int_equal(elf_getphdrnum(elf, &n), 0);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		assert_non_null(gelf_getphdr(elf, (int)i, &ph));
		if (ph.p_type == PT_LOAD && addr - ph.p_vaddr < ph.p_filesz)
			offset = addr - ph.p_vaddr + ph.p_offset;
	}
	elf_end(elf);
	close(fd);
	assert_int_not_equal(offset, 0);
	return offset;
}

static void set_up(struct world *w, const char *symbol, bool is_own)
{
	const char *in = w->at_start ? (const char *)(uintptr_t)outermost : outermost(NULL);
	uint64_t addr = (uint64_t)(in - __executable_start), at;
	uint8_t id[64];
	size_t len = own_build_id(id, sizeof(id));
	struct encoder *e;
	uint32_t space, module;

	if (!len) {
		print_message("this program has no build ID\n");
		skip();
	}
	id[0] ^= !is_own;
	w->m = synth_new();
	e = synth_encoder(w->m);
	space = encoder_space(e, 0, "/proc/self/exe");
	module = encoder_module(e, encoder_text(e, "/proc/self/exe"), id, len);
	/* As if the offset in the file were the address. */
	if (!w->has_offsets)
		assert_int_equal(encoder_segment(e, module, 0, UINT32_MAX, 0), 0);
	at = w->has_offsets ? offset_of(addr) : addr;
	w->frame = encoder_frame(e, space, at ^ (w->is_exact ? CHAINLOG_EXACT_TAG : 0));
	assert_int_equal(encoder_name(e, w->frame, encoder_text(e, symbol), module,
				      symbol	       ? 1
				      : w->has_offsets ? 0
						       : addr),
			 0);
	w->stack = encoder_stack(e, &w->frame, 1, 0);
	synth_end(w->m, 10);
	w->t = synth_open(w->m);
	options_init(&w->o);
}

static void apply(struct world *w)
{
	symbols_new(&w->s, &w->o);
	assert_int_equal(symbols_apply(w->s, w->t), 0);
}

static void tear_down(struct world *w)
{
	symbols_free(w->s);
	trace_close(w->t);
	synth_free(w->m);
	options_free(&w->o);
}

static const char *symbol_at(const struct world *w, uint32_t i)
{
	struct trace_stack s = trace_stack(w->t, w->stack);

	assert_true(i < s.n);
	return trace_string(w->t, trace_frame(w->t, s.frames[i])->symbol);
}

static void a_frame_without_a_symbol_is_named_by_its_file(void **state)
{
	static const char *const before[] = { NULL, "[exe+0x1200]" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world w = { 0 };

		set_up(&w, before[i], true);
		assert_true(trace_frame(w.t, w.frame)->unnamed);
		apply(&w);
		assert_string_equal(symbol_at(&w, 0), "outermost");
		assert_false(trace_frame(w.t, w.frame)->unnamed);
		assert_int_equal(symbols_counts(w.s).unnamed, 1);
		assert_int_equal(symbols_counts(w.s).named, 1);
		assert_int_equal(trace_stack(w.t, w.stack).n, 1);
		tear_down(&w);
	}
}

/* An import does not know it where the file is not at hand: the file that has the names says it. */
static void an_offset_in_a_file_becomes_an_address(void **state)
{
	struct world w = { .has_offsets = true };

	(void)state;
	set_up(&w, NULL, true);
	apply(&w);
	assert_string_equal(symbol_at(&w, 0), "outermost");
	tear_down(&w);
	w = (struct world) { .has_offsets = true };
	set_up(&w, NULL, false);
	apply(&w);
	assert_string_equal(symbol_at(&w, 0), "");
	tear_down(&w);
}

/* As a return address, a function's first instruction is behind another one's last. */
static void an_interrupted_instruction_is_in_the_function_that_it_begins(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct world w = { .at_start = true, .is_exact = i & 1, .has_offsets = i & 2 };
		const struct trace_frame *f;

		set_up(&w, NULL, true);
		apply(&w);
		f = trace_frame(w.t, w.frame);
		assert_int_equal(f->exact, w.is_exact);
		if (w.is_exact) {
			assert_string_equal(symbol_at(&w, 0), "outermost");
			assert_int_equal(f->offset, 0);
		} else {
			/* Padding lies before it, or another function ends. */
			assert_true(f->offset || strcmp(symbol_at(&w, 0), "outermost") == 0);
		}
		tear_down(&w);
	}
}

static void a_frame_with_a_symbol_keeps_it(void **state)
{
	struct world w = { 0 };

	(void)state;
	set_up(&w, "recorded", true);
	apply(&w);
	assert_string_equal(symbol_at(&w, 0), "recorded");
	assert_int_equal(symbols_counts(w.s).unnamed, 0);
	tear_down(&w);
}

/* No debug file can know it. */
static void interpreted_code_does_not_count(void **state)
{
	struct world w = { .m = synth_new() };

	(void)state;
	w.stack = synth_ustack(w.m, "%;f%/srv/a.py:3");
	synth_end(w.m, 10);
	w.t = synth_open(w.m);
	options_init(&w.o);
	w.o.inlined = true;
	apply(&w);
	assert_int_equal(symbols_counts(w.s).unnamed, 0);
	assert_string_equal(symbol_at(&w, 0), "");
	assert_string_equal(symbol_at(&w, 1), "f");
	tear_down(&w);
}

static void a_file_with_another_build_id_names_nothing(void **state)
{
	struct world w = { 0 };

	(void)state;
	set_up(&w, NULL, false);
	w.o.inlined = true;
	apply(&w);
	assert_int_equal(symbols_counts(w.s).named, 0);
	assert_true(trace_frame(w.t, w.frame)->unnamed);
	assert_int_equal(trace_stack(w.t, w.stack).n, 1);
	tear_down(&w);
}

static void inlined_functions_become_frames_with_lines(void **state)
{
	static const char *const want[] = { "innermost", "between", "outermost" };
	struct world w = { 0 };

	(void)state;
	set_up(&w, "outermost", true);
	w.o.inlined = true;
	apply(&w);
	assert_int_equal(trace_stack(w.t, w.stack).n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t frame = trace_stack(w.t, w.stack).frames[i];
		const char *file;

		assert_string_equal(symbol_at(&w, i), want[i]);
		assert_true(trace_frame_line(w.t, frame, &file) > 0);
		assert_string_equal(file, "symbols_names.c");
	}
	tear_down(&w);
}

/* Stacks that share frames, and frames before and after those with inlined functions. */
static void inlined_frames_go_into_all_stacks_in_order(void **state)
{
	struct synth *m = synth_new();
	uint32_t one = synth_ustack(m, "a;b;c"), two = synth_ustack(m, "b;c;b"), id;
	static const char *const want[2][8] = { { "a", "b1", "b2", "b", "c", NULL },
						{ "b1", "b2", "b", "c", "b1", "b2", "b", NULL } };
	uint32_t stacks[] = { one, two };
	struct trace *t;

	(void)state;
	synth_end(m, 10);
	t = synth_open(m);
	for (uint32_t f = 1; f < trace_frames_end(t); f++) {
		if (strcmp(trace_string(t, trace_frame(t, f)->symbol), "b"))
			continue;
		trace_inline_frame(t, f, "b1", &id);
		trace_inline_frame(t, f, "b2", &id);
		break;
	}
	trace_inline_stacks(t);
	for (size_t i = 0; i < 2; i++) {
		struct trace_stack s = trace_stack(t, stacks[i]);
		uint32_t n = 0;

		for (; want[i][n]; n++) {
			assert_true(n < s.n);
			assert_string_equal(trace_string(t, trace_frame(t, s.frames[n])->symbol),
					    want[i][n]);
		}
		assert_int_equal(s.n, n);
	}
	trace_close(t);
	synth_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_without_a_symbol_is_named_by_its_file),
		cmocka_unit_test(an_offset_in_a_file_becomes_an_address),
		cmocka_unit_test(an_interrupted_instruction_is_in_the_function_that_it_begins),
		cmocka_unit_test(a_frame_with_a_symbol_keeps_it),
		cmocka_unit_test(interpreted_code_does_not_count),
		cmocka_unit_test(a_file_with_another_build_id_names_nothing),
		cmocka_unit_test(inlined_functions_become_frames_with_lines),
		cmocka_unit_test(inlined_frames_go_into_all_stacks_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
