// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_format.h"

#include "import_scan.h"
#include "trace/trace.h"

#define NEEDED(name) (1u << PERF_FIELD_##name)

static const struct described {
	const char *system, *name;
	enum import_kind kind;
	const char *fields[PERF_FIELDS];
	unsigned int needed;
} described[PERF_TRACEPOINTS] = {
	{ "sched",
	  "sched_switch",
	  IMPORT_SWITCH,
	  { "prev_pid", "prev_comm", "prev_state", "next_pid", "next_comm" },
	  NEEDED(TID) | NEEDED(STATE) | NEEDED(TID_B) },
	{ "sched",
	  "sched_waking",
	  IMPORT_WAKING,
	  { "pid", "comm", [PERF_FIELD_SUCCESS] = "success" },
	  NEEDED(TID) },
	{ "sched",
	  "sched_wakeup",
	  IMPORT_WAKEUP,
	  { "pid", "comm", [PERF_FIELD_SUCCESS] = "success" },
	  NEEDED(TID) },
	{ "sched",
	  "sched_wakeup_new",
	  IMPORT_WAKEUP_NEW,
	  { "pid", "comm", [PERF_FIELD_SUCCESS] = "success" },
	  NEEDED(TID) },
	{ "sched",
	  "sched_migrate_task",
	  IMPORT_MIGRATE,
	  { "pid", "comm", [PERF_FIELD_CPU] = "dest_cpu" },
	  NEEDED(TID) | NEEDED(CPU) },
	{ "sched",
	  "sched_process_fork",
	  IMPORT_FORK,
	  { "parent_pid", "parent_comm", NULL, "child_pid", "child_comm" },
	  NEEDED(TID) | NEEDED(TID_B) },
	{ "sched",
	  "sched_process_exec",
	  IMPORT_EXEC,
	  { "pid", "filename", NULL, "old_pid" },
	  NEEDED(TID) | NEEDED(COMM) | NEEDED(TID_B) },
	{ "sched", "sched_process_exit", IMPORT_EXIT, { "pid", "comm" }, NEEDED(TID) },
	{ "task", "task_rename", IMPORT_RENAME, { "pid", "newcomm" }, NEEDED(COMM) },
};

/* ---- the text of a format ------------------------------------------------------------------- */

/* "KEY:NUMBER;" somewhere in the line. */
static bool scan_property(struct scan s, const char *key, uint32_t *v)
{
	uint64_t n;

	if (!scan_to(&s, key) || !scan_number(&s, &n) || !scan_text(&s, ";") || n > UINT16_MAX)
		return false;
	*v = (uint32_t)n;
	return true;
}

/*
 * The name in a declaration as "char prev_comm[16]": the last word, but for what brackets hold.
 * Tracefs puts nothing else behind it.
 */
static struct import_name declared_name(const char *p, const char *end)
{
	const char *bracket = memchr(p, '[', (size_t)(end - p)), *from;

	/* "__data_loc char[] filename" has its brackets before the name. */
	if (bracket && end[-1] == ']')
		end = bracket;
	for (from = end; from > p && from[-1] != ' ' && from[-1] != '*'; from--)
		;
	return (struct import_name) { from, (size_t)(end - from) };
}

/* A line "\tfield:DECLARATION;\toffset:8;\tsize:16;\tsigned:0;". */
static void read_field(struct scan s, const struct described *d, struct perf_tracepoint *t)
{
	struct perf_field field = { .size = 0 };
	struct import_name name;
	const char *semicolon;

	if (!scan_to(&s, "field:") || !(semicolon = memchr(s.p, ';', (size_t)(s.end - s.p))) ||
	    semicolon == s.p)
		return;
	name = declared_name(s.p, semicolon);
	field.is_elsewhere = scan_text(&s, "__data_loc ");
	s.p = semicolon;
	if (!scan_property(s, "offset:", &field.offset) || !scan_property(s, "size:", &field.size))
		return;
	for (size_t i = 0; i < PERF_FIELDS; i++)
		if (d->fields[i] && perf_text_is(name, d->fields[i]))
			t->field[i] = field;
}

/* False: the text does not have what is needed. */
static bool read_format(struct scan s, const struct described *d, struct perf_tracepoint *t)
{
	bool has_id = false;

	*t = (struct perf_tracepoint) { .kind = d->kind };
	while (s.p < s.end) {
		const char *nl = memchr(s.p, '\n', (size_t)(s.end - s.p));
		struct scan line = { s.p, nl ? nl : s.end };

		if (scan_text(&line, "ID: "))
			has_id = scan_number(&line, &t->id);
		else if (scan_text(&line, "print fmt:"))
			break;
		else
			read_field(line, d, t);
		s.p = nl ? nl + 1 : s.end;
	}
	for (size_t i = 0; i < PERF_FIELDS; i++)
		if (d->needed >> i & 1 && !t->field[i].size)
			return false;
	return has_id;
}

static void take_format(struct perf_formats *f, struct import_name system, struct perf_bytes text)
{
	struct scan s = { (const char *)text.p, (const char *)text.end };
	const char *nl = text.p < text.end ? memchr(text.p, '\n', perf_left(&text)) : NULL;
	struct import_name name;

	if (!nl || !scan_text(&s, "name: "))
		return;
	name = (struct import_name) { s.p, (size_t)(nl - s.p) };
	for (size_t i = 0; i < PERF_TRACEPOINTS && f->n < PERF_TRACEPOINTS; i++)
		if (perf_text_is(system, described[i].system) &&
		    perf_text_is(name, described[i].name) &&
		    read_format(s, &described[i], &f->at[f->n]))
			f->n++;
}

