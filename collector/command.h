/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - the command that runs during the recording: it is forked early, but executes only
 * when let go, so that all of it is recorded.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid;   /* 0: there is none */
	int gate;    /* a byte written here lets it go; -1: it was let go */
	int report;  /* read: the errno of exec, or end of file on success */
	bool failed; /* it could not start */
	bool ended;
	int status; /* after it ended: exit status, or 128 + N if signal N killed it */
};

/*
 * Installs handler (or SIG_IGN) for sig; if sig was ignored, only if even_ignored. The command gets
 * the disposition that the recorder was started with: exec resets a handled signal to its default,
 * even if it was ignored then (nohup(1)).
 */
void command_catch(int sig, void (*handler)(int), bool even_ignored);
/*
 * Looks for the program as execvp() will. Returns 0, or -ENOENT or -EACCES; the exit status that
 * shells and env(1) return for such an error is command_error_status().
 */
int command_find(const char *name);
int command_error_status(int err);
/* Forks; argv is NULL-terminated. Returns 0 or a negative errno. */
int command_prepare(struct command *c, char **argv);
/* Lets it go. Returns 0, or the negative errno of exec; then it has ended. */
int command_start(struct command *c);
/* True once it has ended; waits for that if wait is set. False if there is no command. */
bool command_ended(struct command *c, bool wait);
/* Sends SIGTERM if it runs. */
void command_stop(struct command *c);
/* Ends it if it was not let go. */
void command_abandon(struct command *c);
