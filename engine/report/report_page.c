// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"
#include "report_answer.h"
#include "report_cells.h"
#include "report_requests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cause_words.h"
#include "import/import.h"
#include "base/text.h"
#include "flamegraph.h"
#include "report_css.h"
#include "report_js.h"
#include "words/process_notes.h"
#include "words/recording_title.h"
#include "words/wall_time.h"

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void put_fact(FILE *out, const char *key, const char *value)
{
	fprintf(out, "<div><dt>%s</dt><dd>", key);
	print_html(out, *value ? value : "unknown");
	fputs("</dd></div>\n", out);
}

static void put_ids(FILE *out, const char *option, const struct id_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		fprintf(out, " <code>%s %" PRIu32 "</code>", option, l->ids[i]);
}

static void put_texts(FILE *out, const char *option, const char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(out, " <code>%s ", option);
		print_html(out, texts[i]);
		fputs("</code>", out);
	}
}

static void put_flag(FILE *out, const struct options *o, uint64_t given, const char *text)
{
	if (o->given & given)
		fprintf(out, " <code>%s</code>", text);
}

/* The option's own words: "--state blocked,runnable,S". */
static void put_states(FILE *out, const struct options *o)
{
	const char *separator = " ";

	fputs(" <code>--state", out);
	for (const struct options_part_word *w = options_part_words; w->word; w++) {
		if (!(o->parts & w->part))
			continue;
		fprintf(out, "%s%s", separator, w->word);
		separator = ",";
	}
	for (const char *state = o->states; *state; state++)
		fprintf(out, ",%c", *state);
	fputs("</code>", out);
}

/* The filters, and how chains were followed. */
static void put_filters(FILE *out, const struct options *o)
{
	const uint64_t choosing = GIVEN_WHO | GIVEN_WITHIN | GIVEN_RANGE | GIVEN_WAIT |
				  GIVEN_STATE | GIVEN_NO_KTHREADS | GIVEN_NO_IDLE;

	fputs("<div><dt>Waits shown</dt><dd>", out);
	if (!(o->given & choosing) && !o->command)
		fputs("all of them", out);
	put_ids(out, "-p", &o->processes.ids);
	put_texts(out, "-p", o->processes.names.paths, o->processes.names.n);
	put_ids(out, "--tree-of", &o->trees.ids);
	put_texts(out, "--tree-of", o->trees.names.paths, o->trees.names.n);
	if (o->command)
		fputs(" of the recorded command and all it started", out);
	put_ids(out, "-t", &o->tids);
	put_texts(out, "-c", o->names.text, o->names.n);
	put_texts(out, "--cgroup", o->groups.text, o->groups.n);
	put_texts(out, "--within", o->within.text, o->within.n);
	put_texts(out, "--without", o->without.text, o->without.n);
	if (o->given & GIVEN_RANGE) {
		fprintf(out, " from %.6g s", seconds(o->from_ns));
		if (o->to_ns != UINT64_MAX)
			fprintf(out, " to %.6g s", seconds(o->to_ns));
	}
	if (o->min_wait_ns) {
		fputs(" of at least ", out);
		report_put_time(out, o->min_wait_ns);
	}
	if (o->max_wait_ns != UINT64_MAX) {
		fputs(" of at most ", out);
		report_put_time(out, o->max_wait_ns);
	}
	if (o->given & GIVEN_STATE)
		put_states(out, o);
	put_flag(out, o, GIVEN_NO_KTHREADS, "--no-kthreads");
	put_flag(out, o, GIVEN_NO_IDLE, "--no-idle");
	fprintf(out, "; chains of up to %" PRIu32 " links%s</dd></div>\n", o->depth,
		o->mode == MODE_CLASSIC ? ", classic attribution in the graph" : "");
}

static void put_ends(FILE *out, const struct chain_summary *s)
{
	static const char *const words[CHAIN_ENDS] = {
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) \
	[number] = heading,
#include "ends.def"
#include "common/xalloc.h"
	};
	enum chain_end order[CHAIN_ENDS];
	size_t n = chain_ends_by_size(s->ends_ns, order);

	if (!s->blocked_ns)
		return;
	fputs("<div class=\"wide\"><dt>Sleepers waited for</dt><dd class=\"ends\">", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "<span>%s <b>", words[order[i]]);
		report_put_percent(out, 100 * (double)s->ends_ns[order[i]] / (double)s->blocked_ns);
		fputs("</b></span> ", out);
	}
	fputs("</dd></div>\n", out);
}

