/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump.h - names of generated code in a jitdump (jit-PID.dump): the records of each piece of
 * code with the time at which it was written, by Node.js --perf-prof, agents of JVMs and others
 * (the kernel's tools/perf/Documentation/jitdump-specification.txt). The process that runs the code
 * maps the file, which is how it is found. The file is untrusted: work and memory are bounded.
 */
#pragma once

#include <stdbool.h>

#include "perfmap.h"

/* Whether a file that is mapped as code is a jitdump, by its name. */
bool jitdump_is_name(const char *path);

/*
 * Names those of the n addresses, sorted, that a record covers, in place of a name that they have:
 * by the last record before time_ns, else by the first one after it. Returns 0; -ENOEXEC if it is
 * no jitdump of this machine's byte order; -ENOMEM; or the error of reading it.
 */
int jitdump_find(int fd, struct perfmap_address *a, size_t n);
