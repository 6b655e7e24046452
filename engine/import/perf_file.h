/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_file.h - a data file of perf as bytes: its header, which events were recorded with which
 * fields, what it says of the machine and of files' build IDs, and its records. Two layouts: of
 * files, and of pipes (perf record -o -), where all is records. Nothing is copied: names and
 * records are in the input, which must live as long.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt; include/uapi/linux/perf_event.h
 * (records below 64, attributes); tools/lib/perf/include/perf/event.h (the others).
 */
#pragma once

#include "base/pairs.h"
#include "perf_format.h"

/* Bits of sample_type: the fields that samples have, in another order. */
enum perf_sample_bit {
	PERF_BIT_IP = 1u << 0,
	PERF_BIT_TID = 1u << 1,
	PERF_BIT_TIME = 1u << 2,
	PERF_BIT_ADDR = 1u << 3,
	PERF_BIT_READ = 1u << 4,
	PERF_BIT_CALLCHAIN = 1u << 5,
	PERF_BIT_ID = 1u << 6,
	PERF_BIT_CPU = 1u << 7,
	PERF_BIT_PERIOD = 1u << 8,
	PERF_BIT_STREAM = 1u << 9,
	PERF_BIT_RAW = 1u << 10,
	PERF_BIT_STACK_USER = 1u << 13,
	PERF_BIT_IDENTIFIER = 1u << 16,
};

/* An event that was recorded. */
struct perf_attr {
	uint32_t type;
	uint64_t config, sample_type, read_format;
	bool has_trailer; /* other records than samples end with some of the fields, too */
	struct import_name name;
	enum import_kind kind; /* see perf_file_kinds() */
	bool is_cycles;	       /* SAMPLE: it counts cycles or time */
	const struct perf_tracepoint *tracepoint;
	/*
	 * Bytes from the beginning of a sample's body up to behind its time, and from the end of
	 * another record back to its time; 0: it has none.
	 */
	uint32_t time_at, time_back;
};

enum perf_record_type {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_KSYMBOL = 17,
	PERF_CALLCHAIN_DEFERRED = 22,
	PERF_FIRST_OF_TOOL = 64, /* those from here on are perf's own: they have no time */
	PERF_HEADER_ATTR = 64,
	PERF_TRACING_DATA = 66,
	PERF_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_AUXTRACE = 71,
	PERF_EVENT_UPDATE = 78,
	PERF_HEADER_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83,
};

struct perf_record {
	uint32_t type; /* enum perf_record_type, or another one */
	uint16_t misc;
	struct perf_bytes body; /* what follows its header */
};

/* Bits of misc. */
#define PERF_MISC_CPUMODE 7u
#define PERF_MISC_KERNEL 1u
#define PERF_MISC_USER 2u
#define PERF_MISC_GUEST 4u /* and above: a virtual machine's */
#define PERF_MISC_COMM_EXEC (1u << 13)
#define PERF_MISC_MMAP_BUILD_ID (1u << 14)
#define PERF_MISC_KSYMBOL_GONE 1u
#define PERF_MISC_BUILD_ID_SIZE (1u << 15)

#define PERF_BUILD_ID_MAX 20u
/* A recording of more events is refused: perf opens one descriptor for each, on each CPU. */
#define PERF_ATTRS_MAX 4096u

/* The build ID of a file, of the kernel or of a module. */
struct perf_build_id {
	struct import_name path;
	uint16_t misc;
	uint8_t len; /* at most PERF_BUILD_ID_MAX */
	const uint8_t *id;
};

struct perf_file {
	bool is_pipe;
	bool is_stale;		/* the kinds of the attributes have to be found out again */
	bool is_cut;		/* it ends before it should */
	uint64_t damage_offset; /* where, or of what else could not be read; 0: nothing */
	uint64_t bad_records;
	struct perf_bytes all, data;
	struct perf_attr *attrs;
	size_t n_attrs, cap_attrs;
	struct pairs ids;  /* (lower, upper half) of an event's id */
	uint32_t *attr_of; /* by number in ids: number of the attribute */
	size_t cap_attr_of;
	struct perf_formats formats;
	struct import_name host, release, arch, version;
	struct import_name *arguments; /* the command line */
	size_t n_arguments, cap_arguments;
	uint32_t cpus;
	int64_t wall_ns; /* CLOCK_REALTIME - the recording's clock; 0: not known */
	struct perf_build_id *build_ids;
	size_t n_build_ids, cap_build_ids;
};

/* What begins with these bytes is such a file, of either byte order. */
#define PERF_MAGIC_BYTES 8u
bool perf_file_is(const void *p, size_t len);

/*
 * Reads what is outside of the records. Returns 0, -ENOMEM, or a negative enum import_error.
 * perf_file_free() in all cases.
 */
int perf_file_open(struct perf_file *f, const uint8_t *p, size_t len);
void perf_file_free(struct perf_file *f);

/* Takes the next record from bytes. False: they are at their end, or have no whole record there. */
bool perf_record_take(struct perf_bytes *b, struct perf_record *r);
/*
 * Takes the next record of the file, and with it the bytes that some have behind them. False: there
 * is none; is_cut says if there should be.
 */
bool perf_file_next(struct perf_file *f, struct perf_record *r);
/*
 * A record from PERF_FIRST_OF_TOOL on: takes what it defines. Returns 0, -ENOMEM; -EBADMSG if it
 * cannot be read.
 */
int perf_file_define(struct perf_file *f, const struct perf_record *r);
/* Finds out what the events are, as far as attributes and formats are there. */
void perf_file_kinds(struct perf_file *f);

/* The attribute of a record; NULL: it cannot be told. */
const struct perf_attr *perf_file_attr(const struct perf_file *f, const struct perf_record *r);
/* Counts something that cannot be read; at: its first byte. */
void perf_file_damaged(struct perf_file *f, const uint8_t *at);
