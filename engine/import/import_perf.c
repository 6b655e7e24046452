// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Columns as perf's builtin-script.c prints them; the texts of the events are those of the kernel's
 * include/trace/events/sched.h, or of libtraceevent's plugins for them.
 */
#include "import_perf.h"

#include "import_scan.h"
#include "trace/trace.h"

/* Words between a CPU and a time: misc, and the time of day in one or two words. */
#define WORDS_BEFORE_TIME 3

static const struct {
	const char *name;
	size_t len;
	enum import_kind kind;
} known[] = {
#define KNOWN(name, kind)                    \
	{                                    \
		name, sizeof(name) - 1, kind \
	}
	KNOWN("sched:sched_switch", IMPORT_SWITCH),
	KNOWN("sched:sched_waking", IMPORT_WAKING),
	KNOWN("sched:sched_wakeup", IMPORT_WAKEUP),
	KNOWN("sched:sched_wakeup_new", IMPORT_WAKEUP_NEW),
	KNOWN("sched:sched_migrate_task", IMPORT_MIGRATE),
	KNOWN("sched:sched_process_fork", IMPORT_FORK),
	KNOWN("sched:sched_process_exec", IMPORT_EXEC),
	KNOWN("sched:sched_process_exit", IMPORT_EXIT),
	KNOWN("task:task_rename", IMPORT_RENAME),
};
#undef KNOWN

/* ftrace and trace-cmd write events without their subsystem. */
static bool is_ftrace(struct import_name name)
{
	return !memchr(name.p, ':', name.len);
}

static enum import_kind kind_of(struct import_name name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *p = known[i].name;
		size_t skipped = is_ftrace(name) ? (size_t)(strchr(p, ':') + 1 - p) : 0;

		if (known[i].len - skipped == name.len && !memcmp(p + skipped, name.p, name.len))
			return known[i].kind;
	}
	return IMPORT_OTHER;
}

bool import_perf_is_cycles(struct import_name name)
{
	static const char *const names[] = { "cycles", "cpu-cycles", "cpu_cycles", "cpu-clock",
					     "task-clock" };
	const char *unit = memchr(name.p, '/', name.len);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (name.len >= len && !memcmp(name.p, names[i], len) &&
		    (name.len == len || name.p[len] == ':' || name.p[len] == '/'))
			return true;
	}
	/* UNIT/EVENT/MODIFIERS */
	return unit && import_perf_is_cycles((struct import_name) {
			       unit + 1, name.len - (size_t)(unit + 1 - name.p) });
}

/* tools/perf/util/off_cpu.h: OFFCPU_EVENT */
bool import_perf_is_off_cpu(struct import_name name)
{
	static const char off_cpu[] = "offcpu-time";

	return name.len == sizeof(off_cpu) - 1 && !memcmp(name.p, off_cpu, name.len);
}

/* ---- the columns --------------------------------------------------------------------------- */

static const char *skip_back(const char *begin, const char *end)
{
	while (end > begin && end[-1] == ' ')
		end--;
	return end;
}

static const char *word_back(const char *begin, const char *end)
{
	while (end > begin && end[-1] != ' ')
		end--;
	return end;
}

/* SECONDS.FRACTION that ends at the colon; *begin: where it begins. */
static bool read_time(const char *line, const char *colon, struct import_event *ev,
		      const char **begin)
{
	const char *p = colon;
	struct scan s;
	uint64_t seconds = 0, fraction = 0;
	long digits;

	while (p > line && scan_is_digit(p[-1]))
		p--;
	digits = colon - p;
	if ((digits != 6 && digits != 9) || p == line || p[-1] != '.')
		return false;
	s = (struct scan) { p, colon };
	scan_number(&s, &fraction);
	*begin = --p;
	while (*begin > line && scan_is_digit((*begin)[-1]))
		--*begin;
	s = (struct scan) { *begin, p };
	if (p - *begin > 11 || !scan_number(&s, &seconds) || (*begin > line && (*begin)[-1] != ' '))
		return false;
	ev->micro = digits == 6;
	ev->time_ns = seconds * 1000000000 + fraction * (ev->micro ? 1000 : 1);
	/* perf gives samples of off-CPU time one that is behind all others. */
	return seconds < INT64_MAX / 1000000000 || ev->time_ns >> 32 == UINT32_MAX;
}

