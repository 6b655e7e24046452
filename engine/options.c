// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "options_private.h"
#include "units.h"

enum {
	OPT_MODE = UCHAR_MAX + 1,
	OPT_FROM,
	OPT_TO,
	OPT_MIN_WAIT,
	OPT_MAX_WAIT,
	OPT_STATE,
	OPT_NO_ENDS,
	OPT_NO_DELIM,
	OPT_UNIT,
	OPT_TOP,
	OPT_BLOCKED_STACKS,
	OPT_ANNOTATE,
	OPT_NO_KTHREADS,
	OPT_NO_IDLE,
	OPT_VIEW,
	OPT_BY_NAME,
	OPT_WITHIN,
	OPT_WITHOUT,
	OPT_ROOT,
};

static const char short_options[] = ":d:f:p:t:c:KUo:qvhV";

static const struct option long_options[] = {
	{ "depth", required_argument, NULL, 'd' },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "format", required_argument, NULL, 'f' },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "comm", required_argument, NULL, 'c' },
	{ "within", required_argument, NULL, OPT_WITHIN },
	{ "without", required_argument, NULL, OPT_WITHOUT },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "min-wait", required_argument, NULL, OPT_MIN_WAIT },
	{ "max-wait", required_argument, NULL, OPT_MAX_WAIT },
	{ "state", required_argument, NULL, OPT_STATE },
	{ "no-kthreads", no_argument, NULL, OPT_NO_KTHREADS },
	{ "no-idle", no_argument, NULL, OPT_NO_IDLE },
	{ "view", required_argument, NULL, OPT_VIEW },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "by-name", no_argument, NULL, OPT_BY_NAME },
	{ "blocked-stacks", no_argument, NULL, OPT_BLOCKED_STACKS },
	{ "annotate", no_argument, NULL, OPT_ANNOTATE },
	{ "no-ends", no_argument, NULL, OPT_NO_ENDS },
	{ "no-delim", no_argument, NULL, OPT_NO_DELIM },
	{ "kernel", no_argument, NULL, 'K' },
	{ "user", no_argument, NULL, 'U' },
	{ "unit", required_argument, NULL, OPT_UNIT },
	{ "top", required_argument, NULL, OPT_TOP },
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

int options_complain(struct parser *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(p->err, p->err_size, fmt, args);
	va_end(args);
	return -EINVAL;
}

static int out_of_memory(struct parser *p)
{
	options_complain(p, "out of memory");
	return -ENOMEM;
}

/* ---- values -------------------------------------------------------------------------------- */

static int add_id(struct parser *p, struct id_list *l, const char *s)
{
	uint64_t v;
	uint32_t *ids;

	if (parse_number(s, TRACE_TID_LIMIT - 1, &v))
		return options_complain(p, "%s: '%s' is not a process or thread id", p->name, s);
	ids = realloc(l->ids, (l->n + 1) * sizeof(*ids));
	if (!ids)
		return out_of_memory(p);
	l->ids = ids;
	ids[l->n++] = (uint32_t)v;
	return 0;
}

static int add_regex(struct parser *p, struct regex_list *l, const char *s)
{
	char why[128];
	void *grown;
	int err;

	grown = realloc(l->regex, (l->n + 1) * sizeof(*l->regex));
	if (!grown)
		return out_of_memory(p);
	l->regex = grown;
	grown = realloc(l->text, (l->n + 1) * sizeof(*l->text));
	if (!grown)
		return out_of_memory(p);
	l->text = grown;
	err = regcomp(&l->regex[l->n], s, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, NULL, why, sizeof(why));
		return options_complain(p, "%s: '%s': %s", p->name, s, why);
	}
	l->text[l->n++] = s;
	return 0;
}

static int set_duration(struct parser *p, const char *s, uint64_t default_ns, uint64_t *ns)
{
	if (!parse_duration(s, default_ns, ns))
		return 0;
	if (default_ns)
		return options_complain(p, "%s: '%s' is not a number of seconds, such as 1.5",
					p->name, s);
	return options_complain(p, "%s: '%s' is not a time with a unit, such as 10us, 2ms or 1s",
				p->name, s);
}

/* The parts that a word of len bytes stands for; 0: it is no such word. */
static unsigned int parts_of(const char *word, size_t len)
{
	static const struct {
		const char *name;
		unsigned int parts;
	} words[] = {
		{ "blocked", PART_BLOCKED },
		{ "runnable", PART_RUNNABLE },
		{ "preempted", PART_PREEMPTED },
		{ "all", PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].name) == len && !strncmp(word, words[i].name, len))
			return words[i].parts;
	return 0;
}

