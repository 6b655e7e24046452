/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize_private.h - the symbolizer. Its files, each of which calls only those below it:
 *
 *     symbolize.c         beginning, turns and end
 *     symbolize_end.c     user names of all files, at the end
 *     symbolize_early.c   user names while recording
 *     symbolize_runtimes.c what stacks lack of code that is compiled at run time
 *     symbolize_notes.c   notes on what the stacks of processes lack
 *     symbolize_names.c   user names of one file
 *     symbolize_user.c    user frames     symbolize_kernel.c   kernel frames and their names
 *     symbolize_watch.c   what the machine maps and runs; how long the end may take
 */
#pragma once

#include <signal.h>

#include "files/codefile.h"
#include "files/java_maps.h"
#include "files/owners.h"
#include "kallsyms/kernel_names.h"
#include "files/proc_images.h"
#include "files/perfmap.h"
#include "reader.h"
#include "kernel/sideband.h"
#include "symbolize.h"

/*
 * A user frame to be named: a place in a file, or an address in generated code of a process. There
 * are millions.
 */
struct user_frame {
	uint32_t source; /* code_files id, or GENERATED | index of s->generated */
	uint32_t frame;
	uint64_t is_exact : 1;
	uint64_t
		ret : 63; /* offset in the file, OFFSET_UNKNOWN, or the address: wire_as_return() */
	uint64_t time_ns; /* in generated code: when it was seen first; UINT64_MAX: not known */
};
#define GENERATED 0x80000000u
#define OFFSET_UNKNOWN (UINT64_MAX >> 1)

/* Processes with generated code whose perf maps are kept open. */
#define MAPS_OPEN_MAX 1024u
/* Processes with generated code that gets names. */
#define GENERATED_MAX 65536u
/*
 * Frames that wait for their names: of one file or process, and of all; and of the kernel. A
 * program can run at as many addresses as it likes.
 */
#define SOURCE_FRAMES_MAX (1u << 20)
#define FRAMES_MAX (8u << 20)
#define NAMELESS_MAX (1u << 20)

/* A process image with frames in generated code. */
struct generated {
	uint32_t tgid; /* 0: the entry is free */
	bool has_ended;
	struct perfmap_place place;
	int fd;		  /* its perf map; negative: it did not exist at the last attempt */
	uint32_t jitdump; /* code_files id of its jitdump, which is held; 0: it has none */
	uint32_t frames;  /* that wait for their names */
	uint32_t late;	  /* those of them that there was no time to name */

	const struct runtime *runtime; /* NULL: not one that is known */
	uint32_t runtime_file;	       /* code_files id of its code, which is held; 0: none */
	uint64_t runtime_at;	       /* the address of the file's first byte */
	bool is_unasked;	       /* it is a JVM whose options are not known yet */
	bool takes_commands;	       /* it is a HotSpot JVM that does */
	uint32_t owner;		       /* of those whose JVMs are asked */
	enum java_map map_result;      /* JAVA_MAP_RESULTS: it was not asked for its perf map */
	bool lacks_callers, lacks_interpreted;
	bool has_interpreted; /* of their names one was found */
	bool has_code;	      /* as in struct image */
	bool is_noted;
	char program[SYMBOLIZER_PROGRAM_MAX];
};

/* A file as a source of frames. */
struct file_source {
	uint32_t space;	 /* the encoder's, 0: it has none; holds the file */
	uint32_t frames; /* that wait for their names */
	uint32_t module; /* the encoder's, while its frames are being named; 0: it has none yet */
	uint32_t late;	 /* its frames that there was no time to name */
	bool interprets; /* one is the interpreter of a runtime, of functions without names */
};

struct kernel_frame {
	uint32_t frame, generation;
	uint64_t addr;
};

struct symbolizer {
	struct encoder *enc;

	struct kernel_names *kernel;   /* NULL: kernel frames get no names */
	struct kernel_frame *nameless; /* kernel frames to try once more at the end */
	uint32_t n_nameless;
	size_t cap_nameless;
	struct {
		char *name; /* NULL: the core kernel */
		uint32_t id;
	} * modules; /* of the kernel */
	uint32_t n_modules;

	void (*on_replace)(void *ctx, uint32_t tgid); /* NULL: nobody wants to know */
	void *on_replace_ctx;

	const struct process_watch *watch; /* NULL: likewise */
	void *watch_ctx;

