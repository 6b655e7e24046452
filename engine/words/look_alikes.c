// SPDX-License-Identifier: GPL-2.0-or-later
#include "look_alikes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/grow.h"

/* The first object of a name, and whether there are others. */
struct look_alike_name {
	uint64_t inode;
	uint32_t device;
	bool others, other_devices;
};

#define MINOR_BITS 20

void look_alikes_free(struct look_alikes *l)
{
	intern_free(&l->texts);
	free(l->names);
	*l = (struct look_alikes) { .known = false };
}

static void put_key(const struct trace *t, const struct trace_object *o, struct text_buf *b)
{
	b->len = 0;
	text_puts(b, trace_string(t, o->class));
	text_puts(b, " ");
	text_puts(b, trace_string(t, o->name));
}

/* Notes an object, whose class and name are in b. False: out of memory. */
static bool note(struct look_alikes *l, const struct trace_object *o, const struct text_buf *b)
{
	uint32_t id = b->failed ? 0 : intern_id(&l->texts, b->p, b->len, NULL);
	struct look_alike_name *name;

	while (id && l->n_names <= id) {
		if (!GROW(l->names, l->n_names, l->cap_names))
			return false;
		l->names[l->n_names++] = (struct look_alike_name) { .inode = 0 };
	}
	if (!id)
		return false;
	name = &l->names[id];
	if (!name->inode) {
		name->inode = o->inode;
		name->device = o->device;
	}
	name->others |= name->inode != o->inode || name->device != o->device;
	name->other_devices |= name->device != o->device;
	return true;
}

static bool find(struct look_alikes *l, const struct trace *t)
{
	struct text_buf b = { 0 };
	bool found = true;

	for (uint32_t i = 1; found && i < trace_objects_end(t); i++) {
		const struct trace_object *o = trace_object(t, i);

		if (!o || !o->inode)
			continue;
		put_key(t, o, &b);
		found = note(l, o, &b);
	}
	text_free(&b);
	l->known = found;
	return found;
}

void look_alikes_put(struct look_alikes *l, const struct trace *t, const struct trace_object *o,
		     struct text_buf *b)
{
	const struct look_alike_name *name;
	struct text_buf key = { 0 };
	uint32_t id = 0;
	char text[80];

	if (!o->inode)
		return;
	if (!l->known && !find(l, t)) {
		b->failed = true;
		return;
	}
	put_key(t, o, &key);
	if (!key.failed)
		id = intern_find(&l->texts, key.p, key.len);
	text_free(&key);
	if (!id)
		return;
	name = &l->names[id];
	if (!name->others)
		return;
	if (name->other_devices)
		snprintf(text, sizeof(text), " (inode %" PRIu64 " of %" PRIu32 ":%" PRIu32 ")",
			 o->inode, o->device >> MINOR_BITS,
			 o->device & ((UINT32_C(1) << MINOR_BITS) - 1));
	else
		snprintf(text, sizeof(text), " (inode %" PRIu64 ")", o->inode);
	text_puts(b, text);
}