/* [CPU] as the word in [p, end). */
static bool read_cpu(const char *p, const char *end, int32_t *cpu)
{
	struct scan s = { p, end };
	uint64_t v;

	if (!scan_text(&s, "[") || !scan_number(&s, &v) || !scan_text(&s, "]") || s.p != end ||
	    v >= IMPORT_CPU_LIMIT)
		return false;
	*cpu = (int32_t)v;
	return true;
}

static bool read_id(struct scan *s, int32_t *id)
{
	int64_t v;

	if (!scan_signed(s, &v) || v < -1 || v >= TRACE_TID_LIMIT)
		return false;
	*id = (int32_t)v;
	return true;
}

/* TID or PID/TID as the word in [p, end). */
static bool read_ids(const char *p, const char *end, struct import_event *ev)
{
	struct scan s = { p, end };
	int32_t id;

	if (!read_id(&s, &id))
		return false;
	ev->tid = id;
	ev->tgid = -1;
	if (scan_text(&s, "/")) {
		ev->tgid = id;
		if (!read_id(&s, &ev->tid))
			return false;
	}
	return s.p == end;
}

/* NAME-TID in [p, end), as ftrace and trace-cmd have it, and behind it (TGID) or (-------). */
static bool read_ftrace_task(const char *p, const char *end, struct import_event *ev)
{
	const char *dash,
		*open = end > p && end[-1] == ')' ? memrchr(p, '(', (size_t)(end - p)) : NULL;
	struct scan s;
	uint64_t tgid;

	ev->tgid = -1;
	if (open) {
		s = (struct scan) { open + 1, end };
		scan_spaces(&s);
		if (scan_number(&s, &tgid) && tgid < TRACE_TID_LIMIT)
			ev->tgid = (int32_t)tgid;
		end = skip_back(p, open);
	}
	dash = memrchr(p, '-', (size_t)(end - p));
	if (!dash)
		return false;
	s = (struct scan) { dash + 1, end };
	while (p < dash && *p == ' ')
		p++;
	ev->comm = (struct import_name) { p, (size_t)(dash - p) };
	return read_id(&s, &ev->tid) && s.p == end;
}

/* What stands before the time. */
static bool read_columns(const char *line, const char *end, struct import_event *ev)
{
	const char *word;

	for (int i = 0;; i++) {
		end = skip_back(line, end);
		word = word_back(line, end);
		if (word == end || i > WORDS_BEFORE_TIME)
			return false;
		if (read_cpu(word, end, &ev->cpu))
			break;
		end = word;
	}
	end = skip_back(line, word);
	word = word_back(line, end);
	if (word == end || !read_ids(word, end, ev))
		return ev->kind != IMPORT_SAMPLE && ev->event.len && is_ftrace(ev->event) &&
		       read_ftrace_task(line, end, ev);
	end = skip_back(line, word);
	while (line < end && *line == ' ')
		line++;
	ev->comm = (struct import_name) { line, (size_t)(end - line) };
	return true;
}

/* An event of another machine, which perf was told to merge: its threads are not this one's. */
static bool of_a_guest(const char *line, const char *end)
{
	struct scan s = { line, end };
	uint64_t v;

	if (!scan_text(&s, "VM:"))
		return false;
	scan_spaces(&s);
	return scan_number(&s, &v) && scan_text(&s, " VCPU:");
}

/* ---- records that are no samples ----------------------------------------------------------- */

/* A thread as PID:TID. */
static bool read_task(struct scan *s, struct import_task *t)
{
	uint64_t tgid, tid;

	if (!scan_text(s, "(") || !scan_number(s, &tgid) || !scan_text(s, ":") ||
	    !scan_number(s, &tid) || !scan_text(s, ")") || tgid >= TRACE_TID_LIMIT ||
	    tid >= TRACE_TID_LIMIT)
		return false;
	*t = (struct import_task) { (uint32_t)tid, (uint32_t)tgid, { NULL, 0 } };
	return true;
}

