/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize_flight.h - the symbolizer as the flight recorder uses it: frames are found in their
 * files when they are seen, as always, but named only for a trace that is written; and what is not
 * in the window any more is given back, so that a symbolizer can watch for ever.
 */
#ifndef SYMBOLIZE_FLIGHT_H
#define SYMBOLIZE_FLIGHT_H

#include "symbolize.h"

/* Where the code of a user frame is. It holds its file until it is released. */
struct symbolizer_place {
	uint64_t offset;
	uint32_t source; /* 0: in no mapping */
};

/* Where addr of space is, seen at time_ns. */
struct symbolizer_place symbolizer_place(struct symbolizer *s, uint32_t space, uint64_t addr,
					 uint64_t time_ns);
void symbolizer_release(struct symbolizer *s, const struct symbolizer_place *p);
/* No frame of this space is kept any more: its id may be given to another one. */
void symbolizer_forget_space(struct symbolizer *s, uint32_t space);

/*
 * Ends the watching: a trace is to be written to enc, by this process and by this symbolizer, which
 * names for it the frames told from now on: in the kernel by symbolizer_kernel_frame(), of users by
 * symbolizer_placed_frame(). symbolizer_finish() is to follow.
 */
void symbolizer_write_to(struct symbolizer *s, struct encoder *enc);
/* Sideband records that the kernel has lost so far. */
uint64_t symbolizer_sideband_lost(const struct symbolizer *s);
void symbolizer_placed_frame(struct symbolizer *s, uint32_t frame,
			     const struct symbolizer_place *p);

#endif /* SYMBOLIZE_FLIGHT_H */
