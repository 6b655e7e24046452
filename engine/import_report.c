// SPDX-License-Identifier: GPL-2.0-or-later
/* What the user is told of an import. */
#include <inttypes.h>

#include "import.h"
#include "print.h"

const char *import_error_text(int err)
{
	switch (-err) {
	case IMPORT_E_COLUMNS:
		return "text of perf script without the time, CPU or thread of its events; it has "
		       "to "
		       "be made with perf script --ns -F "
		       "comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,trace";
	case IMPORT_E_SWITCHES:
		return "text of perf script without sched:sched_switch events; record with perf "
		       "record -a -g -e sched:sched_switch,sched:sched_waking";
	case IMPORT_E_TIMES:
		return "text of perf script whose times go back: from --deltatime, or of several "
		       "recordings; one at a time, with --ns";
	case IMPORT_E_DATA:
		return "perf's data file; perf script --ns makes text of it, which can be read "
		       "here";
	default:
		return NULL;
	}
}

bool import_damaged(const struct import_report *r)
{
	return r->bad_lines || r->ends_in_line || r->stopped;
}

/* Begins a line on out. */
static FILE *say(FILE *out, const char *name)
{
	fputs("chainwalk: ", out);
	print_clean(out, name);
	fputs(": ", out);
	return out;
}

static void print_damage(const struct import_report *r, const char *name, FILE *out)
{
	if (r->bad_lines)
		fprintf(say(out, name),
			"line %" PRIu64 " is none of perf script%s; such lines: %" PRIu64
			"; the rest was read\n",
			r->bad_line,
			r->bad_line == r->lines && r->ends_in_line ? ", or cut off" : "",
			r->bad_lines);
	if (r->stopped)
		fprintf(say(out, name),
			"at line %" PRIu64
			" times go back, as where another recording begins; read "
			"up to there\n",
			r->stopped);
	if (r->ends_in_line)
		fprintf(say(out, name), "the text ends within line %" PRIu64 "\n", r->lines);
}

void import_report_print(const struct import_report *r, const char *name, bool quiet, FILE *out)
{
	print_damage(r, name, out);
	if (quiet)
		return;
	if (!r->wakings)
		fprintf(say(out, name), "no sched:sched_waking events: who woke whom is not "
					"known\n");
	if (r->wakeups)
		fprintf(say(out, name), "wakers are taken from sched:sched_wakeup, which is "
					"weaker than sched:sched_waking: it may come later, and on "
					"another CPU\n");
	if (r->passed_on)
		fprintf(say(out, name),
			"wakeups left out, as they were told on the CPU of the thread that woke "
			"up, "
			"not on its waker's: %" PRIu64 "\n",
			r->passed_on);
	if (r->no_stacks)
		fprintf(say(out, name), "no call chains: perf record -g has them\n");
	if (r->other_ids)
		fprintf(say(out, name),
			"the column of threads does not have the events' thread ids (only process "
			"ids, or those of a container); wakers are taken from the last switch on "
			"their CPU\n");
	if (r->micro)
		fprintf(say(out, name), "times in microseconds; perf script --ns has them in "
					"nanoseconds\n");
	if (r->times_back)
		fprintf(say(out, name), "events whose time goes back on their CPU: %" PRIu64 "\n",
			r->times_back);
	if (r->lost_records)
		fprintf(say(out, name),
			"perf lost events in %" PRIu64 " places; what is uncertain is [unknown]\n",
			r->lost_records);
	if (r->missing_switches)
		fprintf(say(out, name),
			"switches are missing, at least %" PRIu64 "; what is uncertain is "
			"[unknown]\n",
			r->missing_switches);
	if (r->lost_chunks)
		fprintf(say(out, name),
			"perf says that it lost %" PRIu64 " chunks, but not where: perf script "
			"--show-lost-events would\n",
			r->lost_chunks);
}
