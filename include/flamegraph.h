/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flamegraph.h - the renderer as a library. It turns folded lines in memory into the SVG that the
 * program flamegraph writes. Link $(O)/libflamegraph.o, which exports only the names of this
 * header, with -lm -pthread.
 *
 *	struct flamegraph_options o = { .title = "mysqld", .embedded = true };
 *	struct flamegraph *g;
 *	int err = flamegraph_new(&g, &o);
 *
 *	if (!err)
 *		err = flamegraph_add(g, text, len);
 *	if (!err)
 *		err = flamegraph_write(g, f);
 *	flamegraph_free(g);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct flamegraph;

/*
 * All zero: as the program without options. Strings are UTF-8 and borrowed until
 * flamegraph_free(); any content is allowed, as it is escaped.
 */
struct flamegraph_options {
	const char *title, *subtitle, *notes;
	const char *countname; /* NULL: "us" if there is a frame `--`, else "samples" */
	const char *nametype;  /* NULL: "Function:" */
	const char *colors;    /* a palette; NULL: "chain" if there is a frame `--`, else "hot" */
	const char *bgcolors;  /* NULL: the palette's */
	const char *fonttype;  /* NULL: "Verdana, DejaVu Sans, sans-serif" */
	double width;	       /* of the picture, in pixels; 0: 1200 */
	double height;	       /* of a row, in pixels; 0: 16 */
	double fontsize;       /* in pixels; 0: 12 */
	double minwidth;       /* in pixels; narrower frames are not drawn; 0: 0.1 */
	uint32_t max_frames;   /* kept in the file for zooming, or all of minwidth; 0: 100000 */
	bool reverse, inverted, flamechart;
	/*
	 * For the body of an HTML page: no XML declaration, and as wide as its parent element. It
	 * handles keys only while it has the focus or the pointer is over it. It keeps its state in
	 * the page's URL fragment and leaves the rest of the fragment alone. An ancestor of the
	 * class fg-window is the box in which it scrolls: at first to its root.
	 */
	bool embedded;
	/*
	 * NULL; or of the second graph in a page and those after it what its keys in the fragment
	 * begin with, each another text. (The ids of its elements begin with "fg-" in any case.)
	 */
	const char *keys;
	/*
	 * How many slices of time flamegraph_add_slice() tells apart; 0: none. The element's
	 * attribute data-scope, a JSON object, then chooses what it shows: "slices": [first, end],
	 * "threads": [names]; an event "scope" at the element says that it has changed.
	 */
	uint32_t slices;
	double slice_factor; /* counts of their lines are multiplied by this; 0: 1 */
};

/* 0, -ENOMEM, or -EINVAL (unknown palette or background, size out of range) with *g NULL. */
int flamegraph_new(struct flamegraph **g, const struct flamegraph_options *o);

/*
 * Add the folded lines [text, text+len). The end of the text ends its last line. Lines
 * "[note] TEXT 0" are what flamegraph(1) says of them. Invalid lines are skipped and counted. 0,
 * -ENOMEM, -EOVERFLOW, or -EINVAL after flamegraph_write() or flamegraph_add_slice().
 */
int flamegraph_add(struct flamegraph *g, const char *text, size_t len);

/*
 * Add the folded lines of a slice, after those of all of the time, of which they are a part. Not
 * for differences, flame charts and reversed stacks. 0, -ENOMEM, or -EINVAL.
 */
int flamegraph_add_slice(struct flamegraph *g, const char *text, size_t len, uint32_t slice);

/* The number of invalid lines so far. */
uint64_t flamegraph_bad_lines(const struct flamegraph *g);

/*
 * Write the document. Call it once, after the last line. The caller checks for write errors with
 * ferror(f). 0, -ENOMEM, -EOVERFLOW, -EINVAL on a second call, or -ENODATA: no line had a count
 * above 0, and nothing was written.
 */
int flamegraph_write(struct flamegraph *g, FILE *f);

void flamegraph_free(struct flamegraph *g); /* NULL is allowed */

/*
 * 0xrrggbb: the colour of a frame of this name in a chain graph, such as "[running]"; of one that
 * has the colour of its link, that of the first stack.
 */
uint32_t flamegraph_frame_color(const char *name);

/*
 * The sources that allow the script and the style of every graph in a page's
 * Content-Security-Policy: "sha256-...", without quotes.
 */
extern const char flamegraph_script_source[], flamegraph_style_source[];
