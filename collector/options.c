// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "common/duration.h"
#include "common/similar.h"

static const char synopsis[] =
	"Usage: chaincap [-o FILE] [options] [SECONDS | -- COMMAND [ARG...]]\n"
	"Records context switches and wakeups of the whole machine, for chainwalk.\n"
	"Until Ctrl-C, for SECONDS, or as long as COMMAND runs. Needs root, or CAP_BPF\n"
	"and CAP_PERFMON.\n\n";

static const char few_options[] =
	"  -o, --output FILE        the trace (default trace.bin); -: standard output\n"
	"  -K                       kernel stacks only\n"
	"  -U                       user stacks only\n"
	"      --max-size SIZE      end when the trace has this size: 500M, 2G\n"
	"      --flight TIME        keep only the last TIME, in memory, until SIGUSR1\n"
	"  -q, --quiet              print errors only\n\n"
	"--help shows all options.\n\n";

static const char all_options[] =
	"What is recorded:\n"
	"  -o, --output FILE        the trace (default trace.bin); -: standard output\n"
	"  -K                       kernel stacks only\n"
	"  -U                       user stacks only\n"
	"  -F, --freq HZ            samples of running threads a second on each CPU\n"
	"                           (default 199; 0: none)\n"
	"      --max-size SIZE      end when the trace has this size: 500M, 2G\n"
	"      --buffer-size SIZE   ring buffer of each CPU (default: by number of CPUs)\n"
	"      --threads N          that read these buffers (default: one for 32 CPUs)\n\n"
	"Flight recorder:\n"
	"      --flight TIME        keep only the last TIME (30s) in memory; write it on\n"
	"                           SIGUSR1 and at the end: trace.bin, trace.1.bin...\n"
	"      --max-size SIZE      memory for what is kept (default 128M)\n"
	"      --trigger-wait TIME  write it also after a wait longer than TIME (500ms)\n"
	"  -c, --comm REGEX         only after waits of threads whose name matches\n"
	"      --max-dumps N        end after N traces\n\n"
	"Other:\n"
	"      --no-unwind          user stacks by frame pointers only\n"
	"      --no-objects         not what a thread waits for in a system call\n"
	"      --no-block           not what disks are asked for\n"
	"      --no-irq             not how long CPUs handle interrupts\n"
	"      --verify             check stacks that were known without a walk (slow)\n"
	"  -q, --quiet              print errors only\n"
	"  -v, --verbose            print figures of the recorder, messages of libbpf\n"
	"  -h                       the most used options\n"
	"      --help               all options\n"
	"  -V, --version            version\n\n";

static const char examples[] =
	"Examples:\n"
	"  chaincap -o trace.bin 10             then: chainwalk trace.bin\n"
	"  chaincap -o - -- make | chainwalk -\n"
	"  chaincap --flight 30s -o hang.bin    then: pkill -USR1 -x chaincap\n";

static enum options_result help(const char *options)
{
	fputs(synopsis, stdout);
	fputs(options, stdout);
	fputs(examples, stdout);
	return OPTIONS_DONE;
}

bool options_size(const char *s, uint64_t *bytes)
{
	uint64_t v, unit = 1;
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return false;
	switch (toupper((unsigned char)*end)) {
	case 'G':
		unit <<= 10;
		/* fall through */
	case 'M':
		unit <<= 10;
		/* fall through */
	case 'K':
		unit <<= 10;
		end++;
		/* "64KiB" and "64KB" are "64K" */
		if (*end == 'i')
			end++;
	}
	if (*end == 'B' || *end == 'b')
		end++;
	if (*end || v > UINT64_MAX / unit)
		return false;
	*bytes = v * unit;
	return true;
}

bool options_seconds(const char *s, uint64_t *ns)
{
	return duration_parse(s, 1000000000, ns) && *ns;
}

bool options_duration(const char *s, uint64_t *ns)
{
	return duration_parse(s, 0, ns) && *ns;
}

static bool parse_count(const char *s, unsigned int *n)
{
	unsigned long v;
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoul(s, &end, 10);
	*n = (unsigned int)v;
	return !errno && !*end && v && v <= UINT_MAX;
}

/* Samples a second: in step with few timers. */
#define SAMPLE_HZ 199u
#define SAMPLE_HZ_MAX 20000u

static bool parse_hz(const char *s, unsigned int *hz)
{
	*hz = 0;
	return !strcmp(s, "0") || (parse_count(s, hz) && *hz <= SAMPLE_HZ_MAX);
}

