// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elfprobe.h"

/* USDT probes have at most so many arguments. */
#define ARGS_MAX 12u

struct complaint {
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int complain(struct complaint c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(c.why, c.size, fmt, args);
	va_end(args);
	return -EINVAL;
}

static bool begins(struct spec_text t, const char *with)
{
	size_t len = strlen(with);

	return t.len >= len && !memcmp(t.s, with, len);
}

static struct spec_text after(struct spec_text t, size_t n)
{
	return (struct spec_text) { t.s + n, t.len - n };
}

/* What stands before the first c, which is taken with it; false: there is no c. */
static bool take_until(struct spec_text *t, char c, struct spec_text *before)
{
	const char *at = memchr(t->s, c, t->len);

	if (!at)
		return false;
	*before = (struct spec_text) { t->s, (size_t)(at - t->s) };
	*t = after(*t, before->len + 1);
	return true;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* As perf probe calls them. */
static bool set_type(struct spec_arg *a, struct spec_text type)
{
	static const struct {
		const char *name;
		struct spec_arg is;
	} types[] = {
		{ "s8", { 0, 1, true, false } },     { "u8", { 0, 1, false, false } },
		{ "s16", { 0, 2, true, false } },    { "u16", { 0, 2, false, false } },
		{ "s32", { 0, 4, true, false } },    { "u32", { 0, 4, false, false } },
		{ "s64", { 0, 8, true, false } },    { "u64", { 0, 8, false, false } },
		{ "string", { 0, 0, false, true } },
	};
	unsigned int n = a->n;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (type.len == strlen(types[i].name) && begins(type, types[i].name)) {
			*a = types[i].is;
			a->n = n;
			return true;
		}
	return false;
}

/* "argN" or "argN:TYPE" */
static bool set_arg(struct spec_arg *a, struct spec_text t)
{
	struct spec_text number;

	*a = (struct spec_arg) { 0 };
	if (!begins(t, "arg"))
		return false;
	number = t = after(t, 3);
	if (take_until(&t, ':', &number) && !set_type(a, t))
		return false;
	if (!number.len || number.len > 2)
		return false;
	for (size_t i = 0; i < number.len; i++) {
		if (!isdigit((unsigned char)number.s[i]))
			return false;
		a->n = a->n * 10 + (unsigned int)(number.s[i] - '0');
	}
	return a->n && a->n <= ARGS_MAX;
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* Takes "@argN" off the end. */
static int take_id(struct probe_mark *m, struct complaint c)
{
	const char *at = memrchr(m->name.s, '@', m->name.len);

	if (!at)
		return 0;
	if (!set_arg(&m->id, after(m->name, (size_t)(at - m->name.s) + 1)) || m->id.is_string)
		return complain(c, "after @ goes arg1 ... arg%u, or with a type arg1:u32: %.*s",
				ARGS_MAX, (int)m->name.len, m->name.s);
	m->name.len = (size_t)(at - m->name.s);
	return 0;
}

/* Takes "+16" or "+0x10" off the end; a name may end in "+" itself, as C++'s operators do. */
static void take_offset(struct probe_mark *m)
{
	const char *at = memrchr(m->name.s, '+', m->name.len);
	size_t before = at ? (size_t)(at - m->name.s) : 0, len = m->name.len - before - 1;
	char number[24], *end;

	if (!before || len - 1 >= sizeof(number) - 1 || !isdigit((unsigned char)at[1]))
		return;
	memcpy(number, at + 1, len);
	number[len] = '\0';
	errno = 0;
	m->offset = strtoull(number, &end, 0);
	if (*end || errno)
		m->offset = 0;
	else
		m->name.len = before;
}

static int parse_mark(struct probe_mark *m, struct spec_text t, struct complaint c)
{
	struct spec_text all = t;
	int err;

	*m = (struct probe_mark) { .is_usdt = begins(t, "usdt:") };
	if (m->is_usdt)
		t = after(t, 5);
	if (!take_until(&t, ':', &m->path) || (m->is_usdt && !take_until(&t, ':', &m->provider)))
		return complain(c, "it takes %s: %.*s",
				m->is_usdt ? "usdt:PATH:PROVIDER:NAME" : "PATH:FUNCTION",
				(int)all.len, all.s);
	m->name = t;
	if (!m->path.len || !memchr(m->path.s, '/', m->path.len))
		return complain(c, "not a path, as /usr/bin/NAME or ./NAME is: %.*s",
				(int)m->path.len, m->path.s);
	err = take_id(m, c);
	if (err)
		return err;
	if (!m->is_usdt)
		take_offset(m);
	if (!m->name.len || (m->is_usdt && !m->provider.len))
		return complain(c, "a name is missing: %.*s", (int)all.len, all.s);
	if (m->name.len >= ELFPROBE_NAME_MAX || m->provider.len >= ELFPROBE_PROVIDER_MAX)
		return complain(c, "the name is too long: %.*s", (int)all.len, all.s);
	if (!m->is_usdt && m->id.n > probe_args_passed())
		return complain(c,
				"of a function, only the first %u arguments are in registers: %.*s",
				probe_args_passed(), (int)all.len, all.s);
	return 0;
}

/* A path, after which there is something. Names of C++ may have commas. */
static bool begins_mark(struct spec_text t)
{
	return begins(t, "usdt:") || begins(t, "/") || begins(t, "./") || begins(t, "../");
}

/* Cuts two marks apart. *end: the second; its len is 0 if there is only one. */
static struct spec_text cut(struct spec_text t, struct spec_text *end)
{
	for (size_t i = 1; i + 1 < t.len; i++) {
		*end = after(t, i + 1);
		if (t.s[i] == ',' && begins_mark(*end))
			return (struct spec_text) { t.s, i };
	}
	end->len = 0;
	return t;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Formats and other options set names apart by these. */
static bool is_name(struct spec_text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!isalnum((unsigned char)t.s[i]) && !strchr("_-./:", t.s[i]))
			return false;
	return t.len && t.len < WIRE_PROBE_NAME;
}

static int check(const struct request_spec *r, struct complaint c)
{
	if (r->is_call && r->begin.is_usdt)
		return complain(c, "a USDT probe does not say when it is over: a second one goes "
				   "after a comma");
	if (r->is_call && r->begin.id.n)
		return complain(c, "@arg%u is for two marks: a call is on one thread",
				r->begin.id.n);
	if (r->is_call && r->begin.offset)
		return complain(c,
				"only two marks take an offset: a call begins with the function");
	if (!r->is_call && !r->begin.id.n != !r->end.id.n)
		return complain(c, "only one of the two marks has an id: both take @argN, or, on "
				   "one thread, neither does");
	return 0;
}

int request_spec_parse(struct request_spec *out, const char *text, char *why, size_t why_size)
{
	struct complaint c = { why, why_size };
	struct spec_text t = { text, strlen(text) }, name, end;
	int err;

	*out = (struct request_spec) { 0 };
	if (!take_until(&t, '=', &name))
		return complain(c, "--request must be NAME=PATH:FUNCTION, or NAME=MARK,MARK: %s",
				text);
	if (!is_name(name))
		return complain(c,
				"--request: a name has 1 to %d letters, digits and _-./: of %.*s",
				WIRE_PROBE_NAME - 1, (int)name.len, name.s);
	memcpy(out->name, name.s, name.len);
	c.size -= (size_t)snprintf(why, why_size, "--request %s: ", out->name);
	c.why += strlen(why);
	t = cut(t, &end);
	out->is_call = !end.len;
	err = parse_mark(&out->begin, t, c);
	if (!err && !out->is_call)
		err = parse_mark(&out->end, end, c);
	return err ? err : check(out, c);
}

int request_spec_label(struct request_spec *specs, size_t n, const char *text, char *why,
		       size_t why_size)
{
	struct complaint c = { why, why_size };
	struct spec_text t = { text, strlen(text) }, name = { "", 0 };
	struct request_spec *of = n == 1 ? specs : NULL;

	if (take_until(&t, '=', &name)) {
		of = NULL;
		for (size_t i = 0; i < n; i++)
			if (strlen(specs[i].name) == name.len && begins(name, specs[i].name))
				of = &specs[i];
		if (!of)
			return complain(c, "--request-label: there is no --request %.*s",
					(int)name.len, name.s);
	}
	if (!of)
		return complain(c, "--request-label %s: %s", text,
				n ? "of several requests, which one? NAME=arg1"
				  : "it needs a --request");
	if (!set_arg(&of->label, t) || (!of->begin.is_usdt && of->label.n > probe_args_passed()))
		return complain(c,
				"--request-label must be arg1 ... arg%u, or with a type arg1:u32 "
				"or arg1:string: %s",
				of->begin.is_usdt ? ARGS_MAX : probe_args_passed(), text);
	return 0;
}
