/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - the command that is run while the recording lasts: it is made at once, but starts
 * only when told to, so that nothing of it goes unrecorded.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid;   /* 0: there is none */
	int gate;    /* a byte written here lets it start */
	int report;  /* an errno comes out here if it could not start; end of file if it could */
	bool failed; /* it could not start */
	bool ended;
	int status; /* when it has ended: its exit status, 128 + N if signal N ended it */
};

/*
 * Looks for the program as execvp() will. Returns 0, -ENOENT or what keeps it from being run, and
 * its exit status then, as shells and env(1) have it, is command_error_status().
 */
int command_find(const char *name);
int command_error_status(int err);
/* Forks; argv is NULL-terminated. Returns 0 or a negative errno. */
int command_prepare(struct command *c, char **argv);
/* Lets it start. Returns 0, or the negative errno that kept it from running; then it has ended. */
int command_start(struct command *c);
/* True once it has ended; waits for that if wait is set. False if there is no command. */
bool command_ended(struct command *c, bool wait);
/* Asks it to end (SIGTERM) if it runs. */
void command_stop(struct command *c);
/* Ends it if it was never started. */
void command_abandon(struct command *c);

#endif /* COMMAND_H */
