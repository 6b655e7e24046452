/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_folder.h - a folder of traces that one recorder after the other writes, named by host and
 * time: HOST-20261128T105900Z.bin, and HOST-20261128T105900Z.1.bin if there is one of that name.
 *
 * A trace has a temporary name (.HOST-20261128T105900Z.bin.part) until it is complete and on the
 * disk; what a crash leaves of these is removed by the next recorder. The folder may be hostile: it
 * is reached by its descriptor alone, whatever becomes of its path; what is there is never
 * overwritten, and removed only if it has such a name of this host, and is a regular file of the
 * recorder's user or of the user who called sudo. Whoever may rename in the folder can make the
 * recorder remove what he could remove himself, nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_FOLDER_HOST 64  /* bytes of a host's name, with its terminator */
#define TRACE_FOLDER_NAME 128 /* of a file's name, temporary ones too */

struct trace_folder {
	int fd;	  /* of the folder; -1: not open */
	int lock; /* a file that keeps other recorders of this host away; -1: not open */
	char host[TRACE_FOLDER_HOST];
};

/* The name for files of the host nodename: all but letters, digits, '.' and '-' is '_'. */
void trace_folder_host(const char *nodename, char host[TRACE_FOLDER_HOST]);

/*
 * The name of a trace that begins at wall_ns (nanoseconds since 1970, UTC). n: 0, or the number
 * that tells it from others of the same second.
 */
void trace_folder_name(const char *host, uint64_t wall_ns, unsigned int n,
		       char name[TRACE_FOLDER_NAME]);

/*
 * Opens the folder path, keeps other recorders of the host nodename out of it, and removes what
 * crashed ones left. Returns 0, or a negative errno with the reason in why. Close it in any case.
 */
int trace_folder_open(struct trace_folder *d, const char *path, const char *nodename, char *why,
		      size_t why_size);
void trace_folder_close(struct trace_folder *d);

/*
 * Creates the file of the trace that begins at wall_ns, under a temporary name, which is put into
 * part. Returns a descriptor, or a negative errno with the reason in why.
 */
int trace_folder_create(const struct trace_folder *d, uint64_t wall_ns,
			char part[TRACE_FOLDER_NAME], char *why, size_t why_size);
/*
 * Gives the file its own name, which is put into name, when it is complete: when it is on the disk.
 * Returns 0 or a negative errno.
 */
int trace_folder_publish(const struct trace_folder *d, int fd, uint64_t wall_ns, const char *part,
			 char name[TRACE_FOLDER_NAME]);
/* Removes an unfinished file. */
void trace_folder_abandon(const struct trace_folder *d, const char *part);
/* Removes all unfinished files of this host. */
void trace_folder_clean(const struct trace_folder *d);

/*
 * Removes the oldest traces until all that are left have at most keep_bytes together, but not the
 * one called newest. One that is later than that was written before the clock was put back: these
 * go first. Returns the number of removed ones, or a negative errno if there is no way to list
 * them.
 */
int trace_folder_keep(const struct trace_folder *d, uint64_t keep_bytes, const char *newest);
