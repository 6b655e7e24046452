// SPDX-License-Identifier: GPL-2.0-or-later
#include "named_steps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/clean_text.h"
#include "table.h"
#include "words/program_words.h"
#include "common/xalloc.h"

#define TITLE "  longest steps:"
/* What has less than one of so many parts of the path is no step by itself. */
#define LEAST_OF_PATH 50
/* So many others with the same program are looked at. */
#define LOOKED_AT 256
/* Of a step without its time. */
#define STEP_COLUMNS 32

/* A step, or several with one program. */
struct shown_step {
	uint32_t name; /* text: that of the process */
	uint32_t leader, program;
	uint32_t number;
	uint64_t ns;
};

struct shown_steps {
	const struct timelines *timelines;
	struct names *names;
	struct shown_step *at; /* longest first */
	size_t n;
};

static int longest_first(const void *pa, const void *pb)
{
	const struct shown_step *a = pa, *b = pb;
	int c = compare_numbers(b->ns, a->ns);

	return c ? c : compare_numbers(a->name, b->name);
}

static int by_name(const void *a, const void *b)
{
	return compare_numbers(((const struct shown_step *)a)->name,
			       ((const struct shown_step *)b)->name);
}

/* Makes those that are shorter than least_ns one for each name. */
static void add_up_short_ones(struct shown_steps *s, uint64_t least_ns)
{
	size_t first = 0, n;

	while (first < s->n && s->at[first].ns >= least_ns)
		first++;
	if (first < s->n)
		qsort(s->at + first, s->n - first, sizeof(*s->at), by_name);
	n = first;
	for (size_t i = first; i < s->n; i++) {
		if (n > first && s->at[n - 1].name == s->at[i].name) {
			s->at[n - 1].ns += s->at[i].ns;
			s->at[n - 1].number++;
		} else {
			s->at[n++] = s->at[i];
		}
	}
	s->n = n;
	qsort(s->at, s->n, sizeof(*s->at), longest_first);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *program_of(const struct shown_steps *s, size_t i)
{
	return trace_string(timelines_trace(s->timelines), s->at[i].program);
}

/*
 * Whether a thread executed the same file, and with that argument, too, if it is not NULL. One
 * whose arguments are not known is not like it.
 */
static bool is_like(const struct trace *t, const struct thread *th, const char *program,
		    const char *argument, size_t len)
{
	const char *other = trace_string(t, th->program), *of_other;
	size_t file, n;

	program_argument(program, 0, &file);
	if (!program_argument(other, 1, &n) || !program_argument(other, 0, &n) || n != file ||
	    memcmp(program, other, n) != 0)
		return false;
	for (size_t i = 1; argument && (of_other = program_argument(other, i, &n)); i++)
		if (n == len && !memcmp(of_other, argument, len))
			return true;
	return !argument;
}

/* How many other processes are like it, of as many as are looked at. */
static size_t others_like(const struct shown_steps *s, size_t i, const char *argument, size_t len)
{
	const struct trace *t = timelines_trace(s->timelines);
	const char *program = program_of(s, i);
	size_t looked_at = 0, n = 0;

	for (uint32_t k = 0; k < timelines_threads(s->timelines) && looked_at < LOOKED_AT; k++) {
		const struct thread *th = timelines_thread(s->timelines, k);

		if (k == s->at[i].leader || !is_like(t, th, program, NULL, 0))
			continue;
		looked_at++;
		n += !argument || is_like(t, th, program, argument, len);
	}
	return n;
}

/* The last part of a path of len bytes; *len: of that. */
static const char *last_part(const char *path, size_t *len)
{
	const char *slash = memrchr(path, '/', *len);

	if (slash) {
		*len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	return path;
}

/* Whether it is a file between two programs of GCC: "/tmp/ccJLTDzQ.s". */
static bool is_temporary(const char *argument, size_t len)
{
	const char *name = last_part(argument, &len);

	return len > 8 && !strncmp(name, "cc", 2) && name[8] == '.' && !memchr(name, '.', 8) &&
	       !memchr(name, '-', 8);
}

/* Whether a file is one that is compiled, by its name. */
static bool is_source(const char *argument, size_t len)
{
	static const char *const ends[] = { ".c",   ".cc", ".cpp", ".cxx", ".C", ".m",
					    ".f90", ".go", ".rs",  ".i",   ".S", ".s" };

	if (!len || *argument == '-' || is_temporary(argument, len))
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && !memcmp(argument + len - n, ends[i], n))
			return true;
	}
	return false;
}

/*
 * The argument of a compiler that it compiles, or what that makes; 0: it has neither, as long lines
 * of arguments are recorded in part. False: it is no compiler.
 */
