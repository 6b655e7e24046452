/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data_make.h - data files of perf in the making, for tests: what perf record writes, record
 * by record, as a file or as for a pipe. Threads and times are those of perf_text.h; functions of
 * the kernel are told by records of symbols.
 */
#pragma once

#include "import/perf_data.h"
#include "perf_text.h"

#define MADE_SWITCH 0u
#define MADE_WAKING 1u
#define MADE_ATTRS 2u
#define MADE_CPUS 4u
/* Numbers of the tracepoints. */
#define MADE_CONFIG 316u
#define MADE_KERNEL 0xffffffff81000000u

/* What perf record -a -g asks for. */
#define MADE_USUAL                                                                        \
	(PERF_BIT_IP | PERF_BIT_TID | PERF_BIT_TIME | PERF_BIT_CALLCHAIN | PERF_BIT_CPU | \
	 PERF_BIT_PERIOD | PERF_BIT_RAW | PERF_BIT_IDENTIFIER)

struct made {
	uint8_t p[512 << 10];
	size_t len;
	bool is_pipe;
	bool is_moved; /* the tracepoints have their fields elsewhere */
	uint64_t sample_type, read_format;
	size_t data;
	const char *functions[64];
	uint32_t n_functions;
};

static inline void made_bytes(struct made *m, const void *p, size_t len)
{
	assert(m->len + len <= sizeof(m->p));
	memcpy(m->p + m->len, p, len);
	m->len += len;
}

static inline void made_u16(struct made *m, uint16_t v)
{
	made_bytes(m, &v, sizeof(v));
}

static inline void made_u32(struct made *m, uint32_t v)
{
	made_bytes(m, &v, sizeof(v));
}

static inline void made_u64(struct made *m, uint64_t v)
{
	made_bytes(m, &v, sizeof(v));
}

static inline void made_text(struct made *m, const char *text, size_t room)
{
	char padded[256] = "";

	assert(room <= sizeof(padded) && strlen(text) <= room);
	memcpy(padded, text, strlen(text));
	made_bytes(m, padded, room);
}

/* ---- records ------------------------------------------------------------------------------- */

static inline size_t made_begin_record(struct made *m, uint32_t type, uint16_t misc)
{
	made_u32(m, type);
	made_u16(m, misc);
	made_u16(m, 0);
	return m->len - 8;
}

static inline void made_end_record(struct made *m, size_t at)
{
	uint16_t len;

	while ((m->len - at) % 8)
		made_bytes(m, "", 1);
	assert(m->len - at <= UINT16_MAX);
	len = (uint16_t)(m->len - at);
	memcpy(m->p + at + 6, &len, sizeof(len));
}

static inline uint64_t made_id(uint32_t event, uint32_t cpu)
{
	return 1000 + event * MADE_CPUS + cpu;
}

/* What ends other records than samples. */
static inline void made_trailer(struct made *m, uint32_t cpu, uint64_t time_ns, uint64_t id)
{
	uint64_t type = m->sample_type;

	if (type & PERF_BIT_TID)
		made_u64(m, 0);
	if (type & PERF_BIT_TIME)
		made_u64(m, time_ns);
	if (type & PERF_BIT_ID)
		made_u64(m, id);
	if (type & PERF_BIT_STREAM)
		made_u64(m, 0);
	if (type & PERF_BIT_CPU)
		made_u64(m, cpu);
	if (type & PERF_BIT_IDENTIFIER)
		made_u64(m, id);
}

static inline void made_round(struct made *m)
{
	made_end_record(m, made_begin_record(m, PERF_FINISHED_ROUND, 0));
}

/* The address in a function of the kernel, which a record tells of when it is new. */
static inline uint64_t made_function(struct made *m, const char *name, size_t len)
{
	char text[64] = "";
	uint32_t i = 0;
	size_t at;

	while (i < m->n_functions &&
	       (strlen(m->functions[i]) != len || memcmp(m->functions[i], name, len) != 0))
		i++;
	if (i == m->n_functions) {
		assert(i < 64 && len < sizeof(text));
		memcpy(text, name, len);
		m->functions[m->n_functions++] = strdup(text);
		at = made_begin_record(m, PERF_KSYMBOL, 0);
		made_u64(m, MADE_KERNEL + i * 256);
		made_u32(m, 256);
		made_u32(m, 1);
		made_text(m, text, (len + 8) / 8 * 8);
		made_trailer(m, 0, 0, 0);
		made_end_record(m, at);
	}
	return MADE_KERNEL + i * 256 + 16;
}

