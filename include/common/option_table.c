// SPDX-License-Identifier: GPL-2.0-or-later
#include "option_table.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "similar.h"

/* ---- values -------------------------------------------------------------------------------- */

struct option_text option_name(const struct option_row *r)
{
	struct option_text name;

	if (r->letter)
		snprintf(name.s, sizeof(name.s), "-%c", r->letter);
	else
		snprintf(name.s, sizeof(name.s), "--%s", r->name);
	return name;
}

int setting_complain(struct setting *s, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->why, s->why_size, fmt, args);
	va_end(args);
	return -EINVAL;
}

int set_true(struct setting *s, const char *value)
{
	(void)value;
	*(bool *)s->member = true;
	return 0;
}

int set_false(struct setting *s, const char *value)
{
	(void)value;
	*(bool *)s->member = false;
	return 0;
}

int set_and_stop(struct setting *s, const char *value)
{
	set_true(s, value);
	return 1;
}

int set_text(struct setting *s, const char *value)
{
	*(const char **)s->member = value;
	return 0;
}

int set_word(struct setting *s, const char *value)
{
	unsigned int i = 0;
	char list[64] = "none of: ";
	size_t len, n = strlen(list);

	for (const char *word = s->row->value;; word += len + 1, i++) {
		len = strcspn(word, "|");
		if (strlen(value) == len && !strncmp(word, value, len)) {
			*(unsigned int *)s->member = i;
			return 0;
		}
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%.*s", i ? ", " : "", (int)len,
				      word);
		if (!word[len] || n >= sizeof(list))
			return setting_complain(s, "%s: '%s' is %s", s->name, value, list);
	}
}

bool parse_number(const char *value, uint64_t max, uint64_t *v)
{
	uint64_t n = 0;

	if (!*value)
		return false;
	for (; *value; value++) {
		unsigned int digit = (unsigned int)*value - '0';

		if (digit > 9 || n > max / 10 || digit > max - n * 10)
			return false;
		n = n * 10 + digit;
	}
	*v = n;
	return true;
}

/* ---- help ---------------------------------------------------------------------------------- */

#define HELP_COLUMN 27 /* where explanations begin */

/* "  -o, --output FILE        write here" */
static void put_row(FILE *out, const struct option_row *r)
{
	char dash[] = { '-', r->letter, '\0' };
	int n = fprintf(out, "  %2s%s%s%s%s%s", r->letter ? dash : "",
			r->letter && r->name ? ", " : "  ", r->name ? "--" : "",
			r->name ? r->name : "", r->value ? " " : "", r->value ? r->value : "");
	size_t len;

	for (const char *line = r->help;; line += len + 1) {
		len = strcspn(line, "\n");
		fprintf(out, "%*s%.*s\n", n < HELP_COLUMN ? HELP_COLUMN - n : 1, "", (int)len,
			line);
		if (!line[len])
			return;
		n = 0;
	}
}

void option_table_help(const struct option_table *t, FILE *out, bool all)
{
	putc('\n', out);
	for (const struct option_row *r = t->rows; r < t->rows + t->n; r++) {
		if (!r->set && all)
			fprintf(out, "%s:\n", r->help);
		else if (r->set && r->help && (all || r->brief))
			put_row(out, r);
	}
}

/* ---- parsing ------------------------------------------------------------------------------- */

#define OPT_LONG (UCHAR_MAX + 1) /* getopt's value of a long option: OPT_LONG + its row */
#define ROWS_MAX 100

/* The row of the option that getopt_long() returned. */
static const struct option_row *row_of(const struct option_table *t, int opt)
{
	if (opt >= OPT_LONG)
		return &t->rows[opt - OPT_LONG];
	for (size_t i = 0; opt && i < t->n; i++)
		if (t->rows[i].letter == opt)
			return &t->rows[i];
	return NULL;
}

/* Complains about a word that begins with dashes and is no option; len: bytes of its name. */
static int complain_mistyped(const struct option_table *t, struct setting *s, const char *word,
			     size_t len)
{
	char name[40];

	snprintf(name, sizeof(name), "%.*s", (int)len, word + strspn(word, "-"));
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].name && words_similar(name, t->rows[i].name))
			return setting_complain(s, "there is no option %s; did you mean --%s?",
						word, t->rows[i].name);
	return setting_complain(s, "there is no option %s", word);
}

/* word begins with dashes and is not an option: it matches none, or is a prefix of several. */
static int complain_unknown(const struct option_table *t, struct setting *s, const char *word)
{
	size_t dashes = strspn(word, "-"), len = strcspn(word + dashes, "="), n = 0;
	char names[160];

	for (size_t i = 0; i < t->n; i++) {
		const char *name = t->rows[i].name;

		if (name && n < sizeof(names) && len && !strncmp(name, word + dashes, len))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s--%s", n ? ", " : "",
					      name);
	}
	if (!n)
		return complain_mistyped(t, s, word, len);
	return setting_complain(s, "%.*s matches several options: %s", (int)(dashes + len), word,
				names);
}

/* What getopt_long() refused: it returned ret, '?' or ':'. */
static int complain_refused(const struct option_table *t, struct setting *s, int ret, char **argv)
{
	const struct option_row *row = row_of(t, optopt);

	if (ret == ':')
		return setting_complain(s, "%s needs a value", option_name(row).s);
	if (row)
		return setting_complain(s, "%s takes no value", option_name(row).s);
	if (optopt)
		return setting_complain(s, "there is no option -%c", optopt);
	return complain_unknown(t, s, argv[optind - 1]);
}

/* Makes getopt's tables of letters and of names from the rows. */
static void fill_tables(const struct option_table *t, char *letters, struct option *names)
{
	letters = stpcpy(letters, t->order);
	for (size_t i = 0; i < t->n && i < ROWS_MAX; i++) {
		const struct option_row *r = &t->rows[i];

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

static int set_option(const struct option_row *row, struct setting *s, const char *value)
{
	struct option_text name = option_name(row);
	int ret;

	s->row = row;
	s->name = name.s;
	s->member = (char *)s->options + row->at;
	ret = row->set(s, value);
	if (ret == -EINVAL && !*s->why)
		setting_complain(s, "%s: bad value '%s'", name.s, value);
	return ret;
}

int option_table_parse(const struct option_table *t, void *options, int argc, char **argv,
		       bool *seen, char *why, size_t why_size)
{
	int (*get)(int, char *const *, const char *, const struct option *, int *) =
		t->one_dash ? getopt_long_only : getopt_long;
	struct setting s = { .options = options, .why = why, .why_size = why_size };
	struct option names[ROWS_MAX + 1];
	char letters[2 * ROWS_MAX + 4];
	int opt, ret = 0;

	fill_tables(t, letters, names);
	*why = '\0';
	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while (!ret && (opt = get(argc, argv, letters, names, NULL)) != -1) {
		const struct option_row *row = row_of(t, opt);

		if (!row)
			return complain_refused(t, &s, opt, argv);
		ret = set_option(row, &s, optarg);
		if (seen)
			seen[row - t->rows] = true;
	}
	return ret;
}
