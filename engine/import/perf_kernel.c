// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "perf_modules.h"

#define KERNEL_PATH "[kernel.kallsyms]"
#define SYMBOL_MAX 512u
/* More modules than any kernel has. */
#define MODULES_MAX 4096u
#define MODULE_BEGIN 4096u

/* "[loop]" and "/lib/modules/6.1.0/kernel/drivers/block/loop.ko.xz" are "loop". */
static void name_module(char name[56], struct import_name path)
{
	const char *end = path.p + path.len, *p = memrchr(path.p, '/', path.len);
	size_t len;

	p = p ? p + 1 : path.p;
	p += p < end && *p == '[';
	for (len = 0; p + len < end && len < 55 && p[len] != '.' && p[len] != ']'; len++)
		name[len] = p[len] == '-' ? '_' : p[len]; /* as lsmod has it */
	name[len] = 0;
}

void perf_kernel_mapped(struct perf_kernel *k, struct import_name path, uint64_t start,
			uint64_t end, uint64_t offset)
{
	size_t prefix = strlen(KERNEL_PATH);
	struct perf_kernel_module *m;

	if (path.len >= prefix && !memcmp(path.p, KERNEL_PATH, prefix)) {
		if (k->end)
			return;
		k->start = start;
		k->end = end;
		k->reference = offset;
		snprintf(k->reference_name, sizeof(k->reference_name), "%.*s",
			 (int)(path.len - prefix), path.p + prefix);
		return;
	}
	if (!path.len || k->n_modules >= MODULES_MAX)
		return;
	XGROW(k->modules, k->n_modules, k->cap_modules);
	m = &k->modules[k->n_modules++];
	*m = (struct perf_kernel_module) { .start = start, .end = end };
	name_module(m->name, path);
}

/*
 * Whether the list of functions has the module with the address where the recording has it: it may
 * have been loaded again since, elsewhere.
 */
static bool is_same_place(const struct perf_kernel *k, uint64_t addr, const char *module)
{
	uint64_t start, end;

	for (size_t i = 0; i < k->n_modules; i++) {
		const struct perf_kernel_module *m = &k->modules[i];

		/* A module's first function is at its beginning, or behind some padding. */
		if (addr >= m->start && addr < m->end && !strcmp(m->name, module))
			return kallsyms_module(k->functions, module, &start, &end) &&
			       start - m->start < MODULE_BEGIN;
	}
	return false;
}

static int make_table(struct perf_kernel *k)
{
	return k->functions ? 0 : kallsyms_new(&k->functions);
}

int perf_kernel_symbol(struct perf_kernel *k, struct perf_bytes b)
{
	char name[SYMBOL_MAX];
	uint64_t addr;
	uint32_t len, kind;
	struct import_name text;
	int err;

	/* Two numbers of 16 bits: the kind of code, and flags. */
	if (!perf_u64(&b, &addr) || !perf_u32(&b, &len) || !perf_u32(&b, &kind) || !perf_left(&b))
		return -EBADMSG;
	err = make_table(k);
	if (err)
		return err;
	text = perf_text_in(b.p, perf_left(&b));
	snprintf(name, sizeof(name), "%.*s", (int)(text.len < SYMBOL_MAX ? text.len : SYMBOL_MAX),
		 text.p);
	k->changes++;
	if (kind >> 16 & PERF_MISC_KSYMBOL_GONE) {
		kallsyms_remove(k->functions, addr, addr + len < addr ? UINT64_MAX : addr + len);
		return 0;
	}
	err = kallsyms_add(k->functions, addr, len, name);
	return err == -ENOMEM ? err : 0; /* more than it remembers have no name */
}

/* The address of a symbol in a list of functions; 0: it is not there. */
static uint64_t address_of(const char *path, const char *symbol)
{
	FILE *f = fopen(path, "re");
	char line[1024], name[sizeof(line)], type;
	unsigned long long at;
	uint64_t found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %1023s", &at, &type, name) == 3 && !strcmp(name, symbol))
			found = at;
	if (f)
		fclose(f);
	return found;
}

/* Reads a list of functions of the kernel with the right build ID. */
static bool load(struct perf_kernel *k, const char *path)
{
	uint64_t there;
	int err = kallsyms_load(k->functions, path);

	if (err == -EPERM)
		k->names = IMPORT_KERNEL_HIDDEN;
	if (err)
		return false;
	there = k->reference && *k->reference_name ? address_of(path, k->reference_name) : 0;
	/* Each boot may put it elsewhere. */
	k->shift = there ? k->reference - there : 0;
	k->names = IMPORT_KERNEL_NAMED;
	return true;
}

/* The build ID that the recording has for the kernel. */
static void find_build_id(struct perf_kernel *k, const struct perf_file *f)
{
	for (size_t i = 0; i < f->n_build_ids && !k->build_id_len; i++) {
		const struct perf_build_id *b = &f->build_ids[i];

		if ((b->misc & PERF_MISC_CPUMODE) != PERF_MISC_KERNEL ||
		    b->path.len < strlen(KERNEL_PATH) ||
		    memcmp(b->path.p, KERNEL_PATH, strlen(KERNEL_PATH)) != 0)
			continue;
		k->build_id_len = b->len;
		memcpy(k->build_id, b->id, b->len);
	}
}

static bool is_running(const struct perf_kernel *k)
{
	uint8_t id[KALLSYMS_BUILD_ID_MAX];
	size_t len = kallsyms_build_id("/sys/kernel/notes", id);

	return len && len <= k->build_id_len && !memcmp(id, k->build_id, len);
}

static bool load_cached(struct perf_kernel *k)
{
	int fd = perf_cache_open(k->build_id, k->build_id_len, "kallsyms");
	char path[64];
	bool done;

	if (fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	done = load(k, path);
	close(fd);
	return done;
}

static void read_functions(struct perf_kernel *k, const struct perf_file *f)
{
	find_build_id(k, f);
	k->names = IMPORT_KERNEL_NO_BUILD_ID;
	if (!k->build_id_len || make_table(k))
		return;
	k->names = IMPORT_KERNEL_NOT_HERE;
	/* The cache has the modules as they were then. */
	if (!load_cached(k) && is_running(k))
		(void)load(k, "/proc/kallsyms");
}

bool perf_kernel_find(struct perf_kernel *k, const struct perf_file *f, uint64_t addr,
		      struct kallsyms_symbol *out, bool *may_change)
{
	uint64_t shift = 0;

	*may_change = true;
	if (k->names == IMPORT_KERNEL_UNASKED)
		read_functions(k, f);
	if (!k->functions)
		return false;
	if (kallsyms_find_added(k->functions, addr, out))
		return true;
	/* Modules are not shifted with the kernel. */
	if (addr >= k->start && addr < k->end)
		shift = k->shift;
	if (!kallsyms_find(k->functions, addr - shift, out))
		return false;
	if (out->module ? !is_same_place(k, addr, out->module) : k->shift && !shift)
		return false;
	out->start += shift;
	*may_change = out->module != NULL;
	return true;
}

void perf_kernel_free(struct perf_kernel *k)
{
	kallsyms_free(k->functions);
	free(k->modules);
}
