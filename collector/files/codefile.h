/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codefile.h - the table of files from which processes run code. A file is opened when its first
 * mapping is seen, so that it can still be read after its process, its name or its container is
 * gone. Processes control their paths and change their mappings. So an opened file is used only if
 * it is a regular file with the device and inode that the kernel reported (coderoot.h).
 *
 * An entry has references, and of these some are mappings: code_files_get() takes one of a mapping.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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
	const char *path;    /* below the process's root directory; may end in " (deleted)" */
	const char *name;    /* by which the process runs the file, its program; NULL: path */
};

struct code_files;

/* Raises this process's soft limit of open files to the hard one. Returns 0 or -ENOMEM. */
int code_files_new(struct code_files **out);
void code_files_free(struct code_files *f);

/*
 * Returns the id (> 0) of the file mapped there, with a reference of a mapping, to be given back by
 * code_files_put_mapping(). 0 when out of memory, or if the table, which is bounded, is full.
 */
uint32_t code_files_get(struct code_files *f, const struct code_place *place);
/*
 * Take a reference, and give it back. A file without references is closed, and its id is reused.
 */
void code_files_hold(struct code_files *f, uint32_t id);
void code_files_put(struct code_files *f, uint32_t id);
/* The same for a reference of a mapping. */
void code_files_hold_mapping(struct code_files *f, uint32_t id);
void code_files_put_mapping(struct code_files *f, uint32_t id);
/* Whether there are references of mappings: a process has the file mapped, as far as is known. */
bool code_files_is_mapped(const struct code_files *f, uint32_t id);

enum code_kind code_files_kind(const struct code_files *f, uint32_t id);
/* Without " (deleted)"; valid as long as the file has references. */
const char *code_files_path(const struct code_files *f, uint32_t id);
/* What its frames are named by: the name that those who map it run it by, else its path. */
const char *code_files_name(const struct code_files *f, uint32_t id);
/*
 * Another name than the path by which the process at place runs its program, the file at that path.
 * comm: the process's, as exec set it. Returns NULL if there is none, or if it is not known in a
 * moment; to be freed.
 */
char *code_files_find_name(struct code_files *f, const struct code_place *place, const char *comm);
/* The length of the vDSO, which can be opened like a file from then on. */
void code_files_set_vdso(struct code_files *f, size_t bytes);
/*
 * Returns the file's descriptor, which remains the table's. If the file is not open, tries once
 * more to open it; if that fails, returns a negative errno, -ESTALE if another file is there now.
 */
int code_files_open(struct code_files *f, uint32_t id);
bool code_files_is_open(const struct code_files *f, uint32_t id);
/* The file system that it is on, as what may not answer (helper/call_timeout.h). */
uint64_t code_files_call_key(const struct code_files *f, uint32_t id);
/* Who owned the file when it was opened, a user id; UINT32_MAX: not known. */
uint32_t code_files_owner(const struct code_files *f, uint32_t id);
/*
 * The same and its root directory, as a key of owners.h: in containers all may be root's. Takes
 * what is known now: not of a file that was detached.
 */
uint64_t code_files_owner_key(const struct code_files *f, uint32_t id);
/*
 * Orders files by what the kernel says of them: 0 if that is the same file under two names, or one
 * that has come to have another one's inode number.
 */
int code_files_compare(const struct code_files *f, uint32_t a, uint32_t b);
/* Whether two files are the same one now; opens them for that, and they stay open. */
bool code_files_is_same(struct code_files *f, uint32_t a, uint32_t b);
/* The root directories of processes, which remain the table's. */
struct code_roots *code_files_roots(const struct code_files *f);
/* Closes the file's descriptor, after the file was read for the last time. */
void code_files_close(struct code_files *f, uint32_t id);

/*
 * Returns a file that is open although no process has it mapped any more, and that should be
 * detached for one of these reasons: it is on another mount than our root directory, which cannot
 * be unmounted while the file is open; it is deleted, and takes space on the disk until it is
 * closed; or too many such files are open, and it was unmapped before the others. 0: there is none.
 * A file is not returned again before it has been mapped and unmapped once more.
 */
uint32_t code_files_unused(struct code_files *f);
/* A quick check: false if code_files_unused() would return 0. */
bool code_files_has_unused(const struct code_files *f);
/* Whether an open file has no name any more; and whether it keeps a mount busy. */
bool code_files_is_deleted(const struct code_files *f, uint32_t id);
bool code_files_is_pinning(const struct code_files *f, uint32_t id);
/*
 * Closes the file, and gives up its root directory. copy: the descriptor of a copy that takes this
 * many bytes of memory, which the table takes over in the file's place; negative: there is none.
 */
void code_files_detach(struct code_files *f, uint32_t id, int copy, uint64_t bytes);
/* The bytes of all copies. */
uint64_t code_files_copied(const struct code_files *f);

/*
 * The root directory of all processes that map the file, as a descriptor for openat() that remains
 * the table's; -1: our own, or they have several. What is there belongs to these processes, and
 * must decide nothing for others.
 */
int code_files_root(const struct code_files *f, uint32_t id);
/*
 * Which one that is: 0: our own; CODE_ROOTS_SEVERAL, also after it was given up; or another number
 * for each other one.
 */
#define CODE_ROOTS_SEVERAL UINT32_MAX
uint32_t code_files_root_id(const struct code_files *f, uint32_t id);
