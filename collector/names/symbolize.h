/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize.h - gives every recorded address its name, and writes the names into the trace.
 *
 * A symbolizer watches what the machine maps and runs during the recording: perf's sideband (mmap,
 * fork, exec, exit, BPF programs) from the moment it is made, /proc for what ran before. So a
 * process that has ended, a deleted binary or one in a container still gets names. Kernel addresses
 * are named at once, user addresses at the end, file by file, or before that where the file goes or
 * very many wait; files without recorded addresses are never parsed.
 *
 * One thread uses a symbolizer. Process ids are those of the initial PID namespace, times are
 * CLOCK_MONOTONIC nanoseconds.
 *
 *     symbolizer_new()
 *     each turn of the drain loop:  symbolizer_wait() instead of sleeping, then symbolizer_poll()
 *         a user stack of tgid:     space = symbolizer_space(s, tgid, time_ns)
 *         each new frame id:        symbolizer_frame() or symbolizer_kernel_frame()
 *     symbolizer_finish(), then encoder_end(), symbolizer_free()
 *
 * The flight recorder finds the place of each frame when it is seen (symbolizer_place()), but names
 * frames only for a trace that is written; what leaves its window it gives back, so that a
 * symbolizer can watch for ever. See the end of this file.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "common/encoder.h"
#include "files/codefile.h"
#include "files/proc_images.h"
#include "files/runtimes.h"

struct symbolizer;
struct kernel_names;

/* The names that will be asked for; the rest is not prepared. */
#define SYMBOLIZER_KERNEL 1u
#define SYMBOLIZER_USER 2u

#define SYMBOLIZER_LACKS_MAX 24u   /* kinds; there are fewer */
#define SYMBOLIZER_LACKS_NAMED 3u  /* processes of a kind that have names in the closing lines */
#define SYMBOLIZER_PROGRAM_MAX 24u /* of a program's name, with the terminator */

/* What stacks lack: of how many processes, and the first of these. */
struct symbolizer_lack {
	const struct runtime_lack *lack;
	uint32_t processes;
	struct {
		uint32_t tgid;
		char program[SYMBOLIZER_PROGRAM_MAX];
	} named[SYMBOLIZER_LACKS_NAMED];
};

struct symbolizer_stats {
	uint64_t kernel_frames, kernel_named;
	uint64_t user_frames, user_named;
	/* User frames without a name, by reason; together user_frames - user_named. */
	uint64_t unmapped;    /* in no executable mapping: mostly code without frame pointers */
	uint64_t too_many;    /* more than are kept for the end */
	uint64_t no_file;     /* the file could not be opened in time, or not be read */
	uint64_t no_symbol;   /* no symbol of the file covers it: stripped */
	uint64_t bounded;     /* ... but the bounds of its function are known: part of no_symbol */
	uint64_t no_perf_map; /* generated code, and its process left no perf-PID.map */
	uint64_t late;	      /* there was no time, or they are to be named later */
	uint64_t sideband_lost; /* sideband records lost by the kernel */
	uint64_t lookup_us;	/* duration of symbolizer_finish() */
	/* Files and perf maps with recorded frames, each as often as it was read; readable ones. */
	uint32_t files, files_read;
	uint32_t late_files; /* of the frames that are late */
	uint32_t processes;  /* address spaces of processes seen */
	uint32_t n_lacks;
	struct symbolizer_lack lacks[SYMBOLIZER_LACKS_MAX];
};

/*
 * Begins to watch. parts is SYMBOLIZER_KERNEL | SYMBOLIZER_USER. Reads the state of all processes
 * (some 100 us each), so call it before the first event is recorded. enc is borrowed until
 * symbolizer_free(). Returns 0 or -ENOMEM; missing permissions show in symbolizer_status() and
 * leave frames unnamed.
 */
int symbolizer_new(struct symbolizer **out, struct encoder *enc, unsigned int parts);
void symbolizer_free(struct symbolizer *s);
/* What reads files of recorded programs; borrowed. Without it user functions get no names. */
struct helpers;
void symbolizer_read_by(struct symbolizer *s, struct helpers *readers);

