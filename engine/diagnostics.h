/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diagnostics.h - what chainwalk prints on standard error about a trace: damage, filters that match
 * nothing in it, and the summary. name is the trace's path, for messages.
 */
#pragma once

#include "formats/format.h"
#include "hosts/hosts.h"
#include "symbols/symbols.h"

/* Where the trace is damaged and how much was skipped; d->what is set. */
void print_damage(const char *name, const struct trace_damage *d);
/*
 * A line for a --from after the trace's end: an empty result alone would look like a program that
 * never waits. And for --who-ran without queues.
 */
void print_range_warning(const char *name, const struct timelines *tl, const struct options *o);
/*
 * A line on standard error for each entry of -p, -t, -c and --tree-of that fits no thread of the
 * trace `name`, with what is near to it, for each of --object that fits nothing waited for, and if
 * nothing is of a class of --class. Sets *any to whether there was one.
 */
void print_missing(const char *name, const struct timelines *tl, const struct options *o,
		   bool *any);
/*
 * What the trace covers; the totals of the waits selected by in->options, if in->totals has them;
 * with in->timelines, the sleepers that nobody woke.
 */
void print_summary(const char *name, const struct format_input *in);

/* How far two machines' clocks are apart, and how many waits of the first one the second explains.
 */
void print_joined(const struct host_pair *p, const struct joined_host *hosts);

/* What debug files were good for; when quiet, only what went wrong. */
void print_symbols(const struct symbols *s, bool quiet);
