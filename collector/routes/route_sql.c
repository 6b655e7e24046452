// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A statement of SQL: its verb, and the first table that it is about. No dialect's grammar is known
 * here: blanks, comments, texts and numbers are skipped, and of the words only these are looked for
 * which come before a table.
 */
#include "route_writer.h"

#define WORD_MAX 24    /* bytes of a word that is looked for */
#define DEPTHS 64      /* of brackets */
#define TABLE_DIGITS 3 /* in a row: then they are a value, as in events_20240101 */
#define TABLE_MAX 40   /* bytes of a table's name */

/* What is a statement's first word. Of the first ones a table is looked for. */
static const char *const verbs[] = {
	"SELECT",  "INSERT",  "UPDATE",	  "DELETE",	"REPLACE",   "MERGE",	 "TRUNCATE",
	"LOCK",	   "CALL",    "COPY",	  "WITH",	"CREATE",    "ALTER",	 "DROP",
	"BEGIN",   "COMMIT",  "ROLLBACK", "START",	"SAVEPOINT", "RELEASE",	 "ABORT",
	"END",	   "SET",     "SHOW",	  "EXPLAIN",	"ANALYZE",   "ANALYSE",	 "VACUUM",
	"USE",	   "PREPARE", "EXECUTE",  "DEALLOCATE", "DECLARE",   "FETCH",	 "MOVE",
	"CLOSE",   "LISTEN",  "NOTIFY",	  "UNLISTEN",	"GRANT",     "REVOKE",	 "COMMENT",
	"REINDEX", "CLUSTER", "REFRESH",  "CHECKPOINT", "DISCARD",   "RESET",	 "DO",
	"VALUES",  "TABLE",   "DESCRIBE", "DESC",	"UNLOCK",    "OPTIMIZE", "REPAIR",
	"CHECK",   "FLUSH",   "KILL",	  "LOAD",	"HANDLER",   "RENAME",	 "PRAGMA",
	"ATTACH",  "DETACH",  "XA",	  "PURGE",	"CHANGE",    "BINLOG",	 "IMPORT",
};

/* What CREATE, ALTER and DROP are of. */
static const char *const things[] = {
	"TABLE",       "INDEX",	       "VIEW",	     "DATABASE",  "SCHEMA",   "USER",	   "ROLE",
	"FUNCTION",    "PROCEDURE",    "TRIGGER",    "SEQUENCE",  "TYPE",     "EXTENSION", "DOMAIN",
	"EVENT",       "SERVER",       "TABLESPACE", "AGGREGATE", "OPERATOR", "POLICY",	   "RULE",
	"PUBLICATION", "SUBSCRIPTION", "SYSTEM",     "COLLATION",
};

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,   /* letters, digits, _, $ */
	TOKEN_QUOTED, /* a name in "" or `` */
	TOKEN_OTHER,
};

/* Where a statement is read. */
struct sql {
	struct bytes left;
	enum token_kind kind;
	struct bytes token;
	bool is_cut;	    /* what ends where the bytes end may go on */
	size_t depth;	    /* of brackets, before the token */
	uint64_t is_select; /* a bit for each depth: what is in these brackets is a SELECT */
};

static bool is_word_byte(uint8_t c)
{
	return is_letter(c) || is_digit(c) || c == '_' || c == '$' || c >= 0x80;
}

/* Skips a text, in which a quote is doubled or comes after a backslash; or up to the end. */
static void skip_quoted(struct bytes *b, uint8_t quote)
{
	while (b->at < b->end) {
		uint8_t c = *b->at++;

		if (c == '\\' && quote == '\'' && b->at < b->end)
			b->at++;
		else if (c == quote && peek(b) == quote)
			b->at++;
		else if (c == quote)
			return;
	}
}

/* Whether a comment was skipped. */
static bool skip_comment(struct bytes *b)
{
	struct bytes text;

	if (take_text(b, "--") || peek(b) == '#') {
		if (!take_until(b, '\n', &text))
			b->at = b->end;
		return true;
	}
	if (!take_text(b, "/*"))
		return false;
	while (b->at < b->end && !take_text(b, "*/"))
		b->at++;
	return true;
}

