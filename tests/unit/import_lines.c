// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first line of an event as perf script prints it: each layout of columns, with each text of
 * each event, with each odd name of a thread. A line is printed from a table's row and taken apart
 * again; what comes out must be what was put in.
 */
#include <inttypes.h>
#include "test.h"
#include <stdio.h>
#include <string.h>

#include "import/import_perf.h"

#define SECONDS 11360
#define NANOSECONDS 804949216
#define CPU 3
#define TID 9481
#define PREV 77
#define NEXT 4194303

static const char *const names[] = {
	"bash",
	"kworker/0:1",
	"kworker/u8:2-ev",
	"Web Content",
	"(sd-pam)",
	"((x",
	"x) y",
	"[kthreadd]",
	"[000]",
	"[001] 1.000000",
	"1.000000: x",
	"1 [0] 1.000000:",
	"a  b",
	" leading",
	"x: y",
	":1234",
	"12345",
	"12/34",
	"-1",
	"prev_pid=1",
	"a prev_pid=5",
	"x next_pid=1",
	"pid=1 prio=1",
	"a pid=1 prio=1 ",
	"==> b",
	"a ==> b",
	"S ==> x:1",
	"R ==> next_comm",
	"comm=x",
	"prev_comm=y",
	"a:1 [120]",
	"a;b",
	"#hash",
	"tab\there",
	"\xc3\xa9t\xc3\xa9",
	"\xff\xfe",
	"%s%n",
	"sched:sched_",
	"LOST 3 events!",
	"PERF_RECORD_L",
	"+0x1f (libc)",
	"longest15chars_",
};

/* How the columns before the event's text are printed: comm, tid, time; the last is the event. */
struct layout {
	const char *what;
	void (*print)(char *out, size_t size, const char *comm, const char *event);
	const char *tail;
	bool no_comm, micro, has_pid;
};

#define PRINT(name, ...)                                                              \
	static void name(char *out, size_t size, const char *comm, const char *event) \
	{                                                                             \
		(void)comm;                                                           \
		snprintf(out, size, __VA_ARGS__);                                     \
	}

PRINT(print_chain, "%s %5d [%03d] %5d.%09d: %s: ", comm, TID, CPU, SECONDS, NANOSECONDS, event)
PRINT(print_wide, "%s %7d [%03d] %5d.%09d: %s: ", comm, TID, CPU, SECONDS, NANOSECONDS, event)
PRINT(print_flat, "%16s %7d [%03d] %5d.%09d: %s: ", comm, TID, CPU, SECONDS, NANOSECONDS, event)
PRINT(print_pid_tid, "%s %5d/%-5d [%03d] %5d.%09d: %s: ", comm, 9480, TID, CPU, SECONDS,
      NANOSECONDS, event)
PRINT(print_wide_ids, "%s %7d/%-7d [%03d] %5d.%09d: %s: ", comm, 9480, TID, CPU, SECONDS,
      NANOSECONDS, event)
PRINT(print_period, "%s %7d [%03d] %5d.%09d: %10d %s: ", comm, TID, CPU, SECONDS, NANOSECONDS, 1,
      event)
PRINT(print_padded, "%s %7d [%03d] %5d.%09d: %29s: ", comm, TID, CPU, SECONDS, NANOSECONDS, event)
PRINT(print_misc, "%s %7d [%03d] K     %5d.%09d: %s: ", comm, TID, CPU, SECONDS, NANOSECONDS, event)
PRINT(print_tod, "%s %7d [%03d] 2026-11-21 10:05:02.804949 %5d.%09d: %s: ", comm, TID, CPU, SECONDS,
      NANOSECONDS, event)
PRINT(print_flags, "%s %7d [%03d] %5d.%09d: %s:   tr strt                   ", comm, TID, CPU,
      SECONDS, NANOSECONDS, event)
PRINT(print_micro, "%s %7d [%03d] %5d.%06d: %s: ", comm, TID, CPU, SECONDS, NANOSECONDS / 1000,
      event)
PRINT(print_no_comm, "%7d [%03d] %5d.%09d: %s: ", TID, CPU, SECONDS, NANOSECONDS, event)

