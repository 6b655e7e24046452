// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chaincap - records context switches and wakings with stacks into a trace for chainwalk.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "session.h"

static volatile sig_atomic_t stop;

static void on_stop(int sig)
{
	static const char msg[] = "\nchaincap: stopped at once; the trace has no names for user "
				  "functions\n";

	(void)sig;
	if (stop++) {
		if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
			_exit(1);
		_exit(1);
	}
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_stop };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	/* A pipe that closes is an error of a write, told by name. */
	signal(SIGPIPE, SIG_IGN);
}

/* The command line in one string, as the trace keeps it. NULL when out of memory. */
static char *join(int argc, char **argv)
{
	size_t len = 1;
	char *s;

	for (int i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	s = calloc(1, len);
	for (int i = 0; s && i < argc; i++) {
		strcat(s, i ? " " : "");
		strcat(s, argv[i]);
	}
	return s;
}

int main(int argc, char **argv)
{
	struct session_result result = { 0 };
	struct options o;
	char *command_line;
	int err;

	switch (options_parse(&o, argc, argv)) {
	case OPTIONS_DONE:
		return 0;
	case OPTIONS_USAGE:
		return 2;
	case OPTIONS_RUN:
		break;
	}
	if (!strcmp(o.output, "-") && isatty(STDOUT_FILENO)) {
		fputs("chaincap: a trace is not for a terminal: name a file with -o, or use a "
		      "pipe\n",
		      stderr);
		return 2;
	}
	catch_signals();
	command_line = join(argc, argv);
	err = session_run(&o, command_line ? command_line : "", &stop, &result);
	free(command_line);
	if (err)
		return 1;
	return o.command ? result.command_status : 0;
}
