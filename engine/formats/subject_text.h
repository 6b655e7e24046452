/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subject_text.h - what the first screen is about (subjects.h), for reading: a sentence each, why
 * it took so long, its figures, and its chain, a line a link.
 */
#pragma once

#include "subjects.h"

/*
 * Endpoints but the first are left out that would make more lines than most (0: as many as there
 * are). Of threads that are chosen and answer no requests, instead the servers for which they
 * waited.
 */
void subjects_put(FILE *out, const struct format_input *in, const struct subjects *s, size_t most);
/* Writes why one took so long, as a sentence: "make took 4.012 s with 1.9 of 2 CPUs busy: ...". */
void subject_put_verdict(FILE *out, const struct format_input *in, const struct subjects *s,
			 const struct subject *of);