/*
 * A chain: functions of the kernel, or addresses with 0x, leaf first, joined by ';'; behind a '|'
 * addresses of the user part, or behind a '?' the number that stands for it until it comes. Returns
 * how many entries.
 */
static inline size_t made_chain(struct made *m, const char *frames, uint64_t chain[64])
{
	size_t n = 0;
	bool user = *frames == '|';

	if (*frames && !user)
		chain[n++] = (uint64_t)-128;
	for (const char *p = frames; *p;) {
		size_t len = strcspn(p, ";|?");

		if (len && (user || !strncmp(p, "0x", 2)))
			chain[n++] = strtoull(p, NULL, 16);
		else if (len)
			chain[n++] = made_function(m, p, len);
		p += len;
		if (*p == '?') {
			user = true;
			chain[n++] = (uint64_t)-640;
		}
		if (*p == '|') {
			user = true;
			chain[n++] = (uint64_t)-512;
		}
		p += *p != 0;
	}
	return n;
}

static inline void made_switch_raw(struct made *m, const char *prev, uint64_t state,
				   const char *next)
{
	made_u64(m, MADE_CONFIG);
	if (m->is_moved)
		made_u64(m, 0xdeadbeef);
	made_text(m, text_name(prev), 16);
	made_u32(m, text_tid(prev));
	made_u32(m, 120);
	made_u64(m, state);
	made_text(m, text_name(next), 16);
	made_u32(m, text_tid(next));
	made_u32(m, 120);
}

/* Where the name is, at the end, is in the last field. */
static inline void made_waking_raw(struct made *m, const char *wakee)
{
	made_u64(m, MADE_CONFIG + 1);
	if (!m->is_moved)
		made_text(m, text_name(wakee), 16);
	made_u32(m, text_tid(wakee));
	made_u32(m, 120);
	made_u32(m, 1);
	if (m->is_moved) {
		made_u32(m, 24u | (uint32_t)(strlen(text_name(wakee)) + 1) << 16);
		made_text(m, text_name(wakee), 16);
	}
}

/* A sample of MADE_SWITCH, next and state being set, or of MADE_WAKING of next. */
static inline void made_sample(struct made *m, uint32_t event, uint32_t cpu, int us,
			       const char *who, const char *next, uint64_t state,
			       const char *frames)
{
	uint64_t chain[64], type = m->sample_type, id = made_id(event, cpu);
	size_t n = made_chain(m, frames, chain), at = made_begin_record(m, PERF_SAMPLE, 1), raw;
	uint32_t bytes;

	if (type & PERF_BIT_IDENTIFIER)
		made_u64(m, id);
	if (type & PERF_BIT_IP)
		made_u64(m, MADE_KERNEL);
	if (type & PERF_BIT_TID) {
		made_u32(m, text_tid(who));
		made_u32(m, text_tid(who));
	}
	if (type & PERF_BIT_TIME)
		made_u64(m, 1000000000 + (uint64_t)us * 1000);
	if (type & PERF_BIT_ADDR)
		made_u64(m, 0);
	if (type & PERF_BIT_ID)
		made_u64(m, id);
	if (type & PERF_BIT_STREAM)
		made_u64(m, id);
	if (type & PERF_BIT_CPU)
		made_u64(m, cpu);
	if (type & PERF_BIT_PERIOD)
		made_u64(m, 1);
	/* A group of two counters, with times, ids and losses. */
	if (type & PERF_BIT_READ)
		for (uint64_t i = 0; i < 9; i++)
			made_u64(m, i ? i : 2);
	if (type & PERF_BIT_CALLCHAIN) {
		made_u64(m, n);
		made_bytes(m, chain, n * 8);
	}
	if (type & PERF_BIT_RAW) {
		made_u32(m, 0);
		raw = m->len;
		if (event == MADE_SWITCH)
			made_switch_raw(m, who, state, next);
		else
			made_waking_raw(m, next);
		bytes = (uint32_t)(m->len - raw);
		memcpy(m->p + raw - 4, &bytes, sizeof(bytes));
	}
	made_end_record(m, at);
}

