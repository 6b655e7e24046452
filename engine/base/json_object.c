// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_object.h"

#include <string.h>

#define GAP "..."
#define REPLACEMENT 0xfffdu

static void put_escape(struct text_buf *b, uint32_t c)
{
	char escape[16];

	if (c < 0x10000)
		snprintf(escape, sizeof(escape), "\\u%04x", (unsigned int)c);
	else /* two halves */
		snprintf(escape, sizeof(escape), "\\u%04x\\u%04x",
			 0xd7c0u + (unsigned int)(c >> 10), 0xdc00u + (unsigned int)(c & 0x3ff));
	text_puts(b, escape);
}

static bool is_plain(unsigned char c, bool in_page)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && (c != '<' || !in_page);
}

static void put_string(struct text_buf *b, const char *text, bool in_page)
{
	const unsigned char *s = (const unsigned char *)text, *from = s;
	uint32_t c;
	size_t len;

	text_put(b, "\"", 1);
	for (;; from = s) {
		while (is_plain(*s, in_page))
			s++;
		text_put(b, (const char *)from, (size_t)(s - from));
		if (!*s)
			break;
		len = utf8_read(s, &c);
		if (*s == '"' || *s == '\\')
			text_puts(b, *s == '"' ? "\\\"" : "\\\\");
		else if (*s == '<' || !len || utf8_is_unprintable(c))
			put_escape(b, len ? c : REPLACEMENT);
		else
			text_put(b, (const char *)s, len);
		s += len ? len : 1;
	}
	text_put(b, "\"", 1);
}

void json_string(struct text_buf *b, const char *s)
{
	put_string(b, s, false);
}

/* What is before a member: a comma, unless it is the first; and its key. */
static void put_key(struct json_object *j, const char *key)
{
	char last = '[';

	if (j->b.len)
		last = j->b.p[j->b.len - 1];
	if (last != '[' && last != '{')
		text_put(&j->b, ",\n", 1 + j->on_line);
	j->on_line = false;
	if (!key)
		return;
	text_put(&j->b, "\"", 1);
	text_puts(&j->b, key);
	text_put(&j->b, "\":", 2);
}

void json_begin(struct json_object *j, const char *key, char bracket)
{
	put_key(j, key);
	text_put(&j->b, &bracket, 1);
}

void json_on_line(struct json_object *j, const char *key, char bracket)
{
	j->on_line = true;
	json_begin(j, key, bracket);
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

/* Leaves of the string of JSON that begins there as much as there is room for. */
static void cut(struct json_object *j, size_t begin)
{
	size_t room = j->most > sizeof(GAP) + 1 ? j->most - sizeof(GAP) - 1 : 0;
	size_t head = 1, tail = 1, len = j->b.len - begin;
	char *s = j->b.p + begin;

	while (head + character(s + head) <= 1 + room / 2)
		head += character(s + head);
	while (len - 1 - tail > room / 2)
		tail += character(s + tail);
	if (tail - head < sizeof(GAP) - 1)
		return;
	memmove(s + head + sizeof(GAP) - 1, s + tail, len - tail + 1);
	memcpy(s + head, GAP, sizeof(GAP) - 1);
	j->b.len = begin + head + sizeof(GAP) - 1 + len - tail;
}

void json_exact(struct json_object *j, const char *key, const char *text)
{
	size_t begin;

	put_key(j, key);
	begin = j->b.len;
	if (text)
		put_string(&j->b, text, j->in_page);
	else
		text_puts(&j->b, "null");
	if (text && j->most && j->b.len - begin > j->most)
		cut(j, begin);
}

void json_text(struct json_object *j, const char *key, const char *text)
{
	json_exact(j, key, text && *text ? text : NULL);
}

void json_whole_text(struct json_object *j, const char *key, const char *text)
{
	size_t most = j->most;

	j->most = 0;
	json_text(j, key, most && strlen(text) > JSON_WHOLE_MOST ? NULL : text);
	j->most = most;
}

void json_ready(struct json_object *j, const char *key, const char *json)
{
	put_key(j, key);
	text_puts(&j->b, json);
}

/* A report has a million of them: without printf's format. */
static void put_number(struct json_object *j, const char *key, uint64_t n, bool negative)
{
	char text[1 + 20], *p = text + sizeof(text);

	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	if (negative)
		*--p = '-';
	put_key(j, key);
	text_put(&j->b, p, (size_t)(text + sizeof(text) - p));
}

void json_number(struct json_object *j, const char *key, uint64_t n)
{
	put_number(j, key, n, false);
}

void json_signed(struct json_object *j, const char *key, int64_t n)
{
	put_number(j, key, n < 0 ? -(uint64_t)n : (uint64_t)n, n < 0);
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

void json_flush(struct json_object *j, FILE *out)
{
	if (j->b.len)
		fwrite(j->b.p, 1, j->b.len, out);
	j->b.len = 0;
}
