// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the functions of each BPF program have on their stacks. The verifier sums that up over each
 * chain of calls, and refuses programs where it is more than 512 bytes, or where a chain has more
 * than 8 functions (check_max_stack_depth() in kernel/bpf/verifier.c). It rounds up what each
 * function has: since Linux 6.8 to 16 bytes, before that to 32, by which a program may be refused
 * there only. A function that is handed to a helper counts as called.
 */

#include "test.h"

#include <gelf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chainwire.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "chaincap.skel.h"
#include "older.skel.h"
#include "plain.skel.h"
#pragma GCC diagnostic pop

#define STACK_MOST 512u
#define FRAMES_MOST 8u
#define ROUNDED 32u
#define FUNCTIONS_MAX 512
#define CALLS_MAX 64

/* A function of the object; n instructions at insns. */
struct function {
	const char *name;
	size_t section, at; /* at: bytes */
	const struct bpf_insn *insns;
	size_t n;
	bool *relocated; /* these */
	unsigned own;	 /* bytes that it has on its stack, as the verifier counts them */
	size_t calls[CALLS_MAX], n_calls;
	bool is_called;
	/* With what it calls: 0: not summed up yet. next: the first call of the deepest chain. */
	unsigned bytes, frames;
	size_t next;
};

struct object {
	Elf *elf;
	Elf_Data *symbols;
	size_t names; /* section of the symbols' names */
	struct function all[FUNCTIONS_MAX];
	size_t n;
};

/* ---- functions ------------------------------------------------------------------------------ */

static bool is_code(Elf *elf, size_t section)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	GElf_Shdr shdr;

	return scn && gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_PROGBITS &&
	       shdr.sh_flags & SHF_EXECINSTR;
}

static void add_function(struct object *o, const GElf_Sym *sym)
{
	Elf_Data *code = elf_getdata(elf_getscn(o->elf, sym->st_shndx), NULL);
	struct function *f = &o->all[o->n++];

	assert_true(o->n < FUNCTIONS_MAX);
	assert_true(code && sym->st_size && sym->st_value + sym->st_size <= code->d_size);
	f->name = elf_strptr(o->elf, o->names, sym->st_name);
	f->section = sym->st_shndx;
	f->at = sym->st_value;
	f->insns = (const void *)((const char *)code->d_buf + sym->st_value);
	f->n = sym->st_size / sizeof(*f->insns);
	f->relocated = calloc(f->n, sizeof(*f->relocated));
	assert_non_null(f->relocated);
}

static size_t function_at(const struct object *o, size_t section, size_t at)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].section == section && o->all[i].at == at)
			return i;
	fail_msg("no function begins at byte %zu of section %zu", at, section);
	return 0;
}

static struct function *function_around(struct object *o, size_t section, size_t at)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].section == section && at >= o->all[i].at &&
		    at < o->all[i].at + o->all[i].n * sizeof(struct bpf_insn))
			return &o->all[i];
	fail_msg("no function has byte %zu of section %zu", at, section);
	return NULL;
}

static void add_call(struct object *o, struct function *f, size_t called)
{
	for (size_t i = 0; i < f->n_calls; i++)
		if (f->calls[i] == called)
			return;
	assert_true(f->n_calls < CALLS_MAX);
	f->calls[f->n_calls++] = called;
	o->all[called].is_called = true;
}

/* ---- what a function has on its stack ------------------------------------------------------- */

static void reaches(unsigned *depth, long offset)
{
	if (offset < 0 && (unsigned)-offset > *depth)
		*depth = (unsigned)-offset;
}

/*
 * The deepest byte below the frame pointer that it reads or writes, or passes the address of. The
 * compiler makes addresses by a move from the frame pointer and one addition.
 */