static void take_other(struct sql *s)
{
	uint8_t c = *s->left.at++;

	s->kind = TOKEN_OTHER;
	if (c == '\'')
		skip_quoted(&s->left, '\'');
	else if (c == '(' && s->depth + 1 < DEPTHS)
		s->depth++;
	else if (c == ')' && s->depth > 0)
		s->is_select &= ~(1ull << s->depth--);
}

/* Takes the next token. */
static void next_token(struct sql *s)
{
	struct bytes *b = &s->left;

	while (b->at < b->end && (*b->at <= ' ' || skip_comment(b)))
		if (b->at < b->end && *b->at <= ' ')
			b->at++;
	s->token = (struct bytes) { b->at, b->at };
	if (b->at == b->end) {
		s->kind = TOKEN_END;
	} else if (*b->at == '"' || *b->at == '`') {
		uint8_t quote = *b->at++;

		s->kind = TOKEN_QUOTED;
		s->token.at = b->at;
		skip_quoted(b, quote);
		s->token.end = b->at > s->token.at && b->at[-1] == quote ? b->at - 1 : b->at;
		return;
	} else if (is_digit(*b->at)) {
		while (b->at < b->end && (is_word_byte(*b->at) || *b->at == '.'))
			b->at++;
		s->kind = TOKEN_OTHER;
	} else if (is_word_byte(*b->at)) {
		while (b->at < b->end && is_word_byte(*b->at))
			b->at++;
		s->kind = TOKEN_WORD;
	} else {
		take_other(s);
	}
	s->token.end = b->at;
}

static bool is_token(const struct sql *s, const char *word)
{
	size_t n = strlen(word);

	if (s->kind != TOKEN_WORD || left(&s->token) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (to_upper(s->token.at[i]) != (uint8_t)word[i])
			return false;
	return true;
}

/* Which of n words the token is; NULL: none. */
static const char *find_word(const struct sql *s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_token(s, words[i]))
			return words[i];
	return NULL;
}

/* A star for what is no name, or for one more of it. */
static void put_star(struct route_writer *w)
{
	if (w->len && w->route->name[w->len - 1] != '*')
		route_put(w, '*');
}

void route_put_table(struct route_writer *w, struct bytes name)
{
	size_t begin = w->len;

	while (name.at < name.end && w->len - begin < TABLE_MAX) {
		const uint8_t *digits = name.at;

		while (digits < name.end && is_digit(*digits))
			digits++;
		if (digits - name.at >= TABLE_DIGITS) {
			put_star(w);
			name.at = digits;
		} else if (is_letter(*name.at) || is_digit(*name.at) || *name.at == '_') {
			route_put(w, to_lower(*name.at++));
		} else {
			put_star(w);
			name.at++;
		}
	}
}

/* Puts the table of which the name is the token: of a.b.c the last. */
static void put_table(struct route_writer *w, struct sql *s)
{
	struct bytes name = s->token;

	if (s->kind != TOKEN_WORD && s->kind != TOKEN_QUOTED)
		return;
	while (peek(&s->left) == '.') {
		s->left.at++;
		next_token(s);
		if (s->kind != TOKEN_WORD && s->kind != TOKEN_QUOTED)
			break;
		name = s->token;
	}
	if (!left(&name))
		return;
	route_put(w, ' ');
	if (s->is_cut && name.end == s->left.end)
		route_put(w, '*');
	else
		route_put_table(w, name);
}

/* Words between a verb and a table. */
static bool is_filler(const struct sql *s)
{
	static const char *const fillers[] = { "ONLY",	  "LATERAL",	   "IGNORE", "LOW_PRIORITY",
					       "DELAYED", "TABLE",	   "TABLES", "QUICK",
					       "OR",	  "ROLLBACK",	   "ABORT",  "REPLACE",
					       "FAIL",	  "HIGH_PRIORITY", "IF",     "EXISTS" };

	return find_word(s, fillers, ARRAY_SIZE(fillers));
}

