// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "kernel/clock.h"

/* Reading kallsyms takes 50 ms and a lock: unknown addresses cause it at most this often. */
#define KALLSYMS_INTERVAL_NS 3000000000u

int symbolize_read_kallsyms(struct symbolizer *s)
{
	uint64_t begin_ns = clock_now_ns();
	int err = kallsyms_load(s->kallsyms, KALLSYMS_PATH);

	if (!err) {
		s->kallsyms_ns = begin_ns;
		s->kallsyms_end_ns = clock_now_ns();
	}
	return err;
}

/* ---- what is where, and when --------------------------------------------------------------- */

/* The code that is now known will have been replaced after from_ns. */
struct ending {
	struct symbolizer *s;
	uint64_t from_ns;
};

static void keep_name(void *ending, const struct kallsyms_symbol *sym, uint64_t end)
{
	const struct ending *e = ending;
	uint64_t since_ns, addr = sym->start + 1;
	uint32_t generation = kernel_changes_latest(e->s->changes, addr, &since_ns);
	struct kallsyms_symbol found;

	/* The table may have been read before the last change there, or after this one. */
	if (kallsyms_find_added(e->s->kallsyms, addr, &found)
		    ? found.start == sym->start && !strcmp(found.name, sym->name)
		    : since_ns < e->s->kallsyms_ns && e->from_ns > e->s->kallsyms_end_ns)
		kernel_changes_keep_name(e->s->changes, sym->start, end, generation, sym->name,
					 sym->module);
}

static void note_change(struct symbolizer *s, uint64_t start, uint64_t end, uint64_t from_ns,
			uint64_t until_ns)
{
	struct ending e = { s, from_ns };

	kallsyms_each(s->kallsyms, start, end, keep_name, &e);
	kernel_changes_note(s->changes, start, end, from_ns, until_ns);
	if (s->on_kernel_change)
		s->on_kernel_change(s->on_kernel_change_ctx, start, end);
}

static void change_module(struct symbolizer *s, const struct sideband_record *r)
{
	uint64_t start, end;

	/* A new one that the table has: what it began with has gone, and what it has come. */
	if (*r->name && kallsyms_module(s->kallsyms, r->name, &start, &end)) {
		note_change(s, start, end, r->from_ns, r->time_ns);
		return;
	}
	if (r->kind == SIDEBAND_MODULE) {
		s->modules_ns = r->time_ns;
		return;
	}
	/* Its place is not known: anywhere outside of the core kernel. */
	kallsyms_core(s->kallsyms, &start, &end);
	note_change(s, 0, start, r->from_ns, r->time_ns);
	note_change(s, end, UINT64_MAX, r->from_ns, r->time_ns);
}

void symbolize_kernel_record(struct symbolizer *s, const struct sideband_record *r)
{
	if (!s->kallsyms || r->len > UINT32_MAX)
		return;
	if (r->kind == SIDEBAND_MODULE || r->kind == SIDEBAND_MODULE_GONE) {
		change_module(s, r);
		return;
	}
	note_change(s, r->addr, r->addr + r->len, r->time_ns, r->time_ns);
	kallsyms_remove(s->kallsyms, r->addr, r->addr + r->len);
	/* Out of memory: this code will have no name. */
	if (r->kind == SIDEBAND_KSYMBOL)
		(void)kallsyms_add(s->kallsyms, r->addr, (uint32_t)r->len, r->name);
}

bool symbolizer_kernel_changes(const struct symbolizer *s, uint64_t addr)
{
	uint64_t start, end;

	if (!s->kallsyms || s->kernel_error)
		return false;
	kallsyms_core(s->kallsyms, &start, &end);
	return addr <= start || addr > end;
}

/* Afterwards all changes up to time_ns are known. */
static void poll_until(struct symbolizer *s, uint64_t time_ns)
{
	if (time_ns > s->polled_ns)
		symbolize_take_in(s);
}

uint32_t symbolizer_kernel_generation(struct symbolizer *s, uint64_t addr, uint64_t time_ns)
{
	if (!symbolizer_kernel_changes(s, addr))
		return 0;
	poll_until(s, time_ns);
	return kernel_changes_at(s->changes, addr, time_ns);
}

bool symbolizer_kernel_held(struct symbolizer *s, uint64_t a_ns, uint64_t b_ns)
{
	if (!s->changes)
		return true;
	poll_until(s, a_ns > b_ns ? a_ns : b_ns);
	return !kernel_changes_between(s->changes, a_ns, b_ns);
}

void symbolizer_on_kernel_change(struct symbolizer *s,
				 void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	s->on_kernel_change = fn;
	s->on_kernel_change_ctx = ctx;
}

/* In the generation of now: what was added, or the table if it was read since. */
static bool find_now(const struct symbolizer *s, uint64_t addr, uint64_t since_ns,
		     struct kallsyms_symbol *sym)
{
	if (kallsyms_find_added(s->kallsyms, addr, sym))
		return true;
	return since_ns < s->kallsyms_ns && s->modules_ns < s->kallsyms_ns &&
	       kallsyms_find(s->kallsyms, addr, sym);
}