/* " NAME:PID/TID", or " exec: NAME:PID/TID" before it. */
static bool read_comm_record(struct scan s, struct import_event *ev)
{
	const char *colon = s.end;
	struct scan ids;
	uint64_t tgid, tid;

	(void)scan_text(&s, " exec");
	if (!scan_text(&s, ": "))
		return false;
	while (colon > s.p && colon[-1] != ':')
		colon--;
	ids = (struct scan) { colon, s.end };
	if (colon == s.p || !scan_number(&ids, &tgid) || !scan_text(&ids, "/") ||
	    !scan_number(&ids, &tid) || tgid >= TRACE_TID_LIMIT || tid >= TRACE_TID_LIMIT)
		return false;
	ev->a = (struct import_task) {
		(uint32_t)tid,
		(uint32_t)tgid,
		{ s.p, (size_t)(colon - 1 - s.p) },
	};
	return true;
}

/* How many events were lost: more than that nobody can have counted. */
static bool read_count(struct scan *s, uint64_t *n)
{
	return scan_number(s, n) && *n <= UINT32_MAX;
}

/* What follows "PERF_RECORD_" at s. */
static void read_record(struct scan s, struct import_event *ev)
{
	ev->kind = IMPORT_OTHER;
	if (scan_text(&s, "LOST_SAMPLES") || scan_text(&s, "LOST")) {
		if (scan_to(&s, "lost ") && read_count(&s, &ev->n))
			ev->kind = IMPORT_LOST;
	} else if (scan_text(&s, "COMM")) {
		if (read_comm_record(s, ev))
			ev->kind = IMPORT_RENAME;
	} else if (scan_text(&s, "FORK")) {
		if (read_task(&s, &ev->b) && scan_text(&s, ":") && read_task(&s, &ev->a))
			ev->kind = IMPORT_FORK;
	}
}

/* ---- a line -------------------------------------------------------------------------------- */

/* The event's name and text, which begin at s. False: this is no event after all. */
static bool read_event(struct scan s, struct import_event *ev, bool *sure)
{
	struct scan period = s;
	struct import_name name;
	const char *end;
	bool has_period = scan_number(&period, &ev->n) && scan_text(&period, " ");

	if (has_period) {
		s = period;
		scan_spaces(&s);
	}
	*sure = true;
	if (scan_text(&s, "PERF_RECORD_")) {
		read_record(s, ev);
		return true;
	}
	end = memchr(s.p, ' ', (size_t)(s.end - s.p));
	if (!end)
		end = s.end;
	if (end - s.p < 2 || end[-1] != ':')
		return false;
	name = (struct import_name) { s.p, (size_t)(end - 1 - s.p) };
	s.p = end;
	ev->kind = kind_of(name);
	*sure = ev->kind != IMPORT_OTHER;
	if (import_perf_is_off_cpu(name) && has_period) {
		ev->kind = IMPORT_OFF_CPU;
		*sure = true;
	} else if (import_perf_is_cycles(name)) {
		ev->kind = IMPORT_SAMPLE;
		ev->is_cycles = true;
		*sure = true;
	} else if (!*sure && has_period && end == s.end) {
		/* A tracepoint has a text. */
		ev->kind = IMPORT_SAMPLE;
	}
	ev->event = name;
	if (*sure && !import_perf_text(s.p, (size_t)(s.end - s.p), ev)) {
		ev->kind = IMPORT_BAD_TEXT;
		ev->no_text = !memchr(s.p, '=', (size_t)(s.end - s.p));
	}
	return true;
}

/* Nothing, or the text of one of the scheduler's events, where the name of an event should be. */
static bool is_nameless(struct scan s)
{
	scan_spaces(&s);
	return s.p == s.end || scan_text(&s, "prev_comm=") || scan_text(&s, "comm=");
}

