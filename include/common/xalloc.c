// SPDX-License-Identifier: GPL-2.0-or-later
#include "xalloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void out_of_memory(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	char text[160];
	int len = snprintf(text, sizeof(text),
			   "%s: out of memory: give it more (ulimit -v, the container's limit), or "
			   "a smaller input\n",
			   program_invocation_short_name);
	ssize_t written;

	/* Another thread is about to end the program. */
	while (atomic_flag_test_and_set(&said))
		pause();
	written = write(STDERR_FILENO, text,
			len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1);

	(void)written; /* an error cannot be reported either */
	quick_exit(EXIT_FAILURE);
}

static void *given(void *p)
{
	if (!p)
		out_of_memory();
	return p;
}

void *xmalloc(size_t size)
{
	return given(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return given(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	return given(reallocarray(p, n ? n : 1, size));
}

char *xstrdup(const char *s)
{
	return given(strdup(s));
}

char *xstrndup(const char *s, size_t max)
{
	return given(strndup(s, max));
}

char *xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	return given(len < 0 ? NULL : text);
}

FILE *xmemstream(char **p, size_t *len)
{
	return given(open_memstream(p, len));
}

void xmemstream_close(FILE *f, char *const *p)
{
	bool failed = ferror(f);

	/* Nothing else can go wrong in memory; fclose() does not always say that it did. */
	if (fclose(f) || failed || !*p)
		out_of_memory();
}

void xreach(void *array, size_t *n, size_t i, size_t size)
{
	size_t want = i + i / 2 + 64;
	char *p;

	memcpy(&p, array, sizeof(p));
	p = xreallocarray(p, want, size);
	memset(p + *n * size, 0, (want - *n) * size);
	memcpy(array, &p, sizeof(p));
	*n = want;
}

uint32_t xintern(struct intern *t, const void *key, size_t len, bool *is_new)
{
	uint32_t id = intern_id(t, key, len, is_new);

	if (!id)
		out_of_memory();
	return id;
}
