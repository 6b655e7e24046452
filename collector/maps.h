/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps.h - what code each process had mapped where, over time. A process image is one process
 * between two execs, or until code of another file is mapped where some was: in an image, an
 * address means one thing. It has its mappings, each with the time from which it holds. Fed with
 * what the sideband and /proc say; opens nothing itself.
 *
 * Memory: images of processes that have ended, and that no recorded stack belongs to, are dropped
 * after a grace time; of the others only the mappings are. A child shares its parent's mappings
 * until one of them maps something.
 */
#ifndef MAPS_H
#define MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "codefile.h"
#include "perfmap.h"

struct mapping {
	uint64_t start, end; /* addresses */
	uint64_t pgoff;	     /* of start in the file, bytes */
	uint64_t time_ns;
	uint32_t file; /* code_files id; the mapping holds a reference */
};

struct map_list {
	uint32_t refs, n, cap;
	char *exe; /* path of the program, NULL if not known */
	struct mapping *list;
};

struct image {
	uint32_t tgid, parent;
	uint32_t space;	      /* the encoder's id; 0: no stack was recorded. The user's to set */
	uint32_t generated;   /* the user's, for generated code; 0 at first */
	uint64_t start_ns;    /* fork, exec, or when /proc was read */
	uint64_t read_ns;     /* when /proc was last read for it; 0: never. The user's to set */
	char comm[16];	      /* as the exec record had it; "" if not known */
	bool by_exec;	      /* older is the program that called exec */
	bool replaces;	      /* the older one, in which other code was at the same place */
	uint64_t replaced_ns; /* when the newer one did that; 0: none did */
	bool ended;
	bool expired;		     /* and is only kept because of its space */
	struct map_list *maps;	     /* NULL: none */
	struct perfmap_place *place; /* of generated code; NULL: none. Goes with the image */
	struct image *older;	     /* of the same tgid */
	struct image *next_ended;
	uint64_t ended_ns;  /* when the end was learnt of */
	struct image *next; /* of the bucket */
};

struct images;

/* files is borrowed, and has to outlive the images. NULL when out of memory. */
struct images *images_new(struct code_files *files);
void images_free(struct images *im);

/* The image of process tgid at time_ns, or the one nearest to it; NULL if the process is unknown.
 */
struct image *images_find(struct images *im, uint32_t tgid, uint64_t time_ns);
/*
 * The mapping of addr that held at time_ns, in the program before if this one had none yet; or the
 * first after it. NULL if there is none.
 */
const struct mapping *image_mapping(const struct image *i, uint64_t addr, uint64_t time_ns);
/* Path of the program, else the comm, else "". Valid until the image changes. */
const char *image_exe(const struct image *i);

/*
 * A process that was found running: a new image from time_ns on, without mappings; NULL when out of
 * memory. images_exe() tells its program, if known.
 */
struct image *images_found(struct images *im, uint32_t tgid, uint64_t time_ns);
void images_exe(struct images *im, struct image *i, const char *exe);

/*
 * What happened, in the order of time (as the sideband tells it). What an image found in /proc
 * later than that already has is passed over. images_map() takes over the reference to m->file.
 * Out of memory, what cannot be kept is left out: its frames will have no name.
 */
void images_map(struct images *im, struct image *i, const struct mapping *m);
/*
 * Before images_map() of what the sideband tells: the image that m is for. That is i, or if m takes
 * the place of other code, a new one from then on. Out of memory it is i.
 */
struct image *images_replace(struct images *im, struct image *i, const struct mapping *m);
/* Whether addresses meant at time_ns what they mean in this image of their process and program. */
bool image_holds(const struct image *i, uint64_t time_ns);
void images_fork(struct images *im, uint32_t tgid, uint32_t parent, uint64_t time_ns);
void images_exec(struct images *im, uint32_t tgid, uint64_t time_ns, const char *comm);
void images_exit(struct images *im, uint32_t tgid, uint64_t time_ns);

/*
 * Drops what was learnt more than grace_ns before now_ns to have ended. To be called before the
 * records of each poll are told: they count as learnt at now_ns.
 */
void images_expire(struct images *im, uint64_t now_ns, uint64_t grace_ns);
/* The image's space is not needed any more: sets it to 0; an image that has ended may be gone. */
void images_release(struct images *im, struct image *i);

/* Images made so far, and images at hand now. */
uint64_t images_made(const struct images *im);
uint32_t images_count(const struct images *im);

#endif /* MAPS_H */
