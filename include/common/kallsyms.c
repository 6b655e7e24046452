// SPDX-License-Identifier: GPL-2.0-or-later
#include "kallsyms.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/lower_bound.h"

/*
 * kallsyms has no sizes: a symbol ends where the next begins. The last one before a gap would
 * reach across it, so no function counts as larger than this.
 */
#define CORE_FUNCTION_MAX (1u << 20)
#define MODULE_FUNCTION_MAX (64u << 10)
#define READ_BYTES (64u << 10)
/* Bounds kallsyms_add(); a machine loads far fewer BPF programs. */
#define ADDED_MAX 65536u

struct entry {
	uint64_t addr;
	uint32_t name;	 /* offset in the arena */
	uint32_t module; /* likewise; 0: the core kernel */
	char type;
	bool is_tracer;
};

/* Code that was loaded after the list was read: a BPF program. */
struct added {
	uint64_t addr, end;
	char *name;
	bool is_tracer;
};

struct table {
	struct entry *entries;
	uint32_t n;
	size_t cap;
	char *arena; /* offset 0 is no name */
	size_t len, arena_cap;
};

struct kallsyms {
	struct table t;
	struct added *added; /* by address, not overlapping */
	uint32_t n_added;
	size_t cap_added;
	uint64_t core_start, core_end;
};

static void free_table(struct table *t)
{
	free(t->entries);
	free(t->arena);
	*t = (struct table) { 0 };
}

