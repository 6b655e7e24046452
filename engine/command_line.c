// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One table has all options: getopt's tables, the help and the checks of which options go together
 * are made from it.
 */
#include "command_line.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "format_table.h"
#include "common/help.h"
#include "common/similar.h"
#include "option_values.h"

/* An option; or, without set, a heading of the help. */
struct row {
	const char *name;   /* after "--"; NULL: it has a letter only */
	char letter;	    /* after "-"; 0: none */
	bool brief;	    /* -h shows it, too */
	const char *value;  /* its name in the help, or the words it takes: "a|b"; NULL: no value */
	unsigned int given; /* its bit in options.given; 0: all formats take it */
	int (*set)(struct setting *s, const char *value);
	size_t at; /* offset in struct options of what set sets; 0: set knows */
	const char *help;
};

#define AT(member) offsetof(struct options, member)

/* Each line of the help fits 80 columns: 53 are left for the text. */
static const struct row rows[] = {
	{ .help = "Which waits" },
	{ "pid", 'p', true, "PID|NAME", GIVEN_WHO, add_process, AT(processes),
	  "waits of this process; repeatable" },
	{ "tree-of", 0, true, "PID|NAME", GIVEN_WHO, add_process, AT(trees),
	  "waits of this process and all it started; repeatable" },
	{ "tid", 't', true, "TID", GIVEN_WHO, add_id, AT(tids),
	  "waits of this thread; repeatable" },
	{ "comm", 'c', true, "REGEX", GIVEN_WHO, add_regex, AT(names),
	  "waits of threads whose name matches; repeatable" },
	{ "all", 0, false, NULL, GIVEN_ALL, set_true, AT(all_threads),
	  "of all threads, also if a command was recorded" },
	{ "within", 0, true, "REGEX", GIVEN_WITHIN, add_regex, AT(within),
	  "waits with a matching frame in the off-CPU stack" },
	{ "without", 0, false, "REGEX", GIVEN_WITHIN, add_regex, AT(without),
	  "waits without a matching frame there" },
	{ "object", 0, false, "REGEX", GIVEN_OF_OBJECTS, add_regex, AT(waits_for),
	  "waits for a matching object: '^\\[tcp .*:5432'" },
	{ "class", 0, false, "LIST", GIVEN_OF_OBJECTS, add_words, AT(classes),
	  "waits for objects of these classes: tcp,file" },
	{ "from", 0, true, "T", GIVEN_RANGE, set_seconds, AT(from_ns),
	  "after this time, in seconds from the trace's start" },
	{ "to", 0, true, "T", GIVEN_RANGE, set_seconds, AT(to_ns), "before this time" },
	{ "min-wait", 0, true, "D", GIVEN_WAIT, set_duration, AT(min_wait_ns),
	  "waits of at least this length: 10us, 2ms, 1s" },
	{ "max-wait", 0, false, "D", GIVEN_WAIT, set_duration, AT(max_wait_ns),
	  "waits of at most this length" },
	{ "state", 0, false, "LIST", GIVEN_STATE, set_states, 0,
	  "blocked,runnable (default), preempted, all; S,D,I..." },
	{ "no-kthreads", 0, false, NULL, GIVEN_NO_KTHREADS, set_true, AT(no_kthreads),
	  "leave out kernel threads" },
	{ "no-idle", 0, true, NULL, GIVEN_NO_IDLE, set_true, AT(no_idle),
	  "leave out waits of threads that have no work" },
	{ "ended", 0, false, NULL, GIVEN_ENDED, set_true, AT(ended),
	  "only waits that ended (default without -p, -t, -c)" },
	{ "not-woken", 0, false, NULL, GIVEN_ENDED, set_true, AT(not_woken),
	  "also waits that had not ended when the trace did" },

	{ .help = "How waits are explained" },
	{ "depth", 'd', true, "N", GIVEN_DEPTH, set_depth, 0,
	  "links to follow (default 6); 0: off-CPU stacks only" },
	{ "mode", 0, false, "exact|classic", GIVEN_MODE, set_word, AT(mode),
	  "how a wait's time is shared among its chains" },

	{ .help = "Output" },
	{ "format", 'f', true, "FORMAT", 0, set_format, 0,
	  "see below (default folded, on a terminal causes)" },
	{ "output", 'o', true, "FILE", 0, set_output, 0, "write here, not to standard output" },
	{ "top", 0, true, "N", GIVEN_TOP, set_top, 0, "only the N largest" },
	{ "unit", 0, false, "us|ns", GIVEN_UNIT, set_word, AT(unit),
	  "unit of times (default us; tables: ms)" },
	{ "view", 0, false, "chain|wakeup|io", GIVEN_VIEW, set_word, AT(view),
	  "folded lines: whole chains, or the wakers' stacks" },
	{ "root", 0, false, "host|trace|class", GIVEN_ROOT, set_word, AT(root),
	  "first frame: trace's host or path, object class" },
	{ "by-name", 0, false, NULL, GIVEN_BY_NAME, set_true, AT(by_name),
	  "a histogram for each thread name" },

	{ .help = "Frames" },
	{ "kernel", 'K', false, NULL, GIVEN_STACKS, set_false, AT(user), "kernel frames only" },
	{ "user", 'U', false, NULL, GIVEN_STACKS, set_false, AT(kernel), "user frames only" },
	{ "blocked-stacks", 0, false, NULL, GIVEN_BLOCKED_STACKS, set_true, AT(blocked_stacks),
	  "show where each waker itself had slept" },
	{ "fold-repeats", 0, false, NULL, GIVEN_FOLD_REPEATS, set_true, AT(fold_repeats),
	  "show a lock that is handed on as one link: worker x 6" },
	{ "who-ran", 0, false, NULL, GIVEN_WHO_RAN, set_true, AT(who_ran),
	  "show who had the CPU above [runnable], [preempted]" },
	{ "objects", 0, false, NULL, GIVEN_OBJECTS, set_true, AT(full_objects),
	  "show what was waited for in full, not its class" },
	{ "no-objects", 0, false, NULL, GIVEN_OBJECTS, set_true, AT(no_objects), "do not show it" },
	{ "annotate", 0, false, NULL, GIVEN_ANNOTATE, set_true, AT(annotate),
	  "append _[w] to waker frames, _[k] to kernel frames" },
	{ "plain-ends", 0, false, NULL, GIVEN_PLAIN_ENDS, set_true, AT(plain_ends),
	  "[interrupt] for all that is no thread" },
	{ "no-ends", 0, false, NULL, GIVEN_NO_ENDS, set_true, AT(no_ends),
	  "leave out why each chain ends" },
	{ "inline", 0, false, NULL, 0, set_true, AT(inlined),
	  "show inlined functions, and source lines" },
	{ "debug-dir", 0, false, "DIR", 0, add_path, AT(debug_dirs),
	  "names from the debug files there, too; repeatable" },
	{ "debuginfod", 0, false, NULL, 0, set_true, AT(debuginfod),
	  "and from the servers in DEBUGINFOD_URLS" },
	{ "no-delim", 0, false, NULL, GIVEN_NO_DELIM, set_true, AT(no_delim),
	  "leave out the frames - and -- between stacks" },

	{ .help = "Other" },
	{ "quiet", 'q', false, NULL, 0, set_true, AT(quiet), "no summary, no progress" },
	{ "verbose", 'v', false, NULL, 0, set_true, AT(verbose),
	  "print the speed; full stacks in events and tree" },
	{ NULL, 'h', false, NULL, 0, set_true, AT(help), "the most used options" },
	{ "help", 0, false, NULL, 0, set_true, AT(help_all), "all options and formats" },
	{ "version", 'V', false, NULL, 0, set_true, AT(version), "version" },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))
