// SPDX-License-Identifier: GPL-2.0-or-later
#include "unmatched.h"

#include "print.h"

enum choice {
	CHOICE_PID,
	CHOICE_TID,
	CHOICE_NAME,
};

static bool name_fits(const struct timelines *tl, uint32_t thread, const regex_t *regex)
{
	const struct trace *t = timelines_trace(tl);

	for (uint32_t i = 0; i <= timelines_thread(tl, thread)->renames; i++)
		if (!regexec(regex, trace_string(t, timelines_nth_name(tl, thread, i)), 0, NULL, 0))
			return true;
	return false;
}

/* True if the i-th choice of its kind fits some thread. */
static bool fits(const struct timelines *tl, const struct options *o, enum choice choice, size_t i)
{
	uint32_t n = timelines_threads(tl);

	for (uint32_t k = 0; k < n; k++) {
		const struct thread *th = timelines_thread(tl, k);
		bool fit;

		if (choice == CHOICE_NAME)
			fit = name_fits(tl, k, &o->names.regex[i]);
		else if (choice == CHOICE_TID)
			fit = th->tid == o->tids.ids[i];
		else
			fit = (th->tgid ? th->tgid : th->tid) == o->pids.ids[i];
		if (fit)
			return true;
	}
	return false;
}

static void complain(const char *name, FILE *out)
{
	fputs("chainwalk: ", out);
	print_clean(out, name);
	fputs(": ", out);
}

void unmatched_print(const struct timelines *tl, const struct options *o, const char *name,
		     FILE *out)
{
	static const char *const help = "in this trace (--format=threads lists them)";
	uint64_t len_ns = timelines_end_ns(tl) - timelines_start_ns(tl);

	for (size_t i = 0; i < o->pids.n; i++)
		if (!fits(tl, o, CHOICE_PID, i)) {
			complain(name, out);
			fprintf(out, "no process %u %s\n", o->pids.ids[i], help);
		}
	for (size_t i = 0; i < o->tids.n; i++)
		if (!fits(tl, o, CHOICE_TID, i)) {
			complain(name, out);
			fprintf(out, "no thread %u %s\n", o->tids.ids[i], help);
		}
	for (size_t i = 0; i < o->names.n; i++)
		if (!fits(tl, o, CHOICE_NAME, i)) {
			complain(name, out);
			fputs("no thread's name fits '", out);
			print_clean(out, o->names.text[i]);
			fprintf(out, "' %s\n", help);
		}
	if (o->from_ns && o->from_ns >= len_ns) {
		complain(name, out);
		fprintf(out, "--from lies behind its end: it is %.3f s long\n",
			(double)len_ns / 1e9);
	}
}
