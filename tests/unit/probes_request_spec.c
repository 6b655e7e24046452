// SPDX-License-Identifier: GPL-2.0-or-later
/* What --request and --request-label mean. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/request_spec.h"

static void print_mark(FILE *out, const struct probe_mark *m)
{
	fprintf(out, " %s[%.*s]", m->is_usdt ? "usdt" : "", (int)m->path.len, m->path.s);
	if (m->is_usdt)
		fprintf(out, "[%.*s]", (int)m->provider.len, m->provider.s);
	fprintf(out, "[%.*s]", (int)m->name.len, m->name.s);
	if (m->offset)
		fprintf(out, "+%llu", (unsigned long long)m->offset);
	if (m->id.n)
		fprintf(out, "@%u", m->id.n);
	if (m->id.bytes)
		fprintf(out, ":%c%u", m->id.is_signed ? 's' : 'u', m->id.bytes * 8u);
}

static void means(const char *text, const char *expected)
{
	char why[256] = "", *is;
	struct request_spec r;
	size_t len;
	FILE *out = open_memstream(&is, &len);

	if (request_spec_parse(&r, text, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	fprintf(out, "%s %s", r.name, r.is_call ? "call" : "marks");
	print_mark(out, &r.begin);
	if (!r.is_call)
		print_mark(out, &r.end);
	fclose(out);
	assert_string_equal(is, expected);
	free(is);
}

static void is_wrong(const char *text, const char *reason)
{
	char why[256] = "";
	struct request_spec r;

	assert_int_equal(request_spec_parse(&r, text, why, sizeof(why)), -EINVAL);
	if (!strstr(why, reason))
		fail_msg("%s: says \"%s\", not \"%s\"", text, why, reason);
	assert_null(strchr(why, '\n'));
}

TEST(calls_of_functions)
{
	means("q=/usr/sbin/mysqld:dispatch_command", "q call [/usr/sbin/mysqld][dispatch_command]");
	means("a.b-c_1/d:e=./x:f", "a.b-c_1/d:e call [./x][f]");
	/* Names of C++ and Go have colons, commas, brackets, spaces, +, = and @. */
	means("q=/x:a::b<int, c>::operator+", "q call [/x][a::b<int, c>::operator+]");
	means("q=/x:main.(*S).Get", "q call [/x][main.(*S).Get]");
	means("q=/x:operator==", "q call [/x][operator==]");
	means("q=/proc/7/root/x:_Z1fv", "q call [/proc/7/root/x][_Z1fv]");
	is_wrong("q", "NAME=PATH:FUNCTION");
	is_wrong("q=", "PATH:FUNCTION");
	is_wrong("q=/x", "PATH:FUNCTION");
	is_wrong("q=/x:", "a name is missing");
	is_wrong("q=x:f", "not a path");
	is_wrong("q=:f", "not a path");
	is_wrong("=/x:f", "a name has");
	is_wrong("a b=/x:f", "a name has");
	is_wrong("a;b=/x:f", "a name has");
	is_wrong("12345678901234567890123456789012=/x:f", "a name has");
	means("1234567890123456789012345678901=/x:f",
	      "1234567890123456789012345678901 call [/x][f]");
	is_wrong("q=/x:f@arg1", "for two marks");
	is_wrong("q=/x:f+4", "only two marks");
	is_wrong("q=usdt:/x:p:n", "a second one");
}

TEST(marks_have_ids)
{
	char text[1200] = "q=/x:";

	means("q=/x:f@arg1,/y:g@arg2", "q marks [/x][f]@1 [/y][g]@2");
	means("q=/x:f@arg1:u32,./y:g@arg2:s8", "q marks [/x][f]@1:u32 [./y][g]@2:s8");
	means("q=/x:f<a, b>,../y:g", "q marks [/x][f<a, b>] [../y][g]");
	means("q=/x:f+16@arg1,/x:f+0x20@arg1", "q marks [/x][f]+16@1 [/x][f]+32@1");
	means("q=/x:f,/x:operator+", "q marks [/x][f] [/x][operator+]");
	means("q=usdt:/x:p:a,usdt:/x:p:b", "q marks usdt[/x][p][a] usdt[/x][p][b]");
	means("q=usdt:/x:p:a@arg3,/y:f@arg1", "q marks usdt[/x][p][a]@3 [/y][f]@1");
	is_wrong("q=/x:f@arg1,/y:g", "only one of the two");
	is_wrong("q=/x:f@arg0,/y:g@arg1", "after @");
	is_wrong("q=/x:f@arg13,/y:g@arg1", "after @");
	is_wrong("q=/x:f@rdi,/y:g@arg1", "after @");
	is_wrong("q=/x:f@arg1:int,/y:g@arg1", "after @");
	is_wrong("q=/x:f@arg1:string,/y:g@arg1", "after @");
	is_wrong("q=/x:f@arg9,/y:g@arg9", "only the first");
	is_wrong("q=usdt:/x:p,usdt:/x:p:b", "usdt:PATH:PROVIDER:NAME");
	is_wrong("q=usdt:/x::a,usdt:/x:p:b", "a name is missing");
	memset(text + 5, 'f', 1100);
	is_wrong(text, "too long");
}

static void label(struct request_spec *r, size_t n, const char *text, const char *reason)
{
	char why[256] = "";
	int err = request_spec_label(r, n, text, why, sizeof(why));

	assert_int_equal(err, reason ? -EINVAL : 0);
	if (reason && !strstr(why, reason))
		fail_msg("%s: says \"%s\", not \"%s\"", text, why, reason);
}

TEST(labels_are_arguments)
{
	struct request_spec r[2];
	char why[256];

	assert_int_equal(request_spec_parse(&r[0], "a=/x:f", why, sizeof(why)), 0);
	assert_int_equal(request_spec_parse(&r[1], "b=usdt:/x:p:a,usdt:/x:p:b", why, sizeof(why)),
			 0);
	label(r, 1, "arg2", NULL);
	assert_int_equal(r[0].label.n, 2);
	assert_int_equal(r[0].label.bytes, 0);
	assert_false(r[0].label.is_string);
	label(r, 2, "a=arg1:string", NULL);
	assert_int_equal(r[0].label.n, 1);
	assert_true(r[0].label.is_string);
	label(r, 2, "b=arg12:u16", NULL);
	assert_int_equal(r[1].label.n, 12);
	assert_int_equal(r[1].label.bytes, 2);
	assert_false(r[1].label.is_signed);
	label(r, 2, "arg1", "which one?");
	label(r, 0, "arg1", "it needs a --request");
	label(r, 2, "c=arg1", "there is no --request c");
	label(r, 2, "a=arg9", "must be arg1");
	label(r, 2, "a=1", "must be arg1");
	label(r, 2, "a=arg", "must be arg1");
	label(r, 2, "a=arg1:", "must be arg1");
	label(r, 2, "a=arg1:text", "must be arg1");
}