static inline void made_switch(struct made *m, uint32_t cpu, int us, const char *prev,
			       const char *state, const char *next, const char *frames)
{
	made_sample(m, MADE_SWITCH, cpu, us, prev, next, *state == 'S' ? 1 : 0, frames);
}

static inline void made_waking(struct made *m, uint32_t cpu, int us, const char *waker,
			       const char *wakee, const char *frames)
{
	made_sample(m, MADE_WAKING, cpu, us, waker, wakee, 0, frames);
}

/* us 0: of the state at the start, as perf lists it. */
static inline uint64_t made_time(int us)
{
	return us ? 1000000000 + (uint64_t)us * 1000 : 0;
}

struct made_file {
	uint32_t major, minor;
	uint64_t inode, generation;
};

static inline void made_map_of(struct made *m, int us, uint32_t tgid, uint64_t start, uint64_t len,
			       uint64_t offset, const char *path, const struct made_file *file)
{
	size_t at = made_begin_record(m, PERF_MMAP2, PERF_MISC_USER);

	made_u32(m, tgid);
	made_u32(m, tgid);
	made_u64(m, start);
	made_u64(m, len);
	made_u64(m, offset);
	made_bytes(m, file, sizeof(*file));
	made_u64(m, 5);
	made_text(m, path, (strlen(path) + 8) / 8 * 8);
	made_trailer(m, 0, made_time(us), us ? made_id(0, 0) : 0);
	made_end_record(m, at);
}

static inline void made_map(struct made *m, int us, uint32_t tgid, uint64_t start, uint64_t len,
			    uint64_t offset, const char *path)
{
	made_map_of(m, us, tgid, start, len, offset, path, &(struct made_file) { .inode = 0 });
}

/* What the kernel has mapped. */
static inline void made_kernel_map(struct made *m, uint64_t start, uint64_t len, const char *path)
{
	size_t at = made_begin_record(m, PERF_MMAP, PERF_MISC_KERNEL);

	made_u32(m, UINT32_MAX);
	made_u32(m, 0);
	made_u64(m, start);
	made_u64(m, len);
	made_u64(m, start);
	made_text(m, path, (strlen(path) + 8) / 8 * 8);
	made_trailer(m, 0, 0, 0);
	made_end_record(m, at);
}

/* In a pipe: the build ID of a file, 20 bytes, or of the kernel. */
static inline void made_build_id(struct made *m, uint16_t mode, const uint8_t id[20],
				 const char *path)
{
	size_t at = made_begin_record(m, PERF_BUILD_ID, mode);

	made_u32(m, UINT32_MAX);
	made_bytes(m, id, 20);
	made_u32(m, 0);
	made_text(m, path, (strlen(path) + 8) / 8 * 8);
	made_end_record(m, at);
}

static inline void made_fork(struct made *m, int us, uint32_t parent, uint32_t child)
{
	size_t at = made_begin_record(m, PERF_FORK, 0);

	made_u32(m, child);
	made_u32(m, parent);
	made_u32(m, child);
	made_u32(m, parent);
	made_u64(m, made_time(us));
	made_trailer(m, 0, made_time(us), us ? made_id(0, 0) : 0);
	made_end_record(m, at);
}

static inline void made_comm(struct made *m, int us, uint32_t tgid, uint32_t tid, bool exec,
			     const char *name)
{
	size_t at = made_begin_record(m, PERF_COMM, exec ? PERF_MISC_COMM_EXEC : 0);

	made_u32(m, tgid);
	made_u32(m, tid);
	made_text(m, name, (strlen(name) + 8) / 8 * 8);
	made_trailer(m, 0, made_time(us), us ? made_id(0, 0) : 0);
	made_end_record(m, at);
}

/* What the number in a chain stands for: addresses, leaf first. */
static inline void made_deferred(struct made *m, int us, uint64_t cookie, const char *frames)
{
	uint64_t chain[64];
	size_t n = made_chain(m, frames, chain), at;

	at = made_begin_record(m, PERF_CALLCHAIN_DEFERRED, 0);
	made_u64(m, cookie);
	made_u64(m, n);
	made_bytes(m, chain, n * 8);
	made_trailer(m, 0, made_time(us), made_id(0, 0));
	made_end_record(m, at);
}

static inline void made_lost(struct made *m, uint32_t cpu, int us, uint64_t n)
{
	size_t at = made_begin_record(m, PERF_LOST, 0);

	made_u64(m, made_id(0, cpu));
	made_u64(m, n);
	made_trailer(m, cpu, made_time(us), made_id(0, cpu));
	made_end_record(m, at);
}

