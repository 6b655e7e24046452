/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Frame names, and stacks as lists of their ids. Each distinct byte string gets a dense id from 0,
 * in order of first appearance; no encoding is assumed. Reading folded stacks spends most of its
 * time on looking names up, so a cache answers for names of at most NAME_HEAD bytes, as most are.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/intern.h"

#define NAME_HEAD 24

struct name_cached {
	uint64_t head[NAME_HEAD / 8]; /* the name's bytes, then zeros */
	uint32_t len;
	uint32_t used; /* id + 1; 0: free */
};

struct name_table {
	struct intern names;	   /* by id + 1 */
	struct name_cached *cache; /* direct-mapped */
};

/* 0 or -ENOMEM. name_table_free() also accepts a zeroed table and one whose init failed. */
int name_table_init(struct name_table *nt);
void name_table_free(struct name_table *nt);

/* Set *id to the id of [p, p+len), a new one if needed. 0 or -ENOMEM. */
int name_table_add(struct name_table *nt, const char *p, size_t len, uint32_t *id);

/*
 * The position of each name among its siblings: rank[2*id] for a frame with callees, rank[2*id+1]
 * for a leaf. The order is that of the folded lines under sort(1) in the C locale: `;` follows the
 * name of a frame with callees, a blank follows that of a leaf. The caller frees *rank.
 * 0 or -ENOMEM.
 */
int name_table_rank(const struct name_table *nt, uint32_t **rank);

static inline const char *name_str(const struct name_table *nt, uint32_t id)
{
	return nt->names.keys[id].bytes;
}

static inline size_t name_len(const struct name_table *nt, uint32_t id)
{
	return nt->names.keys[id].len;
}

static inline bool name_is(const struct name_table *nt, uint32_t id, const char *s)
{
	return name_len(nt, id) == strlen(s) && !memcmp(name_str(nt, id), s, strlen(s));
}

/*
 * Splits the text of stacks into name ids. Successive stacks share most of their frames, so the
 * splitter keeps the last stack and reads only what follows the shared part.
 */
struct split {
	uint32_t *id;	 /* name ids of the last stack, root first */
	uint32_t depth;	 /* number of frames in .id */
	uint32_t shared; /* leading frames that equal those of the stack before it */
	size_t *end;	 /* by frame: offset of its end in .last */
	char *last;	 /* text of the last stack */
	size_t last_len, last_cap;
	uint32_t depth_cap;
	bool chain; /* a frame `--` was seen */
};

/*
 * Split the stack, frames joined by `;`, into s->id[0 .. s->depth). Empty names at the end are
 * dropped, others are kept. A zeroed struct split is a new one; all its calls must pass the same
 * names. 0 or -ENOMEM.
 */
int split_stack(struct split *s, struct name_table *names, const char *stack, size_t len);

void split_free(struct split *s);