static unsigned depth_of(const struct function *f)
{
	bool is_stack[16] = { [BPF_REG_10] = true };
	long offset[16] = { 0 };
	unsigned depth = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct bpf_insn *in = &f->insns[i];
		unsigned class = BPF_CLASS(in->code);
		bool is_move = in->code == (BPF_ALU64 | BPF_MOV | BPF_X);

		if ((class == BPF_ST || class == BPF_STX) && is_stack[in->dst_reg])
			reaches(&depth, offset[in->dst_reg] + in->off);
		if (class == BPF_LDX && is_stack[in->src_reg])
			reaches(&depth, offset[in->src_reg] + in->off);
		if (in->code == (BPF_ALU64 | BPF_ADD | BPF_K) && is_stack[in->dst_reg]) {
			offset[in->dst_reg] += in->imm;
			reaches(&depth, offset[in->dst_reg]);
		} else if (class == BPF_ALU || class == BPF_ALU64 || class == BPF_LDX ||
			   class == BPF_LD) {
			assert_true(in->dst_reg != BPF_REG_10);
			is_stack[in->dst_reg] = is_move && is_stack[in->src_reg];
			offset[in->dst_reg] = offset[in->src_reg];
		} else if (in->code == (BPF_JMP | BPF_CALL)) {
			memset(is_stack, 0, BPF_REG_6 * sizeof(is_stack[0]));
		}
		if (in->code == (BPF_LD | BPF_IMM | BPF_DW))
			i++; /* it has two */
	}
	return depth;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static bool is_call(const struct bpf_insn *in)
{
	return in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL;
}

/* Calls that are left to whoever loads the object, and functions that are handed to helpers. */
static void find_relocated_calls(struct object *o, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const struct bpf_insn *in;
	struct function *f;
	GElf_Sym sym;
	GElf_Rel rel;
	long at;

	for (int i = 0; gelf_getrel(data, i, &rel); i++) {
		assert_non_null(gelf_getsym(o->symbols, (int)GELF_R_SYM(rel.r_info), &sym));
		f = function_around(o, shdr->sh_info, rel.r_offset);
		in = &f->insns[(rel.r_offset - f->at) / sizeof(*in)];
		f->relocated[in - f->insns] = true;
		if (!is_code(o->elf, sym.st_shndx)) /* data, or a function of the kernel's */
			continue;
		at = is_call(in) ? (in->imm + 1l) * (long)sizeof(*in) : in->imm;
		add_call(o, f, function_at(o, sym.st_shndx, sym.st_value + (size_t)at));
	}
}

/* Others, within a section. */
static void find_near_calls(struct object *o, struct function *f)
{
	for (size_t i = 0; i < f->n; i++) {
		long at = (long)i + 1 + f->insns[i].imm;

		if (is_call(&f->insns[i]) && !f->relocated[i])
			add_call(o, f,
				 function_at(o, f->section,
					     f->at + (size_t)(at * (long)sizeof(*f->insns))));
	}
}

static void read_object(struct object *o, const void *bytes, size_t size)
{
	GElf_Shdr shdr;
	GElf_Sym sym;

	memset(o, 0, sizeof(*o));
	assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
	o->elf = elf_memory((char *)bytes, size);
	assert_non_null(o->elf);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(o->elf, scn));)
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB) {
			o->symbols = elf_getdata(scn, NULL);
			o->names = shdr.sh_link;
		}
	assert_non_null(o->symbols);
	for (int i = 0; gelf_getsym(o->symbols, i, &sym); i++)
		if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && is_code(o->elf, sym.st_shndx))
			add_function(o, &sym);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(o->elf, scn));)
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_REL &&
		    is_code(o->elf, shdr.sh_info))
			find_relocated_calls(o, scn, &shdr);
	for (size_t i = 0; i < o->n; i++) {
		o->all[i].own = depth_of(&o->all[i]);
		find_near_calls(o, &o->all[i]);
	}
}

/* ---- sums ----------------------------------------------------------------------------------- */

static unsigned rounded(unsigned bytes)
{
	return bytes ? (bytes + ROUNDED - 1) / ROUNDED * ROUNDED : ROUNDED;
}

