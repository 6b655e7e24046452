/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chainwire_variable.h - thread-local variables of recorded programs. Part of chainwire.h. */
#pragma once

/*
 * By the ways in which compilers reach one. A slot is a place in the process's memory that its
 * dynamic linker fills in.
 */
enum wire_tls {
	WIRE_TLS_STATIC,      /* at `offset` from the thread pointer */
	WIRE_TLS_OFFSET_SLOT, /* likewise; the offset is in the slot */
	WIRE_TLS_MODULE_SLOT, /* the slot has a module's number, and the offset in its block */
	WIRE_TLS_DESCRIPTOR,  /* TLSDESC: the slot has a function and its argument: an offset as
				 of STATIC, or the address of what is in a MODULE_SLOT */
	WIRE_TLS_MODULE,      /* at `offset` in the block of `module` */
};

/*
 * Where it is. The BPF side changes the kinds with a slot into the two others when the dynamic
 * linker has filled in the slot.
 */
struct wire_variable {
	__u64 slot; /* address */
	__u64 offset;
	__u64 module;
	__u32 tls; /* enum wire_tls */
	__u32 pad;
};

/* In glibc: where the thread pointer leads to the table of modules, and the size of its entries. */
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#define WIRE_MODULES_AT 0
#else
#define WIRE_MODULES_AT 8
#endif
#define WIRE_MODULE_SIZE 16
