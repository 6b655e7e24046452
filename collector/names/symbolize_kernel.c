// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "kernel/clock.h"

/* Reading kallsyms takes 50 ms and a lock: unknown addresses cause it at most this often. */
#define KALLSYMS_INTERVAL_NS 3000000000u

static bool find_kernel(struct symbolizer *s, uint64_t addr, struct kallsyms_symbol *sym)
{
	if (!s->kallsyms || s->kernel_error)
		return false;
	/* A BPF program may have been unloaded, and another one loaded in its place. */
	if (kallsyms_find(s->kallsyms, addr, sym) && !(sym->module && !strcmp(sym->module, "bpf")))
		return true;
	symbolizer_poll(s);
	if (kallsyms_find(s->kallsyms, addr, sym))
		return true;
	if (clock_now_ns() - s->kallsyms_ns < KALLSYMS_INTERVAL_NS)
		return false;
	/* It may be a module loaded since. On an error the old table stays. */
	(void)kallsyms_load(s->kallsyms, KALLSYMS_PATH);
	s->kallsyms_ns = clock_now_ns();
	return kallsyms_find(s->kallsyms, addr, sym);
}

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

void symbolizer_kernel_frame(struct symbolizer *s, uint32_t frame, uint64_t addr)
{
	struct kallsyms_symbol sym;
	void *p;

	s->stats.kernel_frames++;
	if (find_kernel(s, addr, &sym)) {
		/* An encoder error need not be returned: its next block fails in the same way. */
		(void)name_kernel_frame(s, frame, addr, &sym);
		return;
	}
	p = grow_array(s->nameless, s->n_nameless, &s->cap_nameless, sizeof(*s->nameless));
	if (!p)
		return;
	s->nameless = p;
	s->nameless[s->n_nameless++] = (struct kernel_frame) { frame, addr };
}

bool symbolizer_is_tracer_frame(struct symbolizer *s, uint64_t addr)
{
	struct kallsyms_symbol sym;

	return find_kernel(s, addr, &sym) && sym.is_tracer;
}

/*
 * Names from arch/x86/include/asm/idtentry.h, and the outermost functions in
 * arch/arm64/kernel/entry.S (since 5.14). Exceptions are the thread's own doing.
 */
static bool is_interrupt_entry(const char *name)
{
	static const char *const arm64[] = { "el1h_64_irq", "el1h_64_fiq", "el0t_64_irq",
					     "el0t_64_fiq", "el0t_32_irq", "el0t_32_fiq" };

	for (size_t i = 0; i < sizeof(arm64) / sizeof(arm64[0]); i++)
		if (!strcmp(name, arm64[i]))
			return true;
	return !strcmp(name, "asm_common_interrupt") || !strcmp(name, "asm_spurious_interrupt") ||
	       !strncmp(name, "asm_sysvec_", strlen("asm_sysvec_"));
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

	if (s->n_nameless && !s->kernel_error)
		(void)kallsyms_load(s->kallsyms, KALLSYMS_PATH);
	for (uint32_t i = 0; !err && i < s->n_nameless; i++) {
		struct kallsyms_symbol sym;

		if (!s->kernel_error && kallsyms_find(s->kallsyms, s->nameless[i].addr, &sym))
			err = name_kernel_frame(s, s->nameless[i].frame, s->nameless[i].addr, &sym);
	}
	s->n_nameless = 0;
	return err;
}
