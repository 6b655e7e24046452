// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses the scheduler's events. A thread's name may be any text, also a piece of an event: a place
 * is accepted as a name's end only if all that must follow does follow, which is longer than a name
 * can be.
 */
#include "import_perf.h"
#include "import_scan.h"
#include "trace/trace.h"

char import_perf_state_bits(uint64_t v)
{
	/*
	 * By number of the bit. Before Linux 4.14 bits from 16 on differed, and perf printed
	 * letters.
	 */
	static const char bits[] = "SDTtXZPI";

	for (int bit = 0; bit < 8; bit++)
		if (v >> bit & 1)
			return bits[bit];
	return 'R'; /* 0, or only a flag: preempted */
}

char import_perf_state(const char *s, size_t len)
{
	/* The letters of any kernel, and what ps shows for them; the first match wins. */
	static const struct {
		char letter, shown;
	} letters[] = {
		{ 'X', 'X' },
		{ 'x', 'X' },
		{ 'Z', 'Z' },
		{ 'I', 'I' },
		{ 'D', 'D' },
		{ 'S', 'S' },
		{ 'T', 'T' },
		{ 't', 't' },
		{ 'P', 'P' },
		{ 'R', 'R' },
		/* Flags: killable, waking, no load, new; alone only in some old kernels. */
		{ 'K', 'D' },
		{ 'W', 'D' },
		{ 'N', 'D' },
		{ 'n', 'D' },
		{ 'p', 'D' },
	};
	struct scan at = { s, s + len };
	uint64_t v;

	if ((scan_text(&at, "0x") ? scan_hex(&at, &v) : scan_number(&at, &v)) && at.p == at.end)
		return import_perf_state_bits(v);
	for (size_t i = 0; i < len; i++)
		if (s[i] < 'A' && s[i] != '+')
			return 0;
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (memchr(s, letters[i].letter, len))
			return letters[i].shown;
	return 0;
}

static bool set_task(struct import_task *t, const char *name, const char *name_end, int64_t pid)
{
	if (pid < 0 || pid >= TRACE_TID_LIMIT)
		return false;
	*t = (struct import_task) { (uint32_t)pid, 0, { name, (size_t)(name_end - name) } };
	return true;
}

/* " KEY=NUMBER" must follow. */
__attribute__((always_inline)) static inline bool scan_field(struct scan *s, const char *key,
							     int64_t *v)
{
	struct scan at = *s;

	if (!scan_text(&at, key) || !scan_signed(&at, v))
		return false;
	*s = at;
	return true;
}

static bool at_word_end(const struct scan *s)
{
	return s->p == s->end || *s->p == ' ';
}

/* ---- sched_switch -------------------------------------------------------------------------- */

/* What follows prev_comm=...: the rest of prev, the state, and next. */
static bool read_switch_tail(struct scan s, const char *name, struct import_event *ev)
{
	const char *name_end = s.p, *state, *next;
	int64_t pid, prio;

	if (!scan_field(&s, " prev_pid=", &pid) || !set_task(&ev->a, name, name_end, pid) ||
	    !scan_field(&s, " prev_prio=", &prio) || !scan_text(&s, " prev_state="))
		return false;
	state = s.p;
	while (s.p < s.end && *s.p != ' ')
		s.p++;
	ev->state = import_perf_state(state, (size_t)(s.p - state));
	(void)scan_text(&s, " ==>"); /* not where the kernel's format could not be parsed */
	if (!ev->state || !scan_text(&s, " next_comm="))
		return false;
	next = s.p;
	while (scan_to(&s, " next_pid=")) {
		struct scan at = s;

		if (scan_signed(&at, &pid) && scan_field(&at, " next_prio=", &prio) &&
		    at_word_end(&at))
			return set_task(&ev->b, next, s.p - strlen(" next_pid="), pid);
	}
	return false;
}

/* The layout of libtraceevent's plugin: prev:1 [120] S ==> next:2 [120]. */
static bool read_plugin_task(const char *name, const char *end, struct import_task *t,
			     const char **rest)
{
	/* The last colon that fits: the name is all text before it. */
	for (const char *colon = end; colon > name; colon--) {
		struct scan s = { colon, end };
		int64_t pid, prio;

		if (colon[-1] != ':' || !scan_signed(&s, &pid))
			continue;
		if (!scan_text(&s, " [") || !scan_signed(&s, &prio) || !scan_text(&s, "]") ||
		    !at_word_end(&s))
			continue;
		*rest = s.p;
		return set_task(t, name, colon - 1, pid);
	}
	return false;
}

static bool read_plugin_switch(struct scan s, struct import_event *ev)
{
	const char *name = s.p, *rest;

	while (scan_to(&s, " ==> ")) {
		const char *arrow = s.p - strlen(" ==> "), *state = arrow;

		while (state > name && state[-1] != ' ')
			state--;
		ev->state = import_perf_state(state, (size_t)(arrow - state));
		if (ev->state && state > name && read_plugin_task(name, state - 1, &ev->a, &rest) &&
		    rest == state - 1 && read_plugin_task(s.p, s.end, &ev->b, &rest))
			return true;
	}
	return false;
}

static bool read_switch(struct scan s, struct import_event *ev)
{
	struct scan at = s;
	const char *name;

	/* Flags may stand before the text. */
	if (!scan_to(&at, "prev_comm="))
		return read_plugin_switch(s, ev);
	name = at.p;
	while (scan_to(&at, " prev_pid=")) {
		struct scan tail = { at.p - strlen(" prev_pid="), s.end };

		if (read_switch_tail(tail, name, ev))
			return true;
	}
	return read_plugin_switch(s, ev);
}

