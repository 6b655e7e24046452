/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_causes.h - the rows of the table of causes, which the report shows as well. */
#pragma once

#include "causes/causes.h"
#include "format.h"

/* How many causes are shown, the others being summed up. */
uint64_t causes_shown(const struct options *o);