/* ---- the rest ------------------------------------------------------------------------------ */

static inline void made_format(struct made *m, const char *name, uint32_t id, const char *fields)
{
	char text[2048];
	int len = snprintf(text, sizeof(text),
			   "name: %s\nID: %u\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			   "%s\nprint fmt: \"prev_comm=%%s field:int pid;\"\n",
			   name, id, fields);

	made_u64(m, (uint64_t)len);
	made_bytes(m, text, (size_t)len);
}

#define MADE_FIELD(what, offset, size) \
	"\tfield:" what ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"

static inline void made_tracing_data(struct made *m)
{
	made_bytes(m, "\027\010\104tracing0.6", 14);
	made_bytes(m, "\0\010\0\020\0\0", 6);
	made_bytes(m, "header_page", 12);
	made_u64(m, 3);
	made_bytes(m, "abc", 3);
	made_bytes(m, "header_event", 13);
	made_u64(m, 0);
	made_u32(m, 1);
	made_u64(m, 5);
	made_bytes(m, "ftrac", 5);
	made_u32(m, 1);
	made_bytes(m, "sched", 6);
	made_u32(m, 2);
	made_format(m, "sched_switch", MADE_CONFIG,
		    m->is_moved
			    ? MADE_FIELD("char prev_comm[16]", 16, 16)
				      MADE_FIELD("pid_t prev_pid", 32, 4)
					      MADE_FIELD("long prev_state", 40, 8)
						      MADE_FIELD("char next_comm[16]", 48, 16)
							      MADE_FIELD("pid_t next_pid", 64, 4)
			    : MADE_FIELD("char prev_comm[16]", 8, 16)
				      MADE_FIELD("pid_t prev_pid", 24, 4)
					      MADE_FIELD("long prev_state", 32, 8)
						      MADE_FIELD("char next_comm[16]", 40, 16)
							      MADE_FIELD("pid_t next_pid", 56, 4));
	made_format(m, "sched_waking", MADE_CONFIG + 1,
		    m->is_moved ? MADE_FIELD("pid_t pid", 8, 4)
					  MADE_FIELD("__data_loc char[] comm", 20, 4)
				: MADE_FIELD("char comm[16]", 8, 16)
					  MADE_FIELD("pid_t pid", 24, 4));
	made_u32(m, 0);
	made_u32(m, 0);
	made_u64(m, 0);
}

static inline void made_attr(struct made *m, uint32_t event)
{
	made_u32(m, 2);
	made_u32(m, 64);
	made_u64(m, MADE_CONFIG + event);
	made_u64(m, 1);
	made_u64(m, m->sample_type);
	made_u64(m, m->read_format);
	made_u64(m, 1u << 18);
	made_u64(m, 0);
	made_u64(m, 0);
}

static inline void made_ids(struct made *m, uint32_t event)
{
	for (uint32_t cpu = 0; cpu < MADE_CPUS; cpu++)
		made_u64(m, made_id(event, cpu));
}

/* In a pipe: the event of perf record --off-cpu, a BPF program's output of that name. */
static inline void made_off_cpu_event(struct made *m)
{
	size_t at = made_begin_record(m, PERF_HEADER_ATTR, 0), attr = m->len;
	uint32_t software = 1, output = 10;

	made_attr(m, MADE_ATTRS);
	memcpy(m->p + attr, &software, sizeof(software));
	memcpy(m->p + attr + 8, &output, sizeof(output));
	made_ids(m, MADE_ATTRS);
	made_end_record(m, at);
	at = made_begin_record(m, PERF_EVENT_UPDATE, 0);
	made_u64(m, 2);
	made_u64(m, made_id(MADE_ATTRS, 0));
	made_text(m, "offcpu-time", 16);
	made_end_record(m, at);
}

/*
 * A sample of it, of the usual type: the thread was off the CPU for ns. in_raw: as since perf 6.16,
 * where the program wrote all of it.
 */
