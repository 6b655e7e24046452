// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A tool that traces makes a few dozen. */
#define CHANGES_MAX 1024u
/* A large module has a thousand functions. */
#define NAMES_MAX 32768u

struct change {
	uint64_t start, end, from_ns, until_ns;
};

struct past_name {
	uint64_t addr, end;
	uint32_t generation;
	char *name, *module;
};

struct kernel_changes {
	struct change list[CHANGES_MAX];
	uint32_t n;
	/* Generations that ended with changes which were forgotten, and when the last of these was.
	 */
	uint32_t forgotten;
	uint64_t forgotten_ns;
	uint64_t last_ns;	 /* of all changes */
	struct past_name *names; /* NAMES_MAX of them, a ring */
	uint32_t n_names;	 /* ever added */
};

int kernel_changes_new(struct kernel_changes **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void free_name(struct past_name *p)
{
	free(p->name);
	free(p->module);
	*p = (struct past_name) { 0 };
}

void kernel_changes_free(struct kernel_changes *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; c->names && i < NAMES_MAX; i++)
		free_name(&c->names[i]);
	free(c->names);
	free(c);
}

/* ---- generations --------------------------------------------------------------------------- */

static void forget_half(struct kernel_changes *c)
{
	uint32_t half = CHANGES_MAX / 2;

	for (uint32_t i = 0; i < half; i++)
		if (c->list[i].until_ns > c->forgotten_ns)
			c->forgotten_ns = c->list[i].until_ns;
	memmove(c->list, c->list + half, (c->n - half) * sizeof(c->list[0]));
	c->n -= half;
	c->forgotten += half;
}

void kernel_changes_note(struct kernel_changes *c, uint64_t start, uint64_t end, uint64_t from_ns,
			 uint64_t until_ns)
{
	if (c->n == CHANGES_MAX)
		forget_half(c);
	c->list[c->n++] = (struct change) { start, end, from_ns, until_ns };
	if (until_ns > c->last_ns)
		c->last_ns = until_ns;
}

/* A return address may be just past the last byte, and never is the first. */
static bool covers(const struct change *k, uint64_t addr)
{
	return addr > k->start && addr <= k->end;
}

uint32_t kernel_changes_at(const struct kernel_changes *c, uint64_t addr, uint64_t time_ns)
{
	for (uint32_t i = c->n; i--;) {
		if (!covers(&c->list[i], addr))
			continue;
		if (time_ns >= c->list[i].until_ns)
			return c->forgotten + i + 1;
		if (time_ns > c->list[i].from_ns)
			return KERNEL_GENERATION_UNKNOWN;
	}
	return time_ns >= c->forgotten_ns ? c->forgotten : KERNEL_GENERATION_UNKNOWN;
}

uint32_t kernel_changes_latest(const struct kernel_changes *c, uint64_t addr, uint64_t *since_ns)
{
	for (uint32_t i = c->n; i--;)
		if (covers(&c->list[i], addr)) {
			*since_ns = c->list[i].until_ns;
			return c->forgotten + i + 1;
		}
	*since_ns = c->forgotten_ns;
	return c->forgotten;
}

bool kernel_changes_between(const struct kernel_changes *c, uint64_t a_ns, uint64_t b_ns)
{
	uint64_t first = a_ns < b_ns ? a_ns : b_ns, last = a_ns < b_ns ? b_ns : a_ns;

	if (first >= c->last_ns)
		return false;
	for (uint32_t i = c->n; i--;)
		if (c->list[i].until_ns > first && c->list[i].from_ns <= last)
			return true;
	return first < c->forgotten_ns;
}

/* ---- names --------------------------------------------------------------------------------- */

void kernel_changes_keep_name(struct kernel_changes *c, uint64_t addr, uint64_t end,
			      uint32_t generation, const char *name, const char *module)
{
	struct past_name *p;

	if (!c->names)
		c->names = calloc(NAMES_MAX, sizeof(*c->names));
	if (!c->names)
		return;
	p = &c->names[c->n_names++ % NAMES_MAX];
	free_name(p);
	p->name = strdup(name);
	p->module = module ? strdup(module) : NULL;
	if (!p->name || (module && !p->module)) {
		free_name(p);
		return;
	}
	p->addr = addr;
	p->end = end;
	p->generation = generation;
}

bool kernel_changes_find(const struct kernel_changes *c, uint64_t addr, uint32_t generation,
			 struct kallsyms_symbol *out)
{
	for (uint32_t i = 0; c->names && i < NAMES_MAX; i++) {
		const struct past_name *p = &c->names[i];

		if (!p->name || p->generation != generation || addr <= p->addr || addr > p->end)
			continue;
		*out = (struct kallsyms_symbol) {
			.start = p->addr,
			.name = p->name,
			.module = p->module,
			.is_tracer = kallsyms_is_tracer(p->name),
		};
		return true;
	}
	return false;
}
