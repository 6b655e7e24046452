// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack_words.h"

#include <string.h>

enum {
	KERNEL_SHOWN = 3,
	USER_SHOWN = 4,
};

/* What every sleep and every wakeup goes through. A '*' at the end: all names that begin so. */
static const char *const plumbing[] = {
	"__schedule",
	"schedule",
	"schedule_*",
	"io_schedule*",
	"preempt_schedule*",
	"__cond_resched",
	"_cond_resched",
	"try_to_wake_up",
	"wake_up_process",
	"wake_up_q",
	"wake_up_state",
	"ttwu_*",
	"__wake_up*",
	"default_wake_function",
	"autoremove_wake_function",
	"woken_wake_function",
	"swake_up_*",
	"__swake_up*",
	"__traceiter_sched_*",
	"__x64_sys_*",
	"__arm64_sys_*",
	"__se_sys_*",
	"__do_sys_*",
	"do_syscall_64",
	"x64_sys_call",
	"entry_SYSCALL_64*",
	"do_syscall_*",
	"el0_svc*",
	"el0t_64_sync*",
	"invoke_syscall*",
	"ret_from_fork*",
	"syscall_exit_to_user_mode",
	"exit_to_user_mode_*",
	"__syscall_*",
	"__clone3",
	"clone",
	"_start",
	"__libc_start_*",
	"start_thread",
};

static bool is_plumbing(const char *name)
{
	for (size_t i = 0; i < sizeof(plumbing) / sizeof(plumbing[0]); i++) {
		size_t len = strlen(plumbing[i]);

		if (plumbing[i][len - 1] == '*' ? !strncmp(name, plumbing[i], len - 1)
						: !strcmp(name, plumbing[i]))
			return true;
	}
	return false;
}

/* most UINT32_MAX: all of them, plumbing too. Returns how many frames were written. */
static uint32_t put_frames(FILE *out, struct names *n, struct trace_stack s, uint32_t most)
{
	uint32_t shown = 0, left_out = 0;

	for (uint32_t i = 0; i < s.n; i++) {
		const char *name = names_text(n, names_frame(n, s.frames[i]));

		if (most != UINT32_MAX && is_plumbing(name))
			continue;
		if (shown == most) {
			left_out++;
			continue;
		}
		fprintf(out, "%s%s", shown ? " < " : "", name);
		shown++;
	}
	/* Nothing but plumbing is still better than nothing. */
	for (uint32_t i = 0; i < s.n && !shown; i++, shown++)
		fputs(names_text(n, names_frame(n, s.frames[i])), out);
	if (left_out)
		fputs(" < ...", out);
	return shown;
}

void stack_words(FILE *out, struct names *n, const struct timelines *tl, const struct options *o,
		 uint32_t pair, uint32_t kernel_frames, bool with_user)
{
	struct stack_pair p = timelines_pair(tl, pair);
	struct trace_stack kernel = trace_stack(timelines_trace(tl), p.kstack);
	struct trace_stack user = trace_stack(timelines_trace(tl), p.ustack);
	uint32_t shown = 0;

	if (kernel.n > kernel_frames)
		kernel.n = kernel_frames;
	if (!with_user)
		user.n = 0;
	if (o->kernel && kernel.n)
		shown = put_frames(out, n, kernel, o->verbose ? UINT32_MAX : KERNEL_SHOWN);
	if (o->user && user.n) {
		if (shown)
			fputs(" | ", out);
		shown += put_frames(out, n, user, o->verbose ? UINT32_MAX : USER_SHOWN);
	}
	if (!shown)
		fputs("an unknown place (no stack)", out);
}
