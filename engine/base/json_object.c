// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_object.h"

#include <inttypes.h>
#include <string.h>

#define GAP "..."

/* What is before a member: a comma, unless it is the first; and its key. */
static void put_key(struct json_object *j, const char *key)
{
	if (j->b.len && !strchr("{[", j->b.p[j->b.len - 1]))
		text_puts(&j->b, ",");
	if (!key)
		return;
	json_string(&j->b, key);
	text_puts(&j->b, ":");
}

void json_begin(struct json_object *j, const char *key, char bracket)
{
	put_key(j, key);
	text_put(&j->b, &bracket, 1);
}

void json_end(struct json_object *j, char bracket)
{
	text_put(&j->b, &bracket, 1);
}

/* The bytes of a character of a string of JSON: an escape, for two halves of one both; or UTF-8. */
static size_t character(const char *s)
{
	size_t len = 1;

	if (*s == '\\' && s[1] == 'u')
		return s[2] == 'd' && strchr("89ab", s[3]) ? 12 : 6;
	if (*s == '\\')
		return 2;
	while (((unsigned char)s[len] & 0xc0) == 0x80)
		len++;
	return len;
}

/* A string of JSON, as much of it as there is room for. */
static void put_cut(struct json_object *j, const char *s, size_t len)
{
	size_t room = j->most > sizeof(GAP) + 1 ? j->most - sizeof(GAP) - 1 : 0;
	size_t head = 1, tail = 1;

	while (head + character(s + head) <= 1 + room / 2)
		head += character(s + head);
	while (len - 1 - tail > room / 2)
		tail += character(s + tail);
	text_put(&j->b, s, head);
	text_puts(&j->b, GAP);
	text_put(&j->b, s + tail, len - tail);
}

void json_text(struct json_object *j, const char *key, const char *text)
{
	struct text_buf whole = { 0 };

	put_key(j, key);
	if (!text || !*text) {
		text_puts(&j->b, "null");
		return;
	}
	json_string(&whole, text);
	j->b.failed |= whole.failed;
	if (whole.failed)
		;
	else if (j->most && whole.len > j->most)
		put_cut(j, whole.p, whole.len);
	else
		text_put(&j->b, whole.p, whole.len);
	text_free(&whole);
}

void json_whole_text(struct json_object *j, const char *key, const char *text)
{
	size_t most = j->most;

	j->most = 0;
	json_text(j, key, most && strlen(text) > JSON_WHOLE_MOST ? NULL : text);
	j->most = most;
}

void json_number(struct json_object *j, const char *key, uint64_t n)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, n);
	put_key(j, key);
	text_puts(&j->b, number);
}

void json_signed(struct json_object *j, const char *key, int64_t n)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, n);
	put_key(j, key);
	text_puts(&j->b, number);
}

void json_decimal(struct json_object *j, const char *key, double n)
{
	char number[340];

	snprintf(number, sizeof(number), "%.3f", n);
	put_key(j, key);
	text_puts(&j->b, number);
}

void json_bool(struct json_object *j, const char *key, bool is)
{
	put_key(j, key);
	text_puts(&j->b, is ? "true" : "false");
}