static inline void made_off_cpu(struct made *m, const char *who, uint64_t ns, const char *frames,
				bool in_raw)
{
	uint64_t chain[64];
	size_t n = made_chain(m, frames, chain), at = made_begin_record(m, PERF_SAMPLE, 2);
	uint32_t tid = in_raw ? 0 : text_tid(who);

	made_u64(m, made_id(MADE_ATTRS, 0));
	made_u64(m, 0);
	made_u32(m, tid);
	made_u32(m, tid);
	made_u64(m, (uint64_t)UINT32_MAX << 32);
	made_u64(m, 0);
	made_u64(m, in_raw ? 1 : ns);
	made_u64(m, in_raw ? 0 : n);
	made_bytes(m, chain, in_raw ? 0 : n * 8);
	made_u32(m, in_raw ? (uint32_t)(8 + 8 + 8 + n * 8 + 8) : 0);
	if (in_raw) {
		made_u32(m, text_tid(who));
		made_u32(m, text_tid(who));
		made_u64(m, ns);
		made_u64(m, n);
		made_bytes(m, chain, n * 8);
		made_u64(m, 0);
	}
	made_end_record(m, at);
}

#define MADE_HEADER 104u
#define MADE_IDS (MADE_CPUS * 8u)

/* Begins it; is_pipe, is_moved and sample_type are set, if they are not to be the usual ones. */
static inline void made_begin(struct made *m)
{
	if (!m->sample_type)
		m->sample_type = MADE_USUAL;
	m->read_format = 31;
	m->len = 0;
	m->n_functions = 0;
	made_bytes(m, "PERFILE2", 8);
	made_u64(m, m->is_pipe ? 16 : MADE_HEADER);
	if (m->is_pipe) {
		size_t at, body;
		uint32_t size;

		for (uint32_t event = 0; event < MADE_ATTRS; event++) {
			at = made_begin_record(m, PERF_HEADER_ATTR, 0);
			made_attr(m, event);
			made_ids(m, event);
			made_end_record(m, at);
		}
		at = made_begin_record(m, PERF_TRACING_DATA, 0);
		made_u32(m, 0);
		made_u32(m, 0);
		made_end_record(m, at);
		body = m->len;
		made_tracing_data(m);
		while (m->len % 8)
			made_bytes(m, "", 1);
		size = (uint32_t)(m->len - body);
		memcpy(m->p + body - 8, &size, sizeof(size));
		return;
	}
	made_u64(m, 64 + 16);
	made_u64(m, MADE_HEADER);
	made_u64(m, MADE_ATTRS * (64 + 16));
	made_u64(m, MADE_HEADER + MADE_ATTRS * (64 + 16 + MADE_IDS)); /* the data */
	made_u64(m, 0);
	for (int i = 0; i < 2; i++)
		made_u64(m, 0);
	made_u64(m, 1u << 1 | 1u << 3); /* tracing data, host */
	for (int i = 0; i < 3; i++)
		made_u64(m, 0);
	for (uint32_t event = 0; event < MADE_ATTRS; event++) {
		made_attr(m, event);
		made_u64(m, MADE_HEADER + MADE_ATTRS * (64 + 16) + event * MADE_IDS);
		made_u64(m, MADE_IDS);
	}
	for (uint32_t event = 0; event < MADE_ATTRS; event++)
		made_ids(m, event);
	m->data = m->len;
}

static inline void made_end(struct made *m)
{
	uint64_t size = m->len - m->data, at, len;
	size_t table = m->len;

	for (uint32_t i = 0; i < m->n_functions; i++)
		free((char *)m->functions[i]);
	m->n_functions = 0;
	if (m->is_pipe)
		return;
	memcpy(m->p + 48, &size, sizeof(size));
	for (int i = 0; i < 4; i++)
		made_u64(m, 0);
	at = m->len;
	made_tracing_data(m);
	len = m->len - at;
	memcpy(m->p + table, &at, sizeof(at));
	memcpy(m->p + table + 8, &len, sizeof(len));
	at = m->len;
	made_u32(m, 8);
	made_text(m, "vm", 8);
	len = m->len - at;
	memcpy(m->p + table + 16, &at, sizeof(at));
	memcpy(m->p + table + 24, &len, sizeof(len));
}

/* As made_open(), of a recording that was written then. */
static inline int made_open_written(struct text_trace *tt, const uint8_t *p, size_t len,
				    int64_t written_ns)
{
	return text_import(tt, p, len, written_ns, perf_data_import);
}

/* Returns what perf_data_import() does; the trace as in perf_text.h. */
static inline int made_open(struct text_trace *tt, const uint8_t *p, size_t len)
{
	return made_open_written(tt, p, len, 0);
}
