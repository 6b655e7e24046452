/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flamegraph.h - the renderer as a library: folded lines in memory in, one SVG out, the same that
 * the program flamegraph writes. Link $(O)/libflamegraph.o (all of render/ in one object that
 * shows no other names than these) with -lm -pthread.
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
#ifndef FLAMEGRAPH_H
#define FLAMEGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct flamegraph;

/*
 * Zeroed is what `flamegraph` does without options; texts are borrowed until flamegraph_free().
 * They are UTF-8 and may hold anything: they are escaped.
 */
struct flamegraph_options {
	const char *title, *subtitle, *notes;
	const char *countname; /* NULL: "us" where a frame `--` is seen, else "samples" */
	const char *nametype;  /* NULL: "Function:" */
	const char *colors;    /* a palette; NULL: "chain" where a frame `--` is seen, else "hot" */
	const char *bgcolors;  /* NULL: the palette's */
	const char *fonttype;
	double width, height, fontsize; /* of the picture, a row, the letters, in pixels; 0: 1200,
					   16, 12 */
	double minwidth;		/* narrower frames are not drawn; pixels; 0: 0.1 */
	uint32_t max_frames;		/* kept in the file for zooming; 0: 100000 */
	bool reverse, inverted, flamechart;
	/*
	 * To be put into the body of an HTML page: no XML declaration; the keys that it answers
	 * are those pressed while it has the focus or the pointer is on it; as wide as its parent.
	 * It keeps its state in the page's fragment, beside what else stands there. One on a page:
	 * it uses ids that begin with "fg-".
	 */
	bool embedded;
};

/* 0, -ENOMEM, or -EINVAL: no such palette or background, a size out of range. *g is NULL then. */
int flamegraph_new(struct flamegraph **g, const struct flamegraph_options *o);

/*
 * Add the folded lines [text, text+len), as flamegraph reads them from a file; each call's last
 * line ends with its text. Lines that are none are left out and counted. 0, -ENOMEM, -EOVERFLOW.
 */
int flamegraph_add(struct flamegraph *g, const char *text, size_t len);

/* Lines left out so far. */
uint64_t flamegraph_bad_lines(const struct flamegraph *g);

/*
 * Write the document; once, and after it nothing can be added. Write errors are left to ferror(f).
 * 0, -ENOMEM, or -ENODATA: no line had a count above 0, and nothing was written.
 */
int flamegraph_write(struct flamegraph *g, FILE *f);

void flamegraph_free(struct flamegraph *g); /* NULL is fine */

/*
 * What a page's Content-Security-Policy allows the script and the style of every graph by:
 * "sha256-...", without quotes.
 */
extern const char flamegraph_script_source[], flamegraph_style_source[];

#endif
