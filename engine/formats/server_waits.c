// SPDX-License-Identifier: GPL-2.0-or-later
#include "server_waits.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "command_word.h"
#include "paragraph.h"
#include "row_sums.h"
#include "style.h"
#include "select/top_waits.h"
#include "select/wait_nature.h"
#include "words/waited_for.h"

#define SERVERS_SHOWN 3
/* Servers for which all waits took less than a hundredth of the time shown are left out. */
#define LEAST_OF_TIME 100

struct server {
	uint32_t name; /* text: "tcp 10.0.0.5:5432 postgres/811" */
	struct wait_sums sums;
	struct row_percentiles lengths;
};

struct servers {
	const struct timelines *timelines;
	struct names *names;
	struct pair_table rows; /* struct server, by (text, 0) */
	struct row_lengths lengths;
};

/* The socket's name, also that of a poll() of one. */
static uint32_t server_name(struct servers *s, uint32_t object)
{
	uint32_t words = words_of_object(s->names, object);
	const char *text = names_text(s->names, words);

	if (strncmp(text, "poll ", 5))
		return words;
	/* The text moves when another one is made. */
	text = strdup(text + 5);
	words = text ? names_adopt(s->names, text) : 0;
	free((char *)text);
	return words;
}

static int add_wait(void *arg, const struct chosen_wait *p)
{
	struct servers *s = arg;
	uint64_t ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	uint32_t object =
		p->wait->kind == WAIT_SLEEP ? wait_message_object(s->timelines, p->wait->stack) : 0;
	uint32_t name = object ? server_name(s, object) : 0;
	struct server *row = name ? pair_table_at(&s->rows, name, 0, sizeof(*row)) : NULL;

	if (!object)
		return 0;
	if (!row)
		return -ENOMEM;
	row->name = name;
	wait_sums_count(&row->sums, ns);
	return row_lengths_add(&s->lengths, (uint32_t)(row - (struct server *)s->rows.at) - 1, ns);
}

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct server *a = pa, *b = pb;

	if (a->sums.total_ns != b->sums.total_ns)
		return compare_numbers(b->sums.total_ns, a->sums.total_ns);
	return strcmp(names_text(names, a->name), names_text(names, b->name));
}

static void put_ms(FILE *f, const char *before, uint64_t ns, const char *after)
{
	char text[TEXT_MS_SIZE];

	text_ms(text, ns);
	fprintf(f, "%s%s ms%s", before, text + strspn(text, " "), after);
}

static int put_server(FILE *out, const struct servers *s, const struct server *row,
		      const struct options *o)
{
	struct paragraph p;
	int err = paragraph_begin(&p);

	if (err)
		return err;
	p.columns = paragraph_columns(o->columns);
	fputs("waited for ", p.f);
	style_name(p.f, o->color, names_text(s->names, row->name));
	fprintf(p.f, ": %" PRIu64 " time%s", row->sums.waits, row->sums.waits == 1 ? "" : "s");
	put_ms(p.f, ", p50 ", row->lengths.p50_ns, "");
	put_ms(p.f, ", p99 ", row->lengths.p99_ns, "");
	put_ms(p.f, ", longest ", row->sums.longest_ns, "");
	put_ms(p.f, ", in all ", row->sums.total_ns, "");
	return paragraph_end(&p, out, 2);
}

static int put_all(FILE *out, struct servers *s, const struct format_input *in,
		   const struct wait_filter *f)
{
	struct server *rows = s->rows.keys.n ? (struct server *)s->rows.at + 1 : NULL;
	uint32_t n = s->rows.keys.n, shown = 0;
	uint64_t from_ns, to_ns;
	int err = 0;

	wait_filter_window(f, &from_ns, &to_ns);
	from_ns =
		clip_ns(from_ns, timelines_start_ns(s->timelines), timelines_end_ns(s->timelines));
	to_ns = clip_ns(to_ns, from_ns, timelines_end_ns(s->timelines));
	row_lengths_percentiles(&s->lengths, rows, sizeof(*rows), offsetof(struct server, lengths));
	if (n)
		qsort_r(rows, n, sizeof(*rows), most_time_first, s->names);
	for (; shown < n && shown < SERVERS_SHOWN && !err; shown++) {
		if (rows[shown].sums.total_ns < (to_ns - from_ns) / LEAST_OF_TIME)
			break;
		err = put_server(out, s, &rows[shown], in->options);
	}
	if (err || !shown)
		return err;
	fprintf(out, "%" PRIu32 " of %" PRIu32 " servers; more: chainwalk -f objects", shown, n);
	if (in->path) {
		putc(' ', out);
		command_put_word(out, in->path);
	}
	fputs("\n\n", out);
	return 0;
}

int server_waits_put(FILE *out, const struct format_input *in)
{
	struct servers s = { .timelines = in->timelines };
	struct options o = *in->options;
	struct wait_filter *f = NULL;
	int err;

	/* Who waits for the next question is no client. */
	o.no_idle = true;
	o.parts = PART_BLOCKED;
	err = names_new(&s.names, in->timelines, &o);
	if (!err)
		err = wait_filter_new(&f, in->timelines, &o, s.names);
	if (!err)
		err = top_waits_walk(in->timelines, f, 0, add_wait, &s);
	if (!err)
		err = put_all(out, &s, in, f);
	free(s.lengths.at);
	pair_table_free(&s.rows);
	wait_filter_free(f);
	names_free(s.names);
	return err;
}
