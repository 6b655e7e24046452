/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_files.h - finds out what is in the files that processes map and that the BPF side has to
 * know: published contexts, an interpreter. Each file is read once, by a helper without rights, one
 * after the other and without waiting for it. Who asked for it is told of each process that maps
 * such a file.
 *
 *     mapped_files_new(), mapped_files_tell() for each who asks, mapped_files_begin()
 *     after each symbolizer_poll(): mapped_files_step()
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "helper/helper.h"
#include "reader.h"
#include "symbolize.h"

struct mapped_files;

/* Who asks for it. */
struct mapped_files_user {
	/*
	 * Process tgid maps a file with such parts; what has a link-time address is in the process
	 * at that address plus bias.
	 */
	void (*mapped)(void *ctx, uint32_t tgid, uint64_t bias, const struct reader_parts *parts);
	/* Process tgid begins with what its parent has. */
	void (*forked)(void *ctx, uint32_t tgid, uint32_t parent);
	/* It runs another program from now on, or has ended. */
	void (*gone)(void *ctx, uint32_t tgid);
};
#define MAPPED_FILES_USERS 2u

/*
 * sym and helpers are borrowed; mapped_files_free() comes before sym is freed, which must not be
 * polled after that. Files of which less than least_bytes are mapped as code are not read. Returns
 * 0 or -ENOMEM.
 */
int mapped_files_new(struct mapped_files **out, struct symbolizer *sym, struct helpers *helpers,
		     uint64_t least_bytes);
/* NULL is allowed. */
void mapped_files_free(struct mapped_files *f);

/* Adds one who asks, at most MAPPED_FILES_USERS; user must live as long as f. */
void mapped_files_tell(struct mapped_files *f, const struct mapped_files_user *user, void *ctx);
/* Begins with what is mapped now, and waits for it, but not longer than wait_ns. */
void mapped_files_begin(struct mapped_files *f, uint64_t wait_ns);
/* A step further. */
void mapped_files_step(struct mapped_files *f);
/* Whether a helper is at work: then the next step is to come in a few ms. */
bool mapped_files_is_busy(const struct mapped_files *f);
/* Files that were read so far. */
uint64_t mapped_files_count(const struct mapped_files *f);
/* Files so far that were not looked at for seconds, or not to the end. */
uint64_t mapped_files_missed(struct mapped_files *f);
