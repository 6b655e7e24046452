// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coderoot.h"
#include "common/grow.h"
#include "helper/call_timeout.h"
#include "kernel/host_proc.h"
#include "program_name.h"

#define BUCKETS 4096u
/* Descriptors kept free for the rest of the program. */
#define OTHER_FILES 256u
#define OPEN_MAX_FILES 65536u
/* The most memory that all entries and their paths may take. */
#define TABLE_MAX_BYTES (256u << 20)
/* How many files stay open although no process maps them, because they may be mapped again. */
#define UNUSED_MAX 256u

struct code_file {
	enum code_kind kind;
	uint32_t maj, min;
	uint64_t ino;
	uint32_t generation; /* 0: not known */
	uint32_t owner;	     /* UINT32_MAX: not known */
	char *path;
	char *name;	 /* NULL: its path */
	int fd;		 /* -1: not open */
	uint32_t tried;	 /* by this process it could not be opened */
	uint32_t root;	 /* code_roots id of the directory that its path is relative to */
	bool is_shared;	 /* processes with other root directories than that map it, too */
	bool had_root;	 /* it had one, which was given up */
	uint32_t refs;	 /* 0: the slot is free */
	uint32_t mapped; /* how many of refs are of mappings */
	bool is_pinning; /* it keeps another mount than our root busy */
	bool is_unused;	 /* it is in the list `unused` */
	bool is_urgent;	 /* and should be detached as soon as possible */
	uint64_t copied; /* if fd is a copy of the file: its bytes; else 0 */
	uint32_t next;	 /* id of the next one in the bucket, or in the list of free slots */
};

struct code_files {
	struct code_roots *roots;
	struct code_file *files; /* by id - 1 */
	uint32_t n, free_slot;
	size_t cap;
	uint32_t n_open, max_open;
	size_t bytes;	 /* of all entries */
	uint64_t copied; /* bytes of all copies */
	size_t vdso_bytes;
	uint32_t *unused; /* ids of files that became unmapped, in this order */
	size_t n_unused, cap_unused;
	uint32_t buckets[BUCKETS];
};

static uint32_t bucket_of(uint32_t maj, uint32_t min, uint64_t ino)
{
	uint64_t h = (ino ^ (uint64_t)maj << 40 ^ (uint64_t)min << 20) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 52) % BUCKETS;
}

/* How many files may be open, after the soft limit was raised to the hard one. */
static uint32_t find_max_open(void)
{
	struct rlimit r, most;
	rlim_t n;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return 0;
	most = (struct rlimit) { r.rlim_max, r.rlim_max };
	n = setrlimit(RLIMIT_NOFILE, &most) ? r.rlim_cur : r.rlim_max;
	if (n > OPEN_MAX_FILES)
		n = OPEN_MAX_FILES;
	return (uint32_t)(n > 2 * OTHER_FILES ? n - OTHER_FILES : n / 2);
}

int code_files_new(struct code_files **out)
{
	struct code_files *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (!f || code_roots_new(&f->roots)) {
		free(f);
		return -ENOMEM;
	}
	f->max_open = find_max_open();
	*out = f;
	return 0;
}

void code_files_free(struct code_files *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n; i++) {
		if (!f->files[i].refs)
			continue;
		if (f->files[i].fd >= 0)
			close(f->files[i].fd);
		free(f->files[i].path);
		free(f->files[i].name);
	}
	code_roots_free(f->roots);
	free(f->unused);
	free(f->files);
	free(f);
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Arguments and results of opening a file, in a process that may hang (helper/call_timeout.h). */
struct opening {
	uint32_t tgid; /* with start and end: the mapping; 0: open it by its path alone */
	uint64_t start, end;
	uint32_t maj, min;
	uint64_t ino;
	uint32_t generation; /* in and out; 0: not known */
	int err;	     /* out */
	bool is_elf;	     /* out */
	char path[PATH_MAX];
};

/*
 * Opens the file through the mapping, which works whatever became of its name. Needs
 * CAP_CHECKPOINT_RESTORE.
 */
