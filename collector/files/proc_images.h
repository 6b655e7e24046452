/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_images.h - what code each process had mapped where, over time. A process image is one
 * process between two execs, or until code of another file is mapped over code: within an image, an
 * address means one thing. An image has mappings, each valid from a time on. The input are records
 * of the sideband and of /proc; nothing is opened here.
 *
 * Memory: after a process has ended and a grace time, its image is freed if no recorded stack
 * belongs to it, else only its mappings. A child shares its parent's mappings until one of them
 * maps something. The mappings of an image, of a process and of all are bounded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codefile.h"
#include "map_list.h"
#include "perfmap.h"

struct image {
	uint32_t tgid, parent;
	uint32_t space;			 /* id of its address space; 0: no stack was recorded */
	uint32_t generated;		 /* for the caller, who sets it; 0 at first */
	const struct runtime_lack *lack; /* likewise: what its stacks lack; NULL at first */
	bool has_code;			 /* likewise: its stacks have interpreted code */
	uint64_t start_ns;		 /* fork, exec, or when /proc was read */
	uint64_t read_ns;     /* when /proc was last read for it; 0: never. Set by the caller */
	uint8_t late;	      /* how often in a row that took too long. Set by procmaps_read() */
	char comm[16];	      /* as the exec record had it; "" if not known */
	bool by_exec;	      /* `older` is the program that called exec */
	bool replaces;	      /* `older` is the same program with other code at some address */
	uint64_t replaced_ns; /* when a newer image did that to this one; 0: none did */
	/* What was mapped from doubt_ns on was not known to the BPF side before sure_ns; 0: it was.
	 */
	uint64_t doubt_ns, sure_ns;
	bool overflowed; /* had too many mappings: none is known any more */
	uint32_t memory; /* tgid of the first of the processes that share its memory; 0: it is alone
			  */
	uint32_t copied; /* for its process since copied_ns, see COPIES_MAX */
	uint64_t copied_ns;
	bool ended;
	bool expired;		     /* ended, and kept only because of its space */
	struct map_list *maps;	     /* NULL: none */
	struct perfmap_place *place; /* of generated code; NULL: none. Owned */
	struct image *older, *newer; /* of the same tgid */
	struct image *next_ended;
	uint64_t ended_ns;		 /* when its end became known */
	struct image *next, *next_space; /* in the buckets */
};

struct images;

/* files is borrowed until images_free(). Returns 0 or -ENOMEM. */
int images_new(struct images **out, struct code_files *files);
void images_free(struct images *im);

/* The image of process tgid at time_ns, or the nearest one; NULL if the process is unknown. */
struct image *images_find(struct images *im, uint32_t tgid, uint64_t time_ns);
/*
 * The mapping at addr that was valid at time_ns (in the program before exec, if this one had none
 * there yet), else the first one after time_ns. NULL: there is none.
 */
const struct mapping *image_mapping(const struct image *i, uint64_t addr, uint64_t time_ns);
/* Path of the program, else the comm, else "". Valid until the image changes. */
const char *image_exe(const struct image *i);
/* The same, but the path by which it is run (program_name.h) if that is another one. */
const char *image_name(const struct image *i);
/* Whether that is known, and the file at path is the program. */
bool image_is_program(const struct image *i, const char *path);

/* Calls fn for each mapping of the processes that run now, as far as is known. */
void images_each_mapping(const struct images *im,
			 void (*fn)(void *ctx, uint32_t tgid, const struct mapping *m), void *ctx);

/*
 * The same for those mappings for which is_wanted() is true, of processes that have ended, too, as
 * long as their mappings are known; of a process at most MAP_LIST_WANTED. Whatever children share
 * with their parents is looked at once.
 */
void images_each_mapping_of(struct images *im,
			    bool (*is_wanted)(const void *ctx, const struct mapping *m),
			    void (*fn)(void *ctx, const struct image *i, const struct mapping *m),
			    void *ctx);

/*
 * A process that is found running: makes an image from time_ns on, without mappings; NULL when out
 * of memory. images_exe() sets the path of its program, and by which it is run; NULL: that one.
 */
struct image *images_found(struct images *im, uint32_t tgid, uint64_t time_ns);
void images_exe(struct images *im, struct image *i, const char *exe, const char *name);