/*
 * How long symbolizer_finish() may take, in ns; 0: as long as it does by default. What has no name
 * by then gets none, but its file's build ID is in the trace wherever there was time to read that.
 * later: no user function gets a name, and nothing is read for names but these build IDs.
 */
void symbolizer_limit(struct symbolizer *s, bool later, uint64_t finish_ns);
/* When *asked, which a signal handler may write, is not what it is now, there are only 2 s left. */
void symbolizer_hurry(struct symbolizer *s, const volatile sig_atomic_t *asked);

/*
 * JVMs in whose generated code frames were seen are told to write their perf maps before these
 * frames are named at the end, by helpers that may become their users (files/java_maps.h);
 * borrowed.
 */
void symbolizer_java_maps(struct symbolizer *s, struct helpers *helpers);

/*
 * Why names will be missing, known from the start: *kernel is -EPERM when the kernel hides its
 * addresses (kptr_restrict), *sideband what perf_event_open() returned; 0: nothing is missing.
 */
void symbolizer_status(const struct symbolizer *s, int *kernel, int *sideband);

/*
 * Takes in the sideband's records. A few loads per CPU when there are none; call it at least ten
 * times a second: once a process has exited, it can be looked at only through its parent.
 */
void symbolizer_poll(struct symbolizer *s);

/* Whether files are being read meanwhile: then poll again in a few ms. */
bool symbolizer_is_naming(const struct symbolizer *s);

/*
 * Sleeps for timeout_ms, or until a signal, but looks at each process as soon as it runs a program:
 * a moment later the process may have ended and its files may be deleted. Returns soon after that
 * if somebody watches what it maps (symbolizer_watch()). Returns as well when a descriptor is ready
 * that was added to symbolizer_epoll(), with data.u32 other than 0.
 */
void symbolizer_wait(struct symbolizer *s, int timeout_ms);
/* -1: there is none, as the sideband is not permitted. */
int symbolizer_epoll(const struct symbolizer *s);

/*
 * The address space that process tgid had at time_ns, for encoder_frame(): one id per process and
 * exec, and another one from when code of another file is mapped over code. Polls if need be.
 * 0 only when out of memory.
 */
uint32_t symbolizer_space(struct symbolizer *s, uint32_t tgid, uint64_t time_ns);

/*
 * Whether what the space's process maps is not known only because /proc could not be read in time:
 * it is read again soon, for some seconds.
 */
bool symbolizer_is_late(const struct symbolizer *s, uint32_t space);

/* Whether the space's process has ended, so long ago that all its events are known. */
bool symbolizer_is_gone(const struct symbolizer *s, uint32_t space);
/*
 * Whether addresses of that space mean the same code at time_ns as when symbolizer_space() returned
 * it. If not, a library took the place of another one, and symbolizer_space() returns another
 * space. Polls if need be.
 */
bool symbolizer_is_valid_at(struct symbolizer *s, uint32_t space, uint64_t time_ns);

/*
 * From *from_ns on, as far as is known now, that is until *until_ns, no code was mapped over other
 * code: what symbolizer_is_valid_at() at one time in between holds at all of them.
 */
void symbolizer_stable_range(const struct symbolizer *s, uint64_t *from_ns, uint64_t *until_ns);

/*
 * The space and address to give to encoder_frame(): the code of a file is the same wherever it is
 * mapped, so *space becomes the file's and *addr the offset in it. Other addresses are unchanged;
 * one that is WIRE_EXACT stays so.
 */
void symbolizer_locate(struct symbolizer *s, uint32_t *space, uint64_t *addr, uint64_t time_ns);

/*
 * Registers a new user frame, that of addr (which may be WIRE_EXACT) in space (as from
 * symbolizer_space()) at time_ns. Call it once per frame id (they are dense: an id above all
 * earlier ones is new).
 */
void symbolizer_frame(struct symbolizer *s, uint32_t frame, uint32_t space, uint64_t addr,
		      uint64_t time_ns);

