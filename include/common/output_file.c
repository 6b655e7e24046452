// SPDX-License-Identifier: GPL-2.0-or-later
#include "output_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of a file that is not whole yet. */
static const char *volatile unfinished;

void output_file_remove(void)
{
	if (unfinished)
		unlink(unfinished);
}

FILE *output_file_open(const char *path)
{
	FILE *f = fopen(path, "we");
	struct stat st;

	if (f && !fstat(fileno(f), &st) && S_ISREG(st.st_mode) &&
	    !at_quick_exit(output_file_remove))
		unfinished = path;
	return f;
}

int output_file_close(FILE *f)
{
	unfinished = NULL;
	return fclose(f);
}
