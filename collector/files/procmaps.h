/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmaps.h - code and program of running processes, from /proc. The paths in it are chosen by
 * users, so the text is untrusted.
 */
#pragma once

#include <stdint.h>

#include "proc_images.h"

/*
 * Adds the executable mappings and the program of process i->tgid to i, valid from time_ns. Returns
 * 0, or a negative errno if /proc cannot be read (-ENOENT, -ESRCH: the process has ended).
 */
int procmaps_read(struct images *im, struct code_files *files, struct image *i, uint64_t time_ns);

/*
 * Makes an image of each running process that has none yet, except kernel threads. now_ns() gives
 * the time. Returns 0 or a negative errno.
 */
int procmaps_read_all(struct images *im, struct code_files *files, uint64_t (*now_ns)(void));

/*
 * Parses a line of /proc/PID/maps, and modifies it. Returns 1 for an executable mapping, 0 for
 * another one, -EINVAL for a malformed line. place->tgid and parent are not set; place->path points
 * into line.
 */
int procmaps_parse(char *line, struct code_place *place, uint64_t *pgoff);
