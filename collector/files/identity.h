/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identity.h - whether an open file is the one that a mapping's record means. A path, and the
 * process behind /proc/PID/map_files, may show another file a moment later.
 */
#ifndef IDENTITY_H
#define IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether mappings of the regular file fd have that device and inode number in /proc/PID/maps and
 * in perf's records. stat() says so on most file systems; on the others (btrfs, overlayfs) the file
 * is mapped here, and our own /proc/self/maps compared.
 */
bool identity_is(int fd, uint32_t maj, uint32_t min, uint64_t ino);

/* The file's generation: which one of the files that had its inode number. 0: not known. */
uint32_t identity_generation(int fd);

#endif /* IDENTITY_H */
