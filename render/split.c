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

/* Make the text the last one, followed by `;` and the slack that name_end() reads. */
static int keep_text(struct split *s, const char *stack, size_t len, size_t same)
{
	size_t need = len + 1 + NAME_SLACK;

	if (need > s->last_cap) {
		size_t cap = need * 2;
		char *p = realloc(s->last, cap);

		if (!p)
			return -ENOMEM;
		memset(p + s->last_cap, 0, cap - s->last_cap);
		s->last = p;
		s->last_cap = cap;
	}
	if (len > same)
		memcpy(s->last + same, stack + same, len - same);
	s->last[len] = ';';
	s->last_len = len;
	return 0;
}

int split_stack(struct split *s, struct name_table *names, const char *stack, size_t len)
{
	uint32_t d = s->depth;
	size_t same, at = 0;
	int err;

	while (len && stack[len - 1] == ';')
		len--;
	same = common_prefix(stack, s->last, len < s->last_len ? len : s->last_len);

	/* A frame is shared if it ends at the same byte of both, within their common bytes. */
	while (d && (s->end[d - 1] > same || (s->end[d - 1] < len && stack[s->end[d - 1]] != ';')))
		d--;
	if (d)
		at = s->end[d - 1] + 1;
	s->shared = d;
	s->depth = 0; /* after an error below, nothing is shared with the incomplete stack */
	err = keep_text(s, stack, len, same);
	while (!err && at < len) {
		const char *name = s->last + at;
		struct name_key key;

		if (d == s->depth_cap)
			err = grow_depth(s);
		if (err)
			break;
		name_key(name, name_end(name), &key);
		err = name_table_add_key(names, name, &key, &s->id[d]);
		if (key.len == 2 && name[0] == '-' && name[1] == '-')
			s->chain = true;
		at += key.len;
		s->end[d++] = at++;
	}
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
