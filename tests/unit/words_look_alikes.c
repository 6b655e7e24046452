// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects of one name that are different things: they say more only then. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

struct thing {
	const char *class, *name;
	uint32_t device;
	uint64_t inode;
};

/* The folded lines of A, who waits for n things in turn, 100 us each. To be freed. */
static char *waits_for(const struct thing *things, size_t n)
{
	struct options o = script_options(101);
	struct synth *m = synth_new();
	struct trace *t;
	char *text;

	synth_thread(m, 101, "A");
	for (size_t i = 0; i < n; i++) {
		struct event ev = {
			.time_ns = 100000 + i * 200000,
			.kind = EVENT_WAITS_FOR,
		};

		synth_switch(m, 0, ev.time_ns, 101, 'S', 0, "");
		ev.awaited.object =
			encoder_object(synth_encoder(m), &(struct encoder_object) {
								 .class = things[i].class,
								 .name = things[i].name,
								 .own = "",
								 .device = things[i].device,
								 .inode = things[i].inode,
							 });
		assert_int_equal(encoder_event(synth_encoder(m), &ev), 0);
		synth_waking(m, 0, ev.time_ns + 100000, 0, 101, "hrtimer_wakeup");
		synth_switch(m, 0, ev.time_ns + 100000, 0, 'R', 101, "");
	}
	synth_end(m, 2000000);
	t = synth_open(m);
	o.objects = OBJECTS_FULL;
	o.no_ends = true;
	text = trace_folded(t, &o);
	trace_close(t);
	synth_free(m);
	return text;
}

static void has(const char *text, const char *object, unsigned int us)
{
	char expected[200];

	snprintf(expected, sizeof(expected), "A;[unknown stack];[%s];--;hrtimer_wakeup %u\n",
		 object, us);
	if (!strstr(text, expected))
		fail_msg("no line\n%s\nin\n%s", expected, text);
}

TEST(one_thing_needs_no_number)
{
	static const struct thing things[] = {
		{ "futex", "/dev/zero+0x0", 1, 77 },
		{ "futex", "/dev/zero+0x0", 1, 77 },
		{ "futex", "/dev/zero+0x40", 1, 78 },
		{ "file", "/data/log", 8u << 20, 5 },
	};
	char *text = waits_for(things, 4);

	has(text, "futex /dev/zero+0x0", 200);
	has(text, "futex /dev/zero+0x40", 100);
	has(text, "file /data/log", 100);
	free(text);
}

TEST(memory_of_several_has_its_inode)
{
	static const struct thing things[] = {
		{ "futex", "/dev/zero+0x0", 1, 77 },
		{ "futex", "/dev/zero+0x0", 1, 78 },
		{ "futex", "/dev/zero+0x0", 1, 77 },
		{ "file", "/dev/zero+0x0", 1, 99 },
	};
	char *text = waits_for(things, 4);

	has(text, "futex /dev/zero+0x0 (inode 77)", 200);
	has(text, "futex /dev/zero+0x0 (inode 78)", 100);
	has(text, "file /dev/zero+0x0", 100);
	free(text);
}

/* Each container has its own file system, in which numbers begin anew. */
TEST(files_of_several_devices_have_these_too)
{
	static const struct thing things[] = {
		{ "file", "/data/log", 8u << 20 | 1, 5 },
		{ "file", "/data/log", 259u << 20 | 12, 5 },
		/* Of an older part of the trace nothing is known. */
		{ "file", "/data/log", 0, 0 },
	};
	char *text = waits_for(things, 3);

	has(text, "file /data/log (inode 5 of 8:1)", 100);
	has(text, "file /data/log (inode 5 of 259:12)", 100);
	has(text, "file /data/log", 100);
	free(text);
}
