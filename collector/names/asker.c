// SPDX-License-Identifier: GPL-2.0-or-later
#include "asker.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debuginfod_ask.h"
#include "elf/elfsym.h"
#include "kernel/clock.h"
#include "kernel/sandbox.h"

/* An answer may come this much later than the time is used up. */
#define GRACE_MS 2000

struct asker {
	pid_t pid;
	int socket;
	bool verbose, is_over;
	unsigned int seconds;
	uint64_t deadline_ns; /* 0: nothing was asked yet */
};

struct request {
	uint8_t build_id[ELFSYM_BUILD_ID_MAX];
	uint32_t len;
};

/* ---- the process that asks --------------------------------------------------------------------
 */

/* The id that sudo notes in the environment; nobody's without sudo. */
static uint32_t id_of_caller(const char *variable)
{
	const char *value = getenv(variable);
	unsigned long id = value ? strtoul(value, NULL, 10) : 0;

	return id && id < UINT32_MAX ? (uint32_t)id : SANDBOX_NOBODY;
}

/* A new folder of nobody's in $TMPDIR, or in /tmp where nobody may not write there. NULL: none. */
static const char *make_folder(void)
{
	static const char name[] = "chaincap-debuginfod-XXXXXX";
	static char folder[4096];
	const char *places[] = { getenv("TMPDIR"), "/tmp" };
	int len;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!places[i] || places[i][0] != '/')
			continue;
		len = snprintf(folder, sizeof(folder), "%s/%s", places[i], name);
		if (len > 0 && (size_t)len < sizeof(folder) && mkdtemp(folder))
			return folder;
	}
	return NULL;
}

/*
 * Files from servers go to the user's own cache. Nobody has none: then to a folder that is removed
 * at the end. Returns its name, or NULL.
 */
static const char *choose_cache(bool was_root)
{
	const char *folder;
	const struct passwd *user =
		was_root && getuid() != SANDBOX_NOBODY ? getpwuid(getuid()) : NULL;

	if (!was_root)
		return NULL;
	/* The caller's environment is root's. */
	unsetenv("XDG_CACHE_HOME");
	if (user && !access(user->pw_dir, W_OK)) {
		unsetenv("DEBUGINFOD_CACHE_PATH");
		setenv("HOME", user->pw_dir, 1);
		return NULL;
	}
	folder = make_folder();
	if (folder)
		setenv("DEBUGINFOD_CACHE_PATH", folder, 1);
	return folder;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

/* Passes fd, or a negative errno; closes it. */
static bool answer(int socket, int fd)
{
	bool sent = sandbox_send(socket, &fd, sizeof(fd), fd) == sizeof(fd);

	if (fd >= 0)
		close(fd);
	return sent;
}

static _Noreturn void serve(int socket, unsigned int seconds, bool was_root)
{
	struct debuginfod_asker servers = { .client = NULL };
	const char *folder = NULL;
	bool is_first = true;
	struct request r;
	int err = 0;

	while (recv(socket, &r, sizeof(r), 0) == sizeof(r) && r.len <= sizeof(r.build_id)) {
		if (is_first) {
			folder = choose_cache(was_root);
			err = debuginfod_ask_open(&servers, seconds);
		}
		is_first = false;
		if (!answer(socket,
			    err ? err : debuginfod_ask(&servers, r.build_id, (int)r.len, false)))
			break;
	}
	if (folder)
		nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

static _Noreturn void become(int socket, unsigned int seconds)
{
	bool was_root = !geteuid();

	if (!sandbox_enter("chaincap-asker", socket, id_of_caller("SUDO_UID"),
			   id_of_caller("SUDO_GID")))
		_exit(1);
	serve(SANDBOX_SOCKET, seconds, was_root);
}

/* ---- the recorder -----------------------------------------------------------------------------
 */

int asker_start(struct asker **out, unsigned int seconds, bool verbose)
{
	int sockets[2], err;
	struct asker *a;

	*out = NULL;
	if (!debuginfod_ask_wanted())
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = (struct asker) { .seconds = seconds, .verbose = verbose };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		err = -errno;
		free(a);
		return err;
	}
	a->pid = fork();
	if (!a->pid)
		become(sockets[1], seconds);
	err = a->pid < 0 ? -errno : 0;
	close(sockets[1]);
	a->socket = sockets[0];
	if (err) {
		close(a->socket);
		free(a);
		return err;
	}
	*out = a;
	return 0;
}

int asker_pid(const struct asker *a)
{
	return a->pid;
}

void asker_free(struct asker *a)
{
	if (!a)
		return;
	/* Then it removes what it stored, and ends; unless a server keeps it. */
	close(a->socket);
	if (a->is_over)
		kill(a->pid, SIGKILL);
	while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(a);
}

/* The descriptor or error in an answer. */
static int take_answer(int socket)
{
	struct stat st;
	int fd, err = 0;

	if (sandbox_receive(socket, &err, sizeof(err), &fd) != sizeof(err))
		return -EPIPE;
	if (fd < 0)
		return err < 0 ? err : -EPROTO;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EPROTO;
}

static int ask(struct asker *a, const struct request *r)
{
	struct pollfd p = { .fd = a->socket, .events = POLLIN };
	uint64_t now_ns = clock_now_ns();
	int ready;

	if (!a->deadline_ns)
		a->deadline_ns = now_ns + a->seconds * UINT64_C(1000000000);
	if (a->is_over || now_ns >= a->deadline_ns)
		return -ETIMEDOUT;
	if (send(a->socket, r, sizeof(*r), MSG_NOSIGNAL) != sizeof(*r))
		return -EPIPE;
	do {
		now_ns = clock_now_ns();
		ready = poll(&p, 1,
			     (now_ns < a->deadline_ns ? (int)((a->deadline_ns - now_ns) / 1000000)
						      : 0) +
				     GRACE_MS);
	} while (ready < 0 && errno == EINTR);
	if (ready > 0)
		return take_answer(a->socket);
	a->is_over = true;
	return -ETIMEDOUT;
}

int asker_ask(struct asker *a, const uint8_t *build_id, size_t len)
{
	struct request r = { .len = (uint32_t)len };
	int fd;

	if (!len || len > sizeof(r.build_id))
		return -EINVAL;
	memcpy(r.build_id, build_id, len);
	fd = ask(a, &r);
	if (a->verbose) {
		fputs("chaincap: debuginfod: ", stderr);
		for (size_t i = 0; i < len; i++)
			fprintf(stderr, "%02x", build_id[i]);
		fprintf(stderr, ": %s\n",
			fd >= 0		? "found"
			: fd == -ENOSYS ? "libdebuginfod.so.1 cannot be loaded"
					: strerror(-fd));
	}
	return fd;
}
