// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

const struct options_part_word options_part_words[] = { { "blocked", PART_BLOCKED },
							{ "runnable", PART_RUNNABLE },
							{ "preempted", PART_PREEMPTED },
							{ "running", PART_RUNNING },
							{ NULL, 0 } };

void options_init(struct options *o)
{
	*o = (struct options) {
		.depth = OPTIONS_DEPTH_DEFAULT,
		.format = "folded",
		.to_ns = UINT64_MAX,
		.max_wait_ns = UINT64_MAX,
		.parts = PART_BLOCKED | PART_RUNNABLE,
		.kernel = true,
		.user = true,
		.root = ROOT_NONE,
		.rows = ROWS_ALL,
		.bucket_ns = OPTIONS_BUCKET_NS,
		.color_when = WHEN_AUTO,
	};
}

void id_list_add(struct id_list *l, uint32_t id)
{
	l->ids = xreallocarray(l->ids, l->n + 1, sizeof(*l->ids));
	l->ids[l->n++] = id;
}

bool id_list_has(const struct id_list *l, uint32_t id)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->ids[i] == id)
			return true;
	return false;
}

int regex_list_add(struct regex_list *l, const char *text, char *why, size_t why_size)
{
	int err;

	l->regex = xreallocarray(l->regex, l->n + 1, sizeof(*l->regex));
	l->text = xreallocarray(l->text, l->n + 1, sizeof(*l->text));
	err = regcomp(&l->regex[l->n], text, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, NULL, why, why_size);
		return -EINVAL;
	}
	l->text[l->n++] = text;
	return 0;
}

void path_list_add(struct path_list *l, const char *path)
{
	l->paths = xreallocarray(l->paths, l->n + 1, sizeof(*l->paths));
	l->paths[l->n++] = path;
}

void word_list_add(struct word_list *l, const char *word, size_t len)
{
	l->words = xreallocarray(l->words, l->n + 1, sizeof(*l->words));
	l->words[l->n++] = xstrndup(word, len);
}

bool word_list_has(const struct word_list *l, const char *word)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->words[i], word))
			return true;
	return false;
}

void word_list_free(struct word_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->words[i]);
	free(l->words);
	*l = (struct word_list) { NULL, 0 };
}

static void free_regexes(struct regex_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		regfree(&l->regex[i]);
	free(l->regex);
	free(l->text);
	*l = (struct regex_list) { .n = 0 };
}

static void free_processes(struct process_list *l)
{
	free(l->ids.ids);
	free(l->names.paths);
	*l = (struct process_list) { .ids = { NULL, 0 } };
}

void options_free(struct options *o)
{
	free_processes(&o->processes);
	free_processes(&o->trees);
	free(o->tids.ids);
	o->tids = (struct id_list) { NULL, 0 };
	free(o->debug_dirs.paths);
	o->debug_dirs = (struct path_list) { NULL, 0 };
	free_regexes(&o->names);
	free_regexes(&o->groups);
	free_regexes(&o->within);
	free_regexes(&o->without);
	free_regexes(&o->waits_for);
	free_regexes(&o->endpoints);
	word_list_free(&o->classes);
}

bool regex_list_names(const struct regex_list *l, size_t i, const char *s)
{
	return strstr(s, l->text[i]) || !regexec(&l->regex[i], s, 0, NULL, 0);
}

bool regex_list_match(const struct regex_list *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!regexec(&l->regex[i], s, 0, NULL, 0))
			return true;
	return false;
}
