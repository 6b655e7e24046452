// SPDX-License-Identifier: GPL-2.0-or-later
#include "command_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/duration.h"
#include "common/option_table.h"
#include "format_table.h"
#include "parts.h"

/* ---- values: each function reads one as the user wrote it; 0 or -EINVAL ------------------------
 */

/* The value is not what it has to be. */
static int complain_value(struct setting *s, const char *value, const char *what)
{
	return setting_complain(s, "%s: '%s' is %s", s->name, value, what);
}

static int set_number(struct setting *s, const char *value, uint64_t max, uint64_t *v)
{
	if (parse_number(value, max, v))
		return 0;
	return setting_complain(s, "%s: '%s' is not a number from 0 to %llu", s->name, value,
				(unsigned long long)max);
}

static int set_depth(struct setting *s, const char *value)
{
	uint64_t v = 0;
	int err = set_number(s, value, OPTIONS_DEPTH_MAX, &v);

	if (!err)
		*(uint32_t *)s->member = (uint32_t)v;
	return err;
}

static int set_top(struct setting *s, const char *value)
{
	return set_number(s, value, UINT32_MAX, s->member);
}

/* The table of causes is meant, unless another format is named. */
static void mean_causes(struct options *o)
{
	if (!o->format_given)
		o->format = "causes";
	o->format_given = true;
}

static int set_show(struct setting *s, const char *value)
{
	mean_causes(s->options);
	return set_number(s, value, UINT32_MAX, s->member);
}

static int set_against(struct setting *s, const char *value)
{
	mean_causes(s->options);
	return set_text(s, value);
}

/* "1.5": seconds, in ns. */
static int set_seconds(struct setting *s, const char *value)
{
	if (duration_parse(value, 1000000000, s->member))
		return 0;
	return complain_value(s, value, "not a number of seconds, such as 1.5");
}

/* "10us", in ns: a unit is required. */
static int set_duration(struct setting *s, const char *value)
{
	if (duration_parse(value, 0, s->member))
		return 0;
	return complain_value(s, value, "not a time with a unit, such as 10us, 2ms or 1s");
}

/* Rows say in which second their time begins. */
static int set_bucket(struct setting *s, const char *value)
{
	uint64_t *ns = s->member;
	int err = set_duration(s, value);

	if (!err && (!*ns || *ns % 1000000000))
		return complain_value(s, value, "not a number of whole seconds, such as 60s");
	return err;
}

/* "1%" or "0.1%", in millionths. */
static int set_part(struct setting *s, const char *value, double most)
{
	char *end;
	double v = strtod(value, &end);

	if (*value < '0' || *value > '9' || (*end && strcmp(end, "%")) || v * 10000 < 1 || v > most)
		return complain_value(s, value, "not a percentage, such as 1% or 0.1%");
	*(uint32_t *)s->member = (uint32_t)(v * 10000 + 0.5);
	return 0;
}

static int set_percentage(struct setting *s, const char *value)
{
	return set_part(s, value, 100);
}

/* Something may grow to many times of what it was. */
static int set_growth(struct setting *s, const char *value)
{
	return set_part(s, value, 100000);
}

/* 32 hexadecimal digits; leading zeros may be left out. */
static int set_trace_id(struct setting *s, const char *value)
{
	uint64_t *id = s->member;
	size_t len = strlen(value);

	id[0] = id[1] = 0;
	if (!len || len > 32 || strspn(value, "0123456789abcdefABCDEF") < len)
		return complain_value(s, value, "not a trace id: 32 hexadecimal digits");
	for (; *value; value++) {
		const char digit[] = { *value, '\0' };

		id[0] = id[0] << 4 | id[1] >> 60;
		id[1] = id[1] << 4 | strtoul(digit, NULL, 16);
	}
	return id[0] | id[1] ? 0 : complain_value(s, "0", "not a trace id");
}

