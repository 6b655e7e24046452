/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_object.h - a JSON text in the making, member by member: all that is written as JSON. A key
 * is NULL in a list and for what is in nothing else; others are words of ours, and stand as they
 * are.
 */
#pragma once

#include "text.h"

/* All zero is empty. To be freed with text_free(&b). */
struct json_object {
	struct text_buf b;
	/* Strings of more bytes, with quotes and escapes, are cut in the middle; 0: none are. */
	size_t most;
	bool in_page; /* '<', which would end an element of a page, is escaped, too */
	bool on_line; /* the next member begins a line */
};

/*
 * Adds s to b as a JSON string, in quotes, always well-formed UTF-8: each byte that is not part of
 * well-formed UTF-8 becomes U+FFFD; quotes, backslashes and control characters are escaped.
 */
void json_string(struct text_buf *b, const char *s);

/* Begins an object or a list, by '{' or '['; ends it, by '}' or ']'. */
void json_begin(struct json_object *j, const char *key, char bracket);
void json_end(struct json_object *j, char bracket);
/* As json_begin(), on a line of its own. */
void json_on_line(struct json_object *j, const char *key, char bracket);
/* A text that may be empty. null: NULL. */
void json_exact(struct json_object *j, const char *key, const char *text);
/* null: "" or NULL. */
void json_text(struct json_object *j, const char *key, const char *text);
/* A text that is of use only whole: null if it is cut, which it is at JSON_WHOLE_MOST bytes. */
#define JSON_WHOLE_MOST 256
void json_whole_text(struct json_object *j, const char *key, const char *text);
/* What is JSON already. */
void json_ready(struct json_object *j, const char *key, const char *json);
void json_number(struct json_object *j, const char *key, uint64_t n);
void json_signed(struct json_object *j, const char *key, int64_t n);
/* With three digits behind the point. */
void json_decimal(struct json_object *j, const char *key, double n);
void json_bool(struct json_object *j, const char *key, bool is);
/* Writes it and begins anew; what failed stays so. */
void json_flush(struct json_object *j, FILE *out);
