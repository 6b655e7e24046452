// SPDX-License-Identifier: GPL-2.0-or-later
#include "own_code.h"

#include <string.h>

#include "base/kernel_functions.h"
#include "code_frames.h"

static bool begins_with_any(const char *s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(s, words[i], strlen(words[i])))
			return true;
	return false;
}

#define BEGINS_WITH_ANY(s, words) begins_with_any(s, words, sizeof(words) / sizeof((words)[0]))

/* Whether a file is a library, by how systems call these: "libc.so.6", "ld-linux-x86-64.so.2". */
static bool is_library(const char *path)
{
	static const char *const others[] = { "[", "ld-linux", "ld-musl" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strstr(name, ".so.") || BEGINS_WITH_ANY(name, others) ||
	       (strlen(name) > 3 && !strcmp(name + strlen(name) - 3, ".so"));
}

/*
 * "sun.nio.ch.Net.poll" of "int sun.nio.ch.Net.poll(java.io.FileDescriptor, int)", as a JVM calls
 * what it compiled; other names are as they are. *len: of what that is.
 */
static const char *name_itself(const char *symbol, size_t *len)
{
	const char *end = strchr(symbol, '('), *begin = end;

	*len = strlen(symbol);
	while (begin && begin > symbol && begin[-1] != ' ')
		begin--;
	/* In C++ and Rust a space before the parameters is within a name. */
	if (!begin || begin == symbol || begin == end || symbol + strcspn(symbol, "<:[") < end)
		return symbol;
	*len = (size_t)(end - begin);
	return begin;
}

/* Code that a JVM makes for itself: "monitorenter_nofpu Runtime1 stub", "StubRoutines (1)". */
static bool is_of_jvm(const char *symbol)
{
	static const char *const begins[] = { "StubRoutines", "I2C/C2I adapters", "vtable stub" };

	return !strcmp(symbol, "Interpreter") || strstr(symbol, " Runtime1 stub") ||
	       BEGINS_WITH_ANY(symbol, begins);
}

/* Functions of the libraries that come with a language and are compiled into a program. */
static bool is_of_language(const char *symbol)
{
	static const char *const begins[] = {
		/* C++, Rust */
		"std::",
		"__gnu_cxx::",
		"core::",
		"alloc::",
		"<std::",
		"<core::",
		"<alloc::",
		"tokio::",
		"<tokio::",
		"mio::",
		/* Go */
		"runtime.",
		"runtime/",
		"internal/",
		"syscall.",
		"net.",
		"net/http.",
		"io.",
		"bufio.",
		"sync.",
		"time.",
		"context.",
		"database/sql.",
		"crypto/",
		"os.",
		"fmt.",
		"encoding/",
	};

	return BEGINS_WITH_ANY(symbol, begins);
}

/*
 * Functions that say nothing of what a program does: of a language's library, of interpreters, of
 * event loops, and those by which well-known servers wait for anything.
 */
static bool is_of_runtime(const char *symbol)
{
	static const char *const begins[] = {
		"_start",
		"__libc_start",
		"start_thread",
		"clone",
		"__clone",
		/* Java, Node.js, Python, PHP, Ruby, Lua */
		"java.",
		"jdk.",
		"sun.",
		"javax.",
		"com.sun.",
		"io.netty.",
		"org.apache.catalina.",
		"org.apache.tomcat.",
		"org.eclipse.jetty.",
		"org.springframework.",
		"uv_",
		"uv__",
		"node::",
		"llhttp_",
		"v8::",
		"Builtins_",
		"_Py",
		"Py",
		"execute_ex",
		"zend_",
		"php_",
		"_php_",
		"rb_",
		"vm_exec",
		"lua_",
		"luaB_",
		"luaD_",
		"luaL_",
		"luaV_",
		/* nginx, redis, PostgreSQL, MySQL and MariaDB */
		"aeMain",
		"aeProcessEvents",
		"aeApiPoll",
		"ngx_epoll_",
		"ngx_process_events",
		"ngx_worker_",
		"ngx_spawn_",
		"ngx_master_",
		"WaitEventSetWait",
		"WaitLatch",
		"secure_",
		"pq_",
		"ProcSleep",
		"WaitOnLock",
		"LockAcquire",
		"XactLockTableWait",
		"LockRelation",
		"RangeVarGetRelid",
		"relation_open",
		"table_open",
		"try_relation_open",
		"vio_",
		"inline_mysql_",
		"psi_",
		"my_net_",
		"my_real_read",
		"MDL_wait",
		"pfs_spawn_thread",
	};

	static const char thunk[] = "non-virtual thunk to ";
	size_t len;

	if (!strncmp(symbol, thunk, strlen(thunk)))
		symbol += strlen(thunk);
	return is_of_language(symbol) || BEGINS_WITH_ANY(name_itself(symbol, &len), begins) ||
	       is_of_jvm(symbol);
}

/* A folder of what a program only uses. */
static bool is_vendored(const char *path)
{
	return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/") ||
	       strstr(path, "/node_modules/") || strstr(path, "/vendor/") ||
	       strstr(path, "/gems/") || !strncmp(path, "node:", 5);
}

bool own_code_is(struct names *n, const struct trace *t, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(t, frame);

	if (!f || !f->symbol || f->unnamed)
		return false;
	if (f->code)
		return !code_of_library(t, frame) && !is_vendored(trace_module_path(t, f->module));
	return !(kernel_frame_flags(names_kernel_stacks(n), frame) & KFUNC_PLUMBING) &&
	       !is_library(trace_module_path(t, f->module)) &&
	       !is_of_runtime(trace_string(t, f->symbol));
}

bool own_code_is_of_language(const struct trace *t, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(t, frame);

	return f && !f->code && is_of_language(trace_string(t, f->symbol));
}

/* Functions of the C library that say nothing of what is waited for. */
static bool waits_for_anything(const char *symbol)
{
	static const char *const begins[] = { "syscall", "pthread_", "futex" };

	return BEGINS_WITH_ANY(symbol, begins);
}

/* The frame of a package that the program uses, else any interpreted code; 0: there is none. */
static uint32_t other_code(const struct trace *t, struct trace_stack s)
{
	uint32_t i = code_of_program(t, s);

	return i < s.n ? s.frames[i] : 0;
}

/* The function of Node.js that JavaScript without names has called; 0: there is none. */
static uint32_t called_from_v8(const struct trace *t, struct trace_stack s)
{
	uint32_t called = 0;

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		if (!strncmp(symbol, "v8::", strlen("v8::")))
			return called;
		if (!strncmp(symbol, "node::", strlen("node::")))
			called = s.frames[i];
	}
	return 0;
}

