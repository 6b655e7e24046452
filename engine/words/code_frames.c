// SPDX-License-Identifier: GPL-2.0-or-later
#include "code_frames.h"

#include <string.h>

bool stack_is_of_go_runtime(const struct trace *t, struct trace_stack s)
{
	const struct trace_frame *f = s.n ? trace_frame(t, s.frames[0]) : NULL;

	return f && !strncmp(trace_string(t, f->symbol), "runtime.", strlen("runtime."));
}

bool code_frame(const struct trace *t, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(t, frame);

	return f && f->code;
}

/*
 * Whether a file of a Go program is Go's own: a package of its library, or what calls functions
 * that are given to it, below GOROOT/src, "/usr/lib/go-1.19/src/sync/mutex.go"; or without folders,
 * where the program was built with -trimpath. A program may lie in "/src" or "/go/src/app".
 */
static bool is_of_go(const char *path)
{
	static const char *const packages[] = { "runtime/",  "sync/",	  "internal/", "net/",
						"time/",     "syscall/",  "os/",       "io/",
						"bufio/",    "context/",  "log/",      "crypto/",
						"fmt/",	     "database/", "reflect/",  "sort/",
						"strings/",  "text/",	  "encoding/", "bytes/",
						"compress/", "html/",	  "testing/" };
	const char *src = strstr(path, "/src/"), *go = strstr(path, "/go");
	size_t len = strlen(path);

	if (len < 3 || strcmp(path + len - 3, ".go"))
		return false;
	if (src && go && go < src)
		path = src + strlen("/src/");
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (!strncmp(path, packages[i], strlen(packages[i])))
			return true;
	return false;
}

bool code_of_library(const struct trace *t, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(t, frame);
	const char *path = f && f->code ? trace_module_path(t, f->module) : "/";

	/* PHP's own functions are of no file. */
	return !*path || strstr(path, "<frozen ") || !strncmp(path, "<internal:", 10) ||
	       is_of_go(path) ||
	       (strstr(path, "/lib/ruby/") && !strstr(path, "/gems/") &&
		!strstr(path, "/vendor_ruby/")) ||
	       (strstr(path, "/lib/python") && !strstr(path, "-packages/"));
}

uint32_t code_first(const struct trace *t, struct trace_stack s)
{
	uint32_t i = 0;

	while (i < s.n && !code_frame(t, s.frames[i]))
		i++;
	return i;
}

uint32_t code_of_program(const struct trace *t, struct trace_stack s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (code_frame(t, s.frames[i]) && !code_of_library(t, s.frames[i]))
			return i;
	return code_first(t, s);
}

bool code_is_missing(const struct trace *t, struct trace_stack s)
{
	static const char *const interpreters[] = { "Builtins_InterpreterEntryTrampoline",
						    "_PyEval_EvalFrameDefault", "execute_ex",
						    "vm_exec_core" };
	bool interprets = false;

	if (code_first(t, s) < s.n)
		return false;
	for (uint32_t i = 0; i < s.n && !interprets; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		for (size_t k = 0; f && k < sizeof(interpreters) / sizeof(*interpreters); k++)
			interprets |= !strcmp(trace_string(t, f->symbol), interpreters[k]);
	}
	return interprets;
}

/* "_PyObject_MakeTpCall", "PyObject_Vectorcall", "cfunction_call". */
static bool only_calls(const char *name)
{
	bool api = !strncmp(name, "Py", 2) || !strncmp(name, "_Py", 3);

	return strstr(name, "ectorcall") || (api && strstr(name, "Call")) ||
	       !strcmp(name, "cfunction_call");
}

uint32_t code_called(const struct trace *t, struct trace_stack s, uint32_t i)
{
	for (uint32_t k = i; k-- > 0;) {
		const struct trace_frame *f = trace_frame(t, s.frames[k]);

		if (f && !f->unnamed && (f->code || !only_calls(trace_string(t, f->symbol))))
			return k;
	}
	return i;
}