#define OPT_LONG (UCHAR_MAX + 1) /* getopt's value of a long option: OPT_LONG + its row */

struct row_name {
	char s[32];
};

/* How messages call an option. */
static struct row_name name_of(const struct row *r)
{
	struct row_name name;

	if (r->letter)
		snprintf(name.s, sizeof(name.s), "-%c", r->letter);
	else
		snprintf(name.s, sizeof(name.s), "--%s", r->name);
	return name;
}

/* ---- help ---------------------------------------------------------------------------------- */

void options_help(FILE *out, bool all)
{
	const struct format *f;

	fputs("Usage: chainwalk [options] [TRACE... | -]       (default trace.bin)\n"
	      "Explains what threads waited for: from chaincap's trace, or perf script's text.\n",
	      out);
	if (!all)
		putc('\n', out);
	for (size_t i = 0; i < N_ROWS; i++) {
		if (!rows[i].set && all)
			fprintf(out, "\n%s:\n", rows[i].help);
		else if (all || rows[i].brief)
			help_put(out, rows[i].letter, rows[i].name, rows[i].value, rows[i].help);
	}
	fputs(all ? "\nFormats:\n" : "\nFormats:", out);
	for (size_t i = 0; (f = format_at(i)); i++) {
		if (all)
			fprintf(out, "  %-12s%s\n", f->name, f->summary);
		else
			fprintf(out, "%s%s", !i ? " " : i == 9 ? ",\n         " : ", ", f->name);
	}
	if (!all)
		fputs("\n--help shows all options.\n", out);
	fputs("\nExamples:\n"
	      "  chainwalk trace.bin | flamegraph > chain.svg\n"
	      "  chainwalk -f tree -c nginx --min-wait 10ms trace.bin\n",
	      out);
}