/* Functions between a BPF program that walks the stack and the traced function. */
bool kallsyms_is_tracer(const char *name)
{
	static const char *const prefixes[] = {
		"bpf_",		  "__bpf_",	    "__traceiter_",	  "__SCT__tp_func_",
		"trace_call_bpf", "perf_callchain", "get_perf_callchain", "perf_trace_",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static uint32_t put_string(struct table *t, const char *s, size_t len)
{
	size_t at = t->len;

	if (t->len + len + 1 > UINT32_MAX)
		return 0;
	if (t->arena_cap - t->len < len + 1) {
		size_t cap = (t->arena_cap + len + 1) * 2;
		char *arena = realloc(t->arena, cap);

		if (!arena)
			return 0;
		t->arena = arena;
		t->arena_cap = cap;
	}
	memcpy(t->arena + at, s, len);
	t->arena[at + len] = '\0';
	t->len += len + 1;
	return (uint32_t)at;
}

static int put_entry(struct table *t, const struct entry *e)
{
	if (!GROW(t->entries, t->n, t->cap))
		return -ENOMEM;
	t->entries[t->n++] = *e;
	return 0;
}

/* One line, "address type name[\t[module]]". Malformed lines and data are skipped. */
static int take_line(struct table *t, char *line, bool *any_address)
{
	struct entry e = { 0 };
	char *p, *name, *module = NULL;

	e.addr = strtoull(line, &p, 16);
	if (p == line || *p != ' ' || !p[1] || p[2] != ' ')
		return 0;
	e.type = p[1];
	name = p + 3;
	p = name + strcspn(name, " \t\n");
	if (p == name)
		return 0;
	if (*p) {
		*p++ = '\0';
		module = strchr(p, '[');
	}
	if (module) {
		module++;
		module[strcspn(module, "]\n")] = '\0';
	}
	if (e.addr)
		*any_address = true;
	if (!e.addr || !strchr("tTwW", e.type))
		return 0;
	e.is_tracer = kallsyms_is_tracer(name);
	e.name = put_string(t, name, strlen(name));
	if (!e.name)
		return -ENOMEM;
	if (module) {
		/* The symbols of a module are adjacent: its name is kept once. */
		const struct entry *last = t->n ? &t->entries[t->n - 1] : NULL;

		if (last && last->module && !strcmp(t->arena + last->module, module))
			e.module = last->module;
		else
			e.module = put_string(t, module, strlen(module));
		if (!e.module)
			return -ENOMEM;
	}
	return put_entry(t, &e);
}

static int compare_addr(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Which name of an address to show: with fewer underscores, exported, longer. */
static bool is_better_name(const struct table *t, const struct entry *a, const struct entry *b)
{
	const char *x = t->arena + a->name, *y = t->arena + b->name;
	size_t under_x = strspn(x, "_"), under_y = strspn(y, "_");
	bool global_x = isupper((unsigned char)a->type), global_y = isupper((unsigned char)b->type);

	if (under_x != under_y)
		return under_x < under_y;
	if (global_x != global_y)
		return global_x;
	if (strlen(x) != strlen(y))
		return strlen(x) > strlen(y);
	return strcmp(x, y) < 0;
}

static void sort_and_merge(struct table *t)
{
	uint32_t kept = 0;

	if (!t->n)
		return;
	qsort(t->entries, t->n, sizeof(*t->entries), compare_addr);
	for (uint32_t i = 1; i < t->n; i++) {
		struct entry *last = &t->entries[kept], *e = &t->entries[i];

		if (e->addr != last->addr)
			t->entries[++kept] = *e;
		else if (is_better_name(t, e, last))
			*last = *e;
	}
	t->n = kept + 1;
}

int kallsyms_new(struct kallsyms **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->n_added; i++)
		free(k->added[i].name);
	free(k->added);
	free_table(&k->t);
	free(k);
}

static void find_core(struct kallsyms *k)
{
	const struct table *t = &k->t;
	uint32_t first = 0, last = t->n;

	while (first < t->n && t->entries[first].module)
		first++;
	while (last > first && t->entries[last - 1].module)
		last--;
	k->core_start = first < last ? t->entries[first].addr : 0;
	k->core_end = first < last ? t->entries[last - 1].addr + CORE_FUNCTION_MAX : 0;
}

int kallsyms_load(struct kallsyms *k, const char *path)
{
	struct table t = { 0 };
	char line[1024];
	bool any_address = false;
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f)
		return -errno;
	/* The default buffer would take a system call for each KiB of several MiB. */
	setvbuf(f, NULL, _IOFBF, READ_BYTES);
	put_string(&t, "", 0);
	if (!t.arena)
		err = -ENOMEM;
	while (!err && fgets(line, sizeof(line), f))
		err = take_line(&t, line, &any_address);
	if (!err && ferror(f))
		err = -EIO;
	if (!err && !any_address)
		err = -EPERM;
	fclose(f);
	if (err) {
		free_table(&t);
		return err;
	}
	sort_and_merge(&t);
	free_table(&k->t);
	k->t = t;
	find_core(k);
	return 0;
}

/* The number of added pieces of code that begin at or below addr. */
static uint32_t added_upto(const struct kallsyms *k, uint64_t addr)
{
	return (uint32_t)LOWER_BOUND(i, k->n_added, k->added[i].addr <= addr);
}

void kallsyms_remove(struct kallsyms *k, uint64_t start, uint64_t end)
{
	uint32_t first = added_upto(k, start), last;

	if (first && k->added[first - 1].end > start)
		first--;
	for (last = first; last < k->n_added && k->added[last].addr < end; last++)
		free(k->added[last].name);
	if (first == last) /* there may be no array yet */
		return;
	memmove(k->added + first, k->added + last, (k->n_added - last) * sizeof(*k->added));
	k->n_added -= last - first;
}

int kallsyms_add(struct kallsyms *k, uint64_t addr, uint32_t len, const char *name)
{
	struct added new = { addr, addr + len, NULL, kallsyms_is_tracer(name) };
	uint32_t at;

	if (!len || new.end < addr)
		return -EINVAL;
	/* Also if there is no room: what was there is gone. */
	kallsyms_remove(k, addr, new.end);
	if (k->n_added >= ADDED_MAX)
		return -ENOSPC;
	if (!GROW(k->added, k->n_added, k->cap_added))
		return -ENOMEM;
	new.name = strdup(name);
	if (!new.name)
		return -ENOMEM;
	at = added_upto(k, addr);
	memmove(k->added + at + 1, k->added + at, (k->n_added - at) * sizeof(new));
	k->added[at] = new;
	k->n_added++;
	return 0;
}

void kallsyms_core(const struct kallsyms *k, uint64_t *start, uint64_t *end)
{
	*start = k->core_start;
	*end = k->core_end;
}

static struct kallsyms_symbol symbol_of(const struct table *t, const struct entry *e)
{
	return (struct kallsyms_symbol) {
		.start = e->addr,
		.name = t->arena + e->name,
		.module = e->module ? t->arena + e->module : NULL,
		.is_tracer = e->is_tracer,
	};
}

static uint64_t end_of(const struct table *t, uint32_t i)
{
	uint64_t end = t->entries[i].addr + MODULE_FUNCTION_MAX;

	return i + 1 < t->n && t->entries[i + 1].addr < end ? t->entries[i + 1].addr : end;
}

bool kallsyms_module(const struct kallsyms *k, const char *module, uint64_t *start, uint64_t *end)
{
	const struct table *t = &k->t;
	bool any = false;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct entry *e = &t->entries[i];

		if (!e->module || strcmp(t->arena + e->module, module))
			continue;
		*start = any ? *start : e->addr;
		*end = end_of(t, i);
		any = true;
	}
	return any;
}

