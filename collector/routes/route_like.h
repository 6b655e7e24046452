/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_like.h - routes that people ask for by their names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether len bytes may be the name of a route that is told. */
bool route_may_be(const char *s, size_t len);
/*
 * Whether the name of a route, with its words or without, is one that len bytes mean: a * in them
 * stands for any part of a word, or of one of a path.
 */
bool route_is_like(const char *name, const char *pattern, size_t len);
