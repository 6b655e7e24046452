// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "common/duration.h"
#include "common/option_table.h"
#include "routes/route_like.h"

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

/* A positive time; a number without a unit is in seconds. */
static bool parse_seconds(const char *s, uint64_t *ns)
{
	return duration_parse(s, 1000000000, ns) && *ns;
}

bool options_duration(const char *s, uint64_t *ns)
{
	return duration_parse(s, 0, ns) && *ns;
}

static const char default_output[] = "trace.bin";

/* ---- values -------------------------------------------------------------------------------- */

/* Samples a second: in step with few timers. */
#define SAMPLE_HZ 199u
#define SAMPLE_HZ_MAX 20000u

/* Below it a window holds next to nothing. */
#define FLIGHT_LEAST_BYTES (1u << 20)
/* Between two recordings things are attached and forgotten. */
#define PAUSE_LEAST_NS 500000000u

/* Of the recorder and its processes. It takes 20 MiB itself where little happens. */
#define MEMORY_DEFAULT (512u << 20)
#define MEMORY_LEAST (64u << 20)
/* A day. */
#define LOG_NS UINT64_C(86400000000000)

static int set_hz(struct setting *s, const char *value)
{
	uint64_t v;

	if (!parse_number(value, SAMPLE_HZ_MAX, &v))
		return setting_complain(s, "-F must be a number from 0 to 20000: %s", value);
	*(unsigned int *)s->member = (unsigned int)v;
	return 0;
}

static int set_count(struct setting *s, const char *value)
{
	uint64_t v;

	if (!parse_number(value, UINT_MAX, &v) || !v)
		return setting_complain(s, "%s must be a number from 1 on: %s", s->name, value);
	*(unsigned int *)s->member = (unsigned int)v;
	return 0;
}

static int set_size(struct setting *s, const char *value)
{
	uint64_t *size = s->member;

	if (!options_size(value, size) || !*size)
		return setting_complain(s, "not a size: %s", value);
	return 0;
}

static int set_buffer_size(struct setting *s, const char *value)
{
	uint64_t size;

	if (!options_size(value, &size) || size < 4096 || size > 1u << 30)
		return setting_complain(s, "not a buffer size between 4K and 1G: %s", value);
	*(size_t *)s->member = (size_t)size;
	return 0;
}

static int set_memory(struct setting *s, const char *value)
{
	uint64_t *size = s->member;

	if (!options_size(value, size) || *size < MEMORY_LEAST)
		return setting_complain(s, "--memory must be at least 64M: %s", value);
	return 0;
}

/* Of a row's time, and what it has to be. */
struct least {
	uint64_t ns;
	const char *words;
};

static int set_time(struct setting *s, const char *value)
{
	const struct least *least = s->row->range;
	uint64_t *ns = s->member;

	if (options_duration(value, ns) && *ns >= least->ns)
		return 0;
	return setting_complain(s, "%s must be %s: %s", s->name, least->words, value);
}

static int set_names(struct setting *s, const char *value)
{
	struct options *o = s->options;

	o->names_later = !strcmp(value, "later");
	if (o->names_later || options_duration(value, &o->names_ns))
		return 0;
	return setting_complain(s, "--names must be a time such as 30s, or later: %s", value);
}

static int set_budget(struct setting *s, const char *value)
{
	uint32_t *ppm = s->member;
	char *end;
	double percent = strtod(value, &end);

	if (end == value || strcmp(end, "%") || !(percent >= 0.01 && percent <= 100))
		return setting_complain(s, "--cpu-budget must be 0.01%% to 100%%: %s", value);
	*ppm = (uint32_t)(percent * 1e4 + 0.5);
	return 0;
}

static int set_request(struct setting *s, const char *value)
{
	struct options *o = s->options;

	if (o->n_probed == WIRE_PROBES)
		return setting_complain(s, "--request: at most %u times", WIRE_PROBES);
	return request_spec_parse(&o->probed[o->n_probed++], value, s->why, s->why_size);
}

static int set_request_label(struct setting *s, const char *value)
{
	struct options *o = s->options;

	if (o->n_labels == WIRE_PROBES)
		return setting_complain(s, "--request-label: at most %u times", WIRE_PROBES);
	o->labels[o->n_labels++] = value;
	return 0;
}

