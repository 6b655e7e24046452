// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel frames: each is named when it is seen first, else once more at the end. */
#include "symbolize_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "kernel/clock.h"

/* Reading kallsyms takes 50 ms and a lock: unknown addresses cause it at most this often. */
#define KALLSYMS_INTERVAL_NS 3000000000u

/* ---- what is where, and when --------------------------------------------------------------- */

static bool has_kernel_names(const struct symbolizer *s)
{
	return s->kernel && !kernel_names_error(s->kernel);
}

struct kernel_names *symbolizer_kernel(const struct symbolizer *s)
{
	return s->kernel;
}

/* Afterwards all changes up to time_ns are known. */
static void poll_until(struct symbolizer *s, uint64_t time_ns)
{
	if (time_ns > s->polled_ns)
		symbolize_take_in(s);
}

uint32_t symbolizer_kernel_generation(struct symbolizer *s, uint64_t addr, uint64_t time_ns)
{
	addr = wire_as_return(addr);
	if (!kernel_names_may_change(s->kernel, addr))
		return 0;
	poll_until(s, time_ns);
	return kernel_names_generation(s->kernel, addr, time_ns);
}

bool symbolizer_kernel_held(struct symbolizer *s, uint64_t a_ns, uint64_t b_ns)
{
	if (s->kernel)
		poll_until(s, a_ns > b_ns ? a_ns : b_ns);
	return kernel_names_held(s->kernel, a_ns, b_ns);
}

void symbolizer_refresh_kernel(struct symbolizer *s)
{
	if (!has_kernel_names(s))
		return;
	symbolize_take_in(s);
	if (kernel_names_is_current(s->kernel))
		return;
	(void)kernel_names_read(s->kernel);
	symbolize_take_in(s);
}

/* A process that was forked to write does not learn what changes. */
static bool may_read_again(const struct symbolizer *s)
{
	return !s->unwatched &&
	       clock_now_ns() - kernel_names_read_ns(s->kernel) >= KALLSYMS_INTERVAL_NS;
}

static bool find_kernel(struct symbolizer *s, uint64_t addr, uint32_t generation,
			struct kallsyms_symbol *sym)
{
	addr = wire_as_return(addr);
	if (kernel_names_find(s->kernel, addr, generation, sym))
		return true;
	if (!kernel_names_is_latest(s->kernel, addr, generation) || !may_read_again(s))
		return false;
	/* It may be a module loaded since. On an error the old table stays. */
	(void)kernel_names_read(s->kernel);
	/* What has changed while it was read makes another generation. */
	symbolize_take_in(s);
	return kernel_names_is_latest(s->kernel, addr, generation) &&
	       kernel_names_find(s->kernel, addr, generation, sym);
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
	id = encoder_module(s->enc, encoder_text(s->enc, path), build_id, build_id_len);
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
	uint32_t module = kernel_module(s, sym->module);

	s->stats.kernel_named++;
	return encoder_name(s->enc, frame, encoder_text(s->enc, sym->name), module,
			    wire_address(addr) - sym->start);
}

void symbolizer_kernel_frame(struct symbolizer *s, uint32_t frame, uint64_t addr,
			     uint32_t generation)
{
	struct kallsyms_symbol sym;

	s->stats.kernel_frames++;
	if (find_kernel(s, addr, generation, &sym)) {
		/* An encoder error need not be returned: its next block fails in the same way. */
		(void)name_kernel_frame(s, frame, addr, &sym);
		return;
	}
	if (s->n_nameless == NAMELESS_MAX || !GROW(s->nameless, s->n_nameless, s->cap_nameless))
		return;
	s->nameless[s->n_nameless++] = (struct kernel_frame) { frame, generation, addr };
}

bool symbolizer_is_tracer_frame(struct symbolizer *s, uint64_t addr, uint64_t time_ns)
{
	struct kallsyms_symbol sym;

	return find_kernel(s, addr, symbolizer_kernel_generation(s, addr, time_ns), &sym) &&
	       sym.is_tracer;
}

bool symbolizer_is_unknown_code(struct symbolizer *s, uint64_t addr, uint64_t time_ns)
{
	struct kallsyms_symbol sym;

	return symbolizer_may_change(s, addr) &&
	       !find_kernel(s, addr, symbolizer_kernel_generation(s, addr, time_ns), &sym);
}

bool symbolizer_may_change(const struct symbolizer *s, uint64_t addr)
{
	return kernel_names_may_change(s->kernel, wire_as_return(addr));
}

bool symbolizer_is_kernel_entry(const struct symbolizer *s, uint64_t addr)
{
	return kernel_names_is_entry(s->kernel, wire_as_return(addr));
}

int symbolize_kernel_frames(struct symbolizer *s)
{
	int err = 0;

	if (s->n_nameless && has_kernel_names(s) && !s->unwatched) {
		(void)kernel_names_read(s->kernel);
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
