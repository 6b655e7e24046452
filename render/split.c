// SPDX-License-Identifier: GPL-2.0-or-later
#include "split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t common_prefix(const char *a, const char *b, size_t n)
{
	size_t i = 0;

	while (i + 8 <= n && !memcmp(a + i, b + i, 8))
		i += 8;
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

static int grow_depth(struct split *s)
{
	uint32_t cap = s->depth_cap ? s->depth_cap * 2 : 128;
	void *p = realloc(s->id, cap * sizeof(*s->id));

	if (!p)
		return -ENOMEM;
	s->id = p;
	p = realloc(s->end, cap * sizeof(*s->end));
	if (!p)
		return -ENOMEM;
	s->end = p;
	s->depth_cap = cap;
	return 0;
}

static int keep_text(struct split *s, const char *stack, size_t len, size_t same)
{
	if (len > s->last_cap) {
		char *p = realloc(s->last, len * 2);

		if (!p)
			return -ENOMEM;
		s->last = p;
		s->last_cap = len * 2;
	}
	if (len > same)
		memcpy(s->last + same, stack + same, len - same);
	s->last_len = len;
	return 0;
}

int split_stack(struct split *s, struct names *names, const char *stack, size_t len)
{
	uint32_t d = s->depth;
	size_t same, at = 0;
	int err;

	while (len && stack[len - 1] == ';')
		len--;
	same = common_prefix(stack, s->last, len < s->last_len ? len : s->last_len);

	/* A frame is shared if it lies within the common bytes and ends there in both. */
	while (d && (s->end[d - 1] > same || (s->end[d - 1] < len && stack[s->end[d - 1]] != ';')))
		d--;
	if (d)
		at = s->end[d - 1] + 1;
	s->depth = 0; /* in case of an error below: nothing is shared with a half-read stack */
	while (at < len) {
		size_t n;

		err = d == s->depth_cap ? grow_depth(s) : 0;
		if (!err)
			err = names_next(names, d ? s->id[d - 1] : 0, stack + at, stack + len, &n,
					 &s->id[d]);
		if (err)
			return err;
		if (n == 2 && stack[at] == '-' && stack[at + 1] == '-')
			s->chain = true;
		s->end[d++] = at + n;
		at += n + 1;
	}
	err = keep_text(s, stack, len, same);
	if (!err)
		s->depth = d;
	return err;
}

void split_free(struct split *s)
{
	free(s->id);
	free(s->end);
	free(s->last);
	memset(s, 0, sizeof(*s));
}