/* As the recorder calls endpoints: any other word would never be one. */
static bool is_endpoint(const struct options *o, const char *s, size_t len)
{
	static const char *const begins[] = { "tcp :", "udp :", "unix " };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (len > strlen(begins[i]) && !strncmp(s, begins[i], strlen(begins[i])))
			return true;
	for (unsigned int i = 0; i < o->n_probed; i++)
		if (len == strlen(o->probed[i].name) && !memcmp(s, o->probed[i].name, len))
			return true;
	return false;
}

/* No route begins as endpoints do. */
static bool is_route(const char *s, size_t len)
{
	static const char *const begins[] = { "tcp ", "udp ", "unix " };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (len >= strlen(begins[i]) && !strncmp(s, begins[i], strlen(begins[i])))
			return false;
	return route_may_be(s, len);
}

static int set_trigger_request(struct setting *s, const char *value)
{
	struct trigger_options *t = &((struct options *)s->options)->trigger;
	const char *equals = strrchr(value, '='); /* a path may have one, too */
	struct trigger_request r = { 0 };

	if (equals) {
		r.what = value;
		r.what_len = (size_t)(equals - value);
	}
	if (!options_duration(equals ? equals + 1 : value, &r.limit_ns))
		return setting_complain(
			s,
			"--trigger-request must be a time such as 200ms, ENDPOINT=TIME or "
			"ROUTE=TIME: %s",
			value);
	if (t->n_requests == TRIGGER_REQUESTS_MAX)
		return setting_complain(s, "--trigger-request: at most %u times",
					TRIGGER_REQUESTS_MAX);
	t->requests[t->n_requests++] = r;
	return 0;
}