static void put_next_table(struct route_writer *w, struct sql *s)
{
	do
		next_token(s);
	while (is_filler(s));
	put_table(w, s);
}

/*
 * The table of a SELECT or DELETE: behind the first FROM of the outermost level, else of a SELECT
 * in brackets; of one whose FROM has not been read, the table of its first column.
 */
static void put_from(struct route_writer *w, struct sql *s)
{
	size_t depth = s->depth;
	struct sql inner = { 0 }, column = { 0 };

	s->is_select |= 1ull << depth;
	while (next_token(s), s->kind != TOKEN_END) {
		if (is_token(s, "SELECT")) {
			s->is_select |= 1ull << s->depth;
		} else if (is_token(s, "FROM") && s->depth == depth) {
			next_token(s);
			while (is_filler(s))
				next_token(s);
			if (s->kind == TOKEN_WORD || s->kind == TOKEN_QUOTED) {
				put_table(w, s);
				return;
			}
			depth = DEPTHS; /* a SELECT in brackets */
		} else if (is_token(s, "FROM") && s->is_select >> s->depth & 1 && !inner.kind) {
			inner = *s;
		} else if (s->kind == TOKEN_QUOTED && peek(&s->left) == '.' && !column.kind) {
			column = *s;
		}
	}
	if (inner.kind) {
		put_next_table(w, &inner);
	} else if (column.kind) {
		route_put(w, ' ');
		route_put_table(w, column.token);
	}
}

/* The statement behind "WITH a AS (...), b AS (...)". Returns its verb, or NULL. */
static const char *skip_with(struct sql *s)
{
	static const char *const main_verbs[] = { "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE" };
	size_t depth = s->depth;
	const char *verb = NULL;

	while (!verb && (next_token(s), s->kind != TOKEN_END))
		if (s->depth == depth)
			verb = find_word(s, main_verbs, ARRAY_SIZE(main_verbs));
	return verb;
}

/* What comes behind a verb, if that is about a table. */
static void put_object(struct route_writer *w, struct sql *s, const char *verb)
{
	static const char *const of_table[] = { "UPDATE", "TRUNCATE", "LOCK", "CALL", "COPY" };
	static const char *const into[] = { "INSERT", "REPLACE", "MERGE" };
	static const char *const of_thing[] = { "CREATE", "ALTER", "DROP" };
	const char *thing = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(of_table); i++)
		if (!strcmp(verb, of_table[i]))
			put_next_table(w, s);
	for (size_t i = 0; i < ARRAY_SIZE(into); i++)
		if (!strcmp(verb, into[i])) {
			do
				next_token(s);
			while (is_filler(s));
			if (is_token(s, "INTO"))
				put_next_table(w, s);
			else
				put_table(w, s);
		}
	for (size_t i = 0; i < ARRAY_SIZE(of_thing); i++)
		while (!strcmp(verb, of_thing[i]) && !thing && s->kind != TOKEN_END) {
			next_token(s);
			thing = find_word(s, things, ARRAY_SIZE(things));
		}
	if (thing) {
		route_put_text(w, " ");
		route_put_text(w, thing);
	}
	if (!strcmp(verb, "SELECT") || !strcmp(verb, "DELETE"))
		put_from(w, s);
}

bool route_put_sql(struct route_writer *w, struct bytes sql, bool is_cut)
{
	struct sql s = { .left = sql, .is_cut = is_cut };
	const char *verb, *main_verb;

	do
		next_token(&s);
	while (s.kind == TOKEN_OTHER && left(&s.token) == 1 && *s.token.at == '(');
	verb = find_word(&s, verbs, ARRAY_SIZE(verbs));
	if (!verb)
		return false;
	if (!strcmp(verb, "WITH")) {
		main_verb = skip_with(&s);
		if (main_verb)
			verb = main_verb;
	}
	route_put_text(w, verb);
	put_object(w, &s, verb);
	return true;
}