/* A process that was forked to write does not learn what changes. */
static bool may_read_again(const struct symbolizer *s)
{
	return !s->unwatched && clock_now_ns() - s->kallsyms_ns >= KALLSYMS_INTERVAL_NS;
}

void symbolizer_refresh_kernel(struct symbolizer *s)
{
	uint64_t now_ns = clock_now_ns();

	if (!s->kallsyms || s->kernel_error)
		return;
	symbolize_take_in(s);
	if (s->modules_ns < s->kallsyms_ns &&
	    !kernel_changes_between(s->changes, s->kallsyms_ns, now_ns))
		return;
	(void)symbolize_read_kallsyms(s);
	symbolize_take_in(s);
}

static bool find_kernel(struct symbolizer *s, uint64_t addr, uint32_t generation,
			struct kallsyms_symbol *sym)
{
	uint64_t since_ns;

	if (!s->kallsyms || s->kernel_error || generation == KERNEL_GENERATION_UNKNOWN)
		return false;
	if (!symbolizer_kernel_changes(s, addr))
		return kallsyms_find(s->kallsyms, addr, sym);
	if (generation != kernel_changes_latest(s->changes, addr, &since_ns))
		return kernel_changes_find(s->changes, addr, generation, sym);
	if (find_now(s, addr, since_ns, sym))
		return true;
	if (!may_read_again(s))
		return false;
	/* It may be a module loaded since. On an error the old table stays. */
	(void)symbolize_read_kallsyms(s);
	/* What has changed while it was read makes another generation. */
	symbolize_take_in(s);
	return generation == kernel_changes_latest(s->changes, addr, &since_ns) &&
	       find_now(s, addr, since_ns, sym);
}

/* ---- names --------------------------------------------------------------------------------- */

static uint32_t kernel_module(struct symbolizer *s, const char *name)
{
	uint8_t build_id[KALLSYMS_BUILD_ID_MAX];
	size_t build_id_len = 0;
	char path[128];
	void *modules;
	char *copy = NULL;
	uint32_t id;

	for (uint32_t i = 0; i < s->n_modules; i++) {
		const char *known = s->modules[i].name;

		if (known == name || (known && name && !strcmp(known, name)))
			return s->modules[i].id;
	}
	snprintf(path, sizeof(path), "[%s]", name ? name : "kernel");
	if (!name)
		build_id_len = kallsyms_build_id("/sys/kernel/notes", build_id);
	id = encoder_module(s->enc, path, build_id, build_id_len);
	modules = realloc(s->modules, (s->n_modules + 1) * sizeof(*s->modules));
	if (!modules)
		return id;
	s->modules = modules;
	if (name) {
		copy = strdup(name);
		if (!copy)
			return id;
	}
	s->modules[s->n_modules].name = copy;
	s->modules[s->n_modules].id = id;
	s->n_modules++;
	return id;
}

static int name_kernel_frame(struct symbolizer *s, uint32_t frame, uint64_t addr,
			     const struct kallsyms_symbol *sym)
{
	s->stats.kernel_named++;
	return encoder_name(s->enc, frame, sym->name, kernel_module(s, sym->module),
			    addr - sym->start);
}

void symbolizer_kernel_frame(struct symbolizer *s, uint32_t frame, uint64_t addr,
			     uint32_t generation)
{
	struct kallsyms_symbol sym;
	void *p;

	s->stats.kernel_frames++;
	if (find_kernel(s, addr, generation, &sym)) {
		/* An encoder error need not be returned: its next block fails in the same way. */
		(void)name_kernel_frame(s, frame, addr, &sym);
		return;
	}
	p = s->n_nameless < NAMELESS_MAX
		    ? grow_array(s->nameless, s->n_nameless, &s->cap_nameless, sizeof(*s->nameless))
		    : NULL;
	if (!p)
		return;
	s->nameless = p;
	s->nameless[s->n_nameless++] = (struct kernel_frame) { frame, generation, addr };
}

bool symbolizer_is_tracer_frame(struct symbolizer *s, uint64_t addr, uint64_t time_ns)
{
	struct kallsyms_symbol sym;

	return find_kernel(s, addr, symbolizer_kernel_generation(s, addr, time_ns), &sym) &&
	       sym.is_tracer;
}

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

void symbolizer_interrupts(const struct symbolizer *s,
			   void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	if (s->kallsyms && !s->kernel_error)
		kallsyms_each_run(s->kallsyms, is_interrupt_entry, fn, ctx);
}

int symbolize_kernel_frames(struct symbolizer *s)
{
	int err = 0;

	if (s->n_nameless && !s->kernel_error && s->kallsyms && !s->unwatched) {
		(void)symbolize_read_kallsyms(s);
		symbolize_take_in(s);
	}
	for (uint32_t i = 0; !err && i < s->n_nameless; i++) {
		const struct kernel_frame *f = &s->nameless[i];
		struct kallsyms_symbol sym;

		if (find_kernel(s, f->addr, f->generation, &sym))
			err = name_kernel_frame(s, f->frame, f->addr, &sym);
	}
	s->n_nameless = 0;
	return err;
}