/* ---- the options --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct options, member)

static const struct option_row rows[] = {
	{ .help = "What is recorded" },
	{ "output", 'o', true, "FILE", set_text, AT(output),
	  .help = "the trace (default trace.bin); -: standard output" },
	{ NULL, 'K', true, NULL, set_false, AT(user_stacks), .help = "kernel stacks only" },
	{ NULL, 'U', true, NULL, set_false, AT(kernel_stacks), .help = "user stacks only" },
	{ "light", 0, false, "TIME", set_time, AT(light_ns),
	  .help = "stacks only of sleeps of at least TIME (1ms), taken as\nthey end: costs less",
	  .range = &(const struct least) { 0, "a time such as 1ms" } },
	{ "freq", 'F', false, "HZ", set_hz, AT(sample_hz),
	  .help = "samples of running threads a second on each CPU\n(default 199; 0: none)" },
	{ "max-size", 0, true, "SIZE", set_size, AT(max_size),
	  .help = "end when the trace has this size: 500M, 2G;\nwith --flight, --every: memory for "
		  "what is kept (128M)" },
	{ "buffer-size", 0, false, "SIZE", set_buffer_size, AT(buffer_size),
	  .help = "ring buffer of each CPU (default: by number of CPUs)" },
	{ "memory", 0, false, "SIZE", set_memory, AT(memory),
	  .help = "memory limit of the recorder and its processes (512M)" },
	{ "threads", 0, false, "N", set_count, AT(threads),
	  .help = "threads that read the buffers (default: 1 per 32 CPUs)" },

	{ .help = "Requests" },
	{ "no-requests", 0, false, NULL, set_true, AT(no_requests),
	  .help = "do not record requests to servers at sockets" },
	{ "no-routes", 0, false, NULL, set_true, AT(no_routes),
	  .help = "do not look at what requests ask for" },
	{ "tls", 0, false, NULL, set_true, AT(tls),
	  .help = "also what requests ask for within TLS, by probes at\n"
		  "OpenSSL's SSL_read()" },
	{ "request", 0, false, "NAME=PATH:FUNCTION", set_request, 0,
	  .help = "a call of FUNCTION in the program or library PATH is\na request, called NAME; "
		  "or "
		  "MARK,MARK: from one mark to\nthe other, each PATH:FUNCTION[+OFFSET][@argN] or\n"
		  "usdt:PATH:PROVIDER:NAME[@argN]; repeatable" },
	{ "request-label", 0, false, "[NAME=]argN[:TYPE]", set_request_label, 0,
	  .help = "record an argument of the first mark: a number (s8 ...\nu64) or a string of at "
		  "most 64 "
		  "bytes (TYPE string)" },
	{ "context", 0, false, NULL, set_true, AT(context),
	  .help = "trace ids and routes that programs publish\n(OpenTelemetry's thread context)" },

	{ .help = "Flight recorder" },
	{ "flight", 0, true, "TIME", set_time, AT(flight_ns),
	  .help = "keep only the last TIME (30s) in memory; write it on\nSIGUSR1 and at the end: "
		  "trace.bin, trace.1.bin...",
	  .range = &(const struct least) { 100000000, "at least 100ms" } },
	{ "trigger-wait", 0, false, "TIME", set_time, AT(trigger.wait_ns),
	  .help = "write it also after a wait longer than TIME (500ms)",
	  .range = &(const struct least) { 0, "a time such as 500ms" } },
	{ "trigger-request", 0, false, "T", set_trigger_request, 0,
	  .help = "write it also after a request longer than T (200ms);\nonly to one endpoint: "
		  "\"tcp :80=200ms\"; repeatable" },
	{ "comm", 'c', false, "REGEX", set_text, AT(trigger.comm),
	  .help = "--trigger-wait: only waits of matching threads" },
	{ "log-every", 0, false, "TIME", set_time, AT(log_ns),
	  .help = "report losses every TIME (1440min); also for --every",
	  .range = &(const struct least) { 0, "a time such as 60min" } },
	{ "cpu-budget", 0, false, "N%", set_budget, AT(cpu_budget_ppm),
	  .help = "say so if recording takes more of all CPUs' time (1%);\nalso for --every" },
	{ "max-dumps", 0, false, "N", set_count, AT(max_dumps),
	  .help = "end after N traces; also for --every" },

	{ .help = "Periodic recording" },
	{ "every", 0, true, "TIME", set_time, AT(every_ns),
	  .help = "start a trace every TIME, aligned to the clock (60s);\n-o is a folder: "
		  "HOST-20261128T105900Z.bin...",
	  .range = &(const struct least) { 1000000000, "at least 1s" } },
	{ "for", 0, false, "TIME", set_time, AT(for_ns),
	  .help = "length of each trace (1s), with almost no cost between\ntwo (default: no pause "
		  "between them)",
	  .range = &(const struct least) { 10000000, "at least 10ms" } },
	{ "keep", 0, false, "SIZE", set_size, AT(keep),
	  .help = "remove the oldest traces beyond this size: 2G" },

	{ .help = "Other" },
	{ "no-objects", 0, false, NULL, set_true, AT(no_objects),
	  .help = "do not record what system calls wait for" },
	{ "no-block", 0, false, NULL, set_true, AT(no_block),
	  .help = "do not record disk I/O requests" },
	{ "no-python", 0, false, NULL, set_true, AT(no_python),
	  .help = "do not unwind Python functions" },
	{ "no-php", 0, false, NULL, set_true, AT(no_php), .help = "do not unwind PHP functions" },
	{ "no-ruby", 0, false, NULL, set_true, AT(no_ruby), .help = "do not unwind Ruby methods" },
	{ "no-node", 0, false, NULL, set_true, AT(no_node),
	  .help = "do not name functions of Node.js" },
	{ "no-java", 0, false, NULL, set_true, AT(no_java),
	  .help = "do not unwind and name Java methods" },
	{ "java-maps", 0, false, NULL, set_true, AT(java_maps),
	  .help = "have JVMs write their perf maps at the end (JDK 17)" },
	{ "names", 0, false, "TIME", set_names, 0,
	  .help = "resolve names of user functions for TIME (10s) at most\nat the end; later: "
		  "leave that to chainwalk" },
	{ "no-irq", 0, false, NULL, set_true, AT(no_irq),
	  .help = "do not record how long interrupts take" },
	{ "verify", 0, false, NULL, set_true, AT(verify),
	  .help = "compare cached stacks with unwound ones (slow)" },
	{ "quiet", 'q', true, NULL, set_true, AT(quiet), .help = "print errors only" },
	{ "verbose", 'v', false, NULL, set_true, AT(verbose),
	  .help = "print statistics of the recorder, messages of libbpf" },
	{ "self-test", 0, false, NULL, set_true, AT(self_test),
	  .help = "report what works on this machine; keep no trace" },
	{ NULL, 'h', false, NULL, set_and_stop, AT(help), .help = "the most used options" },
	{ "help", 0, false, NULL, set_and_stop, AT(help_all), .help = "all options" },
	{ "version", 'V', false, NULL, set_and_stop, AT(version), .help = "version" },
};

/* "+": options end at the first word: COMMAND keeps its own. */
static const struct option_table table = { rows, sizeof(rows) / sizeof(rows[0]), .order = "+:" };

