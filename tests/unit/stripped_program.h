/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stripped_program.h - for tests of debug files: the test program itself, copied and stripped, and
 * a function of it to be found. Include test.h before it.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf/elfsym.h"

extern const char __executable_start[];

__attribute__((noinline, used)) static int a_local_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

/* Runs a line of shell; true if it succeeded. */
static inline bool shell(const char *line)
{
	int status = system(line);

	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The name that e has for a_local_function, "none" without one. */
static inline const char *name_in(struct elfsym *e)
{
	const char *at = (const char *)(uintptr_t)a_local_function;
	struct elfsym_address a = { .vaddr = (uint64_t)(at - __executable_start) + 1 };

	elfsym_find(e, &a, 1);
	return a.name ? a.name : "none";
}

/* A folder of its own as the working directory, with the stripped program in it; else skips. */
static inline void enter_folder_with_stripped(char folder[32])
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	strcpy(folder, "/tmp/debugfile-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(setenv("SELF", self, 1), 0);
	if (!shell("cp \"$SELF\" program && cp program whole && strip -o stripped program")) {
		shell("rm -f program whole");
		assert_int_equal(chdir("/"), 0);
		rmdir(folder);
		print_message("needs strip\n");
		skip();
	}
}

static inline void leave_folder(const char *folder)
{
	char line[64];

	assert_int_equal(chdir("/"), 0);
	snprintf(line, sizeof(line), "rm -rf %s", folder);
	assert_true(shell(line));
}

static inline struct elfsym *open_program(const char *path, int *fd)
{
	struct elfsym *e;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(elfsym_open(&e, *fd), 0);
	return e;
}
