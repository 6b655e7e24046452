// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=causes: what the waiting came down to, for reading: a table of root causes, most time
 * first, each with its usual way to those who waited and with a command that shows an example.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cause_words.h"
#include "command_word.h"
#include "format_causes.h"
#include "request_overview.h"

/* Milliseconds, right-aligned in a column. */
static void put_ms(FILE *out, int width, uint64_t ns)
{
	char text[TEXT_MS_SIZE];

	fprintf(out, " %*s", width, text_ms(text, ns));
}

static void put_share(FILE *out, uint64_t ns, uint64_t of_ns)
{
	fprintf(out, "%5.1f %%", of_ns ? 100 * (double)ns / (double)of_ns : 0.0);
}

/* A text, if there is any. */
static void put_text(FILE *out, const struct names *names, const char *before, uint32_t where)
{
	const char *text = names_text(names, where);

	if (*text)
		fprintf(out, "%s%s", before, text);
}

void causes_put_sentence(FILE *out, const struct format_input *in, const struct names *n,
			 const struct causes *all, const struct cause *c)
{
	fputs(names_text(n, c->who), out);
	causes_put_did(out, in, n, c);
	causes_put_woken(all, c, "; meanwhile it woke ", out);
}

void causes_put_way(FILE *out, const struct names *n, const struct cause *c)
{
	fputs(names_text(n, c->path), out);
	put_text(out, n, ", for ", c->wakee_what);
}

void causes_put_example(FILE *out, const struct format_input *in, const struct cause *c)
{
	const struct chosen_wait *e = &c->example;
	uint64_t start_ns = timelines_start_ns(in->timelines);
	uint64_t from = (e->wait->out_ns - start_ns) / 1000,
		 to = (e->wait->in_ns - start_ns) / 1000;
	uint32_t tid = timelines_thread(in->timelines, e->thread)->tid;

	fputs("chainwalk -f tree", out);
	if (!timelines_is_client(in->timelines, e->thread))
		fprintf(out, " --state all -t %" PRIu32, tid);
	else if (tid)
		fprintf(out, " --requests -p %" PRIu32, tid);
	else
		fputs(" --requests", out);
	/* Rounded outwards, so that the wait is in it whole. */
	fprintf(out, " --from %" PRIu64 ".%06" PRIu64 " --to %" PRIu64 ".%06" PRIu64,
		from / 1000000, from % 1000000, (to + 1) / 1000000, (to + 1) % 1000000);
	if (in->path) {
		putc(' ', out);
		command_put_word(out, in->path);
	}
}

static void put_row(FILE *out, const struct format_input *in, const struct names *names,
		    const struct causes *all, const struct cause *c, uint64_t all_ns)
{
	put_share(out, c->ns, all_ns);
	put_ms(out, 13, c->ns);
	fprintf(out, " %8" PRIu64, c->waits);
	put_ms(out, 11, c->longest_ns);
	fputs("  ", out);
	causes_put_sentence(out, in, names, all, c);
	putc('\n', out);
	if (!c->itself) {
		fprintf(out, "%43s  ", "");
		causes_put_way(out, names, c);
		putc('\n', out);
	}
	fprintf(out, "%43s  ", "");
	causes_put_example(out, in, c);
	putc('\n', out);
}

static void put_table(FILE *out, const struct format_input *in, const struct names *names,
		      const struct causes *causes)
{
	size_t n;
	const struct cause *at = causes_list(causes, &n);
	uint64_t top = causes_shown(in->options);
	uint64_t all_ns = 0, other_ns = 0;

	for (size_t i = 0; i < n; i++) {
		all_ns += at[i].ns;
		if (i >= top)
			other_ns += at[i].ns;
	}
	if (!n) {
		fputs("nothing was waited for\n", out);
		return;
	}
	fprintf(out, "%7s %13s %8s %11s  %s\n", "SHARE", "TIME (ms)", "WAITS", "LONGEST",
		"WHAT THE WAITING CAME DOWN TO");
	for (size_t i = 0; i < n && i < top; i++)
		put_row(out, in, names, causes, &at[i], all_ns);
	if (other_ns) {
		put_share(out, other_ns, all_ns);
		put_ms(out, 13, other_ns);
		fprintf(out, " %8s %11s  %s\n", "", "", CHAIN_OTHER);
	}
	fputs("100.0 %", out);
	put_ms(out, 13, all_ns);
	fprintf(out, " %8s %11s  %s\n", "", "", "all of them");
}

uint64_t causes_shown(const struct options *o)
{
	return o->top ? o->top : 10;
}

static int write_causes(const struct format_input *in, FILE *out)
{
	struct options o = causes_options(in->options);
	struct names *names;
	struct wait_filter *f = NULL;
	struct causes *causes = NULL;
	int err;

	if (request_overview_wanted(in)) {
		err = request_overview_put(out, in);
		if (err)
			return err;
	}
	err = names_new(&names, in->timelines, &o);
	if (!err)
		err = wait_filter_new(&f, in->timelines, &o, names);
	if (!err)
		err = causes_new(&causes, in->timelines, &o, names, f);
	if (!err)
		put_table(out, in, names, causes);
	causes_free(causes);
	wait_filter_free(f);
	names_free(names);
	return err;
}

const struct format format_causes = {
	.name = "causes",
	.summary = "a table of root causes: what the waiting came down to",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_MODE | GIVEN_BLOCKED_STACKS | GIVEN_ANNOTATE | GIVEN_NO_ENDS |
		   GIVEN_NO_DELIM | GIVEN_VIEW | GIVEN_BY_NAME | GIVEN_UNIT | GIVEN_WHO_RAN |
		   GIVEN_FOLD_REPEATS,
	.write = write_causes,
};