static int add_id(struct setting *s, const char *value)
{
	/* "postgres/811", as threads are written. */
	const char *slash = strrchr(value, '/');
	uint64_t v;

	if (!parse_number(slash && slash > value ? slash + 1 : value, TRACE_TID_LIMIT - 1, &v))
		return complain_value(s, value,
				      "not a thread's id, as 811 or postgres/811 (-c takes names)");
	id_list_add(s->member, (uint32_t)v);
	return 0;
}

static int add_process(struct setting *s, const char *value)
{
	struct process_list *l = s->member;
	uint64_t v;

	if (parse_number(value, TRACE_TID_LIMIT - 1, &v)) {
		id_list_add(&l->ids, (uint32_t)v);
		return 0;
	}
	if (!*value || (*value >= '0' && *value <= '9'))
		return complain_value(s, value, "neither a process id nor a name");
	path_list_add(&l->names, value);
	return 0;
}

static int add_regex(struct setting *s, const char *value)
{
	char why[128];

	if (regex_list_add(s->member, value, why, sizeof(why)))
		return setting_complain(s, "%s: '%s': %s", s->name, value, why);
	return 0;
}

/* A folder that exists. */
static int add_path(struct setting *s, const char *value)
{
	struct stat st;

	if (stat(value, &st))
		return complain_value(s, value, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return complain_value(s, value, "not a folder");
	path_list_add(s->member, value);
	return 0;
}

static int add_words(struct setting *s, const char *value)
{
	size_t len;

	for (const char *word = value;; word += len + 1) {
		len = strcspn(word, ",");
		if (!len)
			return complain_value(s, value, "not a list of words, such as tcp,file");
		word_list_add(s->member, word, len);
		if (!word[len])
			return 0;
	}
}

static int set_format(struct setting *s, const char *value)
{
	const struct format *f = format_find(value);
	struct options *o = s->options;
	char list[256] = "none of: ";
	size_t n = strlen(list);

	if (f) {
		o->format = f->name;
		o->format_given = true;
		return 0;
	}
	for (size_t i = 0; (f = format_at(i)) && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", f->name);
	if (n < sizeof(list))
		snprintf(list + n, sizeof(list) - n, "%s", LEFT_OUT);
	return complain_value(s, value, list);
}

/* The parts that a word of len bytes names; 0: none. */
static unsigned int parts_of(const char *word, size_t len)
{
	for (const struct options_part_word *w = options_part_words; w->word; w++)
		if (strlen(w->word) == len && !strncmp(word, w->word, len))
			return w->part;
	return len == strlen("all") && !strncmp(word, "all", len) ? PART_ALL : 0;
}

/* A list of parts and letters of sleep states, separated by commas. */
static int set_states(struct setting *s, const char *value)
{
	struct options *o = s->options;
	char *states = o->states;
	unsigned int parts = 0;
	size_t n_states = 0, len;

	states[0] = 0;
	for (const char *item = value;; item += len + 1) {
		len = strcspn(item, ",");
		if (parts_of(item, len)) {
			parts |= parts_of(item, len);
		} else if (len == 1 && strchr("SDITtP", *item)) {
			if (!strchr(states, *item)) {
				states[n_states++] = *item;
				states[n_states] = 0;
			}
		} else {
			return setting_complain(s,
						"%s: '%.*s' is none of: blocked, runnable, "
						"preempted, running, all, S, D, I, T, t, P",
						s->name, (int)(len < 40 ? len : 40), item);
		}
		if (!item[len])
			break;
	}
	/* Letters select sleeps; a preempted interval is no sleep, so both would select nothing. */
	if (parts == PART_PREEMPTED && n_states)
		parts |= PART_BLOCKED | PART_RUNNABLE;
	if (parts) {
		o->parts = parts;
		o->given |= GIVEN_PARTS;
	}
	return 0;
}

static int set_output(struct setting *s, const char *value)
{
	set_text(s, value);
	return *value ? 0 : setting_complain(s, "%s: the file name is empty", s->name);
}

/* ---- the options --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct options, member)

/* Each line of the help fits 80 columns: 53 are left for the text. */
static const struct option_row rows[] = {
	{ .help = "Which waits" },
	{ "pid", 'p', true, "PID|NAME", add_process, AT(processes),
	  .help = "waits of this process; repeatable", .given = GIVEN_WHO },
	{ "tree-of", 0, true, "PID|NAME", add_process, AT(trees),
	  .help = "waits of this process and all it started; repeatable", .given = GIVEN_WHO },
	{ "tid", 't', true, "TID", add_id, AT(tids), .help = "waits of this thread; repeatable",
	  .given = GIVEN_WHO },
	{ "comm", 'c', true, "REGEX", add_regex, AT(names),
	  .help = "waits of threads whose name matches; repeatable", .given = GIVEN_WHO },
	{ "cgroup", 0, false, "REGEX", add_regex, AT(groups),
	  .help = "of threads in a matching control group; repeatable", .given = GIVEN_WHO },
	{ "all", 0, false, NULL, set_true, AT(all_threads),
	  .help = "of all threads, also if a command was recorded", .given = GIVEN_ALL },
	{ "within", 0, false, "REGEX", add_regex, AT(within),
	  .help = "waits with a matching frame in the off-CPU stack", .given = GIVEN_WITHIN },
	{ "without", 0, false, "REGEX", add_regex, AT(without),
	  .help = "waits without a matching frame in it", .given = GIVEN_WITHIN },
	{ "object", 0, false, "REGEX", add_regex, AT(waits_for),
	  .help = "waits for a matching object: '^\\[tcp .*:5432'", .given = GIVEN_OF_OBJECTS },
	{ "class", 0, false, "LIST", add_words, AT(classes),
	  .help = "waits for objects of these classes: tcp,file", .given = GIVEN_OF_OBJECTS },
	{ "from", 0, true, "T", set_seconds, AT(from_ns),
	  .help = "after this time, in seconds from the trace's start", .given = GIVEN_RANGE },
	{ "to", 0, true, "T", set_seconds, AT(to_ns), .help = "before this time",
	  .given = GIVEN_RANGE },
	{ "min-wait", 0, true, "D", set_duration, AT(min_wait_ns),
	  .help = "waits of at least this length: 10us, 2ms, 1s", .given = GIVEN_WAIT },
	{ "max-wait", 0, false, "D", set_duration, AT(max_wait_ns),
	  .help = "waits of at most this length", .given = GIVEN_WAIT },
	{ "state", 0, false, "LIST", set_states, 0,
	  .help = "blocked,runnable (default), preempted, all; S,D,I...", .given = GIVEN_STATE },
	{ "no-kthreads", 0, false, NULL, set_true, AT(no_kthreads),
	  .help = "leave out kernel threads", .given = GIVEN_NO_KTHREADS },
	{ "no-idle", 0, true, NULL, set_true, AT(no_idle),
	  .help = "leave out pauses by choice and waits for work", .given = GIVEN_NO_IDLE },
	{ "ended", 0, false, NULL, set_true, AT(ended),
	  .help = "only waits that ended (default without -p, -t, -c)", .given = GIVEN_ENDED },
	{ "not-woken", 0, false, NULL, set_true, AT(not_woken),
	  .help = "also waits that had not ended when the trace did", .given = GIVEN_ENDED },

	{ .help = "Requests at sockets" },
	{ "requests", 0, false, NULL, set_true, AT(requests),
	  .help = "explain waits of requests, not of threads", .given = GIVEN_REQUESTS },
	{ "request", 0, false, "REGEX", add_regex, AT(endpoints),
	  .help = "requests to matching endpoints: 'tcp :80'; repeatable",
	  .given = GIVEN_REQUESTS },
	{ "request-min", 0, false, "D", set_duration, AT(min_request_ns),
	  .help = "requests that took at least this long: 10ms", .given = GIVEN_REQUESTS },
	{ "trace-id", 0, false, "ID", set_trace_id, AT(trace_id),
	  .help = "requests of this distributed trace", .given = GIVEN_REQUESTS },
	{ "slowest", 0, true, "N%", set_percentage, AT(slowest_ppm),
	  .help = "the slowest requests of each endpoint: 1%", .given = GIVEN_REQUESTS },

	{ .help = "Chains and their frames" },
	{ "depth", 'd', true, "N", set_depth, AT(depth),
	  .help = "links to follow (default 6); 0: off-CPU stacks only", .given = GIVEN_DEPTH },
	{ "mode", 0, false, "exact|classic", set_word, AT(mode),
	  .help = "how the time of a wait is attributed to its chain", .given = GIVEN_MODE },
	{ "sample-event", 0, false, "NAME", set_text, AT(sample_event),
	  .help = "perf: the event whose samples show what ran" },
	{ "kernel", 'K', false, NULL, set_false, AT(user), .help = "kernel frames only",
	  .given = GIVEN_STACKS },
	{ "user", 'U', false, NULL, set_false, AT(kernel), .help = "user frames only",
	  .given = GIVEN_STACKS },
	{ "native", 0, false, NULL, set_true, AT(native),
	  .help = "the interpreter's own frames, not Python's or PHP's", .given = GIVEN_NATIVE },
	{ "blocked-stacks", 0, false, NULL, set_true, AT(blocked_stacks),
	  .help = "show where each waker itself had slept", .given = GIVEN_BLOCKED_STACKS },
	{ "fold-repeats", 0, false, NULL, set_true, AT(fold_repeats),
	  .help = "show a lock that is handed on as one link: worker x 6",
	  .given = GIVEN_FOLD_REPEATS },
	{ "who-ran", 0, false, NULL, set_true, AT(who_ran),
	  .help = "show who had the CPU above [runnable], [preempted]", .given = GIVEN_WHO_RAN },
	{ "objects", 0, false, NULL, set_true, AT(full_objects),
	  .help = "show what was waited for by name, not only its class", .given = GIVEN_OBJECTS },
	{ "no-objects", 0, false, NULL, set_true, AT(no_objects),
	  .help = "do not show what was waited for", .given = GIVEN_OBJECTS },
	{ "annotate", 0, false, NULL, set_true, AT(annotate),
	  .help = "append _[w] to waker frames, _[k] to kernel frames", .given = GIVEN_ANNOTATE },
	{ "plain-ends", 0, false, NULL, set_true, AT(plain_ends),
	  .help = "show [interrupt] for timers, network and disks", .given = GIVEN_PLAIN_ENDS },
	{ "no-ends", 0, false, NULL, set_true, AT(no_ends), .help = "leave out why each chain ends",
	  .given = GIVEN_NO_ENDS },
	{ "inline", 0, false, NULL, set_true, AT(inlined),
	  .help = "show inlined functions, and source lines" },
	{ "debug-dir", 0, false, "DIR", add_path, AT(debug_dirs),
	  .help = "look for debug files there, too; repeatable" },
	{ "debuginfod", 0, false, NULL, set_true, AT(debuginfod),
	  .help = "ask the servers in DEBUGINFOD_URLS for debug files" },
	{ "no-delim", 0, false, NULL, set_true, AT(no_delim),
	  .help = "leave out the frames - and -- between stacks", .given = GIVEN_NO_DELIM },

	{ .help = "Output" },
	{ "format", 'f', true, "FORMAT", set_format, 0,
	  .help = "see below (default folded, on a terminal causes)" },
	{ "output", 'o', true, "FILE", set_output, AT(output),
	  .help = "write to FILE, not to standard output" },
	{ "top", 0, true, "N", set_top, AT(top), .help = "only the N largest", .given = GIVEN_TOP },
	{ "show", 0, false, "N", set_show, AT(show),
	  .help = "causes: an example of the N-th one, as a tree", .only = "causes" },
	{ "against", 0, false, "BEFORE", set_against, AT(against),
	  .help = "causes: what grew since that recording", .only = "causes" },
	{ "follow", 0, false, "DIR", set_text, AT(follow),
	  .help = "causes: of each trace that appears in this folder", .only = "causes" },
	{ "live", 0, false, NULL, set_true, AT(live),
	  .help = "causes: record, and show them every 2 s", .only = "causes" },
	{ "fail-above", 0, false, "N%", set_growth, AT(fail_above_ppm),
	  .help = "against: exit 1 if something grew by more: 20%" },
	{ "unit", 0, false, "us|ns", set_word, AT(unit),
	  .help = "unit of times (default us; tables: ms)", .given = GIVEN_UNIT },
	{ "view", 0, false, "chain|wakeup|io", set_word, AT(view),
	  .help = "folded lines: whole chains, or the wakers' stacks", .given = GIVEN_VIEW },
	{ "root", 0, false, "host|trace|class|cgroup|process", set_word, AT(root),
	  .help = "first frame of each line", .given = GIVEN_ROOT },
	{ "by-name", 0, false, NULL, set_true, AT(by_name),
	  .help = "a histogram for each thread name", .only = "hist" },
	{ "by-object", 0, false, NULL, set_true, AT(by_object),
	  .help = "objects: one row each, similar ones not merged", .only = "objects" },
	{ "table", 0, false, "traces|modules|chains|waits|all", set_word, AT(rows),
	  .help = "rows: only this table", .given = GIVEN_BUCKET },
	{ "bucket", 0, false, "D", set_bucket, AT(bucket_ns),
	  .help = "rows: the time that one row covers (default 60s)", .given = GIVEN_BUCKET },
	{ "json", 0, false, NULL, set_true, AT(json),
	  .help = "the first screen as JSON; of tables each row", .given = GIVEN_TABLE },
	{ "json-schema", 0, false, NULL, set_and_stop, AT(json_schema),
	  .help = "print the JSON Schema of that screen" },
	{ "wide", 0, false, NULL, set_true, AT(wide), .help = "tables: all rows and columns",
	  .given = GIVEN_TABLE },
	{ "color", 0, false, "never|auto|always", set_word, AT(color_when),
	  .help = "colours of causes (default auto: on a terminal)" },
	{ "quiet", 'q', false, NULL, set_true, AT(quiet), .help = "no summary" },
	{ "verbose", 'v', false, NULL, set_true, AT(verbose),
	  .help = "print the speed; full stacks in events and tree" },
	{ NULL, 'h', false, NULL, set_and_stop, AT(help), .help = "the most used options" },
	{ "help", 0, false, NULL, set_and_stop, AT(help_all), .help = "all options and formats" },
	{ "version", 'V', false, NULL, set_and_stop, AT(version), .help = "version" },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct option_table table = { rows, N_ROWS, .order = ":" };

/* ---- help ---------------------------------------------------------------------------------- */

void options_help(FILE *out, bool all)
{
	const struct format *f;

	fputs("Usage: chainwalk [options] [TRACE... | -]       (default trace.bin)\n"
	      "Explains what threads waited for, from a trace of chaincap, Go or perf.\n",
	      out);
	option_table_help(&table, out, all);
	fputs(all ? "\nFormats:\n" : "\nFormats:", out);
	for (size_t i = 0; (f = format_at(i)); i++) {
		if (all)
			fprintf(out, "  %-12s%s\n", f->name, f->summary);
		else
			fprintf(out, "%s%s", !i ? " " : i == 9 ? ",\n  " : ", ", f->name);
	}
	if (!all)
		fputs("\n--help shows all options.\n"
		      "\nExamples:\n  chainwalk trace.bin | flamegraph > chain.svg\n"
		      "  chainwalk -f tree -c nginx --min-wait 10ms trace.bin\n",
		      out);
}

/* ---- which options go together -------------------------------------------------------------- */

/* An option that would have no effect is an error: the user expects one. */
static int check_format_takes(struct setting *s, const bool *seen)
{
	static const uint64_t of_lines = GIVEN_STACKS | GIVEN_NO_DELIM | GIVEN_ANNOTATE |
					 GIVEN_ROOT | GIVEN_VIEW | GIVEN_TOP | GIVEN_UNIT;
	static const struct {
		const char *name;
		uint64_t takes;
	} views[] = {
		[VIEW_CHAIN] = { "chain", ~UINT64_C(0) },
		[VIEW_WAKEUP] = { "wakeup", GIVEN_OF_WAITS | of_lines },
		[VIEW_IO] = { "io",
			      GIVEN_OF_THREADS | GIVEN_NATIVE | GIVEN_NO_KTHREADS | of_lines },
	};
	struct options *o = s->options;
	const struct format *f = format_find(o->format);
	bool wakeup = o->view == VIEW_WAKEUP;

	for (size_t i = 0; i < N_ROWS; i++) {
		if (!seen[i])
			continue;
		if (rows[i].given & ~f->takes || (rows[i].only && f != format_find(rows[i].only)))
			return setting_complain(s, "%s has no meaning with --format=%s",
						option_name(&rows[i]).s, f->name);
		if (rows[i].given & ~views[o->view].takes || (rows[i].only && o->view))
			return setting_complain(s, "%s has no meaning with --view %s",
						option_name(&rows[i]).s, views[o->view].name);
	}
	if ((wakeup || f->blocked_only) && o->given & GIVEN_PARTS && o->parts != PART_BLOCKED)
		return setting_complain(
			s, "--state: %s%s shows blocked time only",
			wakeup ? "--view wakeup" : "--format=", wakeup ? "" : f->name);
	/* Of an idle wait --no-idle leaves the rest, which is not blocked. */
	if (wakeup || f->blocked_only)
		o->parts = PART_BLOCKED;
	if (o->parts & PART_RUNNING && o->parts != PART_ALL && !f->running)
		return setting_complain(s, "--state running has no meaning with --format=%s",
					f->name);
	if (o->given & GIVEN_TOP && !strcmp(f->name, "hist") && !o->by_name)
		return setting_complain(s,
					"--top has no meaning with --format=hist unless --by-name");
	if (o->rows == ROWS_ALL && f->one_table)
		return setting_complain(s, "--format=%s has one table: --table says which",
					f->name);
	if (o->show && o->json)
		return setting_complain(s, "--show has no meaning with --json");
	if (o->against && o->show)
		return setting_complain(s, "--against has no meaning with --show");
	if (o->against && (o->slowest_ppm || o->min_request_ns))
		return setting_complain(s, "--against compares all requests: --slowest and "
					   "--request-min have no meaning");
	if ((o->follow || o->live) && o->against)
		return setting_complain(s, "--against has no meaning with --%s",
					o->live ? "live" : "follow");
	if (o->follow && o->live)
		return setting_complain(s, "--follow and --live exclude each other");
	if ((o->follow || o->live) && (o->output || o->n_traces))
		return setting_complain(s, "--%s takes %s", o->live ? "live" : "follow",
					o->output ? "no -o" : "no other trace");
	if (o->fail_above_ppm && !o->against)
		return setting_complain(s, "--fail-above goes with --against");
	if (o->json && o->given & GIVEN_UNIT)
		return setting_complain(s, "--json has all times in ns: --unit has no meaning");
	return 0;
}

static int check_together(struct setting *s)
{
	const struct options *o = s->options;

	if (!o->kernel && !o->user)
		return setting_complain(s, "-K and -U exclude each other");
	if (o->ended && o->not_woken)
		return setting_complain(s, "--ended and --not-woken exclude each other");
	if (o->all_threads && o->given & GIVEN_WHO)
		return setting_complain(s, "--all and -p, -t, -c, --tree-of exclude each other");
	if (!strcmp(o->format, "events") && o->groups.n)
		return setting_complain(s, "--cgroup has no meaning with --format=events");
	if (!strcmp(o->format, "events") &&
	    (o->processes.names.n || o->trees.ids.n || o->trees.names.n))
		return setting_complain(s, "--format=events takes processes by id only: -p PID");
	if (o->who_ran && o->no_ends)
		return setting_complain(s, "--who-ran and --no-ends exclude each other");
	if (o->plain_ends && o->no_ends)
		return setting_complain(s, "--plain-ends and --no-ends exclude each other");
	if (o->full_objects && o->no_objects)
		return setting_complain(s, "--objects and --no-objects exclude each other");
	if (o->from_ns >= o->to_ns)
		return setting_complain(s, "--to is not after --from");
	if (o->min_wait_ns > o->max_wait_ns)
		return setting_complain(s, "--min-wait is more than --max-wait");
	return 0;
}

/* Several traces, and the frame that tells them apart. */
static int check_traces(struct setting *s)
{
	static const char *const roots[] = { [ROOT_CLASS] = "class",
					     [ROOT_CGROUP] = "cgroup",
					     [ROOT_PROCESS] = "process",
					     [ROOT_NONE] = NULL };
	const struct options *o = s->options;
	const struct format *f = format_find(o->format);
	const char *root = roots[o->root];
	size_t n_stdin = 0;

	if (o->given & GIVEN_ROOT && f->several == SEVERAL_HEADED && !o->json)
		return setting_complain(s, "--root has no meaning with --format=%s", f->name);
	if (root && f->several != SEVERAL_MERGED)
		return setting_complain(s, "--root=%s has no meaning with --format=%s", root,
					f->name);
	if (root && o->view == VIEW_IO)
		return setting_complain(s, "--root=%s has no meaning with --view io", root);
	if (o->root == ROOT_CLASS && (o->view == VIEW_WAKEUP || o->objects == OBJECTS_NONE))
		return setting_complain(s, "--root=class goes with chains that show objects");
	if (f->database && (!o->output || !strcmp(o->output, "-")))
		return setting_complain(s, "--format=%s writes a file: -o says which", f->name);
	if (o->n_traces > 1 && o->against)
		return setting_complain(s, "--against takes one other trace; '%s' is the second",
					o->traces[1]);
	if (o->n_traces > 1 && f->several == SEVERAL_REFUSED)
		return setting_complain(s, "--format=%s takes one trace; '%s' is the second",
					f->name, o->traces[1]);
	for (size_t i = 0; i < o->n_traces; i++)
		n_stdin += !strcmp(o->traces[i], "-");
	n_stdin += o->against && !strcmp(o->against, "-");
	if (n_stdin > 1)
		return setting_complain(s, "standard input can be read only once");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t err_size)
{
	struct setting s = { .options = o, .why = err, .why_size = err_size };
	bool seen[N_ROWS] = { false };
	int ret;

	options_init(o);
	ret = option_table_parse(&table, o, argc, argv, seen, err, err_size);
	if (ret)
		return ret < 0 ? ret : 0;
	o->traces = argv + optind;
	o->n_traces = (size_t)(argc - optind);
	for (size_t i = 0; i < N_ROWS; i++)
		o->given |= seen[i] ? rows[i].given : 0;
	o->requests = o->given & GIVEN_REQUESTS;
	o->screen_json = o->json && !o->format_given;
	if (o->screen_json || ((o->follow || o->live) && !o->format_given))
		o->format = "causes";
	/*
	 * If no threads were chosen, leave out waits without an end: most threads of a machine
	 * sleep all the time.
	 */
	if (!(o->given & (GIVEN_WHO | GIVEN_ENDED)))
		o->ended = true;
	if (o->full_objects || o->no_objects)
		o->objects = o->full_objects ? OBJECTS_FULL : OBJECTS_NONE;
	ret = check_format_takes(&s, seen);
	if (!ret)
		ret = check_together(&s);
	return ret ? ret : check_traces(&s);
}
