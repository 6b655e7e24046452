/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_private.h - what session.c (a recording into a file) and session_flight.c (one that is
 * kept in memory) share. Nobody else includes it.
 */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include "bpf.h"
#include "command.h"
#include "progress.h"
#include "session.h"
#include "translate.h"
#include "writer.h"

/* What is lost at most when the recorder is killed; also how often the progress line moves. */
#define FLUSH_NS 500000000u

struct session {
	const struct options *options;
	const struct session_signals *signals;
	const char *command_line;
	int fd;
	struct writer *writer;
	struct encoder *enc;
	struct symbolizer *sym;
	struct translator *translator;
	struct bpf_session *bpf;
	struct command command;
	struct progress progress;
	uint64_t start_ns, end_ns;
	uint64_t last_flush_ns;
	uint64_t missed;	 /* told as lost so far */
	struct bpf_counts final; /* when all is drained */
	char why[256];
};

uint64_t session_now_ns(void);
/* Says on standard error what failed, and why; returns err. */
int session_fail(const struct session *s, const char *what, int err);
/* The INFO block of a trace that begins at start_ns. */
int session_put_info(const struct session *s, struct encoder *enc, uint64_t start_ns);
/* SYMBOLIZER_*, as the options have it. */
unsigned int session_parts(const struct session *s);
/* Loads the programs; makes the command wait at its gate, if there is one. */
int session_load(struct session *s);
int session_prepare_command(struct session *s);
/* Says which names will be missing. */
void session_warn_about_names(const struct session *s);
/*
 * Events flow from here on: lists the threads, gives up what rights it can by drop(), lets the
 * command go.
 */
int session_attach(struct session *s, bpf_thread_fn fn, void *ctx, int (*drop)(void));
/* True if the recording is over: told to end, or time or command are. */
bool session_over(struct session *s, uint64_t now_ns);
/* How long to sleep before the next look at the rings. */
int session_wait_ms(const struct session *s, uint64_t now_ns);
/* One closing line for a trace, and with -v more; the recorder's own figures, with -v. */
void session_say_trace(const struct session *s, const char *output, const struct encoder *enc,
		       const struct symbolizer_stats *stats);
void session_say_recorder(const struct session *s);
/* Frees all of it. */
void session_close(struct session *s);

/* A recording with --flight. Returns as session_run(). */
int session_fly(struct session *s);

#endif /* SESSION_PRIVATE_H */
