// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file for speedscope: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
 * and the schema in its package, file-format-schema.json.
 *
 * Chains are sums, so the profiles are of the sampled kind, whose order has no meaning: one of all
 * threads, and one for each group of threads of one name, those that waited most first. Frames are
 * in the order of folded lines; the table of frames follows the profiles that refer to it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fold/fold.h"
#include "format.h"
#include "common/grow.h"
#include "base/compare.h"
#include "base/text.h"

/* The rows of threads of one process with the same name. */
struct group {
	uint64_t ns;
	size_t first, end;
};

struct writer {
	FILE *out;
	const struct trace *trace;
	struct chain_rows *rows;
	struct group *groups;
	size_t n_groups, cap_groups;
	struct text_buf buf;
	bool out_of_memory;
};

static void put_string(struct writer *s, const char *text)
{
	s->buf.len = 0;
	json_string(&s->buf, text);
	s->out_of_memory |= s->buf.failed;
	if (!s->buf.failed)
		fwrite(s->buf.p, 1, s->buf.len, s->out);
}

static int most_time_first(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	return compare_numbers(a->first, b->first);
}

/* Rows come group by group. */
static int make_groups(struct writer *s)
{
	for (size_t i = 0; i < s->rows->n; i++) {
		const struct chain_row *row = &s->rows->at[i];

		if (!i || row->group != row[-1].group) {
			struct group *p =
				grow_array(s->groups, s->n_groups, &s->cap_groups, sizeof(*p));

			if (!p)
				return -ENOMEM;
			s->groups = p;
			p[s->n_groups++] = (struct group) { .first = i };
		}
		s->groups[s->n_groups - 1].ns += row->ns;
		s->groups[s->n_groups - 1].end = i + 1;
	}
	if (s->n_groups)
		qsort(s->groups, s->n_groups, sizeof(*s->groups), most_time_first);
	return 0;
}

static void put_sample(struct writer *s, const struct chain_row *row, bool first)
{
	size_t n;
	const uint32_t *frames = chain_row_frames(s->rows, row, &n);

	s->out_of_memory |= !n;
	fputs(first ? "[" : ",\n[", s->out);
	/* Frames count from 1, the file's table from 0. */
	for (size_t i = n; i-- > 0;)
		fprintf(s->out, "%" PRIu32 "%s", frames[i] - 1, i ? "," : "");
	putc(']', s->out);
}

/* The rows [first, end). Rows without time only count waits, which are not shown here. */
static void put_profile(struct writer *s, size_t first, size_t end)
{
	uint64_t ns = 0;
	bool begun = false;

	fputs(",\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"samples\":[\n", s->out);
	for (size_t i = first; i < end && !ferror(s->out); i++) {
		if (!s->rows->at[i].ns)
			continue;
		put_sample(s, &s->rows->at[i], !begun);
		begun = true;
	}
	fputs("],\"weights\":[", s->out);
	begun = false;
	for (size_t i = first; i < end; i++) {
		if (!s->rows->at[i].ns)
			continue;
		fprintf(s->out, "%s%" PRIu64, begun ? "," : "", s->rows->at[i].ns);
		ns += s->rows->at[i].ns;
		begun = true;
	}
	fprintf(s->out, "],\"startValue\":0,\"endValue\":%" PRIu64 "}", ns);
}

/* "NAME (PROCESS 123)", by which the user selects a profile. */
static void put_thread_profile(struct writer *s, const struct group *g)
{
	struct chain_group who = chain_parts_group(s->rows->parts, s->rows->at[g->first].group);
	const char *name = trace_string(s->trace, who.name);
	const char *process = trace_string(s->trace, who.process);
	struct text_buf label = { 0 };
	char pid[16];

	text_puts(&label, *name ? name : "[unknown]");
	if (who.pid) {
		snprintf(pid, sizeof(pid), "%" PRIu32, who.pid);
		text_puts(&label, " (");
		text_puts(&label, *process ? process : "pid");
		text_puts(&label, " ");
		text_puts(&label, pid);
		text_puts(&label, ")");
	}
	s->out_of_memory |= label.failed;
	fputs(",\n{\"name\":", s->out);
	put_string(s, label.failed ? "" : label.p);
	text_free(&label);
	put_profile(s, g->first, g->end);
}

/* With the function's file, by which speedscope colours. */
static void put_frames(struct writer *s)
{
	for (uint32_t id = 1; id < chain_rows_frames_end(s->rows); id++) {
		struct chain_frame frame = chain_rows_frame(s->rows, id);

		fputs(id > 1 ? ",\n{\"name\":" : "{\"name\":", s->out);
		put_string(s, frame.text);
		if (frame.module) {
			fputs(",\"file\":", s->out);
			put_string(s, trace_module_path(s->trace, frame.module));
		}
		putc('}', s->out);
	}
}

static int put_file(struct writer *s)
{
	const char *host = trace_info(s->trace)->host;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	      "\"exporter\":\"chainwalk " CHAIN_VERSION "\",\"name\":",
	      s->out);
	put_string(s, *host ? host : "chainwalk");
	fputs(",\"activeProfileIndex\":0,\"profiles\":[\n{\"name\":\"all threads\"", s->out);
	put_profile(s, 0, s->rows->n);
	for (size_t i = 0; i < s->n_groups && !ferror(s->out) && !s->out_of_memory; i++)
		if (s->groups[i].ns && s->rows->at[s->groups[i].first].node)
			put_thread_profile(s, &s->groups[i]);
	fputs("],\n\"shared\":{\"frames\":[\n", s->out);
	put_frames(s);
	fputs("]}}\n", s->out);
	return s->out_of_memory ? -ENOMEM : 0;
}

static int write_speedscope(const struct format_input *in, FILE *out)
{
	struct writer s = { .out = out, .trace = in->trace };
	struct fold *fold;
	int err = fold_new(&fold, in->timelines, in->options, FOLD_BY_PROCESS);

	if (!err) {
		s.rows = fold_rows(fold);
		err = make_groups(&s);
	}
	if (!err)
		err = put_file(&s);
	if (!err)
		format_take_totals(in, fold);
	fold_free(fold);
	free(s.groups);
	text_free(&s.buf);
	return err;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.summary = "profiles for speedscope",
	.wants_timelines = true,
	.running = true,
	.refuses = GIVEN_UNIT | GIVEN_VIEW | GIVEN_BY_NAME,
	.write = write_speedscope,
};
