/* SPDX-License-Identifier: GPL-2.0-or-later */
/* java_frames.h - frames of Java (jvms.h) in the address spaces that the symbolizer knows. */
#pragma once

#include "jvms.h"
#include "names/symbolize.h"

/*
 * jvms_rule() of what is at an address of generated code in that space; -ENOENT also if the process
 * is no JVM, and -EAGAIN if it may yet turn out to be one.
 */
int java_frames_rule(struct symbolizer *s, uint32_t space, uint64_t addr, bool is_exact,
		     struct jvm_rule *r);
/* jvms_names() of a frame as a stack had it at time_ns; -ENOENT also if it is of no JVM's code. */
int java_frames_names(struct symbolizer *s, uint32_t space, uint64_t frame, uint64_t time_ns,
		      struct jvms_names *out);
