// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "import_report.h"
#include "base/text.h"

/* What prints all that is needed. */
#define PRINT_ALL "perf script --ns -F comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,trace"

const char *import_error_text(int err)
{
	switch (-err) {
	case IMPORT_E_COLUMNS:
		return "text of perf script without the time, CPU or thread of its events; make it "
		       "with " PRINT_ALL;
	case IMPORT_E_SWITCHES:
		return "text of perf script without sched:sched_switch events; record with perf "
		       "record -a -g -e sched:sched_switch,sched:sched_waking";
	case IMPORT_E_TRACE:
		return "text of perf script without the field trace, which says who was switched; "
		       "make it with " PRINT_ALL;
	case IMPORT_E_EVENT:
		return "text of perf script without the field event, which says what its lines "
		       "are; make it with " PRINT_ALL;
	case IMPORT_E_TIMES:
		return "text of perf script whose times go back: it is from --deltatime, or of "
		       "several recordings; make it of one recording with perf script --ns";
	case IMPORT_E_PERF_DAMAGED:
		return "perf's data file, but its header contradicts itself";
	case IMPORT_E_PERF_ORDER:
		return "perf's data file of a machine with another byte order; convert it to text "
		       "with perf script --ns";
	case IMPORT_E_PERF_UNFINISHED:
		return "perf's data file without its end, which says what the events mean: perf "
		       "record was killed";
	case IMPORT_E_PERF_FIELDS:
		return "perf's data file without the time, CPU or thread of its events; record "
		       "with perf record -a -T";
	case IMPORT_E_PERF_SWITCHES:
		return "perf's data file without sched:sched_switch events; record with perf "
		       "record -a -g -e sched:sched_switch,sched:sched_waking";
	case IMPORT_E_PERF_TIMES:
		return "perf's data file whose times go back";
	case IMPORT_E_PERF_ZSTD:
		return "perf's data file with compressed records, which this chainwalk was built "
		       "without libzstd to read; convert it to text with perf script --ns";
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
	return r->bad_lines || r->ends_in_line || r->stopped ||
	       (r->source != IMPORT_FROM_TEXT && r->bad_offset);
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

/* Which samples count, where that is not what everybody expects. */
static void print_samples(const struct import_report *r, const char *name, FILE *out)
{
	const struct import_sample_event *e = r->sample_events;
	uint32_t counted = 0, others = 0;

	for (uint32_t i = 0; i < r->n_sample_events; i++)
		*(e[i].counts ? &counted : &others) += 1;
	if (!r->n_sample_events || (!others && e->is_cycles))
		return;
	print_about(out, name);
	fputs(counted ? "what ran is said by samples of" : "no samples of the event named", out);
	for (uint32_t i = 0, n = 0; i < r->n_sample_events; i++)
		if (e[i].counts) {
			fputs(n++ ? ", " : " ", out);
			print_clean(out, e[i].name);
		}
	for (uint32_t i = 0, n = 0; i < r->n_sample_events; i++)
		if (!e[i].counts) {
			fputs(n++ ? ", " : "; others are left out (--sample-event takes them): ",
			      out);
			print_clean(out, e[i].name);
		}
	fputc('\n', out);
}

static void print_off_cpu(const struct import_report *r, const char *name, FILE *out)
{
	if (r->only_off_cpu)
		fprintf(print_about(out, name),
			"only sums of off-CPU time (perf record --off-cpu): when a thread waited, "
			"and who woke it, is not in it; record with perf record -a -g -e "
			"sched:sched_switch,sched:sched_waking\n");
	else if (r->off_cpu)
		fprintf(print_about(out, name),
			"samples of off-CPU time left out, as there are switches: %" PRIu64 "\n",
			r->off_cpu);
}

/* What the recording lacks, whatever it came from. */
static void print_events(const struct import_report *r, const char *name, FILE *out)
{
	if (r->per_task)
		fprintf(print_about(out, name),
			"perf record ran without -a: only events of the chosen threads are in it, "
			"so that it is mostly unknown when they ran, and who woke them\n");
	print_off_cpu(r, name, out);
	print_samples(r, name, out);
	if (!r->wakings && !r->only_off_cpu)
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
	if (r->times_back)
		fprintf(print_about(out, name),
			"events whose time goes back on their CPU: %" PRIu64 "\n", r->times_back);
	if (r->lost_records)
		fprintf(print_about(out, name),
			"perf lost events in %" PRIu64 " places; uncertain time is [unknown]\n",
			r->lost_records);
	if (r->missing_switches && !r->per_task)
		fprintf(print_about(out, name),
			"at least %" PRIu64 " switches are missing; uncertain time is [unknown]\n",
			r->missing_switches);
}

static void print_text(const struct import_report *r, const char *name, bool quiet, FILE *out)
{
	print_damage(r, name, out);
	if (quiet)
		return;
	print_events(r, name, out);
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
	if (r->lost_chunks)
		fprintf(print_about(out, name),
			"perf lost %" PRIu64
			" chunks; perf script --show-lost-events shows where\n",
			r->lost_chunks);
}

/* Why functions of the kernel have no names. */
static const char *kernel_text(enum import_kernel_names names)
{
	switch (names) {
	case IMPORT_KERNEL_NO_BUILD_ID:
		return "no build ID of the kernel: its functions have no names; record with perf "
		       "record --buildid-mmap";
	case IMPORT_KERNEL_NOT_HERE:
		return "the functions of the kernel have no names: neither the running kernel nor "
		       "perf's cache (~/.debug) has its build ID; perf archive takes the cache to "
		       "another machine";
	case IMPORT_KERNEL_HIDDEN:
		return "the functions of the kernel have no names: the running kernel does not "
		       "show their addresses (sysctl kernel.kptr_restrict)";
	default:
		return NULL;
	}
}

static void print_perf_data(const struct import_report *r, const char *name, bool quiet, FILE *out)
{
	const char *kernel = kernel_text(r->kernel_names);

	if (r->bad_lines)
		fprintf(print_about(out, name),
			"records or sections that cannot be read: %" PRIu64
			", the first at byte %" PRIu64 "; the rest was read\n",
			r->bad_lines, r->bad_offset);
	if (r->ends_in_line)
		fprintf(print_about(out, name), "cut off%s: read up to there\n",
			r->bad_lines ? "" : " within a record or section");
	if (quiet)
		return;
	print_events(r, name, out);
	if (r->other_ids)
		fprintf(print_about(out, name),
			"the samples' thread ids differ from the events' (they are a container's); "
			"wakers are taken from the last switch on their CPU\n");
	if (kernel)
		fprintf(print_about(out, name), "%s\n", kernel);
	if (r->user_copies)
		fprintf(print_about(out, name),
			"user stacks are copies of memory (--call-graph dwarf), which only perf "
			"unwinds: perf script --ns has them\n");
	if (r->files_without_id)
		fprintf(print_about(out, name),
			"mapped files without a known build ID, whose functions have no names: "
			"%" PRIu64 "; record with perf record --buildid-mmap\n",
			r->files_without_id);
	if (r->maps_full)
		fprintf(print_about(out, name),
			"too many memory mappings: some functions have no names\n");
}

void import_report_print(const struct import_report *r, const char *name, bool quiet, FILE *out)
{
	if (r->packed_damaged)
		fprintf(print_about(out, name),
			"the compressed data is cut off or damaged; read up to there\n");
	if (r->source == IMPORT_FROM_GO)
		print_go(r, name, quiet, out);
	else if (r->source == IMPORT_FROM_PERF_DATA)
		print_perf_data(r, name, quiet, out);
	else
		print_text(r, name, quiet, out);
}