static int open_mapped(const struct opening *o)
{
	char mapped[80];
	int fd;

	snprintf(mapped, sizeof(mapped), "map_files/%llx-%llx", (unsigned long long)o->start,
		 (unsigned long long)o->end);
	fd = open(host_proc_name(o->tgid, mapped).text, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : code_reopen_regular(fd);
}

/*
 * Returns fd if it is the file that was mapped; another one may be there by now, as users change
 * mappings, names and mounts. Otherwise closes fd, sets o->err, and returns -1. fd may be a
 * negative errno.
 */
static int prove(struct opening *o, int fd)
{
	uint32_t generation;

	o->err = fd < 0 ? fd : 0;
	if (fd < 0)
		return -1;
	generation = code_generation(fd);
	if (!code_is_file(fd, o->maj, o->min, o->ino) ||
	    (generation && o->generation && generation != o->generation)) {
		close(fd);
		o->err = -ESTALE;
		return -1;
	}
	if (generation)
		o->generation = generation;
	return fd;
}

static bool is_elf(int fd)
{
	char magic[4];

	return pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4);
}

/* Opens the file, as call_with_timeout() runs it. root: what the path is relative to; -1: our root.
 */
static int run_opening(void *opening, int root)
{
	struct opening *o = opening;
	int fd = o->tgid ? prove(o, open_mapped(o)) : -1;

	if (fd < 0)
		fd = prove(o, code_open_in_root(root, o->path, 0));
	if (fd < 0 && root >= 0)
		fd = prove(o, code_open_in_root(-1, o->path, 0));
	o->is_elf = fd >= 0 && is_elf(fd);
	return fd;
}

/* AT_STATX_DONT_SYNC: does not ask the file system, which may not answer. */
static bool look(int fd, struct statx *st)
{
	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		      STATX_NLINK | STATX_UID | STATX_INO, st);
}

static uint32_t owner_of(int fd)
{
	struct statx st;

	return look(fd, &st) ? st.stx_uid : UINT32_MAX;
}

/* by: the mapping; NULL: opens it by its path alone. Returns 0 or a negative errno. */
static int open_file(struct code_files *f, struct code_file *c, const struct code_place *by,
		     bool *is_elf_file)
{
	struct opening o = {
		.maj = c->maj,
		.min = c->min,
		.ino = c->ino,
		.generation = c->generation,
	};
	int root = c->root ? code_roots_dir(f->roots, c->root) : -1, err, fd;

	if (strlen(c->path) >= sizeof(o.path))
		return -ENAMETOOLONG;
	strcpy(o.path, c->path);
	if (by) {
		o.tgid = by->tgid;
		o.start = by->start;
		o.end = by->end;
	}
	err = call_with_timeout(run_opening, call_key_device(c->maj, c->min), &o, sizeof(o), root,
				&fd);
	if (err || fd < 0)
		return err ? err : o.err ? o.err : -EMFILE;
	c->fd = fd;
	c->owner = owner_of(fd);
	c->is_pinning = !code_roots_is_on_own_mount(f->roots, fd);
	c->generation = o.generation;
	*is_elf_file = o.is_elf;
	return 0;
}

/* ---- the table ----------------------------------------------------------------------------- */

static bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Whether the path is that of a file that is plain memory; but a memfd may hold a program. */
static bool is_memory_file(const char *path)
{
	return has_prefix(path, "/memfd:") || has_prefix(path, "/dev/zero") ||
	       has_prefix(path, "/SYSV") || has_prefix(path, "/anon_hugepage") ||
	       has_prefix(path, "anon_inode:");
}

static enum code_kind kind_of(const struct code_place *p)
{
	if (!p->path[0] || has_prefix(p->path, "//anon") || has_prefix(p->path, "[anon") ||
	    !strcmp(p->path, "[heap]") || has_prefix(p->path, "[stack"))
		return CODE_GENERATED;
	if (!strcmp(p->path, "[vdso]"))
		return CODE_VDSO;
	return p->path[0] == '[' ? CODE_SPECIAL : CODE_FILE;
}

static char *plain_path(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), tail = sizeof(deleted) - 1;

	if (len > tail && !strcmp(path + len - tail, deleted))
		len -= tail;
	return strndup(path, len);
}

