// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/clock.h"
#include "elf/elfsym.h"

#define NAMES_MAX_BYTES (1u << 20)
#define SECTIONS_MAX 4096u
/*
 * Budget of CPU time for a file: 0.1 s at once, a tenth of the time over all, and a little for each
 * search (libdw: 5 us). The CPU time in a virtual machine has in it for how long that itself waited
 * for a CPU, maybe 0.1 s: so who has used up more pays back that much, and can then be searched
 * again.
 */
#define BUDGET_NS 100000000
#define BUDGET_PART 10
#define FREE_NS 100000u

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

struct cfi {
	struct elfsym *elf;
	Dwarf_CFI *dwarf;
	size_t bytes;
	int64_t left_ns; /* of its budget, */
	uint64_t at_ns;	 /* at this time */
};

/* ---- opening ------------------------------------------------------------------------------- */

/*
 * Bytes that libdw will read: .eh_frame and its index, or without section headers anything that
 * follows the index, at most the file. UINT64_MAX: more than is read of any file.
 */
static uint64_t frame_bytes(Elf *elf, uint64_t file_bytes)
{
	size_t n_sections, names;
	uint64_t bytes = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (elf_getshdrnum(elf, &n_sections) || n_sections > SECTIONS_MAX)
		return UINT64_MAX;
	if (!n_sections)
		return file_bytes;
	if (elf_getshdrstrndx(elf, &names) || !gelf_getshdr(elf_getscn(elf, names), &sh) ||
	    sh.sh_size > NAMES_MAX_BYTES || sh.sh_flags & SHF_COMPRESSED)
		return UINT64_MAX;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (!name || (strcmp(name, ".eh_frame") && strcmp(name, ".eh_frame_hdr")))
			continue;
		if (sh.sh_size > CFI_MAX_BYTES)
			return UINT64_MAX;
		bytes += sh.sh_size;
	}
	return bytes ? bytes : file_bytes;
}

int cfi_open(struct cfi **out, int fd)
{
	struct elfsym *e = NULL;
	GElf_Ehdr header;
	GElf_Phdr first;
	struct stat st;
	struct cfi *c;
	uint64_t bytes;
	int err;

	*out = NULL;
	if (fstat(fd, &st))
		return -errno;
	err = elfsym_open(&e, fd);
	if (err)
		return err;
	err = -ENOEXEC;
	if (!gelf_getehdr(elfsym_libelf(e), &header) || header.e_machine != MACHINE ||
	    gelf_getclass(elfsym_libelf(e)) != ELFCLASS64 ||
	    !gelf_getphdr(elfsym_libelf(e), 0, &first))
		goto fail;
	bytes = frame_bytes(elfsym_libelf(e), (uint64_t)st.st_size);
	err = -EFBIG;
	if (bytes > CFI_MAX_BYTES)
		goto fail;
	err = -ENOMEM;
	c = calloc(1, sizeof(*c));
	if (!c)
		goto fail;
	c->dwarf = dwarf_getcfi_elf(elfsym_libelf(e));
	if (!c->dwarf) {
		free(c);
		err = -ENOENT;
		goto fail;
	}
	c->elf = e;
	c->bytes = (size_t)bytes;
	c->left_ns = BUDGET_NS;
	c->at_ns = clock_now_ns();
	*out = c;
	return 0;
fail:
	elfsym_close(e);
	return err;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	dwarf_cfi_end(c->dwarf);
	elfsym_close(c->elf);
	free(c);
}

size_t cfi_bytes(const struct cfi *c)
{
	return c->bytes;
}

/* ---- from libdw's expressions to a rule ---------------------------------------------------- */

/* Whether it is one register and an offset. */
static bool is_register(const Dwarf_Op *ops, size_t n, uint8_t *reg, int64_t *offset)
{
	if (n != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx && ops[0].number < UNWIND_REGISTERS) {
		*reg = (uint8_t)ops[0].number;
		*offset = (int64_t)ops[0].number2;
		return true;
	}
	if (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31 ||
	    ops[0].atom - DW_OP_breg0 >= UNWIND_REGISTERS)
		return false;
	*reg = (uint8_t)(ops[0].atom - DW_OP_breg0);
	*offset = (int64_t)ops[0].number;
	return true;
}

/* The stub of a PLT: sp + 8 + ((pc & 15) >= N) * 8. */
static bool is_plt(const Dwarf_Op *ops, size_t n, int64_t *offset)
{
	static const uint8_t atoms[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					 DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	 DW_OP_plus };

	if (UNWIND_SP != 7 || n != sizeof(atoms) || ops[0].number != 8 || ops[1].number)
		return false;
	for (size_t i = 0; i < n; i++)
		if (atoms[i] && ops[i].atom != atoms[i])
			return false;
	*offset = ops[4].atom - DW_OP_lit0;
	return *offset >= 0 && *offset < 16;
}

/*
 * Where the function has put the stack pointer that it was called with, on a stack that it aligned:
 * *(sp + N) + 8, as in libcrypto's assembly code (perlasm).
 */
static bool is_saved_sp(const Dwarf_Op *ops, size_t n, struct unwind_rule *r, int64_t *offset)
{
	return n == 3 && ops[1].atom == DW_OP_deref && ops[2].atom == DW_OP_plus_uconst &&
	       ops[2].number == 8 && is_register(ops, 1, &r->cfa_register, offset) &&
	       (r->cfa_register == UNWIND_SP || r->cfa_register == UNWIND_FP) && !(*offset & 7);
}

