// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=io and --view=io: what disks were asked for, by whom, and how long it took. */
#include "test.h"
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

/* A reads twice from vda, and writes to vg-root; nobody known has a flush of vda. */
static const char script[] = "0    c0 - R > A\n"
			     "0    c1 - R > B\n"
			     "100  c0 A asks-disk submit;read|load;main\n"
			     "200  c0 A asks-disk submit;read|load;main\n"
			     "300  c1 B asks-disk submit;write|save;main\n"
			     "390  c0 A disk-done vda read 4096 100 110\n"
			     "500  c0 A disk-done vda read 8192 200 250\n"
			     "600  c1 B disk-done vg-root write 512 300 300\n"
			     "700  c1 - disk-done vda flush 0 - -\n"
			     "end 1000\n";

TEST(a_table)
{
	struct options o;

	options_init(&o);
	expect_text(script_formatted(script, &o, "io"),
		    "DEVICE   DOES      REQUESTS        BYTES   QUEUED P50          P99   "
		    "DEVICE P50          P99      LONGEST  ASKED BY\n"
		    "vda      read             2        12288        0.010        0.050        "
		    "0.250        0.280        0.280  A\n"
		    "vg-root  write            1          512        0.000        0.000        "
		    "0.300        0.300        0.300  B\n"
		    "vda      flush            1            0            -            -            "
		    "-            -        0.000  [unknown]\n"
		    "all                       4        12800\n"
		    "(times in ms)\n");
}

TEST(what_options_choose)
{
	struct options o = script_options(102);
	char *text;

	o.given |= GIVEN_WHO;
	text = script_formatted(script, &o, "io");
	assert_non_null(strstr(text, "\nall                       1          512\n"));
	free(text);
	options_init(&o);
	o.from_ns = 400000;
	o.to_ns = 600000;
	text = script_formatted(script, &o, "io");
	assert_non_null(strstr(text, "\nall                       1         8192\n"));
	free(text);
}

TEST(stacks_of_who_asked)
{
	struct options o;

	options_init(&o);
	o.view = VIEW_IO;
	expect_text(script_folded(script, &o),
		    "A;main;load;-;read;submit;[disk vda read];[256-512 us] 590\n"
		    "B;main;save;-;write;submit;[disk vg-root write];[256-512 us] 300\n");
}

/* Another thread with the tid asked nothing at that time; and an old trace has no requests. */
TEST(who_asked_is_not_known)
{
	struct options o;

	options_init(&o);
	o.view = VIEW_IO;
	expect_text(script_folded("0    c0 - R > A\n"
				  "100  c0 A asks-disk submit|main\n"
				  "390  c0 A disk-done vda read 4096 101 110\n"
				  "end 1000\n",
				  &o),
		    "A;[unknown stack];[disk vda read];[256-512 us] 289\n");
	expect_text(script_folded("0 c0 - R > A\nend 1000\n", &o), "");
}