	struct sideband *sideband;
	struct sideband *unwatched; /* after symbolizer_write_to(): not read any more */
	int sideband_error;
	uint64_t polled_ns;   /* all records up to then are taken in */
	uint64_t replaced_ns; /* when code was last mapped over other code, as far as is known */
	struct code_files *files;
	struct images *images;
	struct file_source *file_sources; /* by code_files id - 1 */
	uint32_t n_file_sources;
	uint32_t forget_at; /* number of images at which ended ones are looked for */
	uint64_t vdso_len;  /* of the vdso of programs of our own word size */

	struct user_frame *frames;
	uint32_t n_frames;
	size_t cap_frames;
	bool keeps_places;    /* frames are the caller's (symbolizer_place()), and named later */
	struct early *early;  /* NULL: nothing has been named early */
	int early_err;	      /* of the encoder */
	uint32_t late_copies; /* copies of symbol tables that were not made in time */
	struct generated *generated;
	/* Entries; among them free ones, and those of processes that have ended. */
	uint32_t n_generated, free_generated, ended_generated;

	struct {
		struct owners owners;  /* have JVMs that are not asked yet, and the readers' time */
		struct reader *reader; /* NULL: none is at work */
		uint32_t of;	       /* the index of s->generated that it is about */
		bool is_asked;
		uint64_t until_ns;
		struct helpers *helpers; /* borrowed; NULL: JVMs are not asked for perf maps */
		struct jvms *code;	 /* borrowed; NULL: their code is not read, */
		uint64_t code_ns;	 /* or since when it is */
	} jvms;
	struct owners noted; /* notes written, by the processes' users */
	struct lacking *cut; /* processes with stacks that were cut */
	size_t n_cut, cap_cut;

	struct helpers *readers; /* borrowed; NULL: user functions get no names */
	struct {
		bool later;			    /* user functions get no names */
		uint64_t finish_ns;		    /* what symbolizer_finish() may take, */
		uint64_t until_ns;		    /* so it ends then */
		const volatile sig_atomic_t *hurry; /* NULL; or, changed from what it was: soon */
		sig_atomic_t hurry_was;
	} limit;
	struct symbolizer_stats stats;
};

/* Names the kernel frames in s->nameless. Returns 0 or the encoder's error. */
int symbolize_kernel_frames(struct symbolizer *s);

/* A new image of a running process, with the mappings that /proc shows. NULL: out of memory. */
struct image *symbolize_read_image(struct symbolizer *s, uint32_t tgid, uint64_t time_ns);

/* Names all of s->frames, as time permits, and closes their files. Returns 0 or the encoder's
 * error. */
int symbolize_user_frames(struct symbolizer *s);

/* Takes in the sideband's records, for who is in the middle of a stack. */
void symbolize_take_in(struct symbolizer *s);
/* How long symbolizer_finish() may still take, in ns. */
uint64_t symbolize_left_ns(struct symbolizer *s);

/* ---- while recording (symbolize_early.c) ---------------------------------------------------- */

/*
 * Names the frames of files that are not to stay open (code_files_unused()) and closes these files:
 * one that was deleted cannot be opened again at the end, and in hours there are thousands;
 * likewise of generated code of processes that have ended. When very many frames wait, those of the
 * files with the most of them are named, too. Nothing is waited for: a process without rights reads
 * one file after the other (reader.h), and each step takes the answers that are there. Debug files
 * are looked for in the recorder's own /usr/lib/debug alone. Returns 0 or the encoder's error.
 * Frames that have their name are no longer in s->frames.
 */
int early_step(struct symbolizer *s);
/* Whether a reader is at work: then the next step is to come in a few ms. */
bool early_is_busy(const struct symbolizer *s);
/*
 * Gives the frames that have no name yet back to s->frames, to be named at the end. Waits a part of
 * the time that is left for those that are being named.
 */
void early_end(struct symbolizer *s);
void early_free(struct early *e);
/*
 * For a recorder that names frames later: closes one file that no process maps any more and that
 * keeps a mount busy. Its symbol tables are copied into memory, by a reader.
 */
void early_detach(struct symbolizer *s);

/* ---- notes (symbolize_notes.c) --------------------------------------------------------------- */

/* A process, and how much of something its stacks lack. */
struct lacking {
	uint32_t tgid;
	uint64_t amount;
};

/* Sets the name of the program that the image's process runs. */
void notes_program(const struct image *i, char program[SYMBOLIZER_PROGRAM_MAX]);
/*
 * Says in the trace, and counts for the closing lines, what the stacks of a process lack. Of a user
 * no more are written than are left for others. Returns 0 or the encoder's error.
 */
int notes_put(struct symbolizer *s, uint32_t tgid, const char *program,
	      const struct runtime_lack *lack);
