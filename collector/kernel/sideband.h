/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sideband.h - perf's sideband: mmap, fork, exec and exit on all CPUs, as one stream in the order
 * of time. It owns the perf events and their rings, and keeps no record.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sideband_kind {
	SIDEBAND_MMAP, /* tgid mapped [addr, addr + len) executable: name, pgoff, maj, min, ino */
	SIDEBAND_FORK, /* a new process (tgid, of parent) or thread (tgid is parent) */
	SIDEBAND_EXEC, /* tgid runs a new program: its mappings are gone; name: the new comm */
	SIDEBAND_EXIT, /* the thread tid of tgid ended */
	SIDEBAND_KSYMBOL,      /* len bytes of kernel code called name were added at addr */
	SIDEBAND_KSYMBOL_GONE, /* these are about to go */
	/*
	 * From the kernel's messages about devices, without a time of their own: after from_ns and
	 * not after time_ns a module called name was added, or went. Name "": any may have gone, as
	 * records were lost.
	 */
	SIDEBAND_MODULE,
	SIDEBAND_MODULE_GONE,
};

struct sideband_record {
	enum sideband_kind kind;
	uint64_t time_ns, from_ns; /* CLOCK_MONOTONIC */
	uint32_t tgid, tid, parent;
	uint64_t addr, len, pgoff; /* pgoff in bytes */
	uint32_t maj, min;
	uint64_t ino;
	uint32_t generation; /* of the inode; 0: not known */
	const char *name;    /* terminated; valid in the handler */
};

struct sideband;

typedef void (*sideband_handler)(void *ctx, const struct sideband_record *r);

/*
 * Opens one event on each online CPU, with a ring of ring_bytes (a power of two) or what the kernel
 * allows: all kinds of records if with_tasks, else only SIDEBAND_KSYMBOL. Returns 0, -ENOMEM, or
 * the errno of perf_event_open() or mmap() (-EACCES: CAP_PERFMON is missing).
 */
int sideband_open(struct sideband **out, uint32_t ring_bytes, bool with_tasks);
void sideband_close(struct sideband *sb);

/*
 * Passes all records up to a time shortly after the call to the handler, in the order of time, and
 * returns that time: every record from before it has then been passed on, and a record comes before
 * those that it caused on other CPUs.
 */
uint64_t sideband_poll(struct sideband *sb, sideband_handler handler, void *ctx);

/*
 * Sleeps until records come, a signal, or the end of timeout_ms. Returns true if there may be
 * records. A few small records do not end the sleep. *others: a descriptor that was added to
 * sideband_epoll() is ready.
 */
bool sideband_wait(struct sideband *sb, int timeout_ms, bool *others);

/* The epoll descriptor by which it waits; others may be added, with data.u32 other than 0. */
int sideband_epoll(const struct sideband *sb);

/*
 * Records that the kernel reported as lost, plus one for each time that a CPU came online since the
 * beginning: its records are missing from when it went offline, or since the beginning.
 */
uint64_t sideband_lost(const struct sideband *sb);
