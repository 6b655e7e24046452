// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "import_report.h"
#include "base/text.h"

const char *import_error_text(int err)
{
	switch (-err) {
	case IMPORT_E_COLUMNS:
		return "text of perf script without the time, CPU or thread of its events; make it "
		       "with perf script --ns -F "
		       "comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,trace";
	case IMPORT_E_SWITCHES:
		return "text of perf script without sched:sched_switch events; record with perf "
		       "record -a -g -e sched:sched_switch,sched:sched_waking";
	case IMPORT_E_TIMES:
		return "text of perf script whose times go back: it is from --deltatime, or of "
		       "several recordings; make it of one recording with perf script --ns";
	case IMPORT_E_DATA:
		return "perf's data file; convert it to text with perf script --ns";
	case IMPORT_E_GO_VERSION:
		return "an execution trace of a version of Go that is not known; those of Go 1.7 "
		       "to 1.26 are";
	case IMPORT_E_GO_CUT:
		return "an execution trace of Go without its end, which has what the rest means: "
		       "it is written by trace.Stop()";
	case IMPORT_E_GO_ORDER:
		return "an execution trace of Go whose events contradict each other";
	case IMPORT_E_GO_MANY:
		return "an execution trace of Go with more than 4 million goroutines";
	default:
		return NULL;
	}
}

bool import_damaged(const struct import_report *r)
{
	return r->bad_lines || r->ends_in_line || r->stopped || (r->is_go && r->bad_offset);
}

static void print_damage(const struct import_report *r, const char *name, FILE *out)
{
	if (r->bad_lines)
		fprintf(print_about(out, name),
			"line %" PRIu64
			" is not one that perf script writes%s; such lines: %" PRIu64
			"; the rest was read\n",
			r->bad_line,
			r->bad_line == r->lines && r->ends_in_line ? ", or cut off" : "",
			r->bad_lines);
	if (r->stopped)
		fprintf(print_about(out, name),
			"times go back at line %" PRIu64
			": another recording may begin there; read up to it\n",
			r->stopped);
	if (r->ends_in_line)
		fprintf(print_about(out, name), "the text ends within line %" PRIu64 "\n",
			r->lines);
}

static void print_go(const struct import_report *r, const char *name, bool quiet, FILE *out)
{
	if (r->bad_offset)
		fprintf(print_about(out, name),
			"cut off or damaged at byte %" PRIu64 "; read up to there\n",
			r->bad_offset);
	if (r->missing_switches)
		fprintf(print_about(out, name),
			"events of goroutines that contradict others: %" PRIu64
			"; uncertain time is "
			"[unknown]\n",
			r->missing_switches);
	if (quiet)
		return;
	if (r->times_back)
		fprintf(print_about(out, name), "events whose time goes back: %" PRIu64 "\n",
			r->times_back);
	if (r->renumbered)
		fprintf(print_about(out, name),
			"goroutines are numbered anew, from 1, because some have numbers above 4 "
			"million\n");
}

void import_report_print(const struct import_report *r, const char *name, bool quiet, FILE *out)
{
	if (r->is_go) {
		print_go(r, name, quiet, out);
		return;
	}
	print_damage(r, name, out);
	if (quiet)
		return;
	if (!r->wakings)
		fprintf(print_about(out, name),
			"no sched:sched_waking events: wakers are not known\n");
	if (r->wakeups)
		fprintf(print_about(out, name),
			"wakers are taken from sched:sched_wakeup, which is "
			"weaker than sched:sched_waking: it may occur later, and on "
			"another CPU\n");
	if (r->passed_on)
		fprintf(print_about(out, name),
			"wakeups left out because they were recorded on the wakee's CPU, not on "
			"its waker's: %" PRIu64 "\n",
			r->passed_on);
	if (r->no_stacks)
		fprintf(print_about(out, name), "no call chains: record with perf record -g\n");
	if (r->no_processes)
		fprintf(print_about(out, name),
			"no process ids: perf script --show-task-events has them, and "
			"-F +pid\n");
	if (r->other_ids)
		fprintf(print_about(out, name),
			"the thread column differs from the events' thread ids (it has process ids "
			"only, or those of a container); wakers are taken from the last switch on "
			"their CPU\n");
	if (r->micro)
		fprintf(print_about(out, name),
			"times are in microseconds; perf script --ns prints "
			"nanoseconds\n");
	if (r->times_back)
		fprintf(print_about(out, name),
			"events whose time goes back on their CPU: %" PRIu64 "\n", r->times_back);
	if (r->lost_records)
		fprintf(print_about(out, name),
			"perf lost events in %" PRIu64 " places; uncertain time is [unknown]\n",
			r->lost_records);
	if (r->missing_switches)
		fprintf(print_about(out, name),
			"at least %" PRIu64 " switches are missing; uncertain time is [unknown]\n",
			r->missing_switches);
	if (r->lost_chunks)
		fprintf(print_about(out, name),
			"perf lost %" PRIu64
			" chunks; perf script --show-lost-events shows where\n",
			r->lost_chunks);
}
