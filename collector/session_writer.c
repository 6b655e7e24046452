// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that write traces of what is in memory. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session_private.h"

void trace_process_start(struct trace_process *p, struct session *s,
			 int (*write)(struct session *s, uint64_t end_ns), uint64_t end_ns)
{
	pid_t pid;

	progress_clear(&s->progress);
	symbolizer_refresh_kernel(s->sym);
	/* As it is in the writer from its beginning on. */
	symbolizer_hurry(s->sym, &s->signals->dump);
	session_tell_cut(s);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* This process's copies of the attachments would outlive those of the recorder. */
		bpf_session_detach(s->bpf);
		(void)setpriority(PRIO_PROCESS, 0, s->nice);
		/* It is recorded like any other program; the name tells it apart in traces. */
		prctl(PR_SET_NAME, "chaincap-writer");
		_exit(write(s, end_ns) ? 1 : 0);
	}
	if (pid < 0) {
		fprintf(stderr, "chaincap: %s: cannot be written: fork: %s\n", s->options->output,
			strerror(errno));
		p->failed = true;
		return;
	}
	session_left_out(s, s->left_out);
	p->pid = pid;
	s->signals->writer = pid;
	p->is_hurried = false;
}

void trace_process_hurry(struct trace_process *p)
{
	if (p->pid && !p->is_hurried)
		p->is_hurried = !kill(p->pid, SIGUSR1);
}

void trace_process_reap(struct trace_process *p, struct session *s, bool wait)
{
	int status;
	pid_t pid;

	if (!p->pid)
		return;
	do {
		pid = waitpid(p->pid, &status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR && wait);
	if (!pid)
		return;
	if (pid > 0 && WIFSIGNALED(status))
		fprintf(stderr, "chaincap: the writing process was killed by signal %d\n",
			WTERMSIG(status));
	p->failed |= pid < 0 || status;
	p->pid = 0;
	s->signals->writer = 0;
}

int trace_process_finish(struct trace_process *p, struct session *s, int err,
			 void (*start_last)(struct session *s))
{
	trace_process_hurry(p);
	trace_process_reap(p, s, true);
	if (err)
		fprintf(stderr, "chaincap: recording ended: %s\n", strerror(-err));
	/* After an error, too: what was kept is good up to there. */
	start_last(s);
	/* After the fork: a thread detaches them, which the fork could find holding a lock. */
	bpf_session_detach(s->bpf);
	trace_process_reap(p, s, true);
	return !err && p->failed ? -EIO : err;
}