/* ---- the section ---------------------------------------------------------------------------- */

/* Skips a text: its size, of 8 bytes, and its bytes. */
static bool skip_sized(struct perf_bytes *b)
{
	uint64_t size;

	return perf_u64(b, &size) && perf_skip(b, size);
}

static bool read_systems(struct perf_formats *f, struct perf_bytes *b)
{
	uint32_t systems, count;
	struct import_name system;
	struct perf_bytes text;
	uint64_t size;

	if (!perf_u32(b, &systems))
		return false;
	/* Each takes bytes, so that the loops end with them. */
	for (uint32_t i = 0; i < systems; i++) {
		if (!perf_text(b, &system) || !perf_u32(b, &count))
			return false;
		for (uint32_t k = 0; k < count; k++) {
			if (!perf_u64(b, &size) || !perf_take(b, size, &text))
				return false;
			take_format(f, system, text);
		}
	}
	return true;
}

bool perf_formats_read(struct perf_formats *f, struct perf_bytes b)
{
	static const char magic[] = "\027\010\104tracing";
	struct import_name version, page, event;
	uint32_t count;

	if (perf_left(&b) < sizeof(magic) - 1 || memcmp(b.p, magic, sizeof(magic) - 1) != 0)
		return false;
	(void)perf_skip(&b, sizeof(magic) - 1);
	/* Byte order, size of a long, size of a page: fields tell their own sizes. */
	if (!perf_text(&b, &version) || !perf_skip(&b, 1 + 1 + 4) || !perf_text(&b, &page) ||
	    !skip_sized(&b) || !perf_text(&b, &event) || !skip_sized(&b) || !perf_u32(&b, &count))
		return false;
	/* Tracepoints of ftrace itself. */
	for (uint32_t i = 0; i < count; i++)
		if (!skip_sized(&b))
			return false;
	return read_systems(f, &b);
}

const struct perf_tracepoint *perf_formats_find(const struct perf_formats *f, uint64_t id)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->at[i].id == id)
			return &f->at[i];
	return NULL;
}

/* ---- an event ------------------------------------------------------------------------------- */

/* A number of the size that the field has; false: it is not in the bytes. */
static bool read_number(const struct perf_field *f, struct perf_bytes raw, int64_t *v)
{
	if (!perf_skip(&raw, f->offset) || perf_left(&raw) < f->size)
		return false;
	switch (f->size) {
	case 1:
		*v = *raw.p;
		return true;
	case 2:
		*v = raw.p[0] | raw.p[1] << 8;
		return true;
	case 4:
		*v = (int32_t)chainlog_get_le32(raw.p);
		return true;
	case 8:
		*v = (int64_t)chainlog_get_le64(raw.p);
		return true;
	default:
		return false;
	}
}

/* Where a text of changing length is: its size in the upper half, its offset in the lower. */
static bool find_elsewhere(const struct perf_field *f, struct perf_bytes raw,
			   struct perf_field *out)
{
	int64_t v;

	if (f->size != 4 || !read_number(f, raw, &v))
		return false;
	*out = (struct perf_field) { (uint32_t)v & 0xffff, (uint32_t)v >> 16, false };
	return true;
}

static bool read_text(const struct perf_field *f, struct perf_bytes raw, struct import_name *name)
{
	struct perf_field at = *f;

	if (f->is_elsewhere && !find_elsewhere(f, raw, &at))
		return false;
	if (!perf_skip(&raw, at.offset) || perf_left(&raw) < at.size)
		return false;
	*name = perf_text_in(raw.p, at.size);
	return true;
}

/* A thread by its fields; without a field for it, tid is as it was. */
static bool read_task(const struct perf_tracepoint *t, enum perf_field_name tid,
		      enum perf_field_name comm, struct perf_bytes raw, struct import_task *task)
{
	int64_t v = task->tid;

	if (t->field[tid].size && !read_number(&t->field[tid], raw, &v))
		return false;
	if (t->field[comm].size && !read_text(&t->field[comm], raw, &task->name))
		return false;
	task->tid = (uint32_t)v;
	return v >= 0 && v < TRACE_TID_LIMIT;
}

bool perf_tracepoint_read(const struct perf_tracepoint *t, struct perf_bytes raw,
			  struct import_event *ev)
{
	int64_t v;

	ev->a = (struct import_task) { ev->tid < 0 ? 0 : (uint32_t)ev->tid, 0, { NULL, 0 } };
	if (!read_task(t, PERF_FIELD_TID, PERF_FIELD_COMM, raw, &ev->a))
		return false;
	if (t->field[PERF_FIELD_TID_B].size &&
	    !read_task(t, PERF_FIELD_TID_B, PERF_FIELD_COMM_B, raw, &ev->b))
		return false;
	if (t->kind == IMPORT_SWITCH) {
		if (!read_number(&t->field[PERF_FIELD_STATE], raw, &v))
			return false;
		ev->state = import_perf_state_bits((uint64_t)v);
	}
	if (t->kind == IMPORT_MIGRATE) {
		if (!read_number(&t->field[PERF_FIELD_CPU], raw, &v) || v < 0 ||
		    v >= IMPORT_CPU_LIMIT)
			return false;
		ev->n = (uint64_t)v;
	}
	if (t->field[PERF_FIELD_SUCCESS].size) {
		if (!read_number(&t->field[PERF_FIELD_SUCCESS], raw, &v))
			return false;
		if (!v)
			ev->kind = IMPORT_OTHER; /* it was awake already */
	}
	return true;
}
