// SPDX-License-Identifier: GPL-2.0-or-later
/* What limits trust, in the first line of the first screen. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_many.h"

/* The first line of 80 columns, where A sleeps so often, and in so many of these sleeps not all
 * callers are known. To be freed. */
static char *first_line(unsigned int sleeps, unsigned int cut)
{
	struct options o;
	char *script = NULL, *text;
	size_t len;
	FILE *f = open_memstream(&script, &len);

	fputs("thread A *\n0 c0 - R > A\n", f);
	for (unsigned int i = 0; i < sleeps; i++) {
		fprintf(f, "%u c0 A S > - wait|%srecv;ask;main\n", 1000 * i + 100,
			i < cut ? "+" : "");
		fprintf(f, "%u c1 X wakes A wake|send\n", 1000 * i + 600);
		fprintf(f, "%u c0 - R > A\n", 1000 * i + 600);
	}
	fprintf(f, "end %u\n", 1000 * sleeps);
	fclose(f);
	options_init(&o);
	text = script_formatted(script, &o, "causes");
	text[strcspn(text, "\n")] = 0;
	free(script);
	return text;
}

static void tells_of_cut_stacks(unsigned int sleeps, unsigned int cut, bool expected)
{
	char *line = first_line(sleeps, cut);

	if (!strncmp(line, "Careful: ", strlen("Careful: ")) != expected)
		fail_msg("%u of %u: %s", cut, sleeps, line);
	free(line);
}

TEST(cut_stacks_are_told_from_a_tenth_on)
{
	expect_text(first_line(50, 6),
		    "Careful: the stacks of 12 % of the sleeps are cut: functions may be missing.");
	tells_of_cut_stacks(50, 5, true);
	tells_of_cut_stacks(50, 4, false);
	tells_of_cut_stacks(49, 49, false);
}