static bool is_same_name(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/*
 * The path and the name must be the same, too: inode numbers are reused, and a process may have
 * mapped the file under a name of its own choice, which must not appear in the frames of other
 * processes.
 */
static bool is_same(const struct code_file *c, enum code_kind kind, const struct code_place *p,
		    const char *path)
{
	if (kind != CODE_FILE)
		return c->kind == kind && !c->ino && !strcmp(c->path, path);
	return c->maj == p->maj && c->min == p->min && c->ino == p->ino &&
	       (!c->generation || !p->generation || c->generation == p->generation) &&
	       !strcmp(c->path, path) && is_same_name(c->name, p->name);
}

static size_t entry_bytes(const char *path, const char *name)
{
	return sizeof(struct code_file) + strlen(path) + 1 + (name ? strlen(name) + 1 : 0);
}

static uint32_t new_slot(struct code_files *f)
{
	uint32_t id = f->free_slot;

	if (id) {
		f->free_slot = f->files[id - 1].next;
		return id;
	}
	if (!GROW(f->files, f->n, f->cap))
		return 0;
	return ++f->n;
}

/* A short-lived child may have ended; its parent mostly has the same root directory. */
static int find_root(const struct code_files *f, const struct code_place *p, uint32_t *root)
{
	int err = code_roots_get(f->roots, p->tgid, root);

	return err && p->parent ? code_roots_get(f->roots, p->parent, root) : err;
}

/* Another process maps the file. */
static void compare_root(const struct code_files *f, struct code_file *c,
			 const struct code_place *p)
{
	uint32_t root;

	if (!c->root || c->is_shared)
		return;
	c->is_shared = find_root(f, p, &root) || root != c->root;
	code_roots_put(f->roots, root);
}

static void open_early(struct code_files *f, struct code_file *c, const struct code_place *p)
{
	bool is_elf_file;

	if (f->n_open >= f->max_open)
		return;
	if (!c->root)
		(void)find_root(f, p, &c->root);
	if (open_file(f, c, p, &is_elf_file)) {
		c->tried = p->tgid;
		if (is_memory_file(c->path))
			c->kind = CODE_GENERATED;
		return;
	}
	if (is_memory_file(c->path) && !is_elf_file) {
		close(c->fd);
		c->fd = -1;
		c->kind = CODE_GENERATED;
		return;
	}
	f->n_open++;
}

/* Opens the file again in place of its copy, which has no code, only what names take. */
static void reopen(struct code_files *f, struct code_file *c, const struct code_place *p)
{
	int copy = c->fd;

	c->fd = -1;
	f->n_open--;
	open_early(f, c, p);
	if (c->fd < 0) {
		c->fd = copy;
		f->n_open++;
		return;
	}
	close(copy);
	f->copied -= c->copied;
	c->copied = 0;
}

uint32_t code_files_get(struct code_files *f, const struct code_place *p)
{
	enum code_kind kind = kind_of(p);
	bool is_file = kind == CODE_FILE;
	uint32_t bucket = is_file ? bucket_of(p->maj, p->min, p->ino) : bucket_of(0, 0, 0), id;
	char *path = kind == CODE_GENERATED ? strdup("//anon") : plain_path(p->path);
	char *name = is_file && p->name ? strdup(p->name) : NULL;
	struct code_file *c;

	if (!path || (is_file && p->name && !name))
		goto none;
	for (id = f->buckets[bucket]; id; id = f->files[id - 1].next) {
		c = &f->files[id - 1];
		if (is_same(c, kind, p, path)) {
			c->refs++;
			c->mapped++;
			if (p->generation)
				c->generation = p->generation;
			compare_root(f, c, p);
			if (c->kind == CODE_FILE && c->copied)
				reopen(f, c, p);
			else if (c->kind == CODE_FILE && c->fd < 0 && c->tried != p->tgid)
				open_early(f, c, p); /* another process, another chance */
			free(path);
			free(name);
			return id;
		}
	}
	id = f->bytes + entry_bytes(path, name) <= TABLE_MAX_BYTES ? new_slot(f) : 0;
	if (!id)
		goto none;
	c = &f->files[id - 1];
	*c = (struct code_file) { .kind = kind, .path = path, .fd = -1, .refs = 1, .mapped = 1 };
	c->name = name;
	c->owner = UINT32_MAX;
	f->bytes += entry_bytes(path, name);
	if (is_file) {
		c->maj = p->maj;
		c->min = p->min;
		c->ino = p->ino;
		c->generation = p->generation;
		open_early(f, c, p);
	}
	c->next = f->buckets[bucket];
	f->buckets[bucket] = id;
	return id;
none:
	free(path);
	free(name);
	return 0;
}

void code_files_hold(struct code_files *f, uint32_t id)
{
	f->files[id - 1].refs++;
}

void code_files_close(struct code_files *f, uint32_t id)
{
	struct code_file *c = &f->files[id - 1];

	if (c->fd < 0)
		return;
	close(c->fd);
	c->fd = -1;
	f->n_open--;
	f->copied -= c->copied;
	c->copied = 0;
}

void code_files_put(struct code_files *f, uint32_t id)
{
	struct code_file *c = &f->files[id - 1];
	uint32_t *link = &f->buckets[bucket_of(c->maj, c->min, c->ino)];

	if (--c->refs)
		return;
	while (*link != id)
		link = &f->files[*link - 1].next;
	*link = c->next;
	code_files_close(f, id);
	code_roots_put(f->roots, c->root);
	f->bytes -= entry_bytes(c->path, c->name);
	free(c->path);
	free(c->name);
	*c = (struct code_file) { .fd = -1, .next = f->free_slot };
	f->free_slot = id;
}

/* ---- detaching ------------------------------------------------------------------------------ */

static bool is_deleted(int fd)
{
	struct statx st;

	return look(fd, &st) && !st.stx_nlink;
}

bool code_files_is_deleted(const struct code_files *f, uint32_t id)
{
	int fd = f->files[id - 1].fd;

	return fd >= 0 && is_deleted(fd);
}

bool code_files_is_pinning(const struct code_files *f, uint32_t id)
{
	return f->files[id - 1].is_pinning;
}

void code_files_hold_mapping(struct code_files *f, uint32_t id)
{
	f->files[id - 1].mapped++;
	code_files_hold(f, id);
}

void code_files_put_mapping(struct code_files *f, uint32_t id)
{
	struct code_file *c = &f->files[id - 1];

	if (!--c->mapped && c->kind == CODE_FILE && c->refs > 1 && c->fd >= 0 && !c->copied) {
		c->is_urgent = c->is_pinning || is_deleted(c->fd);
		if (!c->is_unused && GROW(f->unused, f->n_unused, f->cap_unused)) {
			f->unused[f->n_unused++] = id;
			c->is_unused = true;
		}
	}
	code_files_put(f, id);
}

bool code_files_is_open(const struct code_files *f, uint32_t id)
{
	return f->files[id - 1].fd >= 0;
}

bool code_files_is_mapped(const struct code_files *f, uint32_t id)
{
	return f->files[id - 1].mapped;
}

bool code_files_has_unused(const struct code_files *f)
{
	return f->n_unused;
}

uint32_t code_files_unused(struct code_files *f)
{
	uint32_t id, found = 0;
	size_t kept = 0;

	for (size_t i = 0; i < f->n_unused; i++) {
		struct code_file *c = &f->files[f->unused[i] - 1];

		id = f->unused[i];
		/* It may have changed since it was put into the list. */
		if (!c->refs || c->mapped || c->fd < 0 || c->copied)
			c->is_unused = false;
		else if (c->is_urgent && !found)
			found = id;
		else
			f->unused[kept++] = id;
	}
	f->n_unused = kept;
	if (!found && kept > UNUSED_MAX) {
		found = f->unused[0];
		memmove(f->unused, f->unused + 1, --f->n_unused * sizeof(*f->unused));
	}
	if (found)
		f->files[found - 1].is_unused = false;
	return found;
}

void code_files_detach(struct code_files *f, uint32_t id, int copy, uint64_t bytes)
{
	struct code_file *c = &f->files[id - 1];

	code_files_close(f, id);
	code_roots_put(f->roots, c->root);
	c->had_root |= c->root != 0;
	c->root = 0;
	c->is_pinning = false;
	if (copy < 0)
		return;
	c->fd = copy;
	c->copied = bytes ? bytes : 1;
	f->copied += c->copied;
	f->n_open++;
}

uint64_t code_files_copied(const struct code_files *f)
{
	return f->copied;
}

enum code_kind code_files_kind(const struct code_files *f, uint32_t id)
{
	return f->files[id - 1].kind;
}

const char *code_files_path(const struct code_files *f, uint32_t id)
{
	return f->files[id - 1].path;
}

const char *code_files_name(const struct code_files *f, uint32_t id)
{
	const struct code_file *c = &f->files[id - 1];

	return c->name ? c->name : c->path;
}

char *code_files_find_name(struct code_files *f, const struct code_place *p, const char *comm)
{
	struct program_name n = { .tgid = p->tgid };
	uint32_t root;
	char *path;
	int err, fd;

	if (kind_of(p) != CODE_FILE || program_name_is_own(p->path, comm))
		return NULL;
	path = plain_path(p->path);
	if (!path || strlen(path) >= sizeof(n.path)) {
		free(path);
		return NULL;
	}
	strcpy(n.path, path);
	free(path);
	snprintf(n.comm, sizeof(n.comm), "%s", comm);
	(void)find_root(f, p, &root);
	/* All have one key: whatever processes do, at most one of these calls hangs at a time. */
	err = call_with_timeout(program_name_find, CALL_KEY_NAMES, &n, sizeof(n),
				root ? code_roots_dir(f->roots, root) : -1, &fd);
	code_roots_put(f->roots, root);
	return !err && n.name[0] ? strdup(n.name) : NULL;
}

struct code_roots *code_files_roots(const struct code_files *f)
{
	return f->roots;
}

int code_files_root(const struct code_files *f, uint32_t id)
{
	const struct code_file *c = &f->files[id - 1];

	return c->root && !c->is_shared ? code_roots_dir(f->roots, c->root) : -1;
}

uint32_t code_files_root_id(const struct code_files *f, uint32_t id)
{
	const struct code_file *c = &f->files[id - 1];

	return c->is_shared || (!c->root && c->had_root) ? CODE_ROOTS_SEVERAL : c->root;
}

void code_files_set_vdso(struct code_files *f, size_t bytes)
{
	f->vdso_bytes = bytes;
}

/* The kernel's own, as a file in memory. */
static int open_vdso(const struct code_files *f)
{
	/* The kernel passes its address as a number. It is the same code in all processes. */
	const void *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	int fd = f->vdso_bytes ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, vdso, f->vdso_bytes) == (ssize_t)f->vdso_bytes)
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOENT;
}