uint32_t own_frame(struct names *n, const struct trace *t, uint32_t pair)
{
	struct trace_stack s = names_shown_stack(n, pair, UINT32_MAX, true).user;
	bool has_code = code_first(t, s) < s.n, in_loop = false;
	uint32_t called;

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		/* Native code below interpreted code is the interpreter's. */
		if (code_frame(t, s.frames[i]) == has_code && own_code_is(n, t, s.frames[i]))
			/* That main() has an event loop says nothing. */
			return in_loop && !f->code && !strcmp(trace_string(t, f->symbol), "main")
				       ? 0
				       : s.frames[i];
		in_loop |= f && is_of_runtime(trace_string(t, f->symbol)) &&
			   !is_library(trace_module_path(t, f->module));
	}
	if (has_code)
		return other_code(t, s);
	called = called_from_v8(t, s);
	if (called)
		return called;
	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		/* The call by which the program waits. */
		if (f && f->symbol && !f->unnamed && strncmp(trace_string(t, f->symbol), "__", 2) &&
		    strncmp(trace_string(t, f->symbol), "runtime.", strlen("runtime.")) &&
		    !(kernel_frame_flags(names_kernel_stacks(n), s.frames[i]) & KFUNC_PLUMBING))
			return waits_for_anything(trace_string(t, f->symbol)) ? 0 : s.frames[i];
	}
	return 0;
}

uint32_t own_frame_place(struct names *n, const struct trace *t, uint32_t frame)
{
	uint32_t text = names_frame(n, frame);
	struct text_buf b = { 0 };
	size_t len;
	const char *name = name_itself(names_text(n, text), &len);

	text_put(&b, name, len);
	if (!code_frame(t, frame))
		names_put_source(t, frame, true, &b);
	text = names_adopt(n, b.len ? b.p : "");
	text_free(&b);
	return text;
}

uint32_t own_place(struct names *n, const struct trace *t, uint32_t pair)
{
	uint32_t frame = own_frame(n, t, pair);

	return frame ? own_frame_place(n, t, frame) : names_adopt(n, "");
}
