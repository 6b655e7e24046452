/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - one recording from beginning to end, in the calling thread: opens everything, moves
 * records from the rings through the translator and the encoder to the trace or into memory, looks
 * up names, and closes the trace.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* What signal handlers and the session tell each other. */
struct session_signals {
	volatile sig_atomic_t stop; /* end the recording */
	volatile sig_atomic_t dump; /* --flight: write a trace of the window */
	/* To be ended by SIGKILL with the recorder, which a second signal ends at once; or 0. */
	volatile sig_atomic_t writer;
};

struct session_result {
	int command_status;  /* of the command, if there was one */
	bool command_failed; /* it could not be executed; its status is as of env(1) */
};

/*
 * Records as the options say. command_line is stored in the trace. Errors are printed on standard
 * error. Returns 0, or a negative errno if the trace is missing or incomplete.
 */
int session_run(const struct options *o, const char *command_line, struct session_signals *signals,
		struct session_result *result);