/* ---- which options go together -------------------------------------------------------------- */

/* An option that would have no effect is an error: the user expects one. */
static int check_format_takes(struct setting *s, const bool *seen)
{
	enum {
		ABOUT_CHAINS = GIVEN_DEPTH | GIVEN_MODE | GIVEN_BLOCKED_STACKS | GIVEN_NO_ENDS |
			       GIVEN_PLAIN_ENDS | GIVEN_WHO_RAN | GIVEN_FOLD_REPEATS |
			       GIVEN_OBJECTS,
		ABOUT_WAITS = GIVEN_WITHIN | GIVEN_WAIT | GIVEN_STATE | GIVEN_NO_IDLE |
			      GIVEN_ENDED | GIVEN_OF_OBJECTS,
	};
	static const struct {
		const char *name;
		unsigned int refuses;
	} views[] = {
		[VIEW_CHAIN] = { "chain", 0 },
		[VIEW_WAKEUP] = { "wakeup", ABOUT_CHAINS },
		[VIEW_IO] = { "io", ABOUT_CHAINS | ABOUT_WAITS },
	};
	const struct options *o = s->o;
	const struct format *f = format_find(o->format);
	bool wakeup = o->view == VIEW_WAKEUP;

	for (size_t i = 0; i < N_ROWS; i++) {
		if (!seen[i])
			continue;
		if (f->refuses & rows[i].given)
			return setting_complain(s, "%s has no meaning with --format=%s",
						name_of(&rows[i]).s, f->name);
		if (views[o->view].refuses & rows[i].given)
			return setting_complain(s, "%s has no meaning with --view %s",
						name_of(&rows[i]).s, views[o->view].name);
	}
	if ((wakeup || f->blocked_only) && o->given & GIVEN_PARTS && o->parts != PART_BLOCKED)
		return setting_complain(
			s, "--state: %s%s shows blocked time only",
			wakeup ? "--view wakeup" : "--format=", wakeup ? "" : f->name);
	if (o->parts & PART_RUNNING && o->parts != PART_ALL && !f->running)
		return setting_complain(s, "--state running has no meaning with --format=%s",
					f->name);
	if (o->given & GIVEN_TOP && !strcmp(f->name, "hist") && !o->by_name)
		return setting_complain(s,
					"--top has no meaning with --format=hist unless --by-name");
	return 0;
}

static int check_together(struct setting *s)
{
	const struct options *o = s->o;

	if (!o->kernel && !o->user)
		return setting_complain(s, "-K and -U exclude each other");
	if (o->ended && o->not_woken)
		return setting_complain(s, "--ended and --not-woken exclude each other");
	if (o->all_threads && o->given & GIVEN_WHO)
		return setting_complain(s, "--all and -p, -t, -c, --tree-of exclude each other");
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
	const struct options *o = s->o;
	const struct format *f = format_find(o->format);
	size_t n_stdin = 0;

	if (o->given & GIVEN_ROOT && f->several != SEVERAL_MERGED && f->several != SEVERAL_KEYED)
		return setting_complain(s, "--root has no meaning with --format=%s", f->name);
	if (o->root == ROOT_CLASS && f->several != SEVERAL_MERGED)
		return setting_complain(s, "--root=class has no meaning with --format=%s", f->name);
	if (o->root == ROOT_CLASS && (o->view == VIEW_WAKEUP || o->objects == OBJECTS_NONE))
		return setting_complain(s, "--root=class goes with chains that show objects");
	if (o->n_traces > 1 && f->several == SEVERAL_REFUSED)
		return setting_complain(s, "--format=%s takes one trace; '%s' is the second",
					f->name, o->traces[1]);
	for (size_t i = 0; i < o->n_traces; i++)
		n_stdin += !strcmp(o->traces[i], "-");
	if (n_stdin > 1)
		return setting_complain(s, "standard input can be read only once");
	return 0;
}

