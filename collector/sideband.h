/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sideband.h - perf's sideband: what the kernel maps, forks, runs and ends, on all CPUs, as a
 * single stream in the order of time. It owns the perf events and their rings, and knows nothing of
 * what the records mean.
 */
#ifndef SIDEBAND_H
#define SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>

enum sideband_kind {
	SIDEBAND_MMAP, /* tgid mapped [addr, addr + len) executable: name, pgoff, maj, min, ino */
	SIDEBAND_FORK, /* a new process (tgid, of parent) or thread (tgid is parent) */
	SIDEBAND_EXEC, /* tgid runs a new program: its mappings are gone; name: the new comm */
	SIDEBAND_EXIT, /* the thread tid of tgid ended */
	SIDEBAND_KSYMBOL, /* len bytes of kernel code named name came to be at addr */
};

struct sideband_record {
	enum sideband_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t tgid, tid, parent;
	uint64_t addr, len, pgoff; /* pgoff in bytes */
	uint32_t maj, min;
	uint64_t ino;
	const char *name; /* terminated; gone after the handler */
};

struct sideband;

typedef void (*sideband_handler)(void *ctx, const struct sideband_record *r);

/*
 * Opens one event with a ring of at most ring_bytes (a power of two) on each CPU that is online,
 * for kernel code only (SIDEBAND_KSYMBOL) or, if with_tasks, all kinds;
 * rings are made smaller where the kernel allows no more. Returns 0, -ENOMEM, or what
 * perf_event_open() or mmap() said of the first CPU (-EACCES: CAP_PERFMON is missing).
 */
int sideband_open(struct sideband **out, uint32_t ring_bytes, bool with_tasks);
void sideband_close(struct sideband *sb);

/*
 * Hands all records up to a moment shortly after the call to the handler, in the order of time, and
 * returns that moment: every record that happened before it has then been handed over, and what
 * one record caused on another CPU comes after it.
 */
uint64_t sideband_poll(struct sideband *sb, sideband_handler handler, void *ctx);

/*
 * Sleeps until there is something to take, a signal, or timeout_ms are over. Returns true if there
 * may be something. A few small records may be there without that.
 */
bool sideband_wait(struct sideband *sb, int timeout_ms);

/*
 * Records that the kernel could not keep, as far as it has told, and one for each CPU that was
 * offline at the beginning and has come online.
 */
uint64_t sideband_lost(const struct sideband *sb);

#endif /* SIDEBAND_H */
