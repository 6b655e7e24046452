/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repeats.h - links that repeat the one before them, folded into one (chain-semantics, section 12):
 * of a lock that is handed on along a row of workers "worker x 6" is left.
 */
#pragma once

#include "node_sums.h"

/*
 * Folds the chains of nodes, whose links have labels of intern_link_identity(), and their sums;
 * sets the labels of the links to lists of frames. 0 or -ENOMEM.
 */
int repeats_fold(struct pairs *nodes, struct node_sums *sums, struct stack_cache *p);
