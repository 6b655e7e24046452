// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of --help: it has to fit a screen of 24 by 80, or nearly. */
#include <string.h>

#include "format.h"
#include "options.h"

#define COLUMN 27 /* where explanations begin */

void options_help(FILE *out)
{
	const struct format *f;
	size_t col = COLUMN;

	fputs("Usage: chainwalk [options] [TRACE... | -]       (left out: trace.bin)\n"
	      "Explains what threads waited for: from chaincap's trace, or perf script's text.\n\n"
	      "  -d, --depth N            links followed, 6 if left out; 0: off-CPU only\n"
	      "      --mode exact|classic how a wait's time is shared out\n"
	      "  -f, --format F           ",
	      out);
	for (size_t i = 0; (f = format_at(i)); i++) {
		size_t len = strlen(f->name) + 2;

		if (i)
			fputs(col + len > 80 ? "," : ", ", out);
		if (col + len > 80) {
			fprintf(out, "\n%*s", COLUMN, "");
			col = COLUMN;
		}
		fputs(f->name, out);
		col += len;
	}
	fputs("\n"
	      "  -p PID, -t TID, -c REGEX whose waits: process, thread, name; repeatable\n"
	      "      --within REGEX, --without REGEX   by a frame of the off-CPU stack\n"
	      "      --from T, --to T     seconds from the start of the trace\n"
	      "      --min-wait D, --max-wait D        10us, 2ms, 1s\n"
	      "      --state LIST         blocked, runnable, preempted, all; S, D, I...\n"
	      "      --no-kthreads, --no-idle          leave out kernel threads, waits for work\n"
	      "      --view chain|wakeup  wakeup: the wakers' stacks only; --by-name (hist)\n"
	      "      --blocked-stacks     show where each waker itself had slept\n"
	      "      --annotate           _[w] after waker frames, _[k] after kernel frames\n"
	      "      --no-ends, --no-delim, -K, -U     frames shown (-K: kernel only)\n"
	      "      --root host|trace    several traces: the first frame says of which\n"
	      "      --unit us|ns, --top N, -o FILE    weights; the N largest; output\n"
	      "  -q, -v, -h, -V           quiet, verbose, help, version\n\n"
	      "Examples:\n"
	      "  chainwalk trace.bin | flamegraph > chain.svg\n"
	      "  chainwalk -f tree -c nginx --min-wait 10ms trace.bin\n",
	      out);
}
