// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether this process may record, asked of the kernel and not of the collector: a test that needs
 * this is skipped where it may not, and fails where it may and the collector does not.
 */
#pragma once

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline bool is_refused(int error)
{
	return error == EPERM || error == EACCES || error == ENOSYS;
}

/* What is refused, or NULL. */
static inline const char *what_is_refused(void)
{
	/* r0 = 0; exit */
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(clock),
		.config = PERF_COUNT_SW_DUMMY,
	};
	int prog, event;

	prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", nothing, 2, NULL);
	if (prog >= 0)
		close(prog);
	else if (is_refused(-prog))
		return "bpf() is refused";
	event = (int)syscall(SYS_perf_event_open, &clock, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event >= 0)
		close(event);
	else if (is_refused(errno))
		return "perf_event_open() is refused";
	return NULL;
}

/* For a test of cmocka's. */
#define skip_if_refused()                                         \
	do {                                                      \
		if (what_is_refused()) {                          \
			print_message("%s\n", what_is_refused()); \
			skip();                                   \
		}                                                 \
	} while (0)