void kallsyms_each(const struct kallsyms *k, uint64_t start, uint64_t end,
		   void (*fn)(void *ctx, const struct kallsyms_symbol *sym, uint64_t sym_end),
		   void *ctx)
{
	const struct table *t = &k->t;
	size_t first;

	for (uint32_t i = 0; i < k->n_added; i++) {
		const struct added *a = &k->added[i];
		struct kallsyms_symbol sym = { a->addr, a->name, "bpf", a->is_tracer };

		if (a->end > start && a->addr < end)
			fn(ctx, &sym, a->end);
	}
	first = LOWER_BOUND(i, t->n, t->entries[i].addr <= start);
	for (uint32_t i = first ? (uint32_t)first - 1 : 0; i < t->n; i++) {
		struct kallsyms_symbol sym = symbol_of(t, &t->entries[i]);

		if (sym.start >= end)
			break;
		if (sym.module && end_of(t, i) > start)
			fn(ctx, &sym, end_of(t, i));
	}
}

void kallsyms_each_run(const struct kallsyms *k, bool (*wants)(const char *name),
		       void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	const struct table *t = &k->t;
	uint32_t first = 0;
	bool inside = false;

	for (uint32_t i = 0; i < t->n; i++) {
		bool in = !t->entries[i].module && wants(t->arena + t->entries[i].name);

		if (in && !inside)
			first = i;
		if (!in && inside)
			fn(ctx, t->entries[first].addr, t->entries[i].addr);
		inside = in;
	}
}

bool kallsyms_find_added(const struct kallsyms *k, uint64_t addr, struct kallsyms_symbol *out)
{
	uint32_t i = added_upto(k, addr - 1);
	const struct added *a = i ? &k->added[i - 1] : NULL;

	if (!a || addr - 1 >= a->end)
		return false;
	*out = (struct kallsyms_symbol) { a->addr, a->name, "bpf", a->is_tracer };
	return true;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_symbol *out)
{
	const struct table *t = &k->t;
	const struct entry *e;
	uint64_t at = addr - 1; /* a noreturn call may be its function's last instruction */
	size_t after;

	if (kallsyms_find_added(k, addr, out))
		return true;
	after = LOWER_BOUND(n, t->n, t->entries[n].addr <= at);
	if (!after)
		return false;
	e = &t->entries[after - 1];
	if (at - e->addr >= (e->module ? MODULE_FUNCTION_MAX : CORE_FUNCTION_MAX))
		return false;
	*out = symbol_of(t, e);
	return true;
}

size_t kallsyms_build_id(const char *path, uint8_t id[KALLSYMS_BUILD_ID_MAX])
{
	uint8_t notes[4096];
	size_t len, at = 0, found = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	len = fread(notes, 1, sizeof(notes), f);
	fclose(f);
	while (!found && len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;
		size_t name, desc;

		memcpy(&h, notes + at, sizeof(h));
		if (h.n_namesz > len || h.n_descsz > len)
			break;
		name = at + sizeof(h);
		desc = name + ((h.n_namesz + 3u) & ~(size_t)3);
		at = desc + ((h.n_descsz + 3u) & ~(size_t)3);
		if (at > len)
			break;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && h.n_descsz <= KALLSYMS_BUILD_ID_MAX) {
			found = h.n_descsz;
			memcpy(id, notes + desc, found);
		}
	}
	return found;
}
