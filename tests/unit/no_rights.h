/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * no_rights.h - for the tests of processes without rights: which they are, and what the kernel says
 * that they may do. Include test.h before it.
 */
#pragma once

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "helper/sandbox.h"

/* The process that pid forked last, or 0. */
static inline pid_t child_of(pid_t pid)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	pid_t found = 0;

	assert_non_null(proc);
	while ((d = readdir(proc))) {
		char path[300], line[256];
		int parent = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/status", d->d_name);
		f = isdigit((unsigned char)d->d_name[0]) ? fopen(path, "re") : NULL;
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "PPid: %d", &parent) == 1)
				break;
		if (f)
			fclose(f);
		if (parent == pid)
			found = (pid_t)atoi(d->d_name);
	}
	closedir(proc);
	return found;
}

/* How many descriptors a process has open. */
static inline int fds_of(pid_t pid)
{
	struct dirent *d;
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((d = readdir(dir)))
		n += d->d_name[0] != '.';
	closedir(dir);
	return n;
}

/*
 * fds: how many it keeps. It may still have one that it passed on or was told to close: what it
 * sent before is no sign that it has come so far. On a busy machine that takes as long as until it
 * has a CPU again.
 */
static inline void expect_no_rights(pid_t pid, int fds)
{
	char path[64], line[256];
	unsigned long long set;
	int n = 0, number;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Cap%*3s: %llx", &set) == 1 && strncmp(line, "CapBnd", 6)) {
			assert_int_equal(set, 0);
			n++;
		}
		if (sscanf(line, "NoNewPrivs: %d", &number) == 1 && ++n)
			assert_int_equal(number, 1);
		if (sscanf(line, "Uid: %d", &number) == 1 && ++n)
			assert_int_not_equal(number, 0);
		if (sandbox_is_real() && sscanf(line, "Seccomp: %d", &number) == 1)
			assert_int_equal(number, 2);
	}
	fclose(f);
	assert_int_equal(n, 6);
	for (int i = 0; i < 1000 && fds_of(pid) != fds; i++)
		usleep(10000);
	assert_int_equal(fds_of(pid), fds);
}
