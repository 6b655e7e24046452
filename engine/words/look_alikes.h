/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look_alikes.h - objects of one name that are different things: files of the same path in two
 * mount namespaces, memory that other processes share (chain-semantics, section 10).
 */
#pragma once

#include "base/text.h"
#include "common/intern.h"
#include "trace/trace.h"

struct look_alike_name;

/* All zero knows nothing yet. */
struct look_alikes {
	bool known;
	struct intern texts;	       /* class and name */
	struct look_alike_name *names; /* by the ids of these */
	size_t n_names, cap_names;
};

void look_alikes_free(struct look_alikes *l);

/*
 * Appends what tells the object from others of the same class and name: " (inode 4711)", or if they
 * are on several devices " (inode 4711 of 8:1)". Nothing if there are no others.
 */
void look_alikes_put(struct look_alikes *l, const struct trace *t, const struct trace_object *o,
		     struct text_buf *b);
