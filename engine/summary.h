/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary.h - the few lines on standard error that say what a trace covers and where the waiting
 * time went.
 */
#ifndef ENGINE_SUMMARY_H
#define ENGINE_SUMMARY_H

#include "format.h"

/*
 * Writes the summary of the waits that in->options select to out; without in->timelines only what
 * the trace itself says. Totals that in->totals does not know are worked out. name is the trace's,
 * for reading. Returns 0 or -ENOMEM.
 */
int summary_print(const struct format_input *in, const char *name, FILE *out);

#endif /* ENGINE_SUMMARY_H */
