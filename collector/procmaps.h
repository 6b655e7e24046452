/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmaps.h - what /proc says of processes that run already: their code and their program. The
 * text can hold any path a user made up, so it is parsed as such.
 */
#ifndef PROCMAPS_H
#define PROCMAPS_H

#include <stdint.h>

#include "maps.h"

/*
 * Adds the executable mappings and the program of process i->tgid to i, as of time_ns. Returns 0,
 * or a negative errno if /proc could not be read (-ENOENT or -ESRCH: it is gone).
 */
int procmaps_read(struct images *im, struct code_files *files, struct image *i, uint64_t time_ns);

/*
 * Makes an image of each process that runs now and is not known yet; kernel threads are left out.
 * now_ns() gives the time. Returns 0 or a negative errno.
 */
int procmaps_read_all(struct images *im, struct code_files *files, uint64_t (*now_ns)(void));

/*
 * Splits a line of /proc/PID/maps, which is changed. Returns 1 for an executable mapping, 0 for
 * another one, -EINVAL for what is no such line. place->tgid and parent are left alone; place->path
 * points into line.
 */
int procmaps_parse(char *line, struct code_place *place, uint64_t *pgoff);

#endif /* PROCMAPS_H */