static const struct layout layouts[] = {
	{ "with call chains", print_chain, "", false, false, false },
	{ "with wider ids", print_wide, "", false, false, false },
	{ "without call chains", print_flat, "", false, false, false },
	{ "pid and tid", print_pid_tid, "", false, false, true },
	{ "pid and tid, wider", print_wide_ids, "", false, false, true },
	{ "period", print_period, "", false, false, false },
	{ "event name padded", print_padded, "", false, false, false },
	{ "misc", print_misc, "", false, false, false },
	{ "time of day", print_tod, "", false, false, false },
	{ "flags", print_flags, "", false, false, false },
	{ "microseconds", print_micro, "", false, true, false },
	{ "no comm", print_no_comm, "", true, false, false },
	{ "address in the line", print_flat,
	  " ffffffff81399969 __traceiter_sched_waking+0x29 ([kernel.kallsyms])", false, false,
	  false },
	{ "carriage return", print_chain, "\r", false, false, false },
};

/* The event's text: of a switch with two names, of a wakeup with one. */
struct text {
	const char *event;
	enum import_kind kind;
	void (*print)(char *out, size_t size, const char *a, const char *b);
	char state;
	bool plugin;
};

#define TEXT(name, ...)                                                        \
	static void name(char *out, size_t size, const char *a, const char *b) \
	{                                                                      \
		(void)b;                                                       \
		snprintf(out, size, __VA_ARGS__);                              \
	}

TEXT(switch_text,
     "prev_comm=%s prev_pid=%d prev_prio=120 prev_state=R+ ==> next_comm=%s next_pid=%d "
     "next_prio=-2",
     a, PREV, b, NEXT)
TEXT(switch_plugin, "%s:%d [120] D|W ==> %s:%d [0]", a, PREV, b, NEXT)
TEXT(switch_unparsed,
     "[FAILED TO PARSE] prev_comm=%s prev_pid=%d prev_prio=120 prev_state=0x2 next_comm=%s "
     "next_pid=%d next_prio=120",
     a, PREV, b, NEXT)
TEXT(waking_text, "comm=%s pid=%d prio=120 target_cpu=001", a, PREV)
TEXT(waking_success, "comm=%s pid=%d prio=120 success=1 target_cpu=001", a, PREV)
TEXT(waking_plugin, "%s:%d [120] success=1 CPU:001", a, PREV)
TEXT(waking_plugin_new, "%s:%d [120] CPU:001", a, PREV)

static const struct text texts[] = {
	{ "sched:sched_switch", IMPORT_SWITCH, switch_text, 'R', false },
	{ "sched:sched_switch", IMPORT_SWITCH, switch_plugin, 'D', true },
	{ "sched:sched_switch", IMPORT_SWITCH, switch_unparsed, 'D', false },
	{ "sched:sched_waking", IMPORT_WAKING, waking_text, 0, false },
	{ "sched:sched_wakeup", IMPORT_WAKEUP, waking_success, 0, false },
	{ "sched:sched_wakeup", IMPORT_WAKEUP, waking_plugin, 0, true },
	{ "sched:sched_wakeup_new", IMPORT_WAKEUP_NEW, waking_plugin_new, 0, true },
};

static void expect_name(const char *line, const char *which, struct import_name got,
			const char *expected)
{
	if (got.len == strlen(expected) && !memcmp(got.p, expected, got.len))
		return;
	fail_msg("%s\n%s, expected: '%s'\ngot: '%.*s'", line, which, expected, (int)got.len,
		 got.p ? got.p : "");
}

static void expect_number(const char *line, const char *which, int64_t got, int64_t expected)
{
	if (got != expected)
		fail_msg("%s\n%s, expected: %" PRId64 ", got: %" PRId64, line, which, expected,
			 got);
}

/* The column of names is trimmed: it is padded. */
static const char *trimmed(const char *name)
{
	while (*name == ' ')
		name++;
	return name;
}

