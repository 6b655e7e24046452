/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rule.h - how to get from a frame of a user stack to its caller's. A rule holds for one address of
 * one file. Also the numbers of each architecture's registers.
 */
#pragma once

#include <stdint.h>

/* DWARF's numbers. Not every architecture has one for pc: it takes the last place. */
#if defined(__x86_64__)
#define UNWIND_FP 6
#define UNWIND_SP 7
#define UNWIND_PC 16
#define UNWIND_RA 16 /* the column of the return address */
#elif defined(__aarch64__)
#define UNWIND_FP 29
#define UNWIND_RA 30
#define UNWIND_SP 31
#define UNWIND_PC 32
#endif
#define UNWIND_REGISTERS (UNWIND_PC + 1)
/* Return addresses come in a register (UNWIND_RA), and functions save it if they need to. */
#define UNWIND_HAS_LINK (UNWIND_RA != UNWIND_PC)

/*
 * The canonical frame address (CFA) is the value that the stack pointer has in the caller when the
 * call has returned.
 */
enum unwind_kind {
	UNWIND_NONE,	  /* the file has no rule for the address */
	UNWIND_REGISTER,  /* CFA = cfa_register + cfa_offset */
	UNWIND_PLT,	  /* CFA = sp + 8; from byte cfa_offset of the 16-byte stub on, sp + 16 */
	UNWIND_REALIGNED, /* CFA = *(fp + cfa_offset); the caller's fp = *fp */
	UNWIND_SAVED,	  /* CFA = *(cfa_register + cfa_offset) + 8: sp or fp */
	UNWIND_SIGNAL,	  /* the kernel saved all registers on the stack */
	UNWIND_END,	  /* the outermost frame */
	UNWIND_HARD,	  /* a DWARF expression that no kind above covers */
	UNWIND_UNKNOWN,	  /* not known now: the stack ends here */
	/*
	 * A frame of HotSpot's interpreter: at its frame pointer the caller's, and behind it the
	 * return address; below it the CFA, and the method (WIRE_JAVA_*).
	 */
	UNWIND_INTERPRETED,
	/*
	 * A frame of HotSpot's whose code was given up while it ran: it returns to code that makes
	 * other frames of it. Where it would have returned to is at sp + fp_offset; CFA = sp +
	 * cfa_offset, and below that the return address and the caller's frame pointer.
	 */
	UNWIND_GIVEN_UP,
};

struct unwind_rule {
	uint8_t kind; /* enum unwind_kind */
	uint8_t cfa_register;
	uint8_t ra_register;	    /* holds the return address, unless ra_saved */
	uint8_t fp_saved, ra_saved; /* whether */
	int32_t cfa_offset;
	int32_t fp_offset, ra_offset; /* from the CFA to where they are saved */
};

/* Packs a rule for the BPF side, see wire_rule(); WIRE_RULE_ASK if that cannot follow it. */
uint64_t unwind_rule_pack(const struct unwind_rule *r);
