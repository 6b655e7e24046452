// SPDX-License-Identifier: GPL-2.0-or-later
#include "pidspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h: always the same, on every machine. */
#define INITIAL_NAMESPACE 0xeffffffcu

int pidspace_check(char *why, size_t why_size)
{
	char self[32];
	struct stat st;
	ssize_t n;

	if (stat("/proc/self/ns/pid", &st)) {
		int err = -errno;

		snprintf(why, why_size,
			 "/proc/self/ns/pid: %s; names and process ids come from /proc, which has "
			 "to be mounted and of the machine's PID namespace",
			 strerror(-err));
		return err;
	}
	if (st.st_ino != INITIAL_NAMESPACE) {
		snprintf(why, why_size,
			 "this is a PID namespace of its own, where processes have other numbers "
			 "than in what the kernel tells: run it outside of the container, or give "
			 "that the machine's (docker run --pid=host)");
		return -EXDEV;
	}
	/* The other way round: the machine's namespace, but a container's /proc. */
	n = readlink("/proc/self", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	if (strtol(self, NULL, 10) != (long)getpid()) {
		snprintf(why, why_size,
			 "the /proc that is mounted here belongs to another PID namespace, where "
			 "processes have other numbers: mount the machine's own");
		return -EXDEV;
	}
	return 0;
}
