/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - one recording from beginning to end: everything is opened, events flow from the
 * rings through the translator and the encoder into the writer, names are looked up, the trace is
 * closed. All of it happens in the calling thread.
 */
#ifndef SESSION_H
#define SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* Wishes, counted up by a signal handler. */
struct session_signals {
	volatile sig_atomic_t stop; /* end the recording */
	volatile sig_atomic_t dump; /* --flight: write what there is */
};

struct session_result {
	int command_status;  /* of the command, if there was one */
	bool command_failed; /* it could not be started; the status is what env(1) gives then */
};

/*
 * Records as the options say. command_line is kept in the trace. Errors are told on standard error.
 * Returns 0, or a negative errno if there is no trace or not all of it.
 */
int session_run(const struct options *o, const char *command_line,
		const struct session_signals *signals, struct session_result *result);

#endif /* SESSION_H */
