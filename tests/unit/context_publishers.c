// SPDX-License-Identifier: GPL-2.0-or-later
/* The processes that publish contexts: who has many leaves room for others. */
#include <unistd.h>

#include "test.h"

#include "context/publishers.h"

/* No process has such an id; all of these are one owner's. */
#define NOBODY 0x40000000u

struct told {
	uint32_t added, removed, last;
};

static void tell(void *ctx, uint32_t tgid, const struct wire_publisher *at)
{
	struct told *t = ctx;

	t->added += at != NULL;
	t->removed += !at;
	t->last = tgid;
}

TEST(an_owner_leaves_room)
{
	struct reader_parts parts = { .has_context = 1 };
	const struct mapped_files_user *u = &publishers_user;
	struct told t = { 0 };
	struct publishers *p;
	uint32_t n;

	assert_int_equal(publishers_new(&p, NULL, tell, &t), 0);
	u->mapped(p, NOBODY, 0, &parts);
	for (uint32_t i = 1; i < WIRE_PUBLISHERS + 10; i++)
		u->forked(p, NOBODY + i, NOBODY);
	n = t.added;
	assert_int_equal(n, WIRE_PUBLISHERS / 2);
	/* What had no room is counted. */
	assert_int_equal(publishers_count(p).processes, n);
	assert_int_equal(publishers_missed(p), WIRE_PUBLISHERS + 10 - n);
	u->mapped(p, (uint32_t)getpid(), 0, &parts);
	assert_int_equal(t.added, n + 1);
	assert_int_equal(t.last, getpid());
	/* What ends makes room. */
	assert_int_equal(t.removed, 0);
	for (uint32_t i = 0; i < n; i++)
		u->gone(p, NOBODY + n - 1 - i);
	assert_int_equal(t.removed, n);
	u->gone(p, NOBODY);
	assert_int_equal(t.removed, n);
	u->mapped(p, NOBODY + 5, 0, &parts);
	assert_int_equal(t.last, NOBODY + 5);
	publishers_free(p);
}