static enum options_result usage(const char *what, const char *arg)
{
	fprintf(stderr, "chaincap: %s%s%s (chaincap --help tells more)\n", what, arg ? ": " : "",
		arg ? arg : "");
	return OPTIONS_USAGE;
}

/* Limits below which a window holds next to nothing. */
#define FLIGHT_LEAST_NS 100000000u
#define FLIGHT_LEAST_BYTES (1u << 20)

/* Options that go with --flight. */
static enum options_result check_flight(const struct options *o)
{
	char why[128];
	regex_t re;
	int err;

	if (o->trigger_ns && !o->flight_ns)
		return usage("--trigger-wait is for --flight", NULL);
	if (o->max_dumps && !o->flight_ns)
		return usage("--max-dumps is for --flight", NULL);
	if (o->threads && o->flight_ns)
		return usage("--threads is not for --flight, which uses one", NULL);
	if (o->comm && !o->trigger_ns)
		return usage("-c is for --trigger-wait; chainwalk -c picks threads of a trace",
			     NULL);
	if (o->flight_ns && !strcmp(o->output, "-"))
		return usage("--flight may write several traces: it needs a file (-o FILE)", NULL);
	if (o->trigger_ns && o->trigger_ns >= o->flight_ns)
		return usage("--trigger-wait must be shorter than --flight", NULL);
	if (o->flight_ns && o->max_size && o->max_size < FLIGHT_LEAST_BYTES)
		return usage("--flight needs a --max-size of 1M or more", NULL);
	err = o->comm ? regcomp(&re, o->comm, REG_EXTENDED | REG_NOSUB) : 0;
	if (err) {
		regerror(err, &re, why, sizeof(why));
		fprintf(stderr, "chaincap: -c %s: %s\n", o->comm, why);
		return OPTIONS_USAGE;
	}
	if (o->comm)
		regfree(&re);
	return OPTIONS_RUN;
}

/* word, of which len bytes are the name, is no option; it may be like one. */
static enum options_result mistyped(const char *word, size_t len, const struct option *longs)
{
	char name[40], what[100];

	snprintf(name, sizeof(name), "%.*s", (int)(len > 2 ? len - 2 : 0), word + 2);
	for (const struct option *o = longs; o->name; o++)
		if (words_similar(name, o->name)) {
			snprintf(what, sizeof(what),
				 "there is no such option; did you mean --%s? given", o->name);
			return usage(what, word);
		}
	return usage("there is no such option", word);
}

/* word is no option, or the beginning of several. */
static enum options_result unknown_option(const char *word, const struct option *longs)
{
	size_t len = strcspn(word, "="), n = 0;
	char names[160] = "";

	for (const struct option *o = longs; o->name; o++)
		if (len > 2 && !strncmp(o->name, word + 2, len - 2) && n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s--%s", n ? ", " : "",
					      o->name);
	if (!n)
		return mistyped(word, len, longs);
	fprintf(stderr, "chaincap: %.*s matches several options: %s (chaincap --help tells more)\n",
		(int)len, word, names);
	return OPTIONS_USAGE;
}

/* Prints why getopt() returned '?' or ':'. */
static enum options_result bad_option(int returned, char **argv, const struct option *longs)
{
	char letter[3] = { '-', (char)optopt, '\0' };

	if (returned == ':')
		return usage("the option needs a value", argv[optind - 1]);
	if (!optopt)
		return unknown_option(argv[optind - 1], longs);
	if (optopt > UCHAR_MAX)
		return usage("the option takes no value", argv[optind - 1]);
	return usage("there is no such option", letter);
}

static enum options_result no_seconds(const char *word)
{
	if (command_find(word))
		return usage("neither a number of seconds nor, after --, a command", word);
	fprintf(stderr,
		"chaincap: a command goes after --: chaincap -- %s ... (chaincap --help tells "
		"more)\n",
		word);
	return OPTIONS_USAGE;
}

