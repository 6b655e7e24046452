// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/clock.h"
#include "kernel_changes.h"

#define KALLSYMS_PATH "/proc/kallsyms"
/* Stretches of functions that follow each other in the core kernel: it has two or three. */
#define ENTRIES_MAX 16u

struct kernel_names {
	struct kallsyms *table;
	struct kernel_changes *changes;
	int err;		       /* of the first reading */
	uint64_t read_ns, read_end_ns; /* between these the table was last read */
	uint64_t modules_ns;	       /* when the last module had been added */
	void (*on_change)(void *ctx, uint64_t start, uint64_t end); /* or NULL */
	void *on_change_ctx;
	struct code_range {
		uint64_t start, end;
	} entries[ENTRIES_MAX]; /* of interrupts and exceptions */
	uint32_t n_entries;
};

/* ---- entry code ---------------------------------------------------------------------------- */

/*
 * Names from arch/x86/include/asm/idtentry.h, and the outermost functions in
 * arch/arm64/kernel/entry.S (since 5.14). With FRED (arch/x86/entry/entry_fred.c) system calls and
 * exceptions have the same entry in assembly, and fred_extint() is the first function of interrupts
 * alone. Exceptions are the thread's own doing.
 */
static bool is_interrupt_entry(const char *name)
{
	static const char *const arm64[] = { "el1h_64_irq", "el1h_64_fiq", "el0t_64_irq",
					     "el0t_64_fiq", "el0t_32_irq", "el0t_32_fiq" };

	for (size_t i = 0; i < sizeof(arm64) / sizeof(arm64[0]); i++)
		if (!strcmp(name, arm64[i]))
			return true;
	return !strcmp(name, "asm_common_interrupt") || !strcmp(name, "asm_spurious_interrupt") ||
	       !strcmp(name, "fred_extint") || !strncmp(name, "asm_sysvec_", strlen("asm_sysvec_"));
}

/* That of interrupts, and of exceptions in the kernel's own code. */
static bool is_kernel_entry(const char *name)
{
	return is_interrupt_entry(name) || !strncmp(name, "asm_exc_", strlen("asm_exc_")) ||
	       !strcmp(name, "asm_fred_entrypoint_kernel") || !strcmp(name, "el1h_64_sync") ||
	       !strcmp(name, "el1h_64_error") || !strcmp(name, "el1_sync") ||
	       !strcmp(name, "el1_irq") || !strcmp(name, "el1_error");
}

static void add_entry(void *names, uint64_t start, uint64_t end)
{
	struct kernel_names *k = names;

	if (k->n_entries < ENTRIES_MAX)
		k->entries[k->n_entries++] = (struct code_range) { start, end };
}

bool kernel_names_is_entry(const struct kernel_names *k, uint64_t addr)
{
	for (uint32_t i = 0; k && i < k->n_entries; i++)
		if (addr > k->entries[i].start && addr <= k->entries[i].end)
			return true;
	return false;
}

/* ---- the table ----------------------------------------------------------------------------- */

int kernel_names_new(struct kernel_names **out)
{
	struct kernel_names *k = calloc(1, sizeof(*k));

	*out = NULL;
	if (!k)
		return -ENOMEM;
	if (kallsyms_new(&k->table) || kernel_changes_new(&k->changes)) {
		kernel_names_free(k);
		return -ENOMEM;
	}
	k->err = kernel_names_read(k);
	*out = k;
	return 0;
}

void kernel_names_free(struct kernel_names *k)
{
	if (!k)
		return;
	kallsyms_free(k->table);
	kernel_changes_free(k->changes);
	free(k);
}

int kernel_names_error(const struct kernel_names *k)
{
	return k ? k->err : 0;
}

int kernel_names_read(struct kernel_names *k)
{
	uint64_t begin_ns = clock_now_ns();
	int err = kallsyms_load(k->table, KALLSYMS_PATH);

	if (!err) {
		k->read_ns = begin_ns;
		k->read_end_ns = clock_now_ns();
		k->n_entries = 0;
		kallsyms_each_run(k->table, is_kernel_entry, add_entry, k);
	}
	return err;
}

uint64_t kernel_names_read_ns(const struct kernel_names *k)
{
	return k->read_ns;
}

/* ---- what changes -------------------------------------------------------------------------- */

/* The code that is now known will have been replaced after from_ns. */
struct ending {
	struct kernel_names *k;
	uint64_t from_ns;
};

