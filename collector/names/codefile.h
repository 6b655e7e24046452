/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codefile.h - the files that processes run code from, each once. A file is opened when its first
 * mapping is seen, so that it can still be read after its process, its name or its container is
 * gone. Paths come from the processes themselves, and what they have mapped changes, so what was
 * opened counts only if it is a regular file with the device and inode that the kernel reported
 * (identity.h).
 */
#ifndef CODEFILE_H
#define CODEFILE_H

#include <stdbool.h>
#include <stdint.h>

enum code_kind {
	CODE_FILE,	/* a file, to be read as ELF */
	CODE_GENERATED, /* executable memory: names are in perf-PID.map if anywhere */
	CODE_VDSO,
	CODE_SPECIAL, /* other kernel mappings: "[vsyscall]", "[uprobes]" */
};

/* A mapping of code, as /proc/PID/maps or perf's mmap records have it. */
struct code_place {
	uint32_t tgid, parent; /* parent: 0 if not known */
	uint64_t start, end;   /* addresses */
	uint32_t maj, min;
	uint64_t ino;
	uint32_t generation; /* of the inode; 0: not known */
	const char *path;    /* in the process's root; may end in " (deleted)" */
};

struct code_files;

/* NULL when out of memory. Raises this process's soft limit of open files to the hard one. */
struct code_files *code_files_new(void);
void code_files_free(struct code_files *f);

/*
 * The file mapped there, as an id > 0 that holds one reference. 0 when out of memory, or if the
 * table, which is bounded, is full.
 */
uint32_t code_files_get(struct code_files *f, const struct code_place *place);
/* Takes and returns a reference. A file without any is closed, and its id is reused. */
void code_files_hold(struct code_files *f, uint32_t id);
void code_files_put(struct code_files *f, uint32_t id);
/* Likewise for a mapping, which the reference of code_files_get() is, too. */
void code_files_hold_mapping(struct code_files *f, uint32_t id);
void code_files_put_mapping(struct code_files *f, uint32_t id);
/* Whether a process has it mapped, as far as is known. */
bool code_files_is_mapped(const struct code_files *f, uint32_t id);

enum code_kind code_files_kind(const struct code_files *f, uint32_t id);
/* Without " (deleted)"; valid as long as the file has references. */
const char *code_files_path(const struct code_files *f, uint32_t id);
/*
 * The file's descriptor, which stays the table's; tries once more to open it if it is not open.
 * -ENOENT or another negative errno if that fails; -ESTALE: what is there is another file.
 */
int code_files_open(struct code_files *f, uint32_t id);
bool code_files_is_open(const struct code_files *f, uint32_t id);
/* The root directories of processes, the table's. */
struct code_roots *code_files_roots(const struct code_files *f);
/* Closes the file's descriptor after the last reading. */
void code_files_close(struct code_files *f, uint32_t id);

/*
 * A file that is open although no process has it mapped any more, and that is not to stay open: it
 * is on another mount than our root directory, which therefore cannot be unmounted; it is deleted,
 * and takes its room on the disk; or it is the one that is unmapped for longest, of more than some
 * hundred. 0: there is none. It is not returned again until it has been mapped and unmapped.
 */
uint32_t code_files_unused(struct code_files *f);
/* False: there is none; quicker. */
bool code_files_has_unused(const struct code_files *f);
/* Of a file that is open: whether it has no name any more; whether its mount is kept busy by it. */
bool code_files_is_deleted(const struct code_files *f, uint32_t id);
bool code_files_is_pinning(const struct code_files *f, uint32_t id);
/*
 * Closes it, with its root directory. copy is opened in its place, and takes bytes of memory;
 * negative: none is.
 */
void code_files_let_go(struct code_files *f, uint32_t id, int copy, uint64_t bytes);
/* What all copies take. */
uint64_t code_files_copied(const struct code_files *f);

/*
 * The root directory that the file's path is relative to, as a descriptor for openat() that stays
 * the table's; -1: our own.
 */
int code_files_root(const struct code_files *f, uint32_t id);

#endif /* CODEFILE_H */
