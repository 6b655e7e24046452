// SPDX-License-Identifier: GPL-2.0-or-later
#include "process_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/publishers.h"
#include "names/mapped_files.h"

/* For how long the files and the keys of the processes that run at the beginning are waited for. */
#define BEGIN_NS 1000000000u

struct process_parts {
	struct mapped_files *files;
	struct publishers *publishers;	   /* NULL: contexts are not recorded */
	struct interpreters *interpreters; /* NULL: interpreted code is not */
	struct publishers_count published; /* as they were last told */
	struct interpreters_count interpreted;
};

/* Frames of its compiled code are known for one architecture. */
#if defined(__x86_64__)
#define READS_JAVA true
#else
#define READS_JAVA false
#endif

uint32_t process_parts_languages(const struct options *o)
{
	if (!o->user_stacks)
		return 0;
	return (o->no_python ? 0 : 1u << WIRE_PYTHON) | (o->no_php ? 0 : 1u << WIRE_PHP) |
	       (o->no_ruby ? 0 : 1u << WIRE_RUBY) | (o->no_node ? 0 : 1u << WIRE_V8) |
	       (o->no_java || !READS_JAVA ? 0 : 1u << WIRE_JAVA);
}

/* Frames of Java have rules, others than before it was known that it is one. */
static void take_interpreter(void *bpf, uint32_t tgid, const struct wire_interpreter *at)
{
	if (!at || at->language != WIRE_JAVA)
		bpf_session_interpreter(bpf, tgid, at);
	else if (bpf_session_unwinds(bpf))
		bpf_session_replaced(bpf, tgid);
}

static int open_parts(struct process_parts *p, const struct options *o, struct symbolizer *sym,
		      struct helpers *helpers, struct bpf_session *bpf)
{
	/* What publishes contexts may be as small as one wants. */
	int err = mapped_files_new(&p->files, sym, helpers,
				   o->context ? 0 : INTERPRETERS_LEAST_BYTES);

	if (!err && o->context) {
		err = publishers_new(&p->publishers, helpers, bpf_session_publisher, bpf);
		mapped_files_tell(p->files, &publishers_user, p->publishers);
	}
	if (!err && process_parts_languages(o)) {
		err = interpreters_new(&p->interpreters, process_parts_languages(o),
				       take_interpreter, bpf);
		mapped_files_tell(p->files, &interpreters_user, p->interpreters);
	}
	if (err)
		return err;
	mapped_files_begin(p->files, BEGIN_NS);
	if (p->publishers)
		publishers_begin(p->publishers, BEGIN_NS);
	return 0;
}

int process_parts_open(struct process_parts **out, const struct options *o, struct symbolizer *sym,
		       struct helpers *helpers, struct bpf_session *bpf)
{
	*out = NULL;
	if (!o->context && !process_parts_languages(o))
		return 0;
	*out = calloc(1, sizeof(**out));
	return *out ? open_parts(*out, o, sym, helpers, bpf) : -ENOMEM;
}

void process_parts_close(struct process_parts *p)
{
	if (!p)
		return;
	mapped_files_free(p->files);
	publishers_free(p->publishers);
	interpreters_free(p->interpreters);
	free(p);
}

void process_parts_step(struct process_parts *p)
{
	if (!p)
		return;
	mapped_files_step(p->files);
	if (p->publishers)
		publishers_step(p->publishers);
}

bool process_parts_is_busy(const struct process_parts *p)
{
	return p && (mapped_files_is_busy(p->files) ||
		     (p->publishers && publishers_is_busy(p->publishers)));
}

const struct interpreters *process_parts_interpreters(const struct process_parts *p)
{
	return p ? p->interpreters : NULL;
}

void process_parts_left_out(const struct process_parts *p, uint64_t n[CHAINLOG_LEFT_OUTS])
{
	if (!p)
		return;
	n[CHAINLOG_LEFT_MAPPED] += mapped_files_missed(p->files);
	if (p->publishers)
		n[CHAINLOG_LEFT_PROCESSES] += publishers_missed(p->publishers);
	if (p->interpreters)
		n[CHAINLOG_LEFT_PROCESSES] += interpreters_count(p->interpreters).left_out;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void report_publishers(struct process_parts *p)
{
	struct publishers_count n = publishers_count(p->publishers);

	if (!memcmp(&n, &p->published, sizeof(n)))
		return;
	p->published = n;
	fprintf(stderr,
		"chaincap: contexts: %llu processes publish them, %llu with routes; %llu files "
		"looked at\n",
		(unsigned long long)n.processes, (unsigned long long)n.routes,
		(unsigned long long)mapped_files_count(p->files));
}

static void report_unknown(const struct interpreters_count *n)
{
	if (n->unknown_language == WIRE_PYTHON)
		fprintf(stderr,
			"chaincap: Python 3.%u: this version or build is not known, its functions "
			"get no names\n",
			n->unknown_version);
	else if (n->unknown_language == WIRE_V8)
		fprintf(stderr,
			"chaincap: Node.js: this version is not known, its functions get no "
			"names\n");
	else
		fprintf(stderr,
			"chaincap: %s %u.%u: this version is not known, its functions get no "
			"names\n",
			n->unknown_language == WIRE_RUBY ? "Ruby" : "PHP", n->unknown_version >> 8,
			n->unknown_version & 0xff);
}

static void report_interpreters(struct process_parts *p)
{
	struct interpreters_count n = interpreters_count(p->interpreters);

	if (n.unknown > p->interpreted.unknown)
		report_unknown(&n);
	if (memcmp(n.of, p->interpreted.of, sizeof(n.of)) != 0)
		fprintf(stderr,
			"chaincap: interpreters: %llu processes of Python, %llu of PHP, %llu of "
			"Ruby, %llu of Node.js, %llu of Java; %llu files looked at\n",
			(unsigned long long)n.of[WIRE_PYTHON], (unsigned long long)n.of[WIRE_PHP],
			(unsigned long long)n.of[WIRE_RUBY], (unsigned long long)n.of[WIRE_V8],
			(unsigned long long)n.of[WIRE_JAVA],
			(unsigned long long)mapped_files_count(p->files));
	p->interpreted = n;
}

void process_parts_report(struct process_parts *p)
{
	if (p && p->publishers)
		report_publishers(p);
	if (p && p->interpreters)
		report_interpreters(p);
}