static void put_title(FILE *out, const struct report *r)
{
	struct text_buf title = { 0 };

	recording_title_put(&title, trace_info(r->in->trace));
	print_html(out, title.p);
	text_free(&title);
}

static void put_heading(FILE *out, const struct report *r)
{
	fputs("<header>\n<h1><bdi>", out);
	put_title(out, r);
	fputs("</bdi></h1>\n</header>\n", out);
}

enum cause_text { CAUSE_SENTENCE, CAUSE_WAY, CAUSE_EXAMPLE };

/* A text that the functions of another format write. */
static void put_cause_text(FILE *out, const struct report *r, const struct cause *c,
			   enum cause_text which)
{
	char *text = NULL;
	size_t len;
	FILE *f = xmemstream(&text, &len);

	if (which == CAUSE_EXAMPLE)
		causes_put_example(f, r->in, c);
	else if (which == CAUSE_WAY)
		causes_put_way(f, r->names, c);
	else
		causes_put_sentence(f, r->names, r->causes, c);
	xmemstream_close(f, &text);
	print_html(out, text);
	free(text);
}

static void put_figures(FILE *out, uint64_t ns, uint64_t all_ns)
{
	double percent = all_ns ? 100 * (double)ns / (double)all_ns : 0;

	fprintf(out, "<td data-v=\"%.3f\">", percent);
	report_put_percent(out, percent);
	fputs("</td>", out);
	report_put_time_cell(out, ns);
}

/* shown: without a filter. */
static void put_cause(FILE *out, const struct report *r, const struct cause *c, uint64_t all_ns,
		      bool shown)
{
	fputs(shown ? "<tr>" : "<tr hidden>", out);
	put_figures(out, c->ns, all_ns);
	fprintf(out, "<td data-v=\"%" PRIu64 "\">%" PRIu64 "</td>", c->waits, c->waits);
	report_put_time_cell(out, c->longest_ns);
	fputs("<td><bdi>", out);
	put_cause_text(out, r, c, CAUSE_SENTENCE);
	fputs("</bdi>", out);
	if (*names_text(r->names, c->victims)) {
		fputs("<p class=\"note\"><bdi>", out);
		put_cause_text(out, r, c, CAUSE_WAY);
		fputs("</bdi></p>", out);
	}
	fputs("<p class=\"note\"><code>", out);
	put_cause_text(out, r, c, CAUSE_EXAMPLE);
	fputs("</code></p></td></tr>\n", out);
}

/* Unknown ones are last, however much time they have. */
static bool has_unknown_last(const struct report *r)
{
	for (size_t i = 1; i < r->n_shown; i++)
		if (r->cause[i]->ns > r->cause[i - 1]->ns)
			return true;
	return false;
}

/* What the other causes have, next: the largest of them. */
static void put_other_causes(FILE *out, size_t n, uint64_t ns, const struct cause *next,
			     uint64_t all_ns)
{
	fputs("<tr class=\"others\">", out);
	put_figures(out, ns, all_ns);
	fprintf(out, "<td></td><td></td><td>%zu others, none with more than ", n);
	report_put_percent(out, 100 * (double)next->ns / (double)all_ns);
	fputs("</td></tr>\n", out);
}