static bool has_cfa(Dwarf_Frame *f, struct unwind_rule *r)
{
	int64_t offset = 0;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(f, &ops, &n))
		return false;
	if (is_register(ops, n, &r->cfa_register, &offset)) {
		r->kind = UNWIND_REGISTER;
	} else if (is_plt(ops, n, &offset)) {
		r->kind = UNWIND_PLT;
	} else if (n == 2 && ops[1].atom == DW_OP_deref &&
		   is_register(ops, 1, &r->cfa_register, &offset) && r->cfa_register == UNWIND_FP) {
		r->kind = UNWIND_REALIGNED;
	} else if (is_saved_sp(ops, n, r, &offset)) {
		r->kind = UNWIND_SAVED;
	} else {
		return false;
	}
	r->cfa_offset = (int32_t)offset;
	return r->cfa_offset == offset;
}

/*
 * Above the CFA is the caller's frame, where nothing is saved. libdw before 0.190 takes it that
 * registers are, where arm64 code has signed its return address (DW_CFA_AARCH64_negate_ra_state,
 * which is a window of registers on SPARC): they are unchanged.
 */
static bool is_window(int32_t offset)
{
	return UNWIND_HAS_LINK && offset >= 0;
}

/* Whether it is saved at an offset from the CFA. */
static bool is_saved(const Dwarf_Op *ops, size_t n, int32_t *offset)
{
	int64_t at = 0;

	if (!n || n > 2 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (n == 2) {
		if (ops[1].atom != DW_OP_plus_uconst)
			return false;
		at = (int64_t)ops[1].number;
	}
	*offset = (int32_t)at;
	return *offset == at;
}

static bool has_fp(Dwarf_Frame *f, struct unwind_rule *r)
{
	Dwarf_Op mem[3], *ops;
	int64_t offset;
	uint8_t reg;
	size_t n;

	if (dwarf_frame_register(f, UNWIND_FP, mem, &ops, &n))
		return false;
	if (r->kind == UNWIND_REALIGNED)
		return is_register(ops, n, &reg, &offset) && reg == UNWIND_FP && !offset;
	/* Unchanged; one that is undefined is most likely unchanged, too. */
	if (!n)
		return true;
	if (!is_saved(ops, n, &r->fp_offset))
		return false;
	r->fp_saved = !is_window(r->fp_offset);
	if (!r->fp_saved)
		r->fp_offset = 0;
	return true;
}

/* False: its place cannot be expressed in a rule. */
static bool has_return_address(Dwarf_Frame *f, int column, struct unwind_rule *r)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(f, column, mem, &ops, &n))
		return false;
	if (!n && ops == mem) {
		r->kind = UNWIND_END;
		return true;
	}
	if (!n) { /* still in its register, if there is one */
		r->ra_register = (uint8_t)column;
		return column != UNWIND_PC;
	}
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
		r->ra_register = (uint8_t)(ops[0].atom - DW_OP_reg0);
		return r->ra_register < UNWIND_REGISTERS;
	}
	if (n == 1 && ops[0].atom == DW_OP_regx) {
		r->ra_register = (uint8_t)ops[0].number;
		return ops[0].number < UNWIND_REGISTERS;
	}
	if (!is_saved(ops, n, &r->ra_offset))
		return false;
	r->ra_saved = !is_window(r->ra_offset);
	r->ra_register = (uint8_t)column;
	return true;
}

static struct unwind_rule rule_of_frame(Dwarf_Frame *f, Dwarf_Addr *end)
{
	struct unwind_rule r = { .kind = UNWIND_HARD }, hard = r;
	bool is_signal = false;
	int column = dwarf_frame_info(f, NULL, end, &is_signal);

	if (is_signal)
		return (struct unwind_rule) { .kind = UNWIND_SIGNAL };
	if (column != UNWIND_RA || !has_return_address(f, column, &r))
		return hard;
	if (r.kind == UNWIND_END)
		return r;
	return has_cfa(f, &r) && has_fp(f, &r) ? r : hard;
}

/* ---- searching ----------------------------------------------------------------------------- */

static bool find_row(struct cfi *c, uint64_t offset, struct unwind_rule *rule, uint64_t *end)
{
	Dwarf_Addr vaddr, to;
	Dwarf_Frame *f;

	if (!elfsym_vaddr(c->elf, offset, &vaddr) || dwarf_cfi_addrframe(c->dwarf, vaddr, &f))
		return false;
	to = vaddr + 1;
	*rule = rule_of_frame(f, &to);
	free(f);
	if (to <= vaddr)
		return false;
	*end = to - vaddr > UINT64_MAX - offset ? UINT64_MAX : offset + (to - vaddr);
	return true;
}

static bool may_search(struct cfi *c)
{
	uint64_t now_ns = clock_now_ns();

	c->left_ns += (int64_t)((now_ns - c->at_ns) / BUDGET_PART);
	if (c->left_ns > BUDGET_NS)
		c->left_ns = BUDGET_NS;
	c->at_ns = now_ns;
	return c->left_ns > 0;
}

static void spend(struct cfi *c, uint64_t took_ns)
{
	uint64_t most_ns = (uint64_t)(c->left_ns + BUDGET_NS), ns;

	ns = took_ns > FREE_NS ? took_ns - FREE_NS : 0;
	c->left_ns -= (int64_t)(ns < most_ns ? ns : most_ns);
}

int cfi_row(struct cfi *c, uint64_t offset, struct unwind_rule *rule, uint64_t *end)
{
	uint64_t start_ns;
	bool is_found;

	if (!may_search(c))
		return -EAGAIN;
	start_ns = clock_thread_cpu_ns();
	is_found = find_row(c, offset, rule, end);
	spend(c, clock_thread_cpu_ns() - start_ns);
	return is_found ? 0 : -ENOENT;
}
