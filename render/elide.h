/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_ELIDE_H
#define RENDER_ELIDE_H
/*
 * Differential graphs are as wide as the second input, in which a stack that only the first one
 * has would be no wider than nothing. Those stacks get a region of their own beside the others,
 * as wide as they were before.
 */
#include "tree.h"

#define ELIDE_NAME "[only before]"

/* Between the last tree_add() and tree_finish(), of a tree with .diff. 0, -ENOMEM or -EOVERFLOW. */
int elide(struct tree *t);

#endif