static void keep_name(void *ending, const struct kallsyms_symbol *sym, uint64_t end)
{
	const struct ending *e = ending;
	uint64_t since_ns, addr = sym->start + 1;
	uint32_t generation = kernel_changes_latest(e->k->changes, addr, &since_ns);
	struct kallsyms_symbol found;

	/* The table may have been read before the last change there, or after this one. */
	if (kallsyms_find_added(e->k->table, addr, &found)
		    ? found.start == sym->start && !strcmp(found.name, sym->name)
		    : since_ns < e->k->read_ns && e->from_ns > e->k->read_end_ns)
		kernel_changes_keep_name(e->k->changes, sym->start, end, generation, sym->name,
					 sym->module);
}

static void note_change(struct kernel_names *k, uint64_t start, uint64_t end, uint64_t from_ns,
			uint64_t until_ns)
{
	struct ending e = { k, from_ns };

	kallsyms_each(k->table, start, end, keep_name, &e);
	kernel_changes_note(k->changes, start, end, from_ns, until_ns);
	if (k->on_change)
		k->on_change(k->on_change_ctx, start, end);
}

static void change_module(struct kernel_names *k, const struct sideband_record *r)
{
	uint64_t start, end;

	/* A new one that the table has: what it began with has gone, and what it has come. */
	if (*r->name && kallsyms_module(k->table, r->name, &start, &end)) {
		note_change(k, start, end, r->from_ns, r->time_ns);
		return;
	}
	if (r->kind == SIDEBAND_MODULE) {
		k->modules_ns = r->time_ns;
		return;
	}
	/* Its place is not known: anywhere outside of the core kernel. */
	kallsyms_core(k->table, &start, &end);
	note_change(k, 0, start, r->from_ns, r->time_ns);
	note_change(k, end, UINT64_MAX, r->from_ns, r->time_ns);
}

void kernel_names_record(struct kernel_names *k, const struct sideband_record *r)
{
	if (r->len > UINT32_MAX)
		return;
	if (r->kind == SIDEBAND_MODULE || r->kind == SIDEBAND_MODULE_GONE) {
		change_module(k, r);
		return;
	}
	note_change(k, r->addr, r->addr + r->len, r->time_ns, r->time_ns);
	/* Out of memory: this code will have no name. */
	if (r->kind == SIDEBAND_KSYMBOL_GONE)
		kallsyms_remove(k->table, r->addr, r->addr + r->len);
	else
		(void)kallsyms_add(k->table, r->addr, (uint32_t)r->len, r->name);
}

void kernel_names_on_change(struct kernel_names *k,
			    void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	if (!k)
		return;
	k->on_change = fn;
	k->on_change_ctx = ctx;
}

bool kernel_names_may_change(const struct kernel_names *k, uint64_t addr)
{
	uint64_t start, end;

	if (!k || k->err)
		return false;
	kallsyms_core(k->table, &start, &end);
	return addr <= start || addr > end;
}

uint32_t kernel_names_generation(const struct kernel_names *k, uint64_t addr, uint64_t time_ns)
{
	return kernel_names_may_change(k, addr) ? kernel_changes_at(k->changes, addr, time_ns) : 0;
}

bool kernel_names_held(const struct kernel_names *k, uint64_t a_ns, uint64_t b_ns)
{
	return !k || !kernel_changes_between(k->changes, a_ns, b_ns);
}

bool kernel_names_is_current(const struct kernel_names *k)
{
	return k->modules_ns < k->read_ns &&
	       !kernel_changes_between(k->changes, k->read_ns, clock_now_ns());
}

/* ---- names --------------------------------------------------------------------------------- */

/* In the generation of now: what was added, or the table if it was read since. */
static bool find_now(const struct kernel_names *k, uint64_t addr, uint64_t since_ns,
		     struct kallsyms_symbol *sym)
{
	if (kallsyms_find_added(k->table, addr, sym))
		return true;
	return since_ns < k->read_ns && k->modules_ns < k->read_ns &&
	       kallsyms_find(k->table, addr, sym);
}

bool kernel_names_find(const struct kernel_names *k, uint64_t addr, uint32_t generation,
		       struct kallsyms_symbol *sym)
{
	uint64_t since_ns;

	if (!k || k->err || generation == KERNEL_GENERATION_UNKNOWN)
		return false;
	if (!kernel_names_may_change(k, addr))
		return kallsyms_find(k->table, addr, sym);
	if (generation != kernel_changes_latest(k->changes, addr, &since_ns))
		return kernel_changes_find(k->changes, addr, generation, sym);
	return find_now(k, addr, since_ns, sym);
}

bool kernel_names_is_latest(const struct kernel_names *k, uint64_t addr, uint32_t generation)
{
	uint64_t since_ns;

	return kernel_names_may_change(k, addr) && generation != KERNEL_GENERATION_UNKNOWN &&
	       generation == kernel_changes_latest(k->changes, addr, &since_ns);
}

void kernel_names_interrupts(const struct kernel_names *k,
			     void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	if (k && !k->err)
		kallsyms_each_run(k->table, is_interrupt_entry, fn, ctx);
}
