/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * more_blocks.h - the MORE_EVENTS blocks of an encoder in the making (include/chainlog_more.h): one
 * for each CPU that has such events.
 */
#ifndef MORE_BLOCKS_H
#define MORE_BLOCKS_H

#include "chainlog_more.h"

/* Takes a finished block, as an encoder_sink does. */
typedef int (*more_blocks_sink)(void *ctx, const void *block, size_t len);

/* All zero is empty. */
struct more_blocks {
	struct chainlog_more_writer **cpus; /* NULL: no event yet */
	uint32_t n_cpus;
	uint64_t events; /* all of them, and of these */
	uint64_t losses; /* events that report losses, */
	uint64_t lost;	 /* of so many events */
};

void more_blocks_free(struct more_blocks *m);

/*
 * Takes an event whose kind has a line in chainlog_more_fields(). A block that is full goes to
 * sink(ctx, ...). Returns 0, -ENOMEM, -EINVAL if the kind is unknown, or the sink's error.
 */
int more_blocks_put(struct more_blocks *m, const struct chainlog_fields *ev, more_blocks_sink sink,
		    void *ctx);
/* Finishes all blocks that hold anything. Returns 0 or the sink's error. */
int more_blocks_flush(struct more_blocks *m, more_blocks_sink sink, void *ctx);

#endif /* MORE_BLOCKS_H */