int code_files_open(struct code_files *f, uint32_t id)
{
	struct code_file *c = &f->files[id - 1];
	bool is_elf_file;
	int err;

	if (c->fd >= 0)
		return c->fd;
	if (c->kind == CODE_FILE)
		err = open_file(f, c, NULL, &is_elf_file);
	else if (c->kind == CODE_VDSO)
		err = open_vdso(f);
	else
		err = -EINVAL;
	if (err < 0)
		return err;
	if (c->kind == CODE_VDSO)
		c->fd = err;
	f->n_open++;
	return c->fd;
}

/* ---- which are the same -------------------------------------------------------------------- */

uint64_t code_files_call_key(const struct code_files *f, uint32_t id)
{
	return call_key_device(f->files[id - 1].maj, f->files[id - 1].min);
}

uint32_t code_files_owner(const struct code_files *f, uint32_t id)
{
	return f->files[id - 1].owner;
}

uint64_t code_files_owner_key(const struct code_files *f, uint32_t id)
{
	return (uint64_t)code_files_owner(f, id) << 32 | code_files_root_id(f, id);
}

int code_files_compare(const struct code_files *f, uint32_t a, uint32_t b)
{
	const struct code_file *x = &f->files[a - 1], *y = &f->files[b - 1];

	if (x->kind != CODE_FILE || y->kind != CODE_FILE)
		return a == b ? 0 : a < b ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->maj != y->maj)
		return x->maj < y->maj ? -1 : 1;
	return x->min == y->min ? 0 : x->min < y->min ? -1 : 1;
}

bool code_files_is_same(struct code_files *f, uint32_t a, uint32_t b)
{
	int x = code_files_open(f, a), y = code_files_open(f, b);
	struct statx s, t;

	return x >= 0 && y >= 0 && look(x, &s) && look(y, &t) && s.stx_ino == t.stx_ino &&
	       s.stx_dev_major == t.stx_dev_major && s.stx_dev_minor == t.stx_dev_minor;
}