/* A list of parts and letters of sleep states, separated by commas. */
static int set_states(struct parser *p, const char *s)
{
	char *states = p->o->states;
	unsigned int parts = 0;
	size_t n_states = 0, len;

	states[0] = 0;
	for (const char *item = s;; item += len + 1) {
		len = strcspn(item, ",");
		if (parts_of(item, len)) {
			parts |= parts_of(item, len);
		} else if (len == 1 && strchr("SDITtP", *item)) {
			if (!strchr(states, *item)) {
				states[n_states++] = *item;
				states[n_states] = 0;
			}
		} else {
			return options_complain(
				p,
				"--state: '%.*s' is none of blocked, runnable, preempted, "
				"all, S, D, I, T, t, P",
				(int)(len < 40 ? len : 40), item);
		}
		if (!item[len])
			break;
	}
	/* Letters pick sleeps: beside "preempted" alone they would pick nothing. */
	if (parts == PART_PREEMPTED && n_states)
		parts |= PART_BLOCKED | PART_RUNNABLE;
	if (parts) {
		p->o->parts = parts;
		p->o->given |= GIVEN_PARTS;
	}
	return 0;
}

static int set_format(struct parser *p, const char *s)
{
	const struct format *f = format_find(s);
	char names[256];
	size_t len = 0;

	if (f) {
		p->o->format = f->name;
		return 0;
	}
	for (size_t i = 0; (f = format_at(i)) && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					f->name);
	return options_complain(p, "--format: there is no '%s'; there are %s", s, names);
}

/* Takes the one of two words that s is. */
static int set_word(struct parser *p, const char *s, const char *first, const char *second,
		    bool *is_second)
{
	*is_second = !strcmp(s, second);
	if (*is_second || !strcmp(s, first))
		return 0;
	return options_complain(p, "%s: '%s' is neither %s nor %s", p->name, s, first, second);
}

static int set_number(struct parser *p, const char *s, uint64_t max, uint64_t *v)
{
	if (!parse_number(s, max, v))
		return 0;
	return options_complain(p, "%s: '%s' is not a number from 0 to %llu", p->name, s,
				(unsigned long long)max);
}

/* ---- options ------------------------------------------------------------------------------- */

static int set_valued(struct parser *p, int opt, const char *arg)
{
	struct options *o = p->o;
	bool second = false;
	uint64_t v = 0;
	int err;

	switch (opt) {
	case 'd':
		err = set_number(p, arg, OPTIONS_DEPTH_MAX, &v);
		if (!err)
			o->depth = (uint32_t)v;
		return err;
	case OPT_MODE:
		err = set_word(p, arg, "exact", "classic", &second);
		o->mode = second ? MODE_CLASSIC : MODE_EXACT;
		return err;
	case OPT_UNIT:
		err = set_word(p, arg, "us", "ns", &second);
		o->unit = second ? UNIT_NS : UNIT_US;
		return err;
	case OPT_VIEW:
		err = set_word(p, arg, "chain", "wakeup", &second);
		o->view = second ? VIEW_WAKEUP : VIEW_CHAIN;
		return err;
	case OPT_ROOT:
		err = set_word(p, arg, "host", "trace", &second);
		o->root = second ? ROOT_TRACE : ROOT_HOST;
		return err;
	case 'f':
		return set_format(p, arg);
	case 'p':
		return add_id(p, &o->pids, arg);
	case 't':
		return add_id(p, &o->tids, arg);
	case 'c':
		return add_regex(p, &o->names, arg);
	case OPT_WITHIN:
		return add_regex(p, &o->within, arg);
	case OPT_WITHOUT:
		return add_regex(p, &o->without, arg);
	case OPT_FROM:
		return set_duration(p, arg, 1000000000, &o->from_ns);
	case OPT_TO:
		return set_duration(p, arg, 1000000000, &o->to_ns);
	case OPT_MIN_WAIT:
		return set_duration(p, arg, 0, &o->min_wait_ns);
	case OPT_MAX_WAIT:
		return set_duration(p, arg, 0, &o->max_wait_ns);
	case OPT_STATE:
		return set_states(p, arg);
	case OPT_TOP:
		return set_number(p, arg, UINT32_MAX, &o->top);
	case 'o':
		o->output = arg;
		return *arg ? 0 : options_complain(p, "-o: the file name is empty");
	default:
		return options_complain(p, "bad option"); /* not in the table: cannot be */
	}
}

/* Returns true if opt is an option without a value, which is then set. */
static bool set_flag(struct options *o, int opt)
{
	switch (opt) {
	case OPT_NO_KTHREADS:
		o->no_kthreads = true;
		return true;
	case OPT_NO_IDLE:
		o->no_idle = true;
		return true;
	case OPT_BY_NAME:
		o->by_name = true;
		return true;
	case OPT_BLOCKED_STACKS:
		o->blocked_stacks = true;
		return true;
	case OPT_ANNOTATE:
		o->annotate = true;
		return true;
	case OPT_NO_ENDS:
		o->no_ends = true;
		return true;
	case OPT_NO_DELIM:
		o->no_delim = true;
		return true;
	case 'K':
		o->user = false;
		return true;
	case 'U':
		o->kernel = false;
		return true;
	case 'q':
		o->quiet = true;
		return true;
	case 'v':
		o->verbose = true;
		return true;
	case 'h':
		o->help = true;
		return true;
	case 'V':
		o->version = true;
		return true;
	default:
		return false;
	}
}

