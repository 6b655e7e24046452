// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/lower_bound.h"
#include "files/owners.h"
#include "files/process_status.h"
#include "layout.h"

struct process {
	uint32_t tgid;
	uint32_t owner; /* of owners */
	struct wire_interpreter at;
};

struct interpreters {
	uint32_t languages;
	interpreters_fn fn;
	void *ctx;
	struct process *processes; /* sorted by tgid */
	size_t n, cap;
	struct owners owners; /* users, by their processes */
	struct interpreters_count count;
};

static size_t place_of(const struct interpreters *i, uint32_t tgid)
{
	return LOWER_BOUND(k, i->n, i->processes[k].tgid < tgid);
}

const struct wire_interpreter *interpreters_of(const struct interpreters *i, uint32_t tgid)
{
	size_t k = place_of(i, tgid);

	return k < i->n && i->processes[k].tgid == tgid ? &i->processes[k].at : NULL;
}

bool interpreters_count_of(const struct interpreters *i, uint32_t language)
{
	return i->languages >> language & 1;
}

static void add(struct interpreters *i, uint32_t tgid, uint64_t owner_key,
		struct wire_interpreter at)
{
	size_t k = place_of(i, tgid);
	uint32_t owner;

	if (k < i->n && i->processes[k].tgid == tgid)
		return;
	owner = owners_find(&i->owners, owner_key);
	if (!GROW(i->processes, i->n, i->cap) ||
	    !owners_take(&i->owners, owner, 1, WIRE_INTERPRETERS)) {
		i->count.left_out++;
		i->fn(i->ctx, tgid, NULL); /* which the BPF side has let inherit it */
		return;
	}
	memmove(&i->processes[k + 1], &i->processes[k], (i->n++ - k) * sizeof(*i->processes));
	i->processes[k] = (struct process) { tgid, owner, at };
	i->count.of[at.language]++;
	i->fn(i->ctx, tgid, &at);
}

static void mapped(void *ctx, uint32_t tgid, uint64_t bias, const struct reader_parts *parts)
{
	const struct elfinterp *e = &parts->interpreter;
	struct interpreters *i = ctx;
	struct wire_interpreter at;

	if (!parts->has_interpreter || e->language >= 32 || !(i->languages >> e->language & 1) ||
	    interpreters_of(i, tgid))
		return;
	if (layout_find(e, bias, &at)) {
		add(i, tgid, process_owner_key(tgid), at);
		return;
	}
	i->count.unknown++;
	i->count.unknown_language = e->language;
	i->count.unknown_version = e->version;
}

static void forked(void *ctx, uint32_t tgid, uint32_t parent)
{
	struct interpreters *i = ctx;
	size_t k = place_of(i, parent);

	if (interpreters_of(i, parent))
		add(i, tgid, i->owners.list[i->processes[k].owner].key, i->processes[k].at);
}

static void gone(void *ctx, uint32_t tgid)
{
	struct interpreters *i = ctx;
	size_t k = place_of(i, tgid);

	if (!interpreters_of(i, tgid))
		return;
	owners_give(&i->owners, i->processes[k].owner, 1);
	memmove(&i->processes[k], &i->processes[k + 1], (--i->n - k) * sizeof(*i->processes));
	i->fn(i->ctx, tgid, NULL);
}

const struct mapped_files_user interpreters_user = { mapped, forked, gone };

struct interpreters_count interpreters_count(const struct interpreters *i)
{
	return i->count;
}

int interpreters_new(struct interpreters **out, uint32_t languages, interpreters_fn fn, void *ctx)
{
	struct interpreters *i = *out = calloc(1, sizeof(*i));

	if (!i)
		return -ENOMEM;
	i->languages = languages;
	i->fn = fn;
	i->ctx = ctx;
	return 0;
}

void interpreters_free(struct interpreters *i)
{
	if (!i)
		return;
	free(i->processes);
	free(i);
}