enum options_result options_parse(struct options *o, int argc, char **argv)
{
	enum {
		BUFFER_SIZE = 256,
		THREADS,
		MAX_SIZE,
		NO_UNWIND,
		NO_OBJECTS,
		NO_BLOCK,
		NO_IRQ,
		VERIFY,
		FLIGHT,
		TRIGGER_WAIT,
		MAX_DUMPS,
		HELP
	};
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "buffer-size", required_argument, NULL, BUFFER_SIZE },
		{ "threads", required_argument, NULL, THREADS },
		{ "max-size", required_argument, NULL, MAX_SIZE },
		{ "freq", required_argument, NULL, 'F' },
		{ "no-unwind", no_argument, NULL, NO_UNWIND },
		{ "no-objects", no_argument, NULL, NO_OBJECTS },
		{ "no-block", no_argument, NULL, NO_BLOCK },
		{ "no-irq", no_argument, NULL, NO_IRQ },
		{ "verify", no_argument, NULL, VERIFY },
		{ "flight", required_argument, NULL, FLIGHT },
		{ "trigger-wait", required_argument, NULL, TRIGGER_WAIT },
		{ "max-dumps", required_argument, NULL, MAX_DUMPS },
		{ "comm", required_argument, NULL, 'c' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	bool only_kernel = false, only_user = false, quiet = false, verbose = false;
	uint64_t size;
	int c;

	*o = (struct options) { .output = "trace.bin", .sample_hz = SAMPLE_HZ };
	optind = 1;
	opterr = 0;
	/* "+": options end at the first word: COMMAND keeps its own. */
	while ((c = getopt_long(argc, argv, "+:o:KUF:c:qvhV", longs, NULL)) != -1) {
		switch (c) {
		case 'o':
			o->output = optarg;
			break;
		case 'K':
			only_kernel = true;
			break;
		case 'U':
			only_user = true;
			break;
		case 'F':
			if (!parse_hz(optarg, &o->sample_hz))
				return usage("-F must be a number from 0 to 20000", optarg);
			break;
		case BUFFER_SIZE:
			if (!options_size(optarg, &size) || size < 4096 || size > 1u << 30)
				return usage("not a buffer size between 4K and 1G", optarg);
			o->buffer_size = (size_t)size;
			break;
		case THREADS:
			if (!parse_count(optarg, &o->threads))
				return usage("--threads must be a number from 1 on", optarg);
			break;
		case MAX_SIZE:
			if (!options_size(optarg, &o->max_size) || !o->max_size)
				return usage("not a size", optarg);
			break;
		case NO_UNWIND:
			o->no_unwind = true;
			break;
		case NO_OBJECTS:
			o->no_objects = true;
			break;
		case NO_BLOCK:
			o->no_block = true;
			break;
		case NO_IRQ:
			o->no_irq = true;
			break;
		case VERIFY:
			o->verify = true;
			break;
		case FLIGHT:
			if (!options_duration(optarg, &o->flight_ns) ||
			    o->flight_ns < FLIGHT_LEAST_NS)
				return usage("--flight must be at least 100ms", optarg);
			break;
		case TRIGGER_WAIT:
			if (!options_duration(optarg, &o->trigger_ns))
				return usage("--trigger-wait must be a time such as 500ms", optarg);
			break;
		case MAX_DUMPS:
			if (!parse_count(optarg, &o->max_dumps))
				return usage("--max-dumps must be a number from 1 on", optarg);
			break;
		case 'c':
			o->comm = optarg;
			break;
		case 'q':
			quiet = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 'h':
			return help(few_options);
		case HELP:
			return help(all_options);
		case 'V':
			puts("chaincap " CHAIN_VERSION);
			return OPTIONS_DONE;
		default:
			return bad_option(c, argv, longs);
		}
	}
	if (only_kernel && only_user)
		return usage("-K and -U exclude each other", NULL);
	if (quiet && verbose)
		return usage("-q and -v exclude each other", NULL);
	o->verbosity = verbose - quiet;
	if (check_flight(o) != OPTIONS_RUN)
		return OPTIONS_USAGE;
	o->kernel_stacks = !only_user;
	o->user_stacks = !only_kernel;
	if (!*o->output)
		return usage("the output has no name", NULL);
	if (optind > 1 && !strcmp(argv[optind - 1], "--")) {
		if (optind == argc)
			return usage("-- without a command after it", NULL);
		o->command = argv + optind;
		return OPTIONS_RUN;
	}
	if (optind == argc)
		return OPTIONS_RUN;
	if (!options_seconds(argv[optind], &o->duration_ns))
		return no_seconds(argv[optind]);
	if (optind + 1 < argc)
		return usage("too many arguments: a command goes after --, options before SECONDS",
			     argv[optind + 1]);
	return OPTIONS_RUN;
}
