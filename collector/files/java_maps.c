// SPDX-License-Identifier: GPL-2.0-or-later
#include "java_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "helper/own_id.h"
#include "kernel/caps.h"
#include "kernel/clock.h"
#include "process_status.h"

/* How often to look whether the JVM listens; it takes some ms. */
#define LOOK_MS 5
/* Of its answer, which is a line. */
#define ANSWER_BYTES 4096u
/* What removing the files of helpers that were ended may take. */
#define CLEAN_NS 1000000000u

/* What a helper is told. */
struct wish {
	uint32_t tgid;
	bool cleans; /* an earlier helper has asked that JVM, and was ended */
};

/* Said before its answer: it is about to make the file that has the JVM listen. */
#define MAKES_FILE JAVA_MAP_RESULTS

/* ---- the helper ----------------------------------------------------------------------------- */

struct jvm {
	uint32_t tgid;
	struct process_status status;
	int pidfd;
	uid_t own; /* the helper's, as which nobody else runs */
};

/* Whether the process is still that of pidfd: what was read of /proc in between is its own. */
static bool lives(const struct jvm *j)
{
	struct pollfd p = { .fd = j->pidfd, .events = POLLIN };

	return !poll(&p, 1, 0);
}

/* Whether it has our root directory, and the same mounts below it. */
static bool has_our_root(const struct jvm *j)
{
	struct stat own, its, own_mounts, its_mounts;
	char root[40], mounts[40];

	snprintf(root, sizeof(root), "/proc/%u/root", j->tgid);
	snprintf(mounts, sizeof(mounts), "/proc/%u/ns/mnt", j->tgid);
	return !stat("/", &own) && !stat(root, &its) && !stat("/proc/self/ns/mnt", &own_mounts) &&
	       !stat(mounts, &its_mounts) && own.st_dev == its.st_dev && own.st_ino == its.st_ino &&
	       own_mounts.st_dev == its_mounts.st_dev && own_mounts.st_ino == its_mounts.st_ino;
}

/* Into the process's root directory: its links lead nowhere else. */
static bool enter_root(const struct jvm *j)
{
	char name[40];

	snprintf(name, sizeof(name), "/proc/%u/root", j->tgid);
	if (has_our_root(j))
		return lives(j);
	return !chdir(name) && lives(j) && !chroot(".") && !chdir("/");
}

static bool is_other_user(const struct jvm *j)
{
	return !geteuid() || geteuid() != j->status.uid || getegid() != j->status.gid;
}

/*
 * All that is left are the rights of the process's user, who has none over this process: kill(2)
 * and ptrace(2) ask for the real and the saved id, files and sockets for the effective one.
 */
