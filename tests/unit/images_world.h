/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images_world.h - files and address spaces without processes, for tests that tell of mappings as
 * the sideband would. Include test.h before it.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "files/proc_images.h"

/* Above any pid that Linux gives. */
#define P 10000001u
#define SECOND 1000000000u

struct world {
	struct code_files *files;
	struct images *im;
};

/*
 * Where a mapping is said to be. A file that exists is opened once and then stays open; one that
 * does not is looked for by another process once for each that maps it.
 */
static struct code_place place_of(uint32_t tgid, uint64_t start, uint64_t len, const char *path)
{
	struct code_place place = {
		.tgid = tgid,
		.start = start,
		.end = start + len,
		.ino = strlen(path),
		.path = path,
	};
	struct stat st;

	if (path[0] == '/' && !stat(path, &st)) {
		place.maj = major(st.st_dev);
		place.min = minor(st.st_dev);
		place.ino = st.st_ino;
	}
	return place;
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_int_equal(code_files_new(&w->files), 0);
	assert_int_equal(images_new(&w->im, w->files), 0);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	images_free(w->im);
	code_files_free(w->files);
	free(w);
	return 0;
}
