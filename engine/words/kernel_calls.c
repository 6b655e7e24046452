// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_calls.h"

#include <stddef.h>
#include <string.h>

#include "base/kernel_functions.h"

const char *kernel_call_begins(const char *symbol)
{
	static const char *const calls[] = { "__x64_sys_", "__arm64_sys_", "__ia32_sys_" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strncmp(symbol, calls[i], strlen(calls[i])))
			return symbol + strlen(calls[i]);
	return strstr(symbol, "exc_page_fault") || !strcmp(symbol, "do_mem_abort") ? "page faults"
										   : NULL;
}

/*
 * What a thread does for a signal, on its way back to user mode from whatever brought it into the
 * kernel: nearer to the leaf. NULL: the function is nothing like that.
 */
static const char *signal_work(const char *symbol)
{
	static const char *const works[][2] = {
		{ "get_signal", "signals" },
		{ "do_exit", "exit" },
		{ "do_coredump", "core dumps" },
		{ "vfs_coredump", "core dumps" },
	};

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (!strcmp(symbol, works[i][0]))
			return works[i][1];
	return NULL;
}

const char *kernel_call_of(struct names *n, const struct trace *t, uint32_t pair, bool *kernel)
{
	struct trace_stack s = names_shown_stack(n, pair, UINT32_MAX, true).kernel;
	const char *call = NULL;
	bool of_signal = false;

	*kernel = s.n;
	for (uint32_t i = s.n; i-- > 0;) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		of_signal |= kernel_frame_flags(names_kernel_stacks(n), s.frames[i]) &
			     KFUNC_TAKES_SIGNAL;
		if (of_signal && signal_work(symbol))
			call = signal_work(symbol);
		else if (!call)
			call = kernel_call_begins(symbol);
	}
	return call;
}
