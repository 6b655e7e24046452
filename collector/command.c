// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int command_error_status(int err)
{
	return err == -ENOENT ? 127 : 126;
}

static int can_run(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	/* By the effective ids, like exec. */
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

int command_find(const char *name)
{
	const char *list = getenv("PATH"), *end;
	char path[PATH_MAX];
	int err = -ENOENT;

	if (strchr(name, '/'))
		return can_run(name);
	/* What execvp() uses without PATH. */
	if (!list)
		list = "/bin:/usr/bin";
	for (bool more = *name; more; list = end + 1) {
		int this, len;

		end = strchrnul(list, ':');
		more = *end;
		/* An empty part is the current directory. */
		len = snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - list), list,
			       end > list ? "/" : "", name);
		if (len < 0 || (size_t)len >= sizeof(path))
			continue;
		this = can_run(path);
		if (!this)
			return 0;
		if (this == -EACCES)
			err = this;
	}
	return err;
}

#define CAUGHT_MAX 16

static struct {
	int sig;
	struct sigaction before;
} caught[CAUGHT_MAX];
static size_t n_caught;

void command_catch(int sig, void (*handler)(int), bool even_ignored)
{
	struct sigaction sa = { .sa_handler = handler }, before;

	sigemptyset(&sa.sa_mask);
	if (n_caught == CAUGHT_MAX || sigaction(sig, NULL, &before) ||
	    (before.sa_handler == SIG_IGN && !even_ignored))
		return;
	if (sigaction(sig, &sa, NULL))
		return;
	caught[n_caught].sig = sig;
	caught[n_caught].before = before;
	n_caught++;
}

/* In a child, before exec. */
static void restore_signals(void)
{
	while (n_caught) {
		n_caught--;
		sigaction(caught[n_caught].sig, &caught[n_caught].before, NULL);
	}
}

static _Noreturn void become(char **argv, int gate, int report)
{
	char go;
	int err;

	if (read(gate, &go, 1) != 1)
		_exit(125); /* the recorder gave up */
	restore_signals();
	execvp(argv[0], argv);
	err = errno;
	if (write(report, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(command_error_status(-err));
}

int command_prepare(struct command *c, char **argv)
{
	int gate[2], report[2], err;

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	if (pipe2(report, O_CLOEXEC)) {
		err = -errno;
		goto close_gate;
	}
	c->pid = fork();
	if (c->pid < 0) {
		err = -errno;
		c->pid = 0;
		close(report[0]);
		close(report[1]);
		goto close_gate;
	}
	if (!c->pid) {
		close(gate[1]);
		become(argv, gate[0], report[1]);
	}
	close(gate[0]);
	close(report[1]);
	c->gate = gate[1];
	c->report = report[0];
	return 0;
close_gate:
	close(gate[0]);
	close(gate[1]);
	return err;
}

int command_start(struct command *c)
{
	int err = 0;
	ssize_t n;

	if (write(c->gate, "", 1) != 1)
		err = -errno;
	close(c->gate);
	do {
		n = read(c->report, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(c->report);
	c->gate = c->report = -1;
	if (n != sizeof(err))
		return 0;
	c->failed = true;
	command_ended(c, true);
	return -err;
}

bool command_ended(struct command *c, bool wait)
{
	int status;
	pid_t pid;

	if (!c->pid || c->ended)
		return c->ended;
	do {
		pid = waitpid(c->pid, &status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR && wait);
	if (pid != c->pid)
		return false;
	c->ended = true;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

void command_stop(struct command *c)
{
	if (c->pid && !command_ended(c, false))
		kill(c->pid, SIGTERM);
}

void command_abandon(struct command *c)
{
	if (!c->pid || c->gate < 0)
		return;
	close(c->gate);
	close(c->report);
	command_ended(c, true);
}