void options_help(FILE *out, bool all)
{
	fputs("Usage: chaincap [-o FILE] [options] [SECONDS | -- COMMAND [ARG...]]\n"
	      "Records context switches and wakeups of the whole machine, for chainwalk.\n"
	      "Until Ctrl-C, for SECONDS, or as long as COMMAND runs. Needs root, or CAP_BPF\n"
	      "and CAP_PERFMON.\n",
	      out);
	option_table_help(&table, out, all);
	if (!all)
		fputs("\n--help shows all options.\n", out);
	fputs("\nExamples:\n"
	      "  chaincap -o trace.bin 10             then: chainwalk trace.bin\n"
	      "  chaincap -o - -- make | chainwalk -\n"
	      "  chaincap --flight 30s -o hang.bin    then: pkill -USR1 -x chaincap\n"
	      "  chaincap --every 60s --for 1s --keep 2G -o /var/lib/traces\n",
	      out);
}

/* ---- which options go together ------------------------------------------------------------- */

static int check_requests(struct setting *s)
{
	struct options *o = s->options;
	int err = 0;

	for (unsigned int i = 0; i < o->n_probed; i++)
		for (unsigned int k = 0; k < i; k++)
			if (!strcmp(o->probed[i].name, o->probed[k].name))
				return setting_complain(s, "--request: two are called %s",
							o->probed[i].name);
	for (unsigned int i = 0; !err && i < o->n_labels; i++)
		err = request_spec_label(o->probed, o->n_probed, o->labels[i], s->why, s->why_size);
	if (err)
		return err;
	if (o->trigger.n_requests && o->no_requests && !o->n_probed)
		return setting_complain(s,
					"--trigger-request and --no-requests exclude each other");
	for (unsigned int i = 0; i < o->trigger.n_requests; i++) {
		const struct trigger_request *r = &o->trigger.requests[i];

		if (!r->what || is_endpoint(o, r->what, r->what_len))
			continue;
		if (!is_route(r->what, r->what_len))
			return setting_complain(s,
						"--trigger-request: not an endpoint such as \"tcp "
						":80\", \"udp :53\" or "
						"\"unix /a/path\", nor the name of a --request, "
						"nor a route such as "
						"\"GET /cart\": %.*s",
						(int)r->what_len, r->what);
		if (o->no_routes)
			return setting_complain(s,
						"--trigger-request %.*s and --no-routes exclude "
						"each other",
						(int)r->what_len, r->what);
	}
	return 0;
}

static int check_every(struct setting *s)
{
	const struct options *o = s->options;

	if (!o->every_ns && (o->for_ns || o->keep))
		return setting_complain(s, "%s is for --every", o->for_ns ? "--for" : "--keep");
	if (!o->every_ns)
		return 0;
	if (o->flight_ns || o->self_test)
		return setting_complain(s, "--every and %s exclude each other",
					o->flight_ns ? "--flight" : "--self-test");
	if (o->output == default_output || !strcmp(o->output, "-"))
		return setting_complain(s,
					"--every writes many traces: it needs a folder (-o DIR)");
	if (o->for_ns > o->every_ns)
		return setting_complain(s, "--for is longer than --every");
	if (o->for_ns && o->for_ns < o->every_ns && o->every_ns - o->for_ns < PAUSE_LEAST_NS)
		return setting_complain(
			s, "--for must be at least 500ms shorter than --every, or as long");
	return 0;
}