static void check(const struct layout *l, const struct text *t, const char *name)
{
	static const char other[] = "Other Name:1";
	char line[1024], columns[256], text[256];
	struct import_event ev;

	l->print(columns, sizeof(columns), name, t->event);
	t->print(text, sizeof(text), name, other);
	snprintf(line, sizeof(line), "%s%s%s", columns, text, l->tail);
	import_perf_event(line, strlen(line), &ev);
	expect_number(line, "kind", ev.kind, t->kind);
	expect_number(line, "cpu", ev.cpu, CPU);
	expect_number(line, "tid", ev.tid, TID);
	expect_number(line, "tgid", ev.tgid, l->has_pid ? 9480 : -1);
	expect_number(line, "time", (int64_t)ev.time_ns,
		      SECONDS * INT64_C(1000000000) +
			      (l->micro ? NANOSECONDS / 1000 * 1000 : NANOSECONDS));
	expect_number(line, "micro", ev.micro, l->micro);
	if (!l->no_comm && name[strlen(name) - 1] != ' ')
		expect_name(line, "comm", ev.comm, trimmed(name));
	/* A plugin's text behind flags cannot be told from a name that begins so. */
	if (!t->plugin || l->print != print_flags)
		expect_name(line, "first thread", ev.a.name, t->plugin ? trimmed(name) : name);
	expect_number(line, "first tid", ev.a.tid, PREV);
	expect_number(line, "state", ev.state, t->state);
	if (t->kind != IMPORT_SWITCH)
		return;
	expect_number(line, "second tid", ev.b.tid, NEXT);
	expect_name(line, "second thread", ev.b.name, other);
	/* The odd name second. */
	t->print(text, sizeof(text), other, name);
	snprintf(line, sizeof(line), "%s%s%s", columns, text, l->tail);
	import_perf_event(line, strlen(line), &ev);
	expect_number(line, "kind", ev.kind, t->kind);
	expect_name(line, "second thread", ev.b.name, name);
	expect_number(line, "second tid", ev.b.tid, NEXT);
}

TEST(every_layout_with_every_text_and_every_name)
{
	size_t n = 0;

	for (size_t l = 0; l < sizeof(layouts) / sizeof(layouts[0]); l++)
		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
			for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++, n++)
				check(&layouts[l], &texts[t], names[i]);
	print_message("%zu lines and more\n", n);
	assert_true(n > 1000);
}

