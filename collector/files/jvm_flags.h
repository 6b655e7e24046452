/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jvm_flags.h - what a running JVM (HotSpot) has its options set to, by whatever means: one of the
 * structs that it describes (jvm_structs.h) is its table of options.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jvm_structs.h"

struct jvm_flags {
	bool frame_pointers; /* PreserveFramePointer: compiled code has them */
	bool compiles;	     /* UseCompiler */
	bool is_deaf;	     /* DisableAttachMechanism: it takes no commands */
};

/*
 * Reads them from memory, that of the process, in which the two variables are at structs and types.
 * Returns 0, or -ENOENT if there is no such table or it is damaged.
 */
int jvm_flags_read(int memory, uint64_t structs, uint64_t types, struct jvm_flags *out);