static int check_together(struct setting *s)
{
	const struct options *o = s->options;
	bool in_memory = o->flight_ns || o->every_ns; /* until a trace is written */
	char why[128];
	regex_t re;
	int err;

	if (!o->kernel_stacks && !o->user_stacks)
		return setting_complain(s, "-K and -U exclude each other");
	if (o->quiet && o->verbose)
		return setting_complain(s, "-q and -v exclude each other");
	if (o->self_test && o->flight_ns)
		return setting_complain(s, "--self-test and --flight exclude each other");
	if (!*o->output)
		return setting_complain(s, "the output has no name");
	if (o->names_later && o->java_maps)
		return setting_complain(s, "--names=later and --java-maps exclude each other");
	if (o->light_ns && !o->user_stacks)
		return setting_complain(s, "--light and -K exclude each other");
	if (o->verify && geteuid())
		return setting_complain(
			s,
			"--verify is for root: the recorder itself reads recorded programs' files");
	if (o->trigger.wait_ns && !o->flight_ns)
		return setting_complain(s, "--trigger-wait is for --flight");
	if (o->trigger.n_requests && !o->flight_ns)
		return setting_complain(s, "--trigger-request is for --flight");
	if (o->tls && (o->no_requests || o->no_routes))
		return setting_complain(s, "--tls and %s exclude each other",
					o->no_requests ? "--no-requests" : "--no-routes");
	err = check_requests(s);
	if (err)
		return err;
	err = check_every(s);
	if (err)
		return err;
	if (o->log_ns && !in_memory)
		return setting_complain(s, "--log-every is for --flight and --every");
	if (o->cpu_budget_ppm && !in_memory)
		return setting_complain(s, "--cpu-budget is for --flight and --every");
	if (o->max_dumps && !in_memory)
		return setting_complain(s, "--max-dumps is for --flight and --every");
	if (o->threads && in_memory)
		return setting_complain(s, "--threads is not for %s, which uses one",
					o->flight_ns ? "--flight" : "--every");
	if (o->trigger.comm && !o->trigger.wait_ns)
		return setting_complain(
			s, "-c is for --trigger-wait; chainwalk -c picks threads of a trace");
	if (o->flight_ns && !strcmp(o->output, "-"))
		return setting_complain(
			s, "--flight may write several traces: it needs a file (-o FILE)");
	if (o->trigger.wait_ns && o->trigger.wait_ns >= o->flight_ns)
		return setting_complain(s, "--trigger-wait must be shorter than --flight");
	for (unsigned int i = 0; i < o->trigger.n_requests; i++)
		if (o->trigger.requests[i].limit_ns >= o->flight_ns)
			return setting_complain(s,
						"--trigger-request must be shorter than --flight");
	if (in_memory && o->max_size && o->max_size < FLIGHT_LEAST_BYTES)
		return setting_complain(s, "%s needs a --max-size of 1M or more",
					o->flight_ns ? "--flight" : "--every");
	if (in_memory && o->max_size + MEMORY_LEAST > o->memory)
		return setting_complain(s, "%s needs a --memory of 64M more than --max-size",
					o->flight_ns ? "--flight" : "--every");
	err = o->trigger.comm ? regcomp(&re, o->trigger.comm, REG_EXTENDED | REG_NOSUB) : 0;
	if (err) {
		regerror(err, &re, why, sizeof(why));
		return setting_complain(s, "-c %s: %s", o->trigger.comm, why);
	}
	if (o->trigger.comm)
		regfree(&re);
	return 0;
}

/* The words after the options: nothing, SECONDS, or -- and a command. */
static int set_words(struct setting *s, int argc, char **argv)
{
	struct options *o = s->options;
	const char *word = argv[optind];

	if (optind > 1 && !strcmp(argv[optind - 1], "--")) {
		if (!word)
			return setting_complain(s, "-- without a command after it");
		if (o->every_ns)
			return setting_complain(s, "--every and a command exclude each other");
		o->command = argv + optind;
		return 0;
	}
	if (!word || parse_seconds(word, &o->duration_ns)) {
		if (optind + 1 < argc)
			return setting_complain(s,
						"too many arguments: a command goes after --, "
						"options before SECONDS: %s",
						argv[optind + 1]);
		return 0;
	}
	if (command_find(word))
		return setting_complain(
			s, "neither a number of seconds nor, after --, a command: %s", word);
	return setting_complain(s, "a command goes after --: chaincap -- %s ...", word);
}

int options_parse(struct options *o, int argc, char **argv, char *why, size_t why_size)
{
	struct setting s = { .options = o, .why = why, .why_size = why_size };
	int ret;

	*o = (struct options) {
		.output = default_output,
		.sample_hz = SAMPLE_HZ,
		.kernel_stacks = true,
		.user_stacks = true,
	};
	ret = option_table_parse(&table, o, argc, argv, NULL, why, why_size);
	if (ret)
		return ret < 0 ? ret : 0;
	if ((o->flight_ns || o->every_ns) && !o->log_ns && !o->quiet)
		o->log_ns = LOG_NS;
	if (o->for_ns == o->every_ns)
		o->for_ns = 0;
	/* Its window comes on top, which is as large as was asked for. */
	if (!o->memory)
		o->memory = MEMORY_DEFAULT + (o->flight_ns || o->every_ns ? o->max_size : 0);
	ret = check_together(&s);
	/* Nothing is read for names, and of interpreted code there is nothing to be named later. */
	o->no_python |= o->names_later;
	o->no_php |= o->names_later;
	o->no_ruby |= o->names_later;
	o->no_node |= o->names_later;
	o->no_java |= o->names_later;
	return ret ? ret : set_words(&s, argc, argv);
}