static bool become_user(const struct jvm *j)
{
	if (is_other_user(j) &&
	    (setgroups(0, NULL) || setresgid(j->status.gid, j->status.gid, j->status.gid) ||
	     setresuid(j->own, j->status.uid, j->own)))
		return false;
	/* The last one was reset. */
	return !caps_drop_all() && !prctl(PR_SET_DUMPABLE, 0) && !prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Returns a socket, or a negative errno: -ENOENT, -ECONNREFUSED if nobody listens. */
static int connect_to(const struct jvm *j)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/.java_pid%u", j->status.ns_pid);
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/*
 * A JVM begins to listen when it gets SIGQUIT and finds a file of that name, which its user or root
 * has made.
 */
struct attach_name {
	char text[40];
};

static struct attach_name attach_name(const struct jvm *j)
{
	struct attach_name name;

	snprintf(name.text, sizeof(name.text), "/tmp/.attach_pid%u", j->status.ns_pid);
	return name;
}

static bool tell(int socket, int32_t what)
{
	return sandbox_send(socket, &what, sizeof(what), -1) == sizeof(what);
}

/* Whether it is there, as a helper makes it: of the JVM's user, with nothing in it. */
static bool has_file(const struct jvm *j)
{
	struct attach_name name = attach_name(j);
	struct stat st;

	return !lstat(name.text, &st) && S_ISREG(st.st_mode) && !st.st_size &&
	       st.st_uid == j->status.uid;
}

static int make_listen(const struct jvm *j, int socket)
{
	struct attach_name name = attach_name(j);
	int fd;

	/* It ends processes that do not handle it. */
	if (!(j->status.caught >> (SIGQUIT - 1) & 1))
		return -EPERM;
	if (!tell(socket, MAKES_FILE))
		return -EPIPE;
	fd = open(name.text, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* One may be left of a recorder that was killed. */
	if (fd < 0 && !(errno == EEXIST && has_file(j)))
		return -EPERM;
	if (fd >= 0)
		close(fd);
	fd = syscall(SYS_pidfd_send_signal, j->pidfd, SIGQUIT, NULL, 0) ? -errno : -ENOENT;
	/* Whoever waits for this one ends it when that takes too long. */
	while ((fd == -ENOENT || fd == -ECONNREFUSED) && lives(j)) {
		poll(NULL, 0, LOOK_MS);
		fd = connect_to(j);
	}
	unlink(name.text);
	return fd;
}

/* The command with its arguments, of which there are always three. */
static enum java_map ask(int fd)
{
	static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";
	char answer[ANSWER_BYTES + 1];
	size_t len = 0;
	ssize_t n;

	if (send(fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
		return JAVA_MAP_REFUSED;
	while (len < ANSWER_BYTES && (n = read(fd, answer + len, ANSWER_BYTES - len)) > 0)
		len += (size_t)n;
	answer[len] = '\0';
	if (!strncmp(answer, "0\n", 2))
		return JAVA_MAP_WRITTEN;
	return strstr(answer, "Unknown diagnostic command") ? JAVA_MAP_NO_COMMAND
							    : JAVA_MAP_REFUSED;
}

/* Removes the file that an earlier helper may have made. */
static void remove_file(const struct jvm *j)
{
	struct attach_name name = attach_name(j);

	if (has_file(j))
		unlink(name.text);
}

static enum java_map answer_wish(const struct wish *w, int socket)
{
	struct jvm j = { .tgid = w->tgid };
	uint32_t tgid = w->tgid;
	int fd;

	j.pidfd = (int)syscall(SYS_pidfd_open, tgid, 0);
	if (j.pidfd < 0 || process_status_read(&j.status, tgid) || !lives(&j))
		return JAVA_MAP_GONE;
	if ((is_other_user(&j) && own_id_find(&j.own)) || !enter_root(&j) || !become_user(&j))
		return lives(&j) ? JAVA_MAP_NO_RIGHTS : JAVA_MAP_GONE;
	if (w->cleans) {
		remove_file(&j);
		return JAVA_MAP_SILENT;
	}
	fd = connect_to(&j);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		fd = make_listen(&j, socket);
	return fd >= 0 ? ask(fd) : lives(&j) ? JAVA_MAP_REFUSED : JAVA_MAP_GONE;
}

/* One process for each helper, which is another user from then on. */
static void serve(int socket)
{
	struct wish w;
	int fd;

	if (sandbox_receive(socket, &w, sizeof(w), &fd) == sizeof(w))
		(void)tell(socket, (int32_t)answer_wish(&w, socket));
}

static const struct helper_kind asker = { .name = "chaincap-jvm", .serve = serve };

/* ---- the recorder --------------------------------------------------------------------------- */

/* *makes_file: it was about to make the file, and is not known to have removed it. */
static enum java_map answer_of(struct helper *h, uint64_t until_ns, bool *makes_file)
{
	uint64_t now_ns = clock_now_ns();
	int32_t result;
	ssize_t n = helper_receive(h, &result, sizeof(result), NULL,
				   until_ns > now_ns ? until_ns - now_ns : 0);

	if (n == sizeof(result) && result == MAKES_FILE && !*makes_file) {
		*makes_file = true;
		return answer_of(h, until_ns, makes_file);
	}
	*makes_file &= n != sizeof(result);
	if (n == -EAGAIN)
		return JAVA_MAP_SILENT;
	return n == sizeof(result) && result >= 0 && result < JAVA_MAP_RESULTS
		       ? (enum java_map)result
		       : JAVA_MAP_REFUSED;
}

/* Returns JAVA_MAP_SILENT, or what hinders it. */
static enum java_map begin(struct helper *h, struct helpers *helpers, uint32_t tgid, bool cleans)
{
	struct wish w = { .tgid = tgid, .cleans = cleans };

	if (helper_start(h, helpers, &asker, HELPER_USUAL))
		return JAVA_MAP_NO_RIGHTS;
	if (helper_send(h, &w, sizeof(w), -1))
		helper_end(h);
	return JAVA_MAP_SILENT;
}

void java_maps_write(struct helpers *helpers, const uint32_t *tgids, size_t n,
		     enum java_map *results, uint64_t wait_ns)
{
	uint64_t until_ns = clock_now_ns() + wait_ns;
	struct helper h[JAVA_MAPS_MAX], cleaning[JAVA_MAPS_MAX] = { 0 };
	bool makes_file[JAVA_MAPS_MAX] = { false };

	for (size_t i = 0; i < n; i++)
		results[i] = begin(&h[i], helpers, tgids[i], false);
	for (size_t i = 0; i < n; i++) {
		if (!h[i].all)
			continue;
		results[i] = answer_of(&h[i], until_ns, &makes_file[i]);
		helper_end(&h[i]);
		if (makes_file[i])
			(void)begin(&cleaning[i], helpers, tgids[i], true);
	}
	until_ns = clock_now_ns() + CLEAN_NS;
	for (size_t i = 0; i < n; i++) {
		if (!cleaning[i].all)
			continue;
		(void)answer_of(&cleaning[i], until_ns, &makes_file[i]);
		helper_end(&cleaning[i]);
	}
}