/*
 * Records of the sideband, in the order of time. A record older than an image that was found in
 * /proc is ignored if the image has its effect already. images_map() takes over the reference to
 * m->file. Where there is no room for a mapping, the image forgets all (images_overflow()): what it
 * had there before must not stand for the new code.
 */
void images_map(struct images *im, struct image *i, const struct mapping *m);
/*
 * Process tgid has had its parent's memory since time_ns or before without being a thread of it,
 * and has it until one of them execs or ends: as soon as one of them maps something, nothing is
 * known of what any of them has mapped.
 */
void images_share(struct images *im, uint32_t tgid, uint32_t parent, uint64_t time_ns);
/* Forgets what the image has mapped; it may be told again. */
void images_forget_maps(struct images *im, struct image *i);
/* From now on nothing is known of what the image has mapped. */
void images_overflow(struct images *im, struct image *i);
/*
 * For a sideband mapping, before images_map(): the image that m belongs to. That is i or, if m
 * replaces other code, a new one from then on. When out of memory it is i.
 */
struct image *images_replace(struct images *im, struct image *i, const struct mapping *m);
/* Whether addresses of the program meant the same at time_ns as in this image. */
bool image_is_valid_at(const struct image *i, uint64_t time_ns);
void images_fork(struct images *im, uint32_t tgid, uint32_t parent, uint64_t time_ns);
void images_exec(struct images *im, uint32_t tgid, uint64_t time_ns, const char *comm);
void images_exit(struct images *im, uint32_t tgid, uint64_t time_ns);

/*
 * Drops images whose end became known more than grace_ns before now_ns. Call it before passing on
 * the records of each poll: they become known at now_ns.
 */
void images_expire(struct images *im, uint64_t now_ns, uint64_t grace_ns);
/*
 * Gives the image, which has none yet, the id of an address space, which no other has: from then on
 * it is found by it, and kept. Ids ascend.
 */
void images_set_space(struct images *im, struct image *i, uint32_t space);
/* NULL: none has this id. */
struct image *images_of_space(const struct images *im, uint32_t space);
/*
 * Whether the image's process has ended, so long ago that images_expire() has seen it, and nobody
 * shared its memory.
 */
bool images_is_gone(struct images *im, const struct image *i);
/* Takes the image's space away: it is not needed any more. Frees an image that has expired. */
void images_release(struct images *im, struct image *i);
/* Releases all images that have expired, after fn(ctx, image). */
void images_release_expired(struct images *im, void (*fn)(void *ctx, struct image *i), void *ctx);

/* Images made since the start, and images that exist now. */
uint64_t images_made(const struct images *im);
uint32_t images_count(const struct images *im);
/* Calls fn for the last image of each process that is not forgotten. */
void images_each(const struct images *im, void (*fn)(void *ctx, const struct image *i), void *ctx);

/* ---- processes that run already, from /proc (procmaps.c) ------------------------------------ */

/*
 * After so many readings in a row that took too long, nobody waits for the next one. Each comes
 * twice as late as the one before; the last ones a second.
 */
#define PROCMAPS_LATE_MAX 8u

/*
 * Adds the executable mappings and the program of process i->tgid to i, valid from time_ns. Returns
 * 0, or a negative errno if /proc cannot be read (-ENOENT, -ESRCH: the process has ended), or not
 * in time (call_timeout.h): i->late counts these.
 */
int procmaps_read(struct images *im, struct code_files *files, struct image *i, uint64_t time_ns);

/* Whether the process runs now, and the program of which i has the mappings; true if it has none.
 */
bool procmaps_runs_program(const struct image *i);

/*
 * Makes an image of each running process that has none yet, except kernel threads. Returns 0 or a
 * negative errno.
 */
int procmaps_read_all(struct images *im, struct code_files *files);

/*
 * Parses a line of /proc/PID/maps, whose paths users choose, and modifies it. Returns 1 for an
 * executable mapping, 0 for another one, -EINVAL for a malformed line. place->tgid and parent are
 * not set; place->path points into line.
 */
int procmaps_parse(char *line, struct code_place *place, uint64_t *pgoff);