static void sum_up(struct object *o, struct function *f)
{
	if (f->bytes)
		return;
	for (size_t i = 0; i < f->n_calls; i++) {
		struct function *called = &o->all[f->calls[i]];

		sum_up(o, called);
		if (called->bytes > f->bytes) {
			f->bytes = called->bytes;
			f->next = f->calls[i];
		}
		if (called->frames > f->frames)
			f->frames = called->frames;
	}
	f->bytes += rounded(f->own);
	f->frames++;
}

/* The deepest chain below it: "on_send 224 > ... : 500 bytes". */
static void describe(const struct object *o, const struct function *f, char *to, size_t size)
{
	unsigned bytes = f->bytes;
	size_t at = 0;

	for (;; f = &o->all[f->next]) {
		at += (size_t)snprintf(to + at, size - at, "%s %u%s", f->name, rounded(f->own),
				       f->n_calls ? " > " : "");
		if (!f->n_calls || at >= size)
			break;
	}
	if (at < size)
		snprintf(to + at, size - at, ": %u bytes", bytes);
}

static void check(const void *bytes, size_t size, const char *a_program)
{
	static struct object o;
	const struct function *deepest = NULL;
	bool has_it = false;
	char chain[1000];
	int refused = 0;

	read_object(&o, bytes, size);
	for (size_t i = 0; i < o.n; i++) {
		struct function *f = &o.all[i];

		sum_up(&o, f);
		has_it |= !strcmp(f->name, a_program) && !f->is_called;
		if (f->is_called)
			continue;
		if (!deepest || f->bytes > deepest->bytes)
			deepest = f;
		if (f->bytes <= STACK_MOST && f->frames <= FRAMES_MOST)
			continue;
		describe(&o, f, chain, sizeof(chain));
		print_error("%s; at most %u functions are called within each other\n", chain,
			    f->frames);
		refused++;
	}
	assert_true(has_it);
	describe(&o, deepest, chain, sizeof(chain));
	print_message("the most: %s\n", chain);
	for (size_t i = 0; i < o.n; i++)
		free(o.all[i].relocated);
	elf_end(o.elf);
	assert_int_equal(refused, 0);
}

TEST(usual_programs)
{
	size_t size;
	const void *bytes = chaincap_bpf__elf_bytes(&size);

	check(bytes, size, "on_stacks");
}

TEST(programs_for_older_kernels)
{
	size_t size;
	const void *bytes = older_bpf__elf_bytes(&size);

	check(bytes, size, "on_stacks");
}

TEST(plain_programs)
{
	size_t size;
	const void *bytes = plain_bpf__elf_bytes(&size);

	check(bytes, size, "on_stacks");
}

/* ---- the count itself ----------------------------------------------------------------------- */

TEST(what_counts)
{
	static const struct bpf_insn insns[] = {
		/* *(r10 - 8) = 0 */
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8 },
		/* r2 = r10; r2 += -40 */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -40 },
		/* *(r2 - 4) = r1 */
		{ .code = BPF_STX | BPF_MEM | BPF_W,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_1,
		  .off = -4 },
		/* r2 = 0 ll, which is no part of the stack any more; r2 += -80 */
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_2 },
		{ .code = 0 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -80 },
		/* r3 = *(r10 - 56) */
		{ .code = BPF_LDX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_3,
		  .src_reg = BPF_REG_10,
		  .off = -56 },
	};
	struct function f = { .insns = insns };
	static const unsigned depths[] = { 0, 8, 8, 40, 44, 44, 44, 44, 56 };

	for (f.n = 0; f.n <= sizeof(insns) / sizeof(insns[0]); f.n++)
		if (f.n != 5) /* half an instruction */
			assert_int_equal(depth_of(&f), depths[f.n]);
	assert_int_equal(rounded(0), 32);
	assert_int_equal(rounded(32), 32);
	assert_int_equal(rounded(33), 64);
}
