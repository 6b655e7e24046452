/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize.h - gives every recorded address its name, and puts the names into the trace.
 *
 * A symbolizer watches what the machine maps and runs while it is being recorded: perf's sideband
 * (mmap, fork, exec, exit, BPF programs) from the moment it is made, /proc for what ran before. So
 * a process that is gone at the end, a deleted binary or one in a container still has names. Kernel
 * addresses are named at once, user addresses at the end: the addresses of one file together, and
 * only files with addresses are ever parsed.
 *
 * One thread uses a symbolizer. Process ids are those of the initial PID namespace, times are
 * CLOCK_MONOTONIC nanoseconds.
 *
 *     symbolizer_new()
 *     each turn of the drain loop:  symbolizer_wait() instead of sleeping, then symbolizer_poll()
 *         a user stack of tgid:     space = symbolizer_space(s, tgid, time_ns)
 *         each new frame id:        symbolizer_frame() or symbolizer_kernel_frame()
 *     symbolizer_finish(), then encoder_end(), symbolizer_free()
 */
#ifndef SYMBOLIZE_H
#define SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "encode.h"

struct symbolizer;

/* What will be asked for; the rest is not prepared. */
#define SYMBOLIZER_KERNEL 1u
#define SYMBOLIZER_USER 2u

struct symbolizer_stats {
	uint64_t kernel_frames, kernel_named;
	uint64_t user_frames, user_named;
	/* User frames without a name, by reason; together user_frames - user_named. */
	uint64_t unmapped;	/* in no executable mapping: mostly code without frame pointers */
	uint64_t no_file;	/* the file could not be opened in time, or not be read */
	uint64_t no_symbol;	/* no symbol of the file covers it: stripped */
	uint64_t no_perf_map;	/* generated code, and its process left no perf-PID.map */
	uint64_t sideband_lost; /* sideband records lost by the kernel */
	uint64_t lookup_us;	/* what symbolizer_finish() took */
	uint32_t files, files_read; /* files and perf maps with recorded frames; of them readable */
	uint32_t processes;	    /* address spaces of processes seen */
	int kernel_error;   /* why kernel names are missing: negative errno, 0 if they are not */
	int sideband_error; /* why the sideband is: short-lived processes then lack names */
};

/*
 * Begins to watch. parts is SYMBOLIZER_KERNEL | SYMBOLIZER_USER. Takes the state of all processes
 * (some 100 us each), so call it before the first event is recorded. enc is borrowed until
 * symbolizer_free(). NULL only when out of memory; what is not permitted is told by
 * symbolizer_status() and leaves frames unnamed.
 */
struct symbolizer *symbolizer_new(struct encoder *enc, unsigned int parts);
void symbolizer_free(struct symbolizer *s);

/*
 * Why names will be missing, known from the start: *kernel is -EPERM when the kernel hides its
 * addresses (kptr_restrict), *sideband what perf_event_open() said; 0: all is well.
 */
void symbolizer_status(const struct symbolizer *s, int *kernel, int *sideband);

/*
 * Takes in what the sideband has. A few loads per CPU when there is nothing; call it at least ten
 * times a second, as a process that has exited can only be looked at through its parent.
 */
void symbolizer_poll(struct symbolizer *s);

/*
 * Sleeps for timeout_ms, or until a signal, but looks at each process as soon as it runs a program:
 * it may be gone, and its files deleted, a moment later.
 */
void symbolizer_wait(struct symbolizer *s, int timeout_ms);

/*
 * The address space that process tgid had at time_ns, for encoder_frame(): one id per process and
 * exec, and another one from when a file's code is mapped in place of other code. Polls if need be.
 * 0 only when out of memory.
 */
uint32_t symbolizer_space(struct symbolizer *s, uint32_t tgid, uint64_t time_ns);

/*
 * Whether an address of that space is the same code at time_ns, in the same program of the same
 * process; if not, a library took the place of another one, and symbolizer_space() gives another
 * space. Polls if need be.
 */
bool symbolizer_holds(struct symbolizer *s, uint32_t space, uint64_t time_ns);

/*
 * The frame for an address of that space, to be given to encoder_frame(): the code of a file is the
 * same wherever it is mapped, so *space becomes the file's and *addr the place in it. Other
 * addresses stay as they are.
 */
void symbolizer_locate(struct symbolizer *s, uint32_t *space, uint64_t *addr, uint64_t time_ns);

/*
 * Tells a new user frame: frame is that of addr in space (as from symbolizer_space()) at time_ns.
 * To be told once per frame id (they are dense: an id above all before is new).
 */
void symbolizer_frame(struct symbolizer *s, uint32_t frame, uint32_t space, uint64_t addr,
		      uint64_t time_ns);

/*
 * False if nothing executable was mapped there: the number is no return address, as in stacks of
 * code without frame pointers, and what follows it on the stack is none either. True where that is
 * not known.
 */
bool symbolizer_is_code(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns);

/*
 * Forgets the spaces of processes that ended a while ago, now and then. For who keeps no space for
 * longer than a stack of it may come.
 */
void symbolizer_forget_ended(struct symbolizer *s);

/* Tells a new kernel frame, encoder_frame(enc, 0, addr), and names it now if that is possible. */
void symbolizer_kernel_frame(struct symbolizer *s, uint32_t frame, uint64_t addr);

/*
 * True if the kernel address lies in the tracing machinery (BPF programs, their trampolines and
 * helpers, tracepoint stubs): such frames on the leaf side are not the thread's own.
 */
bool symbolizer_is_tracer_frame(struct symbolizer *s, uint64_t addr);

/*
 * Calls fn for the code by which the kernel enters interrupts, from start up to end, where that is
 * known: on x86-64, and if the kernel shows its addresses.
 */
void symbolizer_interrupts(const struct symbolizer *s,
			   void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx);

/*
 * Names all frames told that have no name yet. Returns 0 or the negative errno of the encoder;
 * names that cannot be found are no error. *stats (may be NULL) is filled in either case. Once.
 */
int symbolizer_finish(struct symbolizer *s, struct symbolizer_stats *stats);

#endif /* SYMBOLIZE_H */
