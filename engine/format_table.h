/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_table.h - the output formats by the names that --format takes. */
#pragma once

#include "formats/format.h"

/* NULL: there is no such format. */
const struct format *format_find(const char *name);
/* Iterates over the table: i from 0, NULL at its end. */
const struct format *format_at(size_t i);
