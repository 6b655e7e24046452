// SPDX-License-Identifier: GPL-2.0-or-later
#include "own_id.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* One process has an id of 2^31, so even the second try is rare. */
#define TRIES 16

/*
 * The most ids that lie together in this user namespace: user_namespaces(7). A kernel without such
 * namespaces (CONFIG_USER_NS) has no such file, and all ids.
 */
static bool read_map(uint32_t *first, uint32_t *n)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	uint32_t inside, outside, count;

	*first = *n = 0;
	if (!f && errno == ENOENT && !access("/proc/self/status", F_OK))
		*n = UINT32_MAX;
	while (f && fscanf(f, "%u %u %u", &inside, &outside, &count) == 3)
		if (count > *n) {
			*first = inside;
			*n = count;
		}
	if (f)
		fclose(f);
	return *n;
}

/* Without the name service, which may ask a server that does not answer. */
static bool has_name(uid_t id)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *p;
	bool found = false;

	while (f && !found && (p = fgetpwent(f)))
		found = p->pw_uid == id || p->pw_gid == id;
	if (f)
		fclose(f);
	return found;
}

static bool has_process(uid_t id)
{
	DIR *proc = opendir("/proc");
	const struct dirent *d;
	bool found = false;
	struct stat st;

	while (proc && !found && (d = readdir(proc)))
		found = isdigit((unsigned char)d->d_name[0]) &&
			!fstatat(dirfd(proc), d->d_name, &st, 0) && st.st_uid == id;
	if (proc)
		closedir(proc);
	return found;
}

int own_id_find(uid_t *id)
{
	uint32_t first, n, chance;

	/* The last one is "nobody" in some maps. */
	if (!read_map(&first, &n) || n < 4)
		return -EAGAIN;
	for (int i = 0; i < TRIES; i++) {
		if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
			return -errno;
		*id = first + n / 2 + chance % (n - n / 2 - 1);
		if (!has_name(*id) && !has_process(*id))
			return 0;
	}
	return -EAGAIN;
}
