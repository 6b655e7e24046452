// SPDX-License-Identifier: GPL-2.0-or-later
#include "name_attr.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Links that open a page or a file. Others (javascript:, data:) could run script. */
static bool is_safe(const char *href)
{
	static const char *const schemes[] = { "http:", "https:", "mailto:", "file:" };
	size_t n = strcspn(href, ":/?#");

	if (href[n] != ':') /* relative */
		return true;
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (!strncasecmp(href, schemes[i], strlen(schemes[i])))
			return true;
	return false;
}

static char *unquote(char *value)
{
	size_t n = strlen(value);

	if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
		value[n - 1] = 0;
		return value + 1;
	}
	return value;
}

static int set(char **to, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

static int take(struct name_attrs *a, struct name_attr *at, char *pair)
{
	char *value = strchr(pair, '=');

	if (value) {
		*value = 0;
		value = unquote(value + 1);
		if (!strcmp(pair, "title"))
			return set(&at->title, value);
		if (!strcmp(pair, "target"))
			return set(&at->target, value);
		if ((!strcmp(pair, "href") || !strcmp(pair, "xlink:href")) && is_safe(value))
			return set(&at->href, value);
	}
	a->ignored++;
	return 0;
}

static int take_line(struct name_attrs *a, char *line, uint64_t number)
{
	char *pair, *rest = strchr(line, '\t');
	uint32_t id;
	int err;

	line[strcspn(line, "\r\n")] = 0;
	if (!*line)
		return 0;
	if (!rest) {
		if (!a->first_wrong)
			a->first_wrong = number;
		return 0;
	}
	*rest++ = 0;
	err = name_table_add(&a->names, line, strlen(line), &id);
	if (err)
		return err;
	if (id >= a->cap) {
		uint32_t cap = a->cap ? a->cap * 2 : 64;
		struct name_attr *p = realloc(a->attr, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		a->attr = p;
		a->cap = cap;
	}
	if (id == a->known)
		a->attr[a->known++] = (struct name_attr) { 0 };
	while (!err && (pair = strsep(&rest, "\t")))
		if (*pair)
			err = take(a, &a->attr[id], pair);
	return err;
}

int name_attrs_load(struct name_attrs *a, const char *file)
{
	FILE *f = fopen(file, "re");
	uint64_t number = 0;
	char *line = NULL;
	size_t cap = 0;
	int err;

	memset(a, 0, sizeof(*a));
	if (!f)
		return -errno;
	err = name_table_init(&a->names);
	while (!err && getline(&line, &cap, f) >= 0)
		err = take_line(a, line, ++number);
	if (!err && ferror(f))
		err = -EIO;
	free(line);
	fclose(f);
	return err;
}

void name_attrs_free(struct name_attrs *a)
{
	for (uint32_t i = 0; a->attr && i < a->known; i++) {
		free(a->attr[i].title);
		free(a->attr[i].href);
		free(a->attr[i].target);
	}
	free(a->attr);
	name_table_free(&a->names);
	memset(a, 0, sizeof(*a));
}

const struct name_attr *name_attrs_find(struct name_attrs *a, const char *name, size_t len)
{
	uint32_t id;

	if (!a->known || name_table_add(&a->names, name, len, &id) || id >= a->known)
		return NULL;
	return &a->attr[id];
}
