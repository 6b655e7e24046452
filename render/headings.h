/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The title and the lines below it, each of which may take several lines of the picture.
 */
#include <stdio.h>

#include "document.h"
#include "page.h"

struct heading {
	char id[12];
	char *text; /* to be freed */
	double size;
	unsigned lines;
};

struct headings {
	struct heading v[3 + REMARKS_MAX];
	unsigned n;
	double height; /* with the space below, pixels */
};

/* Add a heading whose text is text, then rest; the first is the title. 0 or -ENOMEM. */
int headings_add(struct headings *hs, const struct page *pg, const char *id, const char *text,
		 const char *rest);

/* Add those of d: title, subtitle, what changed, remarks. 0 or -ENOMEM. */
int headings_find(struct headings *hs, const struct document *d);

/* Write them, centred in lines that fit the width. */
void headings_write(FILE *f, const struct page *pg, const struct headings *hs);

void headings_free(struct headings *hs);
