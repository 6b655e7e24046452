// SPDX-License-Identifier: GPL-2.0-or-later
#include "other_file.h"

#include <fcntl.h>
#include <regex.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 4096

static const struct known {
	const char
		*begins; /* an extended regular expression for the first line that is not empty */
	const char *what;
} known[] = {
	{ "^(<\\?xml|<svg)", "a picture: open it in a browser" },
	{ "^(<!DOCTYPE html|<html)", "a page: open it in a browser" },
	{ "^\177ELF", "a program: record it with chaincap -- COMMAND" },
	{ "^\037\213", "compressed: pipe it through zcat, and give - as the trace" },
	{ "^(\\{|\\[)", "JSON, not a trace" },
	{ "^[^ ;].*[^ ] [0-9]+$", "folded stacks: draw them with flamegraph" },
};

/* The first line that is not empty, as text. */
static bool first_line(int fd, char line[HEAD_BYTES + 1])
{
	ssize_t n = read(fd, line, HEAD_BYTES);
	size_t blank;

	if (n <= 0)
		return false;
	line[n] = 0;
	blank = strspn(line, " \t\r\n");
	memmove(line, line + blank, strlen(line + blank) + 1);
	line[strcspn(line, "\r\n")] = 0;
	return true;
}

const char *other_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[HEAD_BYTES + 1];
	const char *what = NULL;
	struct stat st;
	regex_t regex;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && first_line(fd, line))
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && !what; i++) {
			if (regcomp(&regex, known[i].begins, REG_EXTENDED | REG_NOSUB))
				continue;
			if (!regexec(&regex, line, 0, NULL, 0))
				what = known[i].what;
			regfree(&regex);
		}
	if (fd >= 0)
		close(fd);
	return what;
}
