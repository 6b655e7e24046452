/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol.h - kernel functions by their names, as tables of them are searched. */
#ifndef ENGINE_SYMBOL_H
#define ENGINE_SYMBOL_H

#include <stdbool.h>
#include <string.h>

/*
 * True if symbol is the function name, or a copy of it: compilers append .part.0, .isra.0 and
 * .constprop.0 to those. A name that ends in '*' stands for all that begin so.
 */
static inline bool symbol_is(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	if (len && name[len - 1] == '*')
		return !strncmp(symbol, name, len - 1);
	return !strncmp(symbol, name, len) && (!symbol[len] || symbol[len] == '.');
}

#endif /* ENGINE_SYMBOL_H */
