/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jvm_flags.h - what a running JVM (HotSpot) has its options set to, by whatever means: it exports
 * descriptions of its own structs, for debuggers ("VMStructs",
 * hotspot/share/runtime/vmStructs.hpp), and one of these is its table of options. All of it is a
 * process's memory, which may say anything: this is for processes without rights.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct jvm_flags {
	bool frame_pointers; /* PreserveFramePointer: compiled code has them */
	bool compiles;	     /* UseCompiler */
	bool is_deaf;	     /* DisableAttachMechanism: it takes no commands */
};

/* The variables of libjvm.so that hold the addresses of the descriptions. */
#define JVM_STRUCTS "gHotSpotVMStructs"
#define JVM_TYPES "gHotSpotVMTypes"

/*
 * Reads them from memory, that of the process, in which the two variables are at structs and types.
 * Returns 0, or -ENOENT if there is no such table or it is damaged.
 */
int jvm_flags_read(int memory, uint64_t structs, uint64_t types, struct jvm_flags *out);