int notes_put_image(struct symbolizer *s, const struct image *i, const struct runtime_lack *lack);
/*
 * Of whose functions there was no time to look up the names, and whose stacks were cut: first those
 * who lack most. Returns 0 or the encoder's error.
 */
int notes_put_late(struct symbolizer *s);

/* ---- what stacks lack (symbolize_runtimes.c) ------------------------------------------------ */

/* Finds out what runs the generated code of a process, which lives. */
void runtimes_find(struct symbolizer *s, struct generated *g, const struct image *i);
/* Asks JVMs for their options: takes answers that are there, waiting for at most wait_ns. */
void runtimes_step(struct symbolizer *s, uint64_t wait_ns);
/* Whether one is being asked: then the next step is to come in a few ms. */
bool runtimes_is_busy(const struct symbolizer *s);
/* Waits for the last answers, for a bounded time. */
void runtimes_end(struct symbolizer *s);
/* Has JVMs write their perf maps, if that is wanted, and waits for them for a bounded time. */
void runtimes_write_maps(struct symbolizer *s);
/* The entry is freed. */
void runtimes_forget(struct symbolizer *s, struct generated *g);
/*
 * Writes notes on what the stacks of the process lack; has_map: its functions have names. Returns 0
 * or the encoder's error.
 */
int runtimes_note(struct symbolizer *s, struct generated *g, bool has_map);
/* A frame of the file has this name; NULL: it has neither a name nor bounds, as V8's own code in a
 * stripped library. */
void runtimes_take_name(struct symbolizer *s, uint32_t file, const char *name);
/*
 * The same of processes in whose stacks only interpreted functions were, once all have names, and
 * of those that mapped too much.
 */
int runtimes_note_others(struct symbolizer *s);

/* ---- naming the frames of one file --------------------------------------------------------- */

/* The encoder cuts longer names. */
#define NAME_MAX_BYTES 4000

enum naming_aim {
	NAMING_NAMES,
	NAMING_ID, /* only what it takes to name them later: the build ID, where code is linked */
};

/*
 * Frames of one file, sorted by offset, while a reader names them; of several sources if it has
 * several names. Or those of one process's generated code.
 */
struct naming {
	struct symbolizer *s;
	uint32_t source; /* that is read */
	bool has_roots;	 /* others are in other root directories: only our own decides */
	const struct user_frame *frames;
	size_t n, n_named; /* those before n_named have been answered for */
	enum naming_aim aim;
	bool is_early;	   /* events are being recorded */
	uint64_t until_ns; /* else no call waits for longer */
	bool is_late;	   /* there was no time to name them */
	bool is_defined;   /* the modules are in the trace */
	bool is_asked;	   /* the reader knows what is wanted */
	bool owes;	   /* and has not answered in time */
	uint32_t module;   /* of generated code */
	struct reader *reader;
	int err; /* the encoder's */
	char buf[NAME_MAX_BYTES];
};

/* Sorts by source, then by offset. */
void symbolize_sort(struct user_frame *frames, size_t n);
/* How many of at most max sorted frames have the source of the first one. */
size_t symbolize_run(const struct user_frame *frames, size_t max);
/* The frames stay the caller's. The modules of their files must be 0, or those in the trace. */
void naming_init(struct naming *n, struct symbolizer *s, uint32_t source,
		 const struct user_frame *frames, size_t count);
/*
 * Begins to name the frames. To be ended, or given up. Returns 0, or a negative errno: then nothing
 * more is to be waited for.
 */
int naming_begin(struct naming *n, enum helper_priority priority);
/*
 * Takes the reader's next message, waiting for it for at most wait_ns. Returns 1: there is more to
 * come; 0: all are named; -EAGAIN: there was no message; or another negative errno: there will be
 * none.
 */
int naming_step(struct naming *n, uint64_t wait_ns);
/*
 * Whether that answer means that the file may have names all the same, as there was no time:
 * nothing was heard of a reader, or nobody could open the file.
 */
bool naming_was_late(const struct naming *n, int err);
/* Frames that have not been answered for get no name. Returns 0 or the encoder's error. */
int naming_end(struct naming *n);
/* Stops. Returns how many have been answered for: they are done, the others not. */
size_t naming_give_up(struct naming *n);

/* Frees the entry of a process of which no frame waits for its name. */
void symbolize_free_generated(struct symbolizer *s, struct generated *p);
/* How many frames of the source wait for their names; NULL when out of memory. */
uint32_t *symbolize_waiting(struct symbolizer *s, uint32_t source);
