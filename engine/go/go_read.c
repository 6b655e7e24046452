// SPDX-License-Identifier: GPL-2.0-or-later
#include "go_trace.h"

#include <string.h>

#include "import/import_report.h"

/* Versions of Go that wrote a layout which is read here: 1.7 to 1.21, and since 1.22. */
#define FIRST_MINOR 7u
#define LAST_MINOR 26u

/* "go 1.19 trace", then zeros. *minor: 0 if it is none. */
static void read_header(const uint8_t *p, size_t len, unsigned int *minor)
{
	static const char rest[] = " trace\0\0\0";
	unsigned int v = 0;
	size_t i;

	*minor = 0;
	if (len < GO_HEADER_BYTES || memcmp(p, "go 1.", 5))
		return;
	for (i = 5; i < 8 && p[i] >= '0' && p[i] <= '9'; i++)
		v = v * 10 + (unsigned int)(p[i] - '0');
	if (!memcmp(p + i, rest, GO_HEADER_BYTES - i < 9 ? GO_HEADER_BYTES - i : 9))
		*minor = v;
}

bool go_is_trace(const void *p, size_t len)
{
	unsigned int minor;

	read_header(p, len, &minor);
	return minor;
}

/* The layouts have no end mark, but all stacks have to be there. */
static void check_stacks(struct go_trace *t, size_t len)
{
	for (size_t i = 0; i < t->n_events && !t->damage_offset; i++) {
		uint32_t id = t->events[i].stack;

		if (id && (id >= t->cap_stack || !t->stack[id].n))
			t->damage_offset = len;
	}
}

int go_trace_read(struct go_trace *t, const uint8_t *p, size_t len)
{
	int err;

	read_header(p, len, &t->minor);
	if (t->minor < FIRST_MINOR || t->minor > LAST_MINOR)
		return -IMPORT_E_GO_VERSION;
	err = t->minor < GO_THREADS_MINOR ? go_read_ps(t, p, len) : go_read_threads(t, p, len);
	if (!err)
		check_stacks(t, len);
	return err;
}
