// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chaincap - records context switches and wakings with stacks into a trace for chainwalk.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "memory.h"
#include "options.h"
#include "self_test.h"
#include "session.h"

/* timeout(1) and terminals may send a signal twice: a second one counts after this time. */
#define SECOND_SIGNAL_NS 300000000

static struct session_signals requests;
static struct timespec first_signal;

static bool is_impatient(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!requests.stop) {
		first_signal = now;
		return false;
	}
	return (now.tv_sec - first_signal.tv_sec) * 1000000000ll +
		       (now.tv_nsec - first_signal.tv_nsec) >
	       SECOND_SIGNAL_NS;
}

static void on_stop(int sig)
{
	static const char msg[] = "\nchaincap: stopped at once; the trace has no names for user "
				  "functions\n";

	(void)sig;
	if (is_impatient()) {
		if (requests.writer)
			kill(requests.writer, SIGKILL);
		if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
			_exit(1);
		_exit(1);
	}
	requests.stop = 1;
}

static void on_dump(int sig)
{
	(void)sig;
	requests.dump++;
}

/*
 * Opens standard files that are closed on /dev/null: else the next file opened would become
 * standard output or error. Returns false if standard output was closed.
 */
static bool open_standard_files(void)
{
	bool had_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return had_output;
}

static void catch_signals(const struct options *o)
{
	/* A script's shell starts jobs by "&" with SIGINT ignored; kill -INT must end them, too. */
	command_catch(SIGINT, on_stop, true);
	command_catch(SIGTERM, on_stop, false);
	command_catch(SIGHUP, on_stop, false);
	if (o->flight_ns || o->every_ns)
		command_catch(SIGUSR1, on_dump, true);
	/* A closed pipe is then an error of write(), reported with the file's name. */
	command_catch(SIGPIPE, SIG_IGN, true);
}

/* The command line in one string, for the trace. NULL when out of memory. */
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
	bool has_output = open_standard_files();
	char *command_line, why[512];
	int err;

	if (options_parse(&o, argc, argv, why, sizeof(why))) {
		fprintf(stderr, "chaincap: %s (chaincap --help tells more)\n", why);
		return 2;
	}
	if (o.help || o.help_all)
		options_help(stdout, o.help_all);
	if (o.version)
		puts("chaincap " CHAIN_VERSION);
	if (o.help || o.help_all || o.version)
		return 0;
	if (o.self_test) {
		catch_signals(&o);
		memory_begin();
		return self_test_run(&o, &requests) ? 1 : 0;
	}
	if (!strcmp(o.output, "-") && isatty(STDOUT_FILENO)) {
		fputs("chaincap: a trace is not for a terminal: name a file with -o, or use a "
		      "pipe\n",
		      stderr);
		return 2;
	}
	if (!strcmp(o.output, "-") && !has_output) {
		fputs("chaincap: standard output is closed\n", stderr);
		return 1;
	}
	/* Before anything is opened: a mistyped command must not empty an earlier trace. */
	err = o.command ? command_find(o.command[0]) : 0;
	if (err) {
		fprintf(stderr, "chaincap: %s: %s\n", o.command[0], strerror(-err));
		return command_error_status(err);
	}
	catch_signals(&o);
	memory_begin();
	command_line = join(argc, argv);
	err = session_run(&o, command_line ? command_line : "", &requests, &result);
	free(command_line);
	if (!err && !o.quiet && !o.every_ns && !o.flight_ns && strcmp(o.output, "-") != 0 &&
	    isatty(STDERR_FILENO))
		fprintf(stderr, "next: chainwalk %s\n", o.output);
	if (err && !result.command_failed)
		return 1;
	return o.command ? result.command_status : 0;
}
