/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option_table.h - a program's command line as a table, one row for each option: getopt's tables,
 * the help, and the messages about what is mistyped are made from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct option_row;

/* An option that is being set. */
struct setting {
	void *options; /* the program's */
	void *member;  /* of them, for a function that serves several options */
	const struct option_row *row;
	const char *name; /* of the option, for messages: "-d", "--mode" */
	char *why;	  /* gets one line that says what is wrong */
	size_t why_size;
};

/* An option; or, without set, a heading of the help. */
struct option_row {
	const char *name;  /* after "--"; NULL: it has a letter only */
	char letter;	   /* after "-"; 0: none */
	bool brief;	   /* -h shows it, too */
	const char *value; /* its name in the help, or the words it takes: "a|b"; NULL: no value */
	/*
	 * Stores the value (NULL if it takes none). Returns 0; 1 if the rest of the command line
	 * does not matter; or -EINVAL or -ENOMEM, with a line in s->why or, for a general one, "".
	 */
	int (*set)(struct setting *s, const char *value);
	size_t at;	   /* offset of s->member; 0: set knows */
	const char *help;  /* each line has room for 53 characters; NULL: not in the help */
	uint64_t given;	   /* a bit for the program: which options were given */
	const char *only;  /* for the program: of what alone it is an option; NULL: not of one */
	const void *range; /* for set */
};

struct option_table {
	const struct option_row *rows;
	size_t n;
	const char *order; /* begins getopt's letters: ":", or "+:" if options end at a word */
	bool one_dash;	   /* "-name" is "--name" */
};

/*
 * Sets what the options on the command line say; the other words are at argv[optind]. seen: n
 * flags, which are set by row; or NULL. Returns as row->set().
 */
int option_table_parse(const struct option_table *t, void *options, int argc, char **argv,
		       bool *seen, char *why, size_t why_size);
/* The lines of the options: of all, with headings, or of the brief ones. */
void option_table_help(const struct option_table *t, FILE *out, bool all);

struct option_text {
	char s[32];
};

/* How messages call an option: "-d", "--mode". */
struct option_text option_name(const struct option_row *r);
/* Stores one line in s->why. Returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int setting_complain(struct setting *s, const char *fmt, ...);

/* Functions for rows, which set s->member. */

int set_true(struct setting *s, const char *value);
int set_false(struct setting *s, const char *value);
/* Sets a bool, for what is all that is then done: help, version. */
int set_and_stop(struct setting *s, const char *value);
int set_text(struct setting *s, const char *value);
/* An enum, whose values are numbered as the words are. */
int set_word(struct setting *s, const char *value);

/* Reads a whole number of decimal digits, at most max. */
bool parse_number(const char *value, uint64_t max, uint64_t *v);