TEST(every_state_of_every_kernel)
{
	static const struct {
		const char *text;
		char letter;
	} states[] = {
		{ "R", 'R' },	  { "R+", 'R' },  { "S", 'S' },	    { "S+", 'S' },  { "D", 'D' },
		{ "D|W", 'D' },	  { "S|K", 'S' }, { "D|K", 'D' },   { "D|N", 'D' }, { "T", 'T' },
		{ "t", 't' },	  { "X", 'X' },	  { "x", 'X' },	    { "Z", 'Z' },   { "x|Z", 'X' },
		{ "Z|X", 'X' },	  { "P", 'P' },	  { "I", 'I' },	    { "K", 'D' },   { "W", 'D' },
		{ "x|Z|P", 'X' }, { "0", 'R' },	  { "0x0", 'R' },   { "1", 'S' },   { "0x2", 'D' },
		{ "4", 'T' },	  { "8", 't' },	  { "0x10", 'X' },  { "32", 'Z' },  { "64", 'P' },
		{ "128", 'I' },	  { "256", 'R' }, { "0x102", 'D' }, { "?", 0 },	    { "", 0 },
		{ "0x", 0 },	  { "1x", 0 },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		expect_number(states[i].text, "state",
			      import_perf_state(states[i].text, strlen(states[i].text)),
			      states[i].letter);
}

static struct import_event event_of(const char *line)
{
	struct import_event ev;

	import_perf_event(line, strlen(line), &ev);
	return ev;
}

TEST(the_other_events)
{
	struct import_event ev;

	ev = event_of("make 5 [001] 2.000000001: sched:sched_process_fork: comm=a pid=1 pid=5 "
		      "child_comm=b child_pid=1 child_pid=6");
	assert_int_equal(ev.kind, IMPORT_FORK);
	assert_int_equal(ev.a.tid, 5);
	assert_int_equal(ev.b.tid, 6);
	expect_name("fork", "parent", ev.a.name, "a pid=1");
	expect_name("fork", "child", ev.b.name, "b child_pid=1");
	ev = event_of("make 5 [001] 2.000000001: sched:sched_process_exec: filename=/a pid=1/b "
		      "pid=6 old_pid=7");
	assert_int_equal(ev.kind, IMPORT_EXEC);
	assert_int_equal(ev.a.tid, 6);
	assert_int_equal(ev.b.tid, 7);
	expect_name("exec", "file", ev.a.name, "/a pid=1/b");
	ev = event_of("x 5 [001] 2.000000001: sched:sched_process_exit: comm=x pid=5 prio=120 "
		      "group_dead=true");
	assert_int_equal(ev.kind, IMPORT_EXIT);
	assert_int_equal(ev.a.tid, 5);
	ev = event_of("x 5 [001] 2.000000001: task:task_rename: pid=5 oldcomm=x newcomm=y z "
		      "oom_score_adj=-1");
	assert_int_equal(ev.kind, IMPORT_RENAME);
	expect_name("rename", "name", ev.a.name, "y z");
	ev = event_of("x 5 [001] 2.000000001: sched:sched_wakeup: comm=y pid=6 prio=120 success=0 "
		      "target_cpu=001");
	assert_int_equal(ev.kind, IMPORT_OTHER); /* nobody was woken */
	ev = event_of(
		":-1    -1 [001] 2.000000001: sched:sched_switch: prev_comm=x prev_pid=5 "
		"prev_prio=120 prev_state=X ==> next_comm=swapper/1 next_pid=0 next_prio=120");
	assert_int_equal(ev.kind, IMPORT_SWITCH);
	assert_int_equal(ev.tid, -1);
	assert_int_equal(ev.a.tid, 5);
	assert_int_equal(ev.state, 'X');
	ev = event_of(":-1    -1/-1    [001] 2.000000001: cycles:u:  ffffffff81399969 foo (bar)");
	assert_int_equal(ev.kind, IMPORT_SAMPLE);
	assert_int_equal(ev.tid, -1);
	ev = event_of("x 5 [001] 2.000000001:    1000000 cpu-clock:pppH: ");
	assert_int_equal(ev.kind, IMPORT_SAMPLE);
	assert_int_equal(ev.a.tid, 5);
	ev = event_of("x 5 [001] 2.000000001: cpu_core/cycles/P: ");
	assert_int_equal(ev.kind, IMPORT_SAMPLE);
	assert_true(ev.is_cycles);
	ev = event_of("x 5 [001] 2.000000001: 77 instructions:u: ");
	assert_int_equal(ev.kind, IMPORT_SAMPLE);
	assert_false(ev.is_cycles);
	expect_name("sample", "event", ev.event, "instructions:u");
	ev = event_of("x 5 [001] 2.000000001: cycles-ct: ");
	assert_int_equal(ev.kind, IMPORT_OTHER);
	ev = event_of(
		"VM:  123 VCPU:001 bash 5 [001] 2.000000001: sched:sched_waking: comm=y pid=6 "
		"prio=120 target_cpu=001");
	assert_int_equal(ev.kind, IMPORT_OTHER);
}

TEST(records_that_are_no_samples)
{
	struct import_event ev;

	ev = event_of("perf  9481 [001] 11361.286451308: PERF_RECORD_LOST lost 264");
	assert_int_equal(ev.kind, IMPORT_LOST);
	assert_int_equal(ev.cpu, 1);
	assert_int_equal(ev.n, 264);
	ev = event_of("perf  9481 [001] 11361.286451308: PERF_RECORD_LOST_SAMPLES lost 7");
	assert_int_equal(ev.kind, IMPORT_LOST);
	assert_int_equal(ev.n, 7);
	ev = event_of("LOST 12 events!");
	assert_int_equal(ev.kind, IMPORT_LOST);
	assert_int_equal(ev.cpu, -1);
	assert_int_equal(ev.n, 12);
	ev = event_of("x     0 [000]     0.000000000: PERF_RECORD_COMM: a:b 1/2:11/12");
	assert_int_equal(ev.kind, IMPORT_RENAME);
	assert_int_equal(ev.a.tgid, 11);
	assert_int_equal(ev.a.tid, 12);
	expect_name("comm", "name", ev.a.name, "a:b 1/2");
	ev = event_of("x     0 [000]     0.000000000: PERF_RECORD_COMM exec: ls:11/11");
	assert_int_equal(ev.kind, IMPORT_RENAME);
	expect_name("comm", "name", ev.a.name, "ls");
	ev = event_of("x     0 [000]     5.000000000: PERF_RECORD_FORK(13:14):(11:12)");
	assert_int_equal(ev.kind, IMPORT_FORK);
	assert_int_equal(ev.a.tid, 12);
	assert_int_equal(ev.b.tgid, 13);
	assert_int_equal(ev.b.tid, 14);
	ev = event_of("x     0 [000]     5.000000000: PERF_RECORD_MMAP2 1/1: [0x5(0x6) @ 0 00:15 "
		      "7]: r--p x");
	assert_int_equal(ev.kind, IMPORT_OTHER);
}

TEST(lines_that_are_no_events)
{
	static const struct {
		const char *line;
		enum import_kind kind;
	} lines[] = {
		{ "", IMPORT_NO_EVENT },
		{ ":", IMPORT_NO_EVENT },
		{ ": ", IMPORT_NO_EVENT },
		{ "1.000000:", IMPORT_NO_EVENT },
		{ "1.000000: ", IMPORT_NO_EVENT },
		{ "hello world", IMPORT_NO_EVENT },
		{ "x 1 [000] 1.0000000: sched:sched_waking2: comm=y pid=6 prio=1",
		  IMPORT_NO_EVENT },
		{ "x 1 [000] 99999999999.000000: cycles: ", IMPORT_NO_EVENT },
		{ "x 1 [000] sched:sched_switch: prev_comm=x", IMPORT_NO_COLUMNS },
		{ "x 1 1.000000: sched:sched_switch: prev_comm=x prev_pid=1", IMPORT_NO_COLUMNS },
		{ "x [000] 1.000000: sched:sched_waking: comm=y pid=6 prio=120",
		  IMPORT_NO_COLUMNS },
		{ "x 1 [9999] 1.000000: sched:sched_waking: comm=y pid=6 prio=120",
		  IMPORT_NO_COLUMNS },
		{ "x 99999999 [000] 1.000000: sched:sched_waking: comm=y pid=6 prio=120",
		  IMPORT_NO_COLUMNS },
		{ "x 1 [000] 1.000000: sched:sched_waking: comm=y pid=4194304 prio=120",
		  IMPORT_BAD_TEXT },
		{ "x 1 [000] 1.000000: sched:sched_waking: comm=y pid=-6 prio=120",
		  IMPORT_BAD_TEXT },
		{ "x 1 [000] 1.000000: sched:sched_waking: comm=y pid=6", IMPORT_BAD_TEXT },
		{ "x 1 [000] 1.000000: sched:sched_waking:", IMPORT_BAD_TEXT },
		{ "x 1 [000] 1.000000: sched:sched_switch: prev_comm=x prev_pid=1 prev_prio=1 "
		  "prev_state=S ==> next_comm=y next_pid=2",
		  IMPORT_BAD_TEXT },
		{ "x 1 [000] 1.000000: sched:sched_switch: prev_comm=x prev_pid=1 prev_prio=1 "
		  "prev_state=? ==> next_comm=y next_pid=2 next_prio=1",
		  IMPORT_BAD_TEXT },
		{ "x 1 [000] 1.000000: PERF_RECORD_LOST lost many", IMPORT_OTHER },
		{ "x 1 [000] 1.000000: PERF_RECORD_FORK(1:2):(3", IMPORT_OTHER },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		expect_number(lines[i].line, "kind", event_of(lines[i].line).kind, lines[i].kind);
}

TEST(what_perf_says_besides)
{
	static const char chunks[] = "Processed 24132 events and lost 2 chunks!";

	assert_int_equal(import_perf_chunks(chunks, strlen(chunks)), 2);
	assert_int_equal(import_perf_chunks("Processed 3 events", 18), 0);
	assert_true(import_perf_message("Warning:", 8));
	assert_false(import_perf_message("Warnin", 6));
}