/* "CPU:1 [LOST 12 EVENTS]" of ftrace, "CPU:1 [12 EVENTS DROPPED]" of trace-cmd. */
static bool read_ftrace_loss(struct scan s, struct import_event *ev)
{
	uint64_t cpu;

	if (!scan_text(&s, "CPU:") || !scan_number(&s, &cpu) || !scan_text(&s, " ["))
		return false;
	(void)scan_text(&s, "LOST ");
	return read_count(&s, &ev->n) && scan_text(&s, " EVENTS");
}

/*
 * "LOST 12 events!", as some of perf's tools have it, or a record of a loss without columns, on a
 * line of its own.
 */
static bool read_lost_line(const char *line, size_t len, struct import_event *ev)
{
	struct scan s = { line, line + len };

	scan_spaces(&s);
	if (scan_text(&s, "PERF_RECORD_LOST")) {
		if (!scan_to(&s, "lost ") || !read_count(&s, &ev->n))
			return false;
	} else if (!read_ftrace_loss(s, ev) &&
		   (!scan_text(&s, "LOST ") || !read_count(&s, &ev->n) ||
		    !scan_text(&s, " events"))) {
		return false;
	}
	ev->kind = IMPORT_LOST;
	ev->cpu = -1;
	return true;
}

void import_perf_event(const char *line, size_t len, struct import_event *ev)
{
	const char *end = line + len, *colon = line, *begin;
	struct import_event other;
	bool sure, any_other = false, no_name = false;

	while (len && (end[-1] == '\r' || end[-1] == ' '))
		end--, len--;
	*ev = (struct import_event) { .cpu = -1, .tid = -1, .tgid = -1 };
	while (colon < end && (colon = memchr(colon, ':', (size_t)(end - colon)))) {
		struct scan s = { ++colon, end };

		if ((s.p != end && *s.p != ' ') || !read_time(line, colon - 1, ev, &begin))
			continue;
		scan_spaces(&s);
		if (!read_event(s, ev, &sure) ||
		    (ev->time_ns > INT64_MAX && ev->kind != IMPORT_OFF_CPU)) {
			no_name |= is_nameless(s) && read_columns(line, begin, ev);
			continue;
		}
		if (of_a_guest(line, begin)) {
			ev->kind = IMPORT_OTHER;
			return;
		}
		if (!read_columns(line, begin, ev)) {
			/* What looked like a time may be part of a name. */
			ev->kind = sure ? IMPORT_NO_COLUMNS : IMPORT_NO_EVENT;
			if (sure)
				return;
			continue;
		}
		if (ev->kind == IMPORT_SAMPLE && ev->tid >= 0)
			ev->a = (struct import_task) { (uint32_t)ev->tid, 0, ev->comm };
		if (sure)
			return;
		if (!any_other)
			other = *ev;
		any_other = true;
	}
	if (any_other) {
		*ev = other;
		return;
	}
	ev->kind = IMPORT_NO_EVENT;
	ev->no_name = no_name;
	if (read_lost_line(line, len, ev))
		return;
	if (memmem(line, len, "sched:sched_switch: ", 20) ||
	    memmem(line, len, "sched:sched_waking: ", 20))
		ev->kind = IMPORT_NO_COLUMNS;
}

uint64_t import_perf_chunks(const char *line, size_t len)
{
	struct scan s = { line, line + len };
	uint64_t events, chunks;

	if (scan_text(&s, "Processed ") && scan_number(&s, &events) &&
	    scan_text(&s, " events and lost ") && scan_number(&s, &chunks) &&
	    scan_text(&s, " chunks!"))
		return chunks;
	return 0;
}

bool import_perf_message(const char *line, size_t len)
{
	static const char *const begins[] = {
		"Warning:",
		"WARNING:",
		"Processed ",
		"Check IO/CPU overload!",
		"[ perf record:",
		"addr2line:",
		"no symbols",
		"Failed to open ",
		"Couldn't ",
		"BFD:",
		"PERF_RECORD_",
		/* of trace-cmd report; and the stacks of ftrace, which are not read */
		"cpus=",
		"version =",
		"=> ",
		" => ",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		struct scan s = { line, line + len };

		if (scan_text(&s, begins[i]))
			return true;
	}
	return false;
}