/* ---- sched_waking and sched_wakeup* ---------------------------------------------------------- */

static bool read_wakeup_tail(struct scan s, const char *name, struct import_event *ev)
{
	int64_t pid, prio, success = 1, cpu;
	const char *name_end = s.p, *tail;

	if (!scan_field(&s, " pid=", &pid) || !scan_field(&s, " prio=", &prio))
		return false;
	tail = s.p;
	(void)scan_field(&s, " success=", &success);
	(void)scan_field(&s, " target_cpu=", &cpu);
	if ((s.p == tail && s.p != s.end) || !at_word_end(&s))
		return false;
	if (!success)
		ev->kind = IMPORT_OTHER; /* it was awake already */
	return set_task(&ev->a, name, name_end, pid);
}

static bool read_wakeup(struct scan s, struct import_event *ev)
{
	struct scan at = s;
	const char *name, *rest;

	if (scan_to(&at, "comm=")) {
		name = at.p;
		while (scan_to(&at, " pid=")) {
			struct scan tail = { at.p - strlen(" pid="), s.end };

			if (read_wakeup_tail(tail, name, ev))
				return true;
		}
	}
	scan_spaces(&s);
	return read_plugin_task(s.p, s.end, &ev->a, &rest);
}

/* ---- the others ---------------------------------------------------------------------------- */

/* NAME KEY=NUMBER: up to the last key that fits. */
static bool read_named(const char *name, struct scan s, const char *key, struct import_task *t,
		       const char **rest)
{
	bool found = false;
	int64_t pid;

	while (scan_to(&s, key)) {
		struct scan at = s;

		if (scan_signed(&at, &pid) && at_word_end(&at) &&
		    set_task(t, name, s.p - strlen(key), pid)) {
			found = true;
			*rest = at.p;
		}
	}
	return found;
}

static bool read_fork(struct scan s, struct import_event *ev)
{
	const char *name, *child, *rest;
	struct scan parent;

	if (!scan_to(&s, "comm="))
		return false;
	name = s.p;
	while (scan_to(&s, " child_comm=")) {
		child = s.p;
		parent = (struct scan) { name, child - strlen(" child_comm=") };
		if (read_named(name, parent, " pid=", &ev->a, &rest) && rest == parent.end &&
		    read_named(child, s, " child_pid=", &ev->b, &rest))
			return true;
	}
	return false;
}

static bool read_exec(struct scan s, struct import_event *ev)
{
	struct import_name file;
	const char *rest;
	int64_t old_pid;

	if (!scan_to(&s, "filename=") || !read_named(s.p, s, " pid=", &ev->a, &rest))
		return false;
	file = ev->a.name;
	s.p = rest;
	if (!scan_field(&s, " old_pid=", &old_pid) || !set_task(&ev->b, s.p, s.p, old_pid))
		return false;
	ev->a.name = file;
	return true;
}

static bool read_exit(struct scan s, struct import_event *ev)
{
	const char *rest;

	return scan_to(&s, "comm=") && read_named(s.p, s, " pid=", &ev->a, &rest);
}

static bool read_rename(struct scan s, struct import_event *ev)
{
	const char *name, *name_end = NULL;
	int64_t pid = ev->tid;

	/* Newer kernels print no pid=: a thread renames itself, except in pthread_setname_np(). */
	if (scan_to(&s, "pid=") && !scan_signed(&s, &pid))
		return false;
	if (!scan_to(&s, "oldcomm=") || !scan_to(&s, " newcomm="))
		return false;
	name = s.p;
	while (scan_to(&s, " oom_score_adj="))
		name_end = s.p - strlen(" oom_score_adj=");
	return name_end && set_task(&ev->a, name, name_end, pid);
}

static bool read_migrate(struct scan s, struct import_event *ev)
{
	int64_t prio, cpu;
	const char *name;

	if (!scan_to(&s, "comm="))
		return false;
	name = s.p;
	while (scan_to(&s, " pid=")) {
		const char *name_end = s.p - strlen(" pid=");
		struct scan at = s;
		int64_t pid;

		if (!scan_signed(&at, &pid) || !scan_field(&at, " prio=", &prio) ||
		    !scan_field(&at, " orig_cpu=", &cpu) || !scan_field(&at, " dest_cpu=", &cpu) ||
		    !at_word_end(&at) || cpu < 0 || cpu >= IMPORT_CPU_LIMIT)
			continue;
		ev->n = (uint64_t)cpu;
		return set_task(&ev->a, name, name_end, pid);
	}
	return false;
}

bool import_perf_text(const char *text, size_t len, struct import_event *ev)
{
	struct scan s = { text, text + len };

	scan_spaces(&s);
	switch (ev->kind) {
	case IMPORT_SWITCH:
		return read_switch(s, ev);
	case IMPORT_WAKING:
	case IMPORT_WAKEUP:
	case IMPORT_WAKEUP_NEW:
		return read_wakeup(s, ev);
	case IMPORT_FORK:
		return read_fork(s, ev);
	case IMPORT_EXEC:
		return read_exec(s, ev);
	case IMPORT_RENAME:
		return read_rename(s, ev);
	case IMPORT_EXIT:
		return read_exit(s, ev);
	case IMPORT_MIGRATE:
		return read_migrate(s, ev);
	default:
		return true;
	}
}
