// SPDX-License-Identifier: GPL-2.0-or-later
/* A user that nobody else is, also where the kernel has no user namespaces. Needs to mount. */

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/own_id.h"

/* The id or a negative errno, where /proc has only this file of the process; NULL: not even that.
 */
static int64_t found_with(const char *file)
{
	int64_t found = -EPERM;
	int ends[2], fd;
	uid_t id;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		if (!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		    !mount("none", "/proc", "tmpfs", 0, NULL) && !mkdir("/proc/self", 0755)) {
			fd = file ? open(file, O_WRONLY | O_CREAT, 0644) : -1;
			if (fd >= 0 && dprintf(fd, "0 100000 65536\n") < 0)
				_exit(1);
			found = own_id_find(&id);
			if (!found)
				found = id;
		}
		_exit(write(ends[1], &found, sizeof(found)) != sizeof(found));
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &found, sizeof(found)), sizeof(found));
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return found;
}

TEST(it_is_in_the_upper_half_of_the_ids)
{
	int64_t found = found_with("/proc/self/uid_map");

	if (found == -EPERM) {
		print_message("nothing can be mounted\n");
		skip();
	}
	assert_in_range(found, 32768, 65534);
}

TEST(without_user_namespaces_all_ids_are_there)
{
	int64_t found = found_with("/proc/self/status");

	if (found == -EPERM) {
		print_message("nothing can be mounted\n");
		skip();
	}
	assert_in_range(found, 1u << 31, UINT32_MAX - 1);
}

TEST(without_proc_no_id_is_known)
{
	int64_t found = found_with(NULL);

	if (found == -EPERM) {
		print_message("nothing can be mounted\n");
		skip();
	}
	assert_int_equal(found, -EAGAIN);
}
