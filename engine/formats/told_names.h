/* SPDX-License-Identifier: GPL-2.0-or-later */
/* told_names.h - whom the table of causes tells of, for what the summary says of them. */
#pragma once

#include "causes/causes.h"
#include "format.h"
#include "subjects.h"

/*
 * Add the names of threads and processes to in->totals->told, if there are totals: of the links of
 * chains; of the first n causes, and of who waited for them in their examples. 0 or -ENOMEM.
 */
int told_names_add_subjects(const struct format_input *in, const struct subjects *s);
int told_names_add_causes(const struct format_input *in, struct names *names,
			  const struct cause *causes, size_t n);