/* ---- parsing -------------------------------------------------------------------------------- */

/* The row of the option that getopt_long() returned. */
static const struct row *row_of(int opt)
{
	if (opt >= OPT_LONG)
		return &rows[opt - OPT_LONG];
	for (size_t i = 0; opt && i < N_ROWS; i++)
		if (rows[i].letter == opt)
			return &rows[i];
	return NULL;
}

/* Complains about a word that begins with "--" and is no option; len: bytes of its name. */
static int complain_mistyped(struct setting *s, const char *word, size_t len)
{
	char name[40];

	snprintf(name, sizeof(name), "%.*s", (int)len - 2, word + 2);
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].name && words_similar(name, rows[i].name))
			return setting_complain(s, "there is no option %s; did you mean --%s?",
						word, rows[i].name);
	return setting_complain(s, "there is no option %s", word);
}

/* word begins with "--" and is not an option: it matches none, or is a prefix of several. */
static int complain_unknown(struct setting *s, const char *word)
{
	size_t len = strcspn(word, "="), n = 0;
	char names[160];

	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].name && n < sizeof(names) && !strncmp(rows[i].name, word + 2, len - 2))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s--%s", n ? ", " : "",
					      rows[i].name);
	if (!n)
		return complain_mistyped(s, word, len);
	return setting_complain(s, "%.*s matches several options: %s", (int)len, word, names);
}

/* What getopt_long() refused: it returned ret, '?' or ':'. */
static int complain_refused(struct setting *s, int ret, char **argv)
{
	const struct row *row = row_of(optopt);

	if (ret == ':')
		return setting_complain(s, "%s needs a value", name_of(row).s);
	if (row)
		return setting_complain(s, "%s takes no value", name_of(row).s);
	if (optopt)
		return setting_complain(s, "there is no option -%c", optopt);
	return complain_unknown(s, argv[optind - 1]);
}

/* Makes getopt's tables of letters and of names from the rows. */
static void fill_tables(char letters[2 * N_ROWS + 2], struct option names[N_ROWS + 1])
{
	*letters++ = ':'; /* getopt_long() returns ':' for a missing value */
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *r = &rows[i];

		if (r->letter)
			*letters++ = r->letter;
		if (r->letter && r->value)
			*letters++ = ':';
		if (r->name)
			*names++ = (struct option) { r->name,
						     r->value ? required_argument : no_argument,
						     NULL, OPT_LONG + (int)i };
	}
	*letters = '\0';
	*names = (struct option) { 0 };
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t err_size)
{
	struct setting s = { .o = o, .err = err, .err_size = err_size };
	struct option names[N_ROWS + 1];
	char letters[2 * N_ROWS + 2];
	bool seen[N_ROWS] = { false };
	int opt, ret = 0;

	fill_tables(letters, names);
	options_init(o);
	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while (!ret && (opt = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		const struct row *row = row_of(opt);
		struct row_name name;

		if (!row)
			return complain_refused(&s, opt, argv);
		name = name_of(row);
		s.name = name.s;
		s.words = row->value;
		s.member = (char *)o + row->at;
		ret = row->set(&s, optarg);
		o->given |= row->given;
		seen[row - rows] = true;
	}
	o->traces = argv + optind;
	o->n_traces = (size_t)(argc - optind);
	/*
	 * If no threads were chosen, leave out waits without an end: most threads of a machine
	 * sleep all the time.
	 */
	if (!(o->given & (GIVEN_WHO | GIVEN_ENDED)))
		o->ended = true;
	if (o->full_objects || o->no_objects)
		o->objects = o->full_objects ? OBJECTS_FULL : OBJECTS_NONE;
	if (!ret)
		ret = check_format_takes(&s, seen);
	if (!ret)
		ret = check_together(&s);
	return ret ? ret : check_traces(&s);
}