/*
 * False if nothing executable was mapped there: the number is no return address, as in stacks of
 * code without frame pointers, and neither is what follows it on the stack. True where the mappings
 * are not known.
 */
bool symbolizer_is_code(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns);
/*
 * Whether code at addr had been mapped over other code so shortly before time_ns that the BPF side
 * may still have unwound by the rules of that one: then who called it is not known.
 */
bool symbolizer_is_stale(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns);
/*
 * How many of the n frames of a user stack at time_ns, leaf first, are to be believed: those before
 * the first return address that lies in no code, and none behind one of which
 * symbolizer_is_stale(); *in_doubt: there is such a one. 0 without a space.
 */
uint32_t symbolizer_trusted_prefix(struct symbolizer *s, uint32_t space, const __u64 *frames,
				   uint32_t n, uint64_t time_ns, bool *in_doubt);

/* What is at an address: a byte of a file. */
struct symbolizer_code {
	enum code_kind kind; /* CODE_VDSO only if it is the same one as ours */
	uint32_t file;	     /* code_files id; good until the next poll */
	uint64_t offset;     /* in the file; in the vDSO, from its start; UINT64_MAX: not known */
};

/* False if nothing executable was mapped there, as far as is known. */
bool symbolizer_code(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns,
		     struct symbolizer_code *out);

/*
 * By whom JVMs are read, for those who find and name their frames (interpreters/java_frames.h);
 * borrowed. NULL: nobody does, as from the beginning.
 */
struct jvms;
void symbolizer_read_java(struct symbolizer *s, struct jvms *jvms);
struct jvms *symbolizer_jvms(const struct symbolizer *s);
/*
 * The process of that space, which has not ended; 0: there is none. *may_be_jvm: it maps a JVM's
 * library, and it or the recording began only lately.
 */
uint32_t symbolizer_java_process(const struct symbolizer *s, uint32_t space, bool *may_be_jvm);

/* A stack came through code of this file in that space, and no rule says where its caller is. */
void symbolizer_lacks_rule(struct symbolizer *s, uint32_t space, uint32_t file);
/*
 * n stacks of process tgid were cut in what is written next, which symbolizer_finish() says. Once
 * for a process; symbolizer_forget_cut() first forgets those of what was written before.
 */
void symbolizer_cut_stacks(struct symbolizer *s, uint32_t tgid, uint64_t n);
void symbolizer_forget_cut(struct symbolizer *s);
/* A stack of that space has named frames of interpreted code. */
void symbolizer_has_code(struct symbolizer *s, uint32_t space);
/* A stack of that space is of 32-bit code. */
void symbolizer_is_32bit(struct symbolizer *s, uint32_t space);

/* The files that processes run code from. */
struct code_files *symbolizer_files(struct symbolizer *s);

/*
 * Process tgid has had its parent's memory since time_ns or before without being a thread of it.
 * After vfork() that is over with its exec.
 */
void symbolizer_share(struct symbolizer *s, uint32_t tgid, uint32_t parent, uint64_t time_ns);

/*
 * In another PID namespace than the host's perf's records do not say which process they are of:
 * there these records of the BPF side say which begin, run a program, and end. Others are ignored.
 */
void symbolizer_process(struct symbolizer *s, const struct wire_record *r);

/* From now on fn is called when other code is mapped in process tgid where some was. */
void symbolizer_on_replace(struct symbolizer *s, void (*fn)(void *ctx, uint32_t tgid), void *ctx);

/* Who wants to know which processes map what. */
struct process_watch {
	/* Process tgid maps code; the mapping is valid during the call. */
	void (*mapped)(void *ctx, uint32_t tgid, const struct mapping *m);
	void (*forked)(void *ctx, uint32_t tgid, uint32_t parent);
	/* It runs another program from now on, or has ended. */
	void (*gone)(void *ctx, uint32_t tgid);
};
/* From now on, beginning with what is mapped now. w must live as long as s. */
void symbolizer_watch(struct symbolizer *s, const struct process_watch *w, void *ctx);
/*
 * Calls its mapped() once more, with the ctx of symbolizer_watch(), for what processes have mapped
 * now and is_wanted() is true for (images_each_mapping_of()).
 */
