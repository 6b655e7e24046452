// SPDX-License-Identifier: GPL-2.0-or-later
#include "foreign.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "folded.h"

#define IS(text, what, how)             \
	{                               \
		text, sizeof(text) - 1, \
		{                       \
			what, how       \
		}                       \
	}

/* By their first bytes: the formats' documents, or file(1)'s rules. */
static const struct {
	const char *magic;
	size_t len;
	struct foreign is;
} magics[] = {
	IS("PERFILE2", "a recording of perf",
	   "try: chainwalk FILE | flamegraph; or, of samples: perf script -i FILE | "
	   "stackcollapse-perf.pl | flamegraph"),
	IS("2ELIFREP", "a recording of perf, of a machine of another byte order",
	   "try: perf script -i FILE | stackcollapse-perf.pl | flamegraph"),
	IS("CLB1\x01", "a trace of chaincap", "try: chainwalk FILE | flamegraph"),
	IS("\x1f\x8b", "compressed by gzip (or pprof's profile)",
	   "try: gzip -dc FILE | flamegraph; of a profile: go tool pprof -raw FILE | "
	   "stackcollapse-go.pl | flamegraph"),
	IS("\xfd"
	   "7zXZ",
	   "compressed by xz", "try: xz -dc FILE | flamegraph"),
	IS("\x28\xb5\x2f\xfd", "compressed by zstd", "try: zstd -dc FILE | flamegraph"),
	IS("BZh91AY&SY", "compressed by bzip2", "try: bzip2 -dc FILE | flamegraph"),
	IS("\x04\x22\x4d\x18", "compressed by lz4", "try: lz4 -dc FILE | flamegraph"),
	IS("PK\x03\x04", "a ZIP file", "try: unzip -p FILE | flamegraph"),
	IS("FLR\x00", "a recording of Java's flight recorder",
	   "try: jfr print --events ExecutionSample FILE, and a program that folds its stacks"),
	IS("\x7f"
	   "ELF",
	   "a program", "give the output of a profiler that is folded"),
	IS("\x89PNG", "a picture", "give the folded stacks that it was made of"),
	IS("%PDF", "a PDF", "give the folded stacks that it was made of"),
	IS("\xff\xfe", "text in UTF-16", "try: iconv -f UTF-16 -t UTF-8 FILE | flamegraph"),
	IS("\xfe\xff", "text in UTF-16", "try: iconv -f UTF-16 -t UTF-8 FILE | flamegraph"),
	IS("PeriodType:", "text of go tool pprof -raw",
	   "try: stackcollapse-go.pl FILE | flamegraph"),
	IS("<svg", "a picture", "give the folded stacks that it was made of"),
	IS("<?xml", "a picture, or other XML", "give the folded stacks that it was made of"),
	IS("<!doctype", "a page",
	   "open it in a browser; a report of chainwalk is made of a trace: chainwalk TRACE | "
	   "flamegraph"),
	IS("<html", "a page", "open it in a browser"),
	IS("<!--", "a page", "open it in a browser"),
};

static const struct foreign pprof = {
	"a profile of pprof",
	"try: go tool pprof -raw FILE | stackcollapse-go.pl | flamegraph",
};
static const struct foreign speedscope = {
	"a profile of speedscope",
	"open it at speedscope.app, or give the folded stacks that it was made of",
};
static const struct foreign json = {
	"JSON",
	"give folded stacks: chainwalk TRACE | flamegraph writes them without --format",
};
static const struct foreign perf_text = {
	"the text of perf script",
	"try: stackcollapse-perf.pl FILE | flamegraph; or, of sched:sched_switch: chainwalk FILE "
	"| flamegraph",
};
static const struct foreign bpftrace = {
	"the output of bpftrace",
	"try: stackcollapse-bpftrace.pl FILE | flamegraph",
};
static const struct foreign go_trace = {
	"a trace of Go",
	"try: chainwalk FILE | flamegraph",
};
static const struct foreign jstack = {
	"stacks of jstack",
	"try: stackcollapse-jstack.pl FILE | flamegraph",
};
static const struct foreign dtrace = {
	"the output of DTrace",
	"try: stackcollapse.pl FILE | flamegraph",
};
static const struct foreign binary = {
	"binary data",
	"give folded stacks: lines of frames joined by ';', a blank, a count",
};
static const struct foreign old_lines = {
	"text whose lines end in CR alone",
	"try: tr '\\r' '\\n' <FILE | flamegraph",
};