static void put_causes(FILE *out, const struct report *r)
{
	uint64_t all_ns = 0, shown_ns = 0, pauses_ns = 0;
	const struct cause *all;
	size_t n, with_pauses;

	all = causes_list(r->causes, &with_pauses);
	n = causes_without_pauses(r->causes);
	for (size_t i = 0; i < with_pauses; i++)
		*(i < n ? &all_ns : &pauses_ns) += all[i].ns;
	for (size_t i = 0; i < r->n_shown; i++)
		shown_ns += r->cause[i]->ns;
	fputs("<section id=\"causes\">\n<h2>What the waiting came down to</h2>\n", out);
	if (!with_pauses) {
		fputs("<p>Nobody waited.</p>\n</section>\n", out);
		return;
	}
	fputs("<p class=\"note\">The waiting time by root cause: the last thread of each chain and "
	      "what it did there. Below each, the usual way to those who waited, and a command "
	      "that "
	      "shows an example.",
	      out);
	if (has_unknown_last(r))
		fputs(" Those that are unknown, as events are missing, come last.", out);
	fputs("</p>\n<p class=\"note\" id=\"causes-said\"></p>\n"
	      "<div class=\"scroll\"><table><thead><tr><th>Share</th><th>Time</th><th>Waits</th>"
	      "<th>Longest</th><th>What the waiting came down to</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = 0; i < r->n_causes; i++)
		put_cause(out, r, r->cause[i], all_ns, i < r->n_shown);
	fputs("</tbody><tfoot>\n", out);
	if (shown_ns < all_ns)
		put_other_causes(out, n - r->n_shown, all_ns - shown_ns, &all[r->n_shown], all_ns);
	fputs("<tr class=\"all\">", out);
	put_figures(out, all_ns, all_ns);
	fputs("<td></td><td></td><td>all of them</td></tr>\n", out);
	if (pauses_ns) {
		fputs("<tr class=\"pauses\"><td></td>", out);
		report_put_time_cell(out, pauses_ns);
		fputs("<td></td><td></td><td>not counted: sleeps by choice and waits for "
		      "work</td></tr>\n",
		      out);
	}
	fputs("</tfoot></table></div>\n</section>\n", out);
}

static void put_summary(FILE *out, const struct report *r)
{
	const struct trace *t = r->in->trace;
	const struct trace_info *i = trace_info(t);
	const struct trace_damage *d = trace_damage(t);
	const struct chain_summary *s = fold_summary(r->fold);
	const struct options *o = r->in->options;
	bool loss = i->lost || r->n_all_losses || d->what;
	char recorded[WALL_TIME_SIZE];

	fputs("<section id=\"summary\">\n<h2>The recording</h2>\n<dl>\n", out);
	put_fact(out, "Recorded", wall_time(recorded, i, i->start_ns));
	fputs("<div><dt>Length</dt><dd>", out);
	report_put_time(out, i->end_ns - i->start_ns);
	fprintf(out, " on %" PRIu32 " CPUs</dd></div>\n", i->cpus);
	put_fact(out, "Kernel", i->release);
	put_fact(out, "Recorder", i->tool);
	fprintf(out, "<div><dt>Events</dt><dd>%" PRIu64 "</dd></div>\n", i->events);
	fprintf(out, "<div%s><dt>Lost</dt><dd>%" PRIu64 "%s", loss ? " class=\"bad\"" : "", i->lost,
		r->n_all_losses ? ", see the end" : "");
	if (d->what)
		fprintf(out, "; the trace is damaged: %s", d->what);
	fputs("</dd></div>\n", out);
	put_filters(out, o);
	fprintf(out, "<div><dt>Waiting</dt><dd>%" PRIu64 " waits, asleep ", s->waits);
	report_put_time(out, s->blocked_ns);
	fputs(", runnable ", out);
	report_put_time(out, s->runnable_ns);
	if (s->preempted_ns) {
		fputs(", preempted ", out);
		report_put_time(out, s->preempted_ns);
	}
	if (o->no_idle) {
		fprintf(out, "; left out as idle: %" PRIu64 " waits, ", s->idle_waits);
		report_put_time(out, s->idle_ns);
	}
	fputs(" (all threads added up)</dd></div>\n", out);
	put_ends(out, s);
	fputs("<div class=\"wide\"><dt>Command</dt><dd><code>", out);
	print_html(out, *i->options ? i->options : "unknown");
	fputs("</code></dd></div>\n", out);
	fputs("</dl>\n</section>\n", out);
}

static void put_filter(FILE *out)
{
	fputs("<section id=\"filter\" aria-label=\"Filters\"></section>\n"
	      "<noscript><p class=\"bad\">Without JavaScript there are no filters, waits, "
	      "histogram "
	      "and matrix here: the summary, the graph and the table of threads "
	      "are.</p></noscript>\n",
	      out);
}

static void put_lanes(FILE *out)
{
	fputs("<section id=\"all-threads\">\n<h2>All threads over time</h2>\n<p "
	      "class=\"note\">Green: "
	      "it ran; orange: it was runnable or preempted; blue line: it waited; gray: not "
	      "known. Drag to choose "
	      "a "
	      "range, which is then as wide as the page; a click on a name chooses that "
	      "thread.</p>\n<div id=\"lanes\"></div>\n</section>\n",
	      out);
}

static void put_wait_list(FILE *out, const struct report *r)
{
	fprintf(out,
		"<section id=\"waits\">\n<h2>Waits, each with its chain</h2>\n"
		"<p class=\"note\" id=\"waits-said\" role=\"status\">%zu of %" PRIu64 " waits",
		r->n_waits_written, fold_summary(r->fold)->waits);
	if (r->n_waits_written < r->n_waits) {
		uint64_t most_ns = 0;

		for (size_t i = r->n_waits_written; i < r->n_waits; i++)
			if (most_ns < chosen_wait_ns(&r->waits[i].chosen))
				most_ns = chosen_wait_ns(&r->waits[i].chosen);
		fprintf(out, "; %zu more would not fit, none longer than ",
			r->n_waits - r->n_waits_written);
		report_put_time(out, most_ns);
	} else if (r->n_waits_written && !r->in->options->top) {
		fputs(": the longest of all, of each thread, and of each step of time, and "
		      "the examples of causes",
		      out);
	}
	fputs(". Choose one to see its chain in time.</p>\n<div "
	      "id=\"waits-list\"></div>\n</section>\n",
	      out);
}

static void put_thread(FILE *out, const struct report *r, uint32_t row)
{
	bool rest = row == r->n_rows;
	const struct thread_row *t = rest ? &r->rest : &r->rows[row];
	const uint64_t times[] = { t->sums.running_ns, t->sums.blocked_ns, t->sums.runnable_ns,
				   t->sums.preempted_ns, t->sums.unknown_ns };

	if (rest) {
		fprintf(out, "<tr><td>%zu others</td><td></td><td></td>", r->n_threads - r->n_rows);
	} else {
		const struct thread *th = timelines_thread(r->in->timelines, t->thread);

		fputs("<tr><td><bdi>", out);
		print_html(out,
			   names_text(r->names, names_thread(r->names, t->thread, th->end_ns)));
		fprintf(out, "</bdi></td><td>%" PRIu32 "</td><td>", th->tid);
		if (th->tgid)
			fprintf(out, "%" PRIu32, th->tgid);
		fputs("</td>", out);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		fputs("<td>", out);
		report_put_time(out, times[i]);
		fputs("</td>", out);
	}
	fprintf(out, "<td>%" PRIu64 "</td><td>", r->counts.row_waits[row]);
	report_put_time(out, r->counts.row_longest_ns[row]);
	if (timelines_interrupts(r->in->timelines)) {
		fputs("</td><td>", out);
		report_put_time(out, t->interrupted_ns);
	}
	fputs("</td></tr>\n", out);
}

static void put_tables(FILE *out, const struct report *r)
{
	fprintf(out,
		"<section id=\"threads\">\n<h2>Threads</h2>\n"
		"<p class=\"note\"><span id=\"threads-said\" role=\"status\">%" PRIu32
		" of %zu threads, those that ran most.</span>%s</p>\n"
		"<div class=\"scroll\"><table><thead><tr>",
		r->n_rows, r->n_threads,
		timelines_interrupts(r->in->timelines)
			? " Interrupts: how much of Running they took."
			: "");
	fputs("<th>Name</th><th>TID</th><th>PID</th><th>Running</th><th>Asleep</th>"
	      "<th>Runnable</th><th>Preempted</th><th>Unknown</th><th>Waits</th>"
	      "<th>Longest</th>",
	      out);
	if (timelines_interrupts(r->in->timelines))
		fputs("<th>Interrupts</th>", out);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (uint32_t i = 0; i < r->n_rows; i++)
		put_thread(out, r, i);
	if (r->n_threads > r->n_rows)
		put_thread(out, r, r->n_rows);
	fputs("</tbody></table></div>\n</section>\n"
	      "<section id=\"lengths\">\n<h2>How long waits were</h2>\n<div id=\"lengths-chart\">"
	      "</div>\n</section>\n"
	      "<section id=\"wakers\">\n<h2>Who wakes whom</h2>\n<div id=\"wakers-table\" "
	      "class=\"scroll\"></div>\n</section>\n",
	      out);
}

static void put_losses(FILE *out, const struct report *r)
{
	uint64_t start = timelines_start_ns(r->in->timelines);

	fputs("<div class=\"scroll\"><table><thead><tr><th>From</th><th>To</th><th>CPU</th>"
	      "<th>Events</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < r->n_losses; i++) {
		const struct trace_loss *l = &r->losses[i];

		uint64_t from_ns = l->first_ns - start, to_ns = l->last_ns - start;

		fprintf(out,
			"<tr><td data-ns=\"%" PRIu64 "\">%.6f s</td><td data-ns=\"%" PRIu64
			"\">%.6f s</td>",
			from_ns, seconds(from_ns), to_ns, seconds(to_ns));
		if (l->cpu == EVENT_CPU_UNKNOWN)
			fputs("<td data-v=\"-1\">any</td>", out);
		else
			fprintf(out, "<td data-v=\"%" PRIu32 "\">%" PRIu32 "</td>", l->cpu, l->cpu);
		fprintf(out, "<td data-v=\"%" PRIu64 "\">", l->n);
		if (l->n)
			fprintf(out, "%" PRIu64 "</td></tr>\n", l->n);
		else
			fputs("unknown</td></tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	if (r->n_all_losses > r->n_losses)
		fprintf(out, "<p class=\"note\">and %zu more.</p>\n",
			r->n_all_losses - r->n_losses);
}

/* The messages of the import, as a list. */
static void put_import(FILE *out, const struct import_report *import)
{
	static const char before[] = "chainwalk: text: ";
	char *text = NULL, *line, *rest;
	size_t len;
	FILE *f = xmemstream(&text, &len);

	import_report_print(import, "text", false, f);
	xmemstream_close(f, &text);
	if (!len) {
		free(text);
		return;
	}
	fputs("<ul>\n", out);
	for (rest = text; (line = strsep(&rest, "\n")) && *line;) {
		fputs("<li>", out);
		print_html(out,
			   strncmp(line, before, strlen(before)) ? line : line + strlen(before));
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
	free(text);
}

/* What the stacks of processes lack. */
static void put_notes(FILE *out, const struct trace *t)
{
	struct process_notes notes;

	process_notes_of(&notes, t, NULL, PROCESS_NOTES_NAMED);
	for (size_t i = 0; i < notes.n; i++) {
		fputs("<p>", out);
		print_html(out, notes.line[i]);
		fputs(".</p>\n", out);
	}
	process_notes_free(&notes);
}

static void put_lost(FILE *out, const struct report *r)
{
	const struct trace_info *i = trace_info(r->in->trace);
	const struct trace_damage *d = trace_damage(r->in->trace);

	fputs("<section id=\"lost\">\n<h2>What was lost</h2>\n", out);
	if (!r->n_all_losses && !d->what && !i->lost)
		fputs(r->in->import ? "<p>Nothing that the imported recording reports.</p>\n"
				    : "<p>Nothing: every event that the recorder saw is in the "
				      "trace.</p>\n",
		      out);
	if (r->in->import)
		put_import(out, r->in->import);
	if (i->sideband_lost)
		fprintf(out,
			"<p>%" PRIu64 " mappings of programs were missed: some functions have no "
			"names for that.</p>\n",
			i->sideband_lost);
	put_notes(out, r->in->trace);
	if (d->what)
		fprintf(out,
			"<p>The trace is damaged from byte %" PRIu64 " on: %s; %" PRIu64
			" bytes in %" PRIu64 " blocks were skipped.</p>\n",
			d->first_offset, d->what, d->bytes, d->blocks);
	if (r->n_all_losses || i->lost)
		fprintf(out,
			"<p>%" PRIu64
			" events are known to be lost, in %zu stretches of time. What a loss may "
			"have touched is shown as <code>[unknown]</code>, never guessed.</p>\n",
			i->lost, r->n_all_losses);
	if (r->n_all_losses)
		put_losses(out, r);
	fputs("</section>\n", out);
}

static void put_policy(FILE *out, bool graphs)
{
	fprintf(out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"base-uri 'none'; form-action 'none'; script-src '%s'",
		report_js_source);
	if (graphs)
		fprintf(out, " '%s'", flamegraph_script_source);
	fprintf(out, "; style-src '%s'", report_css_source);
	if (graphs)
		fprintf(out, " '%s'", flamegraph_style_source);
	fputs("\">\n", out);
}

static void put_head(FILE *out, const struct report *r, bool graphs)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
	put_policy(out, graphs);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"generator\" content=\"chainwalk " CHAIN_VERSION
	      "\">\n<title>Wakeup chains: ",
	      out);
	put_title(out, r);
	fputs("</title>\n<style>", out);
	fwrite(report_css, 1, report_css_len, out);
	fputs("</style>\n</head>\n<body>\n<main class=\"report\">\n", out);
}

/* The sections, which the script adds a search to. */
static void put_contents(FILE *out, const struct report *r, bool ran)
{
	const struct {
		const char *id, *name;
		bool there;
	} sections[] = {
		{ "answer", "Answer", true },	      { "requests", "Requests", r->requests },
		{ "causes", "Causes", true },	      { "all-threads", "Timeline", true },
		{ "waits", "Waits", true },	      { "graph", "Graph", true },
		{ "ran", "What ran", ran },	      { "threads", "Threads", true },
		{ "wakers", "Who wakes whom", true }, { "lost", "Losses", true },
	};

	fputs("<nav id=\"contents\" aria-label=\"Contents\"><div class=\"links scroll\">\n", out);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (sections[i].there)
			fprintf(out, "<a href=\"#%s\">%s</a>\n", sections[i].id, sections[i].name);
	fputs("</div></nav>\n", out);
}

/* As tall as the window at most: it scrolls by itself, and its root is in view at first. */
static void put_graph(FILE *out, const struct report_text *svg)
{
	fputs("<div class=\"fg-window\">\n", out);
	fwrite(svg->p, 1, svg->len, out);
	fputs("</div>\n", out);
}

static void put_graphs(FILE *out, const struct report_text *waits, const struct report_text *ran)
{
	fputs("<section id=\"graph\">\n<h2>What the waiting time went to</h2>\n"
	      "<p class=\"note\">Width is time. At the bottom, blue, the thread that waited and "
	      "where; "
	      "above each gray <code>--</code> who woke it, and who had woken that one; at the top "
	      "why the "
	      "chain ends. Click to zoom.</p>\n"
	      "<p class=\"note graph-said\"></p>\n",
	      out);
	if (waits->len)
		put_graph(out, waits);
	else
		fputs("<p>Nobody waited.</p>\n", out);
	fputs("</section>\n", out);
	if (!ran->len)
		return;
	fputs("<section id=\"ran\">\n<h2>What ran</h2>\n<p class=\"note\">Width is running time, "
	      "shared out by samples.</p>\n<p class=\"note graph-said\"></p>\n",
	      out);
	put_graph(out, ran);
	fputs("</section>\n", out);
}

void report_page_write(FILE *out, const struct report *r, const struct report_text *waits,
		       const struct report_text *ran, const struct report_text *data)
{
	put_head(out, r, waits->len || ran->len);
	put_heading(out, r);
	put_contents(out, r, ran->len);
	report_answer_put(out, r);
	report_requests_put(out, r);
	put_causes(out, r);
	put_summary(out, r);
	put_filter(out);
	put_lanes(out);
	put_wait_list(out, r);
	put_graphs(out, waits, ran);
	put_tables(out, r);
	put_lost(out, r);
	fputs("</main>\n<script type=\"application/json\" id=\"report-data\">", out);
	fwrite(data->p, 1, data->len, out);
	fputs("</script>\n<script>", out);
	fwrite(report_js, 1, report_js_len, out);
	fputs("</script>\n</body>\n</html>\n", out);
}
