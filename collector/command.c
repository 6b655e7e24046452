// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signals.h"

static _Noreturn void become(char **argv, int gate, int report)
{
	char go;
	int err;

	if (read(gate, &go, 1) != 1)
		_exit(125); /* the recorder gave up */
	signals_restore();
	execvp(argv[0], argv);
	err = errno;
	if (write(report, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	/* As shells and env(1) have it. */
	_exit(err == ENOENT ? 127 : 126);
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
