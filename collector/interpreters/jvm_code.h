/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jvm_code.h - what is at an address of the code that a JVM (HotSpot) has made: how to get from its
 * frame to the caller's, and which method it is. By the JVM's own structs (files/jvm_structs.h),
 * which are a stranger's memory: this is for processes without rights.
 *
 * Compiled code keeps no frame pointer, but all frames of a piece of code ("blob") have one size.
 * Where a frame is being made or given up, the instructions say so; where that is not certain, the
 * stack ends. A frame of the interpreter has its method below the frame pointer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JVM_NAME_BYTES 320u
#define JVM_FILE_BYTES 96u

enum jvm_rule_kind {
	JVM_CUT,	 /* the stack ends here */
	JVM_BY_SP,	 /* the caller's stack pointer is the stack pointer and so many bytes, */
	JVM_BY_FP,	 /* or the frame pointer and these: below it is the return address */
	JVM_INTERPRETED, /* see UNWIND_INTERPRETED */
	JVM_GIVEN_UP,	 /* see UNWIND_GIVEN_UP: bytes, and pc_at */
	JVM_NO_CODE,	 /* jvms_rule(): nothing is there any more */
};

struct jvm_rule {
	uint32_t kind; /* enum jvm_rule_kind */
	int32_t bytes;
	uint32_t saves_fp; /* 1: below the return address is the caller's frame pointer */
	uint32_t pc_at;	   /* bytes from the stack pointer */
};

struct jvm_frame {
	struct jvm_rule rule;
	uint32_t is_method;	   /* 0: it is none of the program's, as a stub of the JVM */
	uint32_t line;		   /* 0: not known */
	char name[JVM_NAME_BYTES]; /* "package.Class.method", or what the JVM calls it; "": not
				      known */
	char file[JVM_FILE_BYTES]; /* of its source, without a path; "": not known */
};

struct jvm;

/*
 * memory: the process's, which becomes the JVM's; structs and types: where it has JVM_STRUCTS and
 * JVM_TYPES. Returns 0, and *out, which is never freed; -ENOENT: it does not describe what is
 * needed; or -ENOMEM.
 */
int jvm_open(struct jvm **out, int memory, uint64_t structs, uint64_t types);

#define JVM_DEPTH 32u /* so many methods of one frame are told */

/*
 * What is at an address of code; is_exact: an instruction that was interrupted, else one byte
 * before a return address. out[0..*n), of JVM_DEPTH: the methods that were compiled into one
 * another there, the innermost first; out[0].rule is the frame's. Of more than there is room for
 * the last one, which has no name, stands for all others. Returns 0; -EAGAIN: the JVM has only just
 * begun, or it changed meanwhile; -ENOENT: it has no code there.
 */
int jvm_find_frame(struct jvm *j, uint64_t at, bool is_exact, struct jvm_frame *out, uint32_t *n);
/*
 * The method of an interpreted frame. bytecode: the lower bits (WIRE_JAVA_BYTECODE) of the address
 * of the bytecode that it is at; UINT32_MAX: not known. False: it is no method.
 */
bool jvm_find_method(struct jvm *j, uint64_t method, uint32_t bytecode, struct jvm_frame *out);
/*
 * Whether something that was found has become something else, or is about to. Each call looks at a
 * part of what was found.
 */
bool jvm_has_changed(struct jvm *j);
