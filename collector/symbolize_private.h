/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize_private.h - what symbolize.c (watching), symbolize_kernel.c and symbolize_names.c
 * (naming at the end) know of each other. Nobody else includes it.
 */
#ifndef SYMBOLIZE_PRIVATE_H
#define SYMBOLIZE_PRIVATE_H

#include "codefile.h"
#include "kallsyms.h"
#include "maps.h"
#include "perfmap.h"
#include "sideband.h"
#include "symbolize.h"

/*
 * A user frame, to be named: a place in a file, or an address in the generated code of a process.
 * Kept by the million, so in 16 bytes.
 */
struct user_frame {
	uint32_t source; /* code_files id, or GENERATED | index of s->generated */
	uint32_t frame;
	uint64_t offset; /* in the file, OFFSET_UNKNOWN, or the address */
};
#define GENERATED 0x80000000u
#define OFFSET_UNKNOWN UINT64_MAX

/* A process image with frames in generated code. */
struct generated {
	uint32_t tgid; /* 0: the place is free */
	struct perfmap_place place;
	int fd; /* its perf map; negative: not there when last looked for */
};

struct kernel_frame {
	uint32_t frame;
	uint64_t addr;
};

struct symbolizer {
	struct encoder *enc;
	unsigned int parts;

	struct kallsyms *kallsyms;
	int kernel_error;
	uint64_t kallsyms_ns;	       /* when it was last read */
	struct kernel_frame *nameless; /* kernel frames to try once more at the end */
	uint32_t n_nameless, cap_nameless;
	struct {
		char *name; /* NULL: the core kernel */
		uint32_t id;
	} * modules; /* of the kernel */
	uint32_t n_modules;

	struct sideband *sideband;
	struct sideband *unwatched; /* once it is not read any more: see symbolize_flight.h */
	int sideband_error;
	uint64_t polled_ns; /* all records up to then are in */
	struct code_files *files;
	struct images *images;
	struct image **spaces; /* by space id - 1; NULL: not one of ours */
	uint32_t n_spaces;
	uint32_t *file_spaces; /* by code_files id - 1: the encoder's space of the file, or 0 */
	uint32_t n_file_spaces;
	uint32_t forget_at; /* images, at which to look for those not needed any more */
	uint64_t vdso_len;  /* of the kernel's vdso for our own kind of programs */

	struct user_frame *frames;
	uint32_t n_frames, cap_frames;
	struct generated *generated;
	uint32_t n_generated, free_generated; /* places, and those of them that are free */

	struct symbolizer_stats stats;
};

uint64_t symbolize_now_ns(void);

#define KALLSYMS_PATH "/proc/kallsyms"

/* Names those kernel frames that had no name yet. Returns 0 or the encoder's error. */
int symbolize_kernel_frames(struct symbolizer *s);

/* The mapping at addr of the space at time_ns; NULL: none, or the space is forgotten. */
const struct mapping *symbolize_mapping(struct symbolizer *s, uint32_t space, uint64_t addr,
					uint64_t time_ns);

/* Names all of s->frames and closes what was open for that. Returns 0 or the encoder's error. */
int symbolize_user_frames(struct symbolizer *s);

/* The array p of n elements of size bytes, with room for one more; NULL when out of memory. */
void *symbolize_grow(void *p, uint32_t n, uint32_t *cap, size_t size);

#endif /* SYMBOLIZE_PRIVATE_H */