void symbolizer_tell_mapped(struct symbolizer *s,
			    bool (*is_wanted)(const void *ctx, const struct mapping *m));

/*
 * Now and then forgets the spaces of processes that ended a while ago. For callers that keep no
 * space for longer than its stacks may be on their way.
 */
void symbolizer_forget_ended(struct symbolizer *s);

/*
 * Here and below, kernel addresses may be WIRE_EXACT.
 *
 * For encoder_kernel_frame(): which code was at a kernel address at time_ns, of all that was there
 * one after the other; always 0 in the core kernel. Polls if need be.
 */
uint32_t symbolizer_kernel_generation(struct symbolizer *s, uint64_t addr, uint64_t time_ns);
/* Whether none was replaced between these times, in whatever order. Polls if need be. */
bool symbolizer_kernel_held(struct symbolizer *s, uint64_t a_ns, uint64_t b_ns);
/* The names of the kernel, for what does not depend on a time; NULL: none are wanted. */
struct kernel_names *symbolizer_kernel(const struct symbolizer *s);

/*
 * Registers a new kernel frame, encoder_kernel_frame(enc, addr, generation), and names it now if
 * possible.
 */
void symbolizer_kernel_frame(struct symbolizer *s, uint32_t frame, uint64_t addr,
			     uint32_t generation);

/*
 * True if the kernel address lay at time_ns in the tracing machinery (BPF programs, their
 * trampolines and helpers, tracepoint stubs): such frames on the leaf side are not the thread's
 * own.
 */
bool symbolizer_is_tracer_frame(struct symbolizer *s, uint64_t addr, uint64_t time_ns);
/*
 * True if it is not known which code lay at the kernel address at time_ns, outside of the core
 * kernel, where code comes and goes. False for all if no names are known.
 */
bool symbolizer_is_unknown_code(struct symbolizer *s, uint64_t addr, uint64_t time_ns);
/* Whether code at the kernel address may change its meaning: all but the core kernel. */
bool symbolizer_may_change(const struct symbolizer *s, uint64_t addr);
/*
 * Whether the kernel address is in the entry code of interrupts and exceptions: what a stack has
 * next, towards the root, is what was interrupted, if that is the kernel's.
 */
bool symbolizer_is_kernel_entry(const struct symbolizer *s, uint64_t addr);

/*
 * Names all registered frames that have no name yet, within the time of symbolizer_limit(); call it
 * once. Returns 0 or the negative errno
 * of the encoder; a name that cannot be found is no error. *stats (may be NULL) is filled in either
 * case.
 */
int symbolizer_finish(struct symbolizer *s, struct symbolizer_stats *stats);

/* ---- for the flight recorder --------------------------------------------------------------- */

/* Where the code of a user frame is. It keeps its file open until it is released. */
struct symbolizer_place {
	uint64_t offset;
	uint32_t source; /* 0: in no mapping */
	bool is_exact;	 /* WIRE_EXACT */
};

/* The place of addr, which may be WIRE_EXACT, in space at time_ns. */
struct symbolizer_place symbolizer_place(struct symbolizer *s, uint32_t space, uint64_t addr,
					 uint64_t time_ns);
void symbolizer_release(struct symbolizer *s, const struct symbolizer_place *p);
/* No frame of this space is kept any more: its id may be reused. */
void symbolizer_forget_space(struct symbolizer *s, uint32_t space);

/* Right before forking a process that writes: it can name kernel code that is new by then. */
void symbolizer_refresh_kernel(struct symbolizer *s);
/*
 * Ends the watching: from now on this process writes a trace to enc. Register its frames with
 * symbolizer_kernel_frame() and symbolizer_placed_frame(), then call symbolizer_finish().
 */
void symbolizer_write_to(struct symbolizer *s, struct encoder *enc);
void symbolizer_placed_frame(struct symbolizer *s, uint32_t frame,
			     const struct symbolizer_place *p);
/* Sideband records lost by the kernel so far. */
uint64_t symbolizer_sideband_lost(const struct symbolizer *s);
