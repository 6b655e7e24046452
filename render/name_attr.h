/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_NAME_ATTR_H
#define RENDER_NAME_ATTR_H
/*
 * --nameattr, flamegraph.pl's file of attributes for functions: a name, a tab, and NAME=VALUE with
 * tabs between. Of these `title` (shown instead of the name), `href` and `target` (a link) are
 * taken. The others would be style or script, which the document has none of besides its own.
 */
#include <stdint.h>
#include <stdio.h>

#include "name_table.h"

struct name_attr {
	char *title, *href, *target; /* NULL: none */
};

struct name_attrs {
	struct name_table names;
	struct name_attr *attr; /* by id in .names */
	uint32_t known, cap;	/* names of the file; names looked up later have greater ids */
	uint64_t ignored;	/* attributes that are not taken */
	uint64_t first_wrong;	/* number of the first line without a tab; 0: none */
};

/* Read the file. 0, -ENOMEM, or an error of open or read. name_attrs_free() also after errors. */
int name_attrs_load(struct name_attrs *a, const char *file);
void name_attrs_free(struct name_attrs *a);

/* The attributes of a name, or NULL. */
const struct name_attr *name_attrs_find(struct name_attrs *a, const char *name, size_t len);

#endif
