/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_answer.h - what a report begins with: the first screen, drawn. What it is about, why that
 * took so long, and the chain, a line for each link.
 */
#pragma once

#include "formats/subjects.h"
#include "report.h"

/* Finds it: after the causes, of the format's options. *out is to be freed. */
void report_answer_new(struct report_answer **out, const struct report *r,
		       const struct format_input *in);
/* Its subjects, whose steps have names of their own. */
const struct subjects *report_answer_subjects(const struct report_answer *a);
/* That which is the path of the command, or of what was named; NULL: none is. */
const struct subject *report_answer_life(const struct report_answer *a);
void report_answer_free(struct report_answer *a);
/* Writes the section, as it is visible without a script. */
void report_answer_put(FILE *out, const struct report *r);
