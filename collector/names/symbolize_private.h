/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize_private.h - the symbolizer, shared by symbolize.c (watching), symbolize_user.c (user
 * frames while recording), symbolize_names.c (user names at the end) and symbolize_kernel.c.
 */
#ifndef SYMBOLIZE_PRIVATE_H
#define SYMBOLIZE_PRIVATE_H

#include "codefile.h"
#include "kallsyms.h"
#include "kernel_changes.h"
#include "proc_images.h"
#include "perfmap.h"
#include "kernel/sideband.h"
#include "symbolize.h"

/*
 * A user frame to be named: a place in a file, or an address in generated code of a process. There
 * are millions.
 */
struct user_frame {
	uint32_t source; /* code_files id, or GENERATED | index of s->generated */
	uint32_t frame;
	uint64_t offset;  /* in the file, OFFSET_UNKNOWN, or the address */
	uint64_t time_ns; /* in generated code: when it was seen first; UINT64_MAX: not known */
};
#define GENERATED 0x80000000u
#define OFFSET_UNKNOWN UINT64_MAX

/* Processes with generated code whose root directories, or perf maps, are kept open. */
#define ROOTS_MAX 1024u
/* Processes with generated code that gets names. */
#define GENERATED_MAX 65536u

/* A process image with frames in generated code. */
struct generated {
	uint32_t tgid; /* 0: the entry is free */
	struct perfmap_place place;
	int fd;		  /* its perf map; negative: it did not exist at the last attempt */
	uint32_t jitdump; /* code_files id of its jitdump, which is held; 0: it has none */
};

struct kernel_frame {
	uint32_t frame, generation;
	uint64_t addr;
};

struct symbolizer {
	struct encoder *enc;
	unsigned int parts;

	struct kallsyms *kallsyms;
	int kernel_error;
	uint64_t kallsyms_ns, kallsyms_end_ns; /* between these it was last read */
	uint64_t modules_ns;		       /* when the last module had been added */
	struct kernel_changes *changes;
	void (*on_kernel_change)(void *ctx, uint64_t start, uint64_t end); /* or NULL */
	void *on_kernel_change_ctx;
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

	struct sideband *sideband;
	struct sideband *unwatched; /* after symbolizer_write_to(): not read any more */
	int sideband_error;
	uint64_t polled_ns;   /* all records up to then are taken in */
	uint64_t replaced_ns; /* when code was last mapped over other code, as far as is known */
	struct code_files *files;
	struct images *images;
	struct image **spaces; /* by space id - 1; NULL: not one of ours */
	uint32_t n_spaces;
	uint32_t *file_spaces; /* by code_files id - 1: the encoder's space of the file, or 0 */
	uint32_t n_file_spaces;
	uint32_t forget_at; /* number of images at which ended ones are looked for */
	uint64_t vdso_len;  /* of the vdso of programs of our own word size */

	struct user_frame *frames;
	uint32_t n_frames;
	size_t cap_frames;
	struct generated *generated;
	uint32_t n_generated, free_generated; /* entries, and free ones among them */

	struct readers *readers; /* borrowed; NULL: user functions get no names */
	struct asker *asker;	 /* borrowed; NULL: servers are not asked */
	struct symbolizer_stats stats;
};

#define KALLSYMS_PATH "/proc/kallsyms"

/* A record of kernel code: from SIDEBAND_KSYMBOL to SIDEBAND_MODULE_GONE. */
void symbolize_kernel_record(struct symbolizer *s, const struct sideband_record *r);
/* Reads the table of kernel functions anew. Returns 0, or why the old one stays. */
int symbolize_read_kallsyms(struct symbolizer *s);

/* Names the kernel frames in s->nameless. Returns 0 or the encoder's error. */
int symbolize_kernel_frames(struct symbolizer *s);

/* A new image of a running process, with the mappings that /proc shows. NULL: out of memory. */
struct image *symbolize_read_image(struct symbolizer *s, uint32_t tgid, uint64_t time_ns);

/* Names all of s->frames and closes their files. Returns 0 or the encoder's error. */
int symbolize_user_frames(struct symbolizer *s);

#endif /* SYMBOLIZE_PRIVATE_H */
