// SPDX-License-Identifier: GPL-2.0-or-later
#include "place.h"

#include <string.h>

#include "base/kernel_functions.h"
#include "code_frames.h"
#include "own_code.h"

/* Frames in these lie between a program and the kernel: names without their folders begin so. */
static bool is_runtime(const struct trace *t, uint32_t frame)
{
	static const char *const libraries[] = { "libc.so",    "libc-",	  "libpthread",
						 "ld-linux",   "ld-musl", "libstdc++.",
						 "libgcc_s.",  "libm.so", "libc++.so",
						 "libc++abi.", "[vdso]" };
	const struct trace_frame *f = trace_frame(t, frame);
	const char *path = f && !f->code ? trace_module_path(t, f->module) : "";
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (!strncmp(name, libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

/*
 * Functions of HotSpot (src/hotspot/{os,share}) by which all of it waits and wakes: whoever calls
 * them says what for, as SafepointSynchronize::block does. Some are a class's, some were members of
 * os.
 */
static bool is_primitive(const struct trace *t, uint32_t frame)
{
	static const char *const names[] = { "LinuxWaitBarrier::",
					     "GenericWaitBarrier::",
					     "PosixSemaphore::",
					     "Semaphore::",
					     "PlatformEvent::",
					     "PlatformMonitor::",
					     "PlatformMutex::",
					     "Monitor::",
					     "Mutex::" };
	const struct trace_frame *f = trace_frame(t, frame);
	const char *symbol = f && !f->code ? trace_string(t, f->symbol) : "";

	symbol += strncmp(symbol, "os::", 4) ? 0 : 4;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(symbol, names[i], strlen(names[i])))
			return true;
	return false;
}

/* How long a function's name is without what the compiler appends to that of a part or a variant.
 */
static size_t name_length(const char *name)
{
	static const char *const variants[] = { ".isra.", ".constprop.", ".part.", ".cold" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		const char *at = strstr(name, variants[i]);

		if (at && at > name && (size_t)(at - name) < len)
			len = (size_t)(at - name);
	}
	return len;
}

/* Appends a frame's text to the others. */
static void put(struct names *n, struct text_buf *b, const char *before, uint32_t frame)
{
	uint32_t text = names_frame(n, frame);

	text_puts(b, b->len ? before : "");
	text_put(b, names_text(n, text), name_length(names_text(n, text)));
}

/*
 * Whether a library function that only makes a system call is at the leaf, or interpreted code
 * called such a library: then that, and what was waited for, say it all, and the kernel's function
 * only how this call sleeps.
 */
static bool call_says_all(struct names *n, const struct trace *t, uint32_t pair,
			  struct trace_stack user)
{
	return user.n > 1 && is_runtime(t, user.frames[0]) &&
	       (!is_runtime(t, user.frames[1]) || code_first(t, user) < user.n) &&
	       names_shown_objects(n, pair).object;
}

/* The function nearest to the leaf that is not the same in nearly all stacks; else the leaf. */
static void put_kernel(struct names *n, struct text_buf *b, struct trace_stack s)
{
	struct kernel_stacks *k = names_kernel_stacks(n);
	uint32_t i = 0;

	while (i < s.n && kernel_frame_flags(k, s.frames[i]) & KFUNC_PLUMBING)
		i++;
	put(n, b, " | ", s.frames[i < s.n ? i : 0]);
}

/* The program's interpreted function nearest to the leaf, before it what that called. */
static void put_code(struct names *n, const struct trace *t, struct text_buf *b,
		     struct trace_stack s, uint32_t i)
{
	uint32_t called = code_called(t, s, i);

	if (called < i)
		put(n, b, " | ", s.frames[called]);
	put(n, b, called < i ? " < " : " | ", s.frames[i]);
}

static bool is_plumbing(struct names *n, uint32_t frame)
{
	return kernel_frame_flags(names_kernel_stacks(n), frame) & KFUNC_PLUMBING;
}

/*
 * The program's function nearest to the leaf; s.n: there is none, but its start, as of what a
 * library calls itself. beyond: primitives, and what is compiled into programs, are a library's.
 */
static uint32_t first_of_program(struct names *n, const struct trace *t, struct trace_stack s,
				 bool beyond)
{
	uint32_t i = 0;

	while (i < s.n && (is_plumbing(n, s.frames[i]) || is_runtime(t, s.frames[i]) ||
			   (beyond && (is_primitive(t, s.frames[i]) ||
				       own_code_is_of_language(t, s.frames[i])))))
		i++;
	return i;
}

/* The program's function nearest to the leaf, before it the library function that it called. */
static void put_user(struct names *n, const struct trace *t, struct text_buf *b,
		     struct trace_stack s, bool cut)
{
	uint32_t i, code = code_of_program(t, s);
	bool called;

	if (code < s.n) {
		put_code(n, t, b, s, code);
		return;
	}
	i = first_of_program(n, t, s, true);
	if (i == s.n)
		i = first_of_program(n, t, s, false);
	if (i == s.n) {
		put(n, b, " | ", s.frames[0]);
		text_puts(b, cut ? " < ?" : "");
		return;
	}
	called = i && !is_plumbing(n, s.frames[i - 1]);
	if (called)
		put(n, b, " | ", s.frames[i - 1]);
	put(n, b, called ? " < " : " | ", s.frames[i]);
}

uint32_t place_text(struct names *n, const struct trace *t, uint32_t pair, uint32_t kernel_frames,
		    bool with_user, bool with_kernel)
{
	struct shown_stack s = names_shown_stack(n, pair, kernel_frames, with_user);
	struct text_buf b = { 0 };
	uint32_t id;

	if (s.kernel.n && (!s.user.n || (with_kernel && !call_says_all(n, t, pair, s.user))))
		put_kernel(n, &b, s.kernel);
	if (s.user.n)
		put_user(n, t, &b, s.user, s.cut);
	id = names_adopt(n, b.len ? b.p : "");
	text_free(&b);
	return id;
}