struct text {
	const char *p, *end;
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct text skip_spaces(struct text t)
{
	while (t.p < t.end && is_space(*t.p))
		t.p++;
	return t;
}

static bool starts(struct text t, const char *with, size_t len)
{
	return (size_t)(t.end - t.p) >= len && !strncasecmp(t.p, with, len);
}

/* The next line, without blanks at its end; false: there is none. */
static bool next_line(struct text *all, struct text *line)
{
	const char *nl;

	if (all->p == all->end)
		return false;
	nl = memchr(all->p, '\n', (size_t)(all->end - all->p));
	*line = (struct text) { all->p, nl ? nl : all->end };
	all->p = nl ? nl + 1 : all->end;
	while (line->end > line->p && is_space(line->end[-1]))
		line->end--;
	return true;
}

/* `{ "` or `[ {`: no frame begins so. */
static bool is_json(struct text t)
{
	char first = t.p < t.end ? *t.p : 0;

	if (first != '{' && first != '[')
		return false;
	t.p++;
	t = skip_spaces(t);
	return t.p < t.end && strchr(first == '{' ? "\"}" : "\"{", *t.p);
}

/* Is the line a frame as perf script prints it: an address, a name, the file in brackets? */
static bool is_perf_frame(struct text line)
{
	const char *p;

	line = skip_spaces(line);
	for (p = line.p; p < line.end && (is_digit(*p) || ((*p | 32) >= 'a' && (*p | 32) <= 'f'));)
		p++;
	return p - line.p >= 3 && p < line.end && *p == ' ' && line.end[-1] == ')';
}

/* Has the line a time as perf script prints it: "1234.567890:" or with nine digits? */
static bool has_perf_time(struct text line)
{
	for (const char *p = line.p; p < line.end; p++) {
		const char *digits = p + 1;

		if (*p != '.' || p == line.p || !is_digit(p[-1]))
			continue;
		while (digits < line.end && is_digit(*digits))
			digits++;
		if ((digits - p == 7 || digits - p == 10) && digits < line.end && *digits == ':')
			return true;
	}
	return false;
}

/* Does the line end in a blank and a number? */
static bool has_count(struct text line)
{
	const char *p = line.end;

	while (p > line.p && is_digit(p[-1]))
		p--;
	return p < line.end && p > line.p && is_space(p[-1]);
}

/* The text of a tracer, by what its lines are: samples begin with a line of their own. */
static const struct foreign *find_tracer(struct text all)
{
	struct text line;
	unsigned stacks = 0, events = 0;
	bool begun = false; /* perf: a line that ends in `:`; bpftrace: in `[` */

	while (next_line(&all, &line)) {
		char last = line.end > line.p ? line.end[-1] : 0;

		if (starts(line, "CPU ", 4) &&
		    memmem(line.p, (size_t)(line.end - line.p), "FUNCTION:NAME", 13))
			return &dtrace;
		if (begun && is_perf_frame(line))
			return &perf_text;
		if (starts(line, "@", 1) && last == '[')
			return &bpftrace;
		if (starts(line, "Full thread dump", 16))
			return &jstack;
		events += has_perf_time(line) && !memchr(line.p, ';', (size_t)(line.end - line.p));
		stacks += has_count(line) && !has_perf_time(line);
		begun = last == ':';
	}
	return events > stacks ? &perf_text : NULL;
}

const struct foreign *foreign_find(const char *p, size_t len)
{
	struct text all = { p, p + (len < FOLDED_HEAD ? len : FOLDED_HEAD) }, t = all;
	size_t odd = 0;

	/* The first field of a profile: the type of its values, two varints. */
	if (len > 3 && p[0] == '\n' && p[1] > 1 && p[1] < 16 && p[2] == '\b')
		return &pprof;
	if (len >= 16 && !memcmp(p, "go 1.", 5) && memmem(p, 16, " trace\0", 7))
		return &go_trace;
	if (starts(t, "\xef\xbb\xbf", 3))
		t.p += 3;
	for (unsigned i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		struct text at = *magics[i].magic == '<' ? skip_spaces(t) : all;

		if (*magics[i].magic == '<'
			    ? starts(at, magics[i].magic, magics[i].len)
			    : len >= magics[i].len && !memcmp(p, magics[i].magic, magics[i].len))
			return &magics[i].is;
	}
	if (is_json(skip_spaces(t)))
		return memmem(p, (size_t)(all.end - p), "speedscope", 10) ? &speedscope : &json;
	for (const char *c = all.p; c < all.end; c++)
		odd += (unsigned char)*c < 32 && !is_space(*c);
	if (memchr(p, 0, (size_t)(all.end - p)) && odd > (size_t)(all.end - p) / 16)
		return &binary;
	if (memchr(p, '\r', (size_t)(all.end - p)) && !memchr(p, '\n', (size_t)(all.end - p)) &&
	    all.end[-1] == '\r')
		return &old_lines;
	return find_tracer(t);
}
