// SPDX-License-Identifier: GPL-2.0-or-later
#include "option_values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/duration.h"
#include "format_table.h"

static int out_of_memory(struct setting *s)
{
	setting_complain(s, "out of memory");
	return -ENOMEM;
}

/* The value is not what it has to be. */
static int complain_value(struct setting *s, const char *value, const char *what)
{
	return setting_complain(s, "%s: '%s' is %s", s->name, value, what);
}

static int set_number(struct setting *s, const char *value, uint64_t max, uint64_t *v)
{
	if (parse_number(value, max, v))
		return 0;
	return setting_complain(s, "%s: '%s' is not a number from 0 to %llu", s->name, value,
				(unsigned long long)max);
}

int set_depth(struct setting *s, const char *value)
{
	uint64_t v = 0;
	int err = set_number(s, value, OPTIONS_DEPTH_MAX, &v);

	if (!err)
		*(uint32_t *)s->member = (uint32_t)v;
	return err;
}

int set_top(struct setting *s, const char *value)
{
	return set_number(s, value, UINT32_MAX, s->member);
}

int set_seconds(struct setting *s, const char *value)
{
	if (duration_parse(value, 1000000000, s->member))
		return 0;
	return complain_value(s, value, "not a number of seconds, such as 1.5");
}

int set_duration(struct setting *s, const char *value)
{
	if (duration_parse(value, 0, s->member))
		return 0;
	return complain_value(s, value, "not a time with a unit, such as 10us, 2ms or 1s");
}

int add_id(struct setting *s, const char *value)
{
	uint64_t v;

	if (!parse_number(value, TRACE_TID_LIMIT - 1, &v))
		return complain_value(s, value, "not a process or thread id");
	return id_list_add(s->member, (uint32_t)v) ? out_of_memory(s) : 0;
}

int add_process(struct setting *s, const char *value)
{
	struct process_list *l = s->member;
	uint64_t v;

	if (parse_number(value, TRACE_TID_LIMIT - 1, &v))
		return id_list_add(&l->ids, (uint32_t)v) ? out_of_memory(s) : 0;
	if (!*value || (*value >= '0' && *value <= '9'))
		return complain_value(s, value, "neither a process id nor a name");
	return path_list_add(&l->names, value) ? out_of_memory(s) : 0;
}

int add_regex(struct setting *s, const char *value)
{
	char why[128];
	int err = regex_list_add(s->member, value, why, sizeof(why));

	if (err == -EINVAL)
		return setting_complain(s, "%s: '%s': %s", s->name, value, why);
	return err ? out_of_memory(s) : 0;
}

int add_path(struct setting *s, const char *value)
{
	struct stat st;

	if (stat(value, &st))
		return complain_value(s, value, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return complain_value(s, value, "not a folder");
	return path_list_add(s->member, value) ? out_of_memory(s) : 0;
}

int add_words(struct setting *s, const char *value)
{
	size_t len;

	for (const char *word = value;; word += len + 1) {
		len = strcspn(word, ",");
		if (!len)
			return complain_value(s, value, "not a list of words, such as tcp,file");
		if (word_list_add(s->member, word, len))
			return out_of_memory(s);
		if (!word[len])
			return 0;
	}
}

int set_format(struct setting *s, const char *value)
{
	const struct format *f = format_find(value);
	struct options *o = s->options;
	char list[256] = "none of: ";
	size_t n = strlen(list);

	if (f) {
		o->format = f->name;
		o->format_given = true;
		return 0;
	}
	for (size_t i = 0; (f = format_at(i)) && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", f->name);
	return complain_value(s, value, list);
}

/* The parts that a word of len bytes names; 0: none. */
static unsigned int parts_of(const char *word, size_t len)
{
	for (const struct options_part_word *w = options_part_words; w->word; w++)
		if (strlen(w->word) == len && !strncmp(word, w->word, len))
			return w->part;
	return len == strlen("all") && !strncmp(word, "all", len) ? PART_ALL : 0;
}

int set_states(struct setting *s, const char *value)
{
	struct options *o = s->options;
	char *states = o->states;
	unsigned int parts = 0;
	size_t n_states = 0, len;

	states[0] = 0;
	for (const char *item = value;; item += len + 1) {
		len = strcspn(item, ",");
		if (parts_of(item, len)) {
			parts |= parts_of(item, len);
		} else if (len == 1 && strchr("SDITtP", *item)) {
			if (!strchr(states, *item)) {
				states[n_states++] = *item;
				states[n_states] = 0;
			}
		} else {
			return setting_complain(s,
						"%s: '%.*s' is none of: blocked, runnable, "
						"preempted, running, all, S, D, I, T, t, P",
						s->name, (int)(len < 40 ? len : 40), item);
		}
		if (!item[len])
			break;
	}
	/* Letters select sleeps; a preempted interval is no sleep, so both would select nothing. */
	if (parts == PART_PREEMPTED && n_states)
		parts |= PART_BLOCKED | PART_RUNNABLE;
	if (parts) {
		o->parts = parts;
		o->given |= GIVEN_PARTS;
	}
	return 0;
}

int set_output(struct setting *s, const char *value)
{
	set_text(s, value);
	return *value ? 0 : setting_complain(s, "%s: the file name is empty", s->name);
}