static bool compiled_argument(const char *program, size_t *compiled)
{
	static const char *const compilers[] = { "cc1",	  "cc1plus", "cc1obj", "f951", "lto1",
						 "clang", "clang++", "rustc",  "as",   "cc",
						 "gcc",	  "c++",     "g++" };
	size_t len;
	const char *argument = program_argument(program, 0, &len);
	const char *name = argument ? last_part(argument, &len) : "";
	bool is_compiler = false, is_output = false;

	*compiled = 0;
	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++)
		is_compiler |= strlen(compilers[i]) == len && !memcmp(name, compilers[i], len);
	for (size_t k = 1; is_compiler && (argument = program_argument(program, k, &len)); k++) {
		if (is_source(argument, len)) {
			*compiled = k;
			break;
		}
		if (is_output && !is_temporary(argument, len))
			*compiled = k;
		is_output = len == 2 && !memcmp(argument, "-o", len);
	}
	return is_compiler;
}

/*
 * The number of the argument that tells most of a step: which the fewest others with the same
 * program have, an option only if there is no other one. 0: all others have all of them, or there
 * are none.
 */
static size_t telling_argument(const struct shown_steps *s, size_t i)
{
	const char *program = program_of(s, i), *argument;
	size_t len, best = 0, fewest = others_like(s, i, NULL, 0);
	bool is_option = false;

	for (size_t k = 1; fewest && (argument = program_argument(program, k, &len)); k++) {
		size_t n = len && !is_temporary(argument, len) ? others_like(s, i, argument, len)
							       : fewest;

		if (n < fewest || (n == fewest && is_option && len && *argument != '-' &&
				   !is_temporary(argument, len))) {
			best = k;
			fewest = n;
			is_option = *argument == '-';
		}
		if (!n && !is_option)
			break;
	}
	return best;
}

/* "tables.c (cc1)", "sleep 0.3", "expr x 400": to be freed. */
static char *name_of(const struct shown_steps *s, size_t i)
{
	const char *name = names_text(s->names, s->at[i].name);
	size_t k, len, size;
	bool is_compiler = compiled_argument(program_of(s, i), &k);
	const char *argument;
	char *text = NULL, *only = NULL;
	FILE *f = xmemstream(&text, &size);

	if (!is_compiler)
		k = telling_argument(s, i);
	argument = program_argument(program_of(s, i), k, &len);
	if (s->at[i].number > 1) {
		fprintf(f, "%s x %u", name, s->at[i].number);
	} else if (k) {
		only = xstrndup(argument, len);
		print_clean(f, only);
		fprintf(f, " (%s)", name);
	} else {
		fputs(name, f);
		if (!is_compiler) {
			putc(' ', f);
			program_put_arguments(f, program_of(s, i));
		}
	}
	xmemstream_close(f, &text);
	free(only);
	for (len = strlen(text); len && text[len - 1] == ' '; len--)
		text[len - 1] = 0;
	return text;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void add_names(struct named_steps *to, const struct shown_steps *s, uint64_t least_ns)
{
	for (size_t i = 0; i < s->n && to->n < NAMED_STEPS_MOST && s->at[i].ns >= least_ns; i++) {
		char *name = name_of(s, i);

		to->at[to->n].name = name;
		to->at[to->n++].ns = s->at[i].ns;
	}
}

static struct shown_step shown_step(const struct timelines *tl, struct names *names,
				    struct long_step of)
{
	const struct thread *th = timelines_thread(tl, of.leader);

	return (struct shown_step) { names_thread(names, of.leader, th->end_ns), of.leader,
				     th->program, 1, of.ns };
}

char *named_steps_one(uint32_t leader, const struct timelines *tl, struct names *names)
{
	struct shown_step one = shown_step(tl, names, (struct long_step) { leader, 0 });

	return name_of(&(struct shown_steps) { tl, names, &one, 1 }, 0);
}

void named_steps_find(struct named_steps *to, const struct path_processes *p,
		      const struct timelines *tl, struct names *names)
{
	struct shown_steps s = { .timelines = tl, .names = names };
	struct long_step *steps = path_processes_steps(p, &s.n);
	uint64_t least_ns = (p->at[0].ns + LEAST_OF_PATH - 1) / LEAST_OF_PATH;

	*to = (struct named_steps) { .n = 0 };
	s.at = xcalloc(s.n, sizeof(*s.at));
	for (size_t i = 0; i < s.n; i++)
		s.at[i] = shown_step(tl, names, steps[i]);
	add_up_short_ones(&s, least_ns);
	add_names(to, &s, least_ns);
	free(s.at);
	free(steps);
}

void named_steps_free(struct named_steps *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->at[i].name);
	s->n = 0;
}

void named_steps_put(FILE *out, const struct named_steps *s, size_t columns)
{
	size_t used = sizeof(TITLE) - 1, shown = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t width = table_width(s->at[i].name);
		char time[40];

		width = width > STEP_COLUMNS ? STEP_COLUMNS : width;
		used += width + (size_t)snprintf(time, sizeof(time), "%s %.3f s ", shown ? "," : "",
						 (double)s->at[i].ns / 1e9);
		if (shown && used > columns)
			break;
		fprintf(out, "%s%s", shown++ ? "" : TITLE, time);
		table_put_cut(out, s->at[i].name, width);
	}
	if (shown)
		putc('\n', out);
}