const char *options_name(int opt, char *buf, size_t size)
{
	if (opt <= UCHAR_MAX) {
		snprintf(buf, size, "-%c", opt);
		return buf;
	}
	for (size_t i = 0; long_options[i].name; i++)
		if (long_options[i].val == opt)
			snprintf(buf, size, "--%s", long_options[i].name);
	return buf;
}

unsigned int options_given_bit(int opt)
{
	static const struct {
		int opt;
		unsigned int bit;
	} bits[] = {
		{ 'd', GIVEN_DEPTH },
		{ OPT_MODE, GIVEN_MODE },
		{ 'p', GIVEN_WHO },
		{ 't', GIVEN_WHO },
		{ 'c', GIVEN_WHO },
		{ OPT_WITHIN, GIVEN_WITHIN },
		{ OPT_WITHOUT, GIVEN_WITHIN },
		{ OPT_FROM, GIVEN_RANGE },
		{ OPT_TO, GIVEN_RANGE },
		{ OPT_MIN_WAIT, GIVEN_WAIT },
		{ OPT_MAX_WAIT, GIVEN_WAIT },
		{ OPT_STATE, GIVEN_STATE },
		{ OPT_NO_KTHREADS, GIVEN_NO_KTHREADS },
		{ OPT_NO_IDLE, GIVEN_NO_IDLE },
		{ OPT_VIEW, GIVEN_VIEW },
		{ OPT_BY_NAME, GIVEN_BY_NAME },
		{ OPT_ROOT, GIVEN_ROOT },
		{ OPT_BLOCKED_STACKS, GIVEN_BLOCKED_STACKS },
		{ OPT_ANNOTATE, GIVEN_ANNOTATE },
		{ OPT_NO_ENDS, GIVEN_NO_ENDS },
		{ OPT_NO_DELIM, GIVEN_NO_DELIM },
		{ 'K', GIVEN_STACKS },
		{ 'U', GIVEN_STACKS },
		{ OPT_UNIT, GIVEN_UNIT },
		{ OPT_TOP, GIVEN_TOP },
	};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (bits[i].opt == opt)
			return bits[i].bit;
	return 0;
}

void options_init(struct options *o)
{
	*o = (struct options) {
		.depth = OPTIONS_DEPTH_DEFAULT,
		.format = "folded",
		.to_ns = UINT64_MAX,
		.max_wait_ns = UINT64_MAX,
		.parts = PART_BLOCKED | PART_RUNNABLE,
		.kernel = true,
		.user = true,
	};
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t err_size)
{
	char name[32] = "";
	struct parser p = { o, name, err, err_size };
	int seen[32], opt, ret = 0; /* one for each bit of options.given */
	size_t n_seen = 0;

	options_init(o);
	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while (!ret && (opt = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		if (opt == '?' && optopt && optopt <= UCHAR_MAX)
			ret = options_complain(&p, "there is no option -%c", optopt);
		else if (opt == '?' && optopt)
			ret = options_complain(&p, "%s takes no value",
					       options_name(optopt, name, sizeof(name)));
		else if (opt == '?')
			ret = options_complain(&p, "there is no option %s", argv[optind - 1]);
		else if (opt == ':')
			ret = options_complain(&p, "%s needs a value",
					       options_name(optopt, name, sizeof(name)));
		else if (!set_flag(o, opt)) {
			options_name(opt, name, sizeof(name));
			ret = set_valued(&p, opt, optarg);
		}
		if (!ret && (options_given_bit(opt) & ~o->given)) {
			o->given |= options_given_bit(opt);
			seen[n_seen++] = opt;
		}
	}
	o->traces = argv + optind;
	o->n_traces = (size_t)(argc - optind);
	return ret ? ret : options_check(&p, seen, n_seen);
}

static void free_regexes(struct regex_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		regfree(&l->regex[i]);
	free(l->regex);
	free(l->text);
	*l = (struct regex_list) { .n = 0 };
}

void options_free(struct options *o)
{
	free(o->pids.ids);
	free(o->tids.ids);
	o->pids = o->tids = (struct id_list) { NULL, 0 };
	free_regexes(&o->names);
	free_regexes(&o->within);
	free_regexes(&o->without);
}

bool regex_list_match(const struct regex_list *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!regexec(&l->regex[i], s, 0, NULL, 0))
			return true;
	return false;
}
