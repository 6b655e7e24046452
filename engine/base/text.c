// SPDX-License-Identifier: GPL-2.0-or-later
#include "text.h"
#include "common/xalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void text_put(struct text_buf *b, const char *s, size_t len)
{
	if (!len)
		return;
	if (b->cap - b->len <= len) {
		size_t cap = b->cap * 2 + len + 256;
		char *p = xreallocarray(b->p, 1, cap);

		b->p = p;
		b->cap = cap;
	}
	memcpy(b->p + b->len, s, len);
	b->len += len;
	b->p[b->len] = '\0';
}

void text_puts(struct text_buf *b, const char *s)
{
	text_put(b, s, strlen(s));
}

/* The bytes of the character or SGR sequence at s, which is not the end; *columns: 1 or 0. */
static size_t character_at(const char *s, size_t *columns)
{
	size_t len = 1;

	*columns = *s != '\033';
	if (*s == '\033') {
		len += strspn(s + 1, "[0123456789;");
		return len + (s[len] == 'm');
	}
	while (((unsigned char)s[len] & 0xc0) == 0x80)
		len++;
	return len;
}

size_t text_columns(const char *s, size_t len)
{
	size_t all = 0, columns;

	for (size_t i = 0; i < len && s[i]; all += columns)
		i += character_at(s + i, &columns);
	return all;
}

size_t text_fitting(const char *s, size_t columns)
{
	size_t i = 0, next, takes;

	for (; s[i]; i += next) {
		next = character_at(s + i, &takes);
		if (takes > columns)
			break;
		columns -= takes;
		if (!columns && takes)
			return i + next;
	}
	return i;
}

/* The bytes of "+0x4e40" at s if a bracket ends it; 0: it is nothing of that kind. */
static size_t address_at(const char *s)
{
	size_t digits = !strncmp(s, "+0x", 3) ? strspn(s + 3, "0123456789abcdef") : 0;

	return digits && s[3 + digits] == ']' ? 3 + digits : 0;
}

/* The bytes of " 7:0x10" at s if s[-len] to s is the name of a class of objects that have numbers.
 */
static size_t object_number_at(const char *s, size_t len)
{
	static const char *const classes[] = { "futex",	   "epoll",   "pipe",	"eventfd",
					       "signalfd", "timerfd", "inotify" };

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (len == strlen(classes[i]) && !memcmp(s - len, classes[i], len) && *s == ' ' &&
		    s[1] >= '0' && s[1] <= '9')
			return 1 + strcspn(s + 1, " ,;)");
	return 0;
}

void text_drop_addresses(char *s)
{
	char *to = s;
	size_t word = 0, drop; /* bytes of the word before s */

	while (*s) {
		drop = address_at(s);
		if (!drop && *s == ' ')
			drop = object_number_at(s, word);
		if (drop) {
			s += drop;
			word = 0;
			continue;
		}
		word = *s == ' ' || *s == '(' || *s == ':' ? 0 : word + 1;
		*to++ = *s++;
	}
	*to = '\0';
}

void text_free(struct text_buf *b)
{
	free(b->p);
	*b = (struct text_buf) { .p = NULL };
}

void text_put_plain(struct text_buf *b, const char *s)
{
	while (*s) {
		size_t hex = !strncmp(s, "0x", 2) ? 2 + strspn(s + 2, "0123456789abcdef") : 0;
		size_t digits = strspn(s, "0123456789");

		if (hex || digits) {
			text_puts(b, "*");
			s += hex > digits ? hex : digits;
		} else {
			text_put(b, s++, 1);
		}
	}
}

FILE *print_about(FILE *out, const char *name)
{
	fputs("chainwalk: ", out);
	print_clean(out, name);
	fputs(": ", out);
	return out;
}

void print_html(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;

	for (size_t len; *s; s += len) {
		len = clean_next(s, &c);
		if (!c)
			putc('?', out);
		else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
			fprintf(out, "&#%d;", (int)c);
		else
			fwrite(s, 1, len, out);
	}
}

const char *text_ms(char text[TEXT_MS_SIZE], uint64_t ns)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, ns / 1000000), len = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text[len++] = ' ';
		text[len++] = digits[i];
	}
	snprintf(text + len, TEXT_MS_SIZE - (size_t)len, ".%03" PRIu64, ns / 1000 % 1000);
	return text;
}
