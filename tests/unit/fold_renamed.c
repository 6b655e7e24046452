// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What changes names alone, and no time: objects, in full, by class or not at all (chain-semantics,
 * section 10), and --plain-ends (section 11). Lines whose names are changed by hand and added up
 * are those that the option gives, to the nanosecond.
 */
#include "test.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_many.h"

struct line {
	char *text;
	uint64_t ns;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Changes names in a line, which is without its weight. Its length at most doubles. */
typedef void (*renamer)(const struct trace *t, char *text);

/* ---- how lines without their weight are renamed ---------------------------------------------- */

/* Makes the end of a chain the plain one. */
static void make_plain(const struct trace *t, char *text)
{
	static const char *const ends[] = { ";[timer]", ";[network]" };

	(void)t;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t len = strlen(text), n = strlen(ends[i]);

		if (len >= n && !strcmp(text + len - n, ends[i]))
			strcpy(text + len - n, ";[interrupt]");
	}
	/* What stands above these is not shown either. */
	if (strstr(text, ";[disk "))
		strcpy(strstr(text, ";[disk "), ";[interrupt]");
	if (strstr(text, ";[network];["))
		strcpy(strstr(text, ";[network];["), ";[interrupt]");
}

/* Cuts off the socket above [network], and above a timer of TCP there; it is the result, or "". */
static char *cut_socket(char *text)
{
	static const char *const timers[] = { ";[tcp delayed ack]", ";[tcp retransmit]",
					      ";[tcp accept queue full]" };
	char *at = strstr(text, ";[network];["), *socket;

	if (!at)
		return strdup("");
	at += strlen(";[network]");
	for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++)
		if (!strncmp(at, timers[i], strlen(timers[i])))
			at += strlen(timers[i]);
	socket = strdup(at);
	*at = '\0';
	return socket;
}

/* "[tcp 10.0.0.5:80 server/7]" becomes "[tcp]" in the head, before the first link, and at the end.
 */
static void make_classes(const struct trace *t, char *text)
{
	char *socket = cut_socket(text), *end = strstr(text, ";--;"), *p = text, *space, *close;

	(void)t;
	while ((p = strstr(p, ";[")) && (!end || p < end)) {
		close = strstr(++p, "];");
		space = strchr(p, ' ');
		if (!close || !space || space > close || !strncmp(p, "[unknown ", 9))
			continue;
		if (end)
			end -= close - space;
		memmove(space, close, strlen(close) + 1);
	}
	space = strchr(socket, ' ');
	if (space)
		strcpy(space, "]");
	strcat(text, socket);
	free(socket);
}

/* Whether the frame of len bytes is the class of an object of the trace: "[tcp]". */
static bool is_class(const struct trace *t, const char *frame, size_t len)
{
	for (uint32_t i = 1; i < trace_objects_end(t); i++) {
		const struct trace_object *o = trace_object(t, i);
		const char *class = o ? trace_string(t, o->class) : "";

		if (len == strlen(class) + 2 && *frame == '[' && frame[len - 1] == ']' &&
		    !memcmp(frame + 1, class, len - 2))
			return true;
	}
	return false;
}

/* Leaves out the classes in the head, before the first link, and at the end. */
static void make_none(const struct trace *t, char *text)
{
	char *socket = cut_socket(text);
	char *name_end = strchr(text, ';'), *p = name_end, *end, *links = strstr(text, ";--;");

	free(socket);
	while (p && *p && p != links) {
		end = strchrnul(p + 1, ';');
		if (is_class(t, p + 1, (size_t)(end - p) - 1)) {
			if (links)
				links -= end - p;
			memmove(p, end, strlen(end) + 1);
		} else {
			p = end;
		}
	}
	/* Nothing of the user's is there that the kernel's part is to be told from. */
	if (name_end && !strncmp(name_end, ";-;", 3))
		memmove(name_end, name_end + 2, strlen(name_end + 2) + 1);
}

/*
 * Leaves out where it ran. The time of a line is divided by the samples of that line alone: lines
 * that differ by their object have fewer each, or none.
 */
static void cut_places(const struct trace *t, char *text)
{
	static const char *const ends[] = { ";[running];", ";[on-CPU];" };

	(void)t;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *end = strstr(text, ends[i]);

		if (end)
			end[strlen(ends[i]) - 1] = '\0';
	}
}

static void make_classes_and_cut(const struct trace *t, char *text)
{
	make_classes(t, text);
	cut_places(t, text);
}

static void make_none_and_cut(const struct trace *t, char *text)
{
	make_none(t, text);
	cut_places(t, text);
}

/* Folded lines renamed, sorted and added up. To be freed. */
static char *renamed(const struct trace *t, const char *folded, renamer rename)
{
	struct line *lines = NULL;
	size_t n = 0, cap = 0, len;
	char *copy = malloc(2 * strlen(folded) + 1), *at = copy, *text;
	FILE *out = open_memstream(&text, &len);

	for (const char *p = folded, *end; *p; p = end + 1) {
		const char *weight;

		end = strchr(p, '\n');
		weight = memrchr(p, ' ', (size_t)(end - p));
		if (n == cap)
			lines = realloc(lines, (cap = 2 * cap + 64) * sizeof(*lines));
		memcpy(at, p, (size_t)(weight - p));
		at[weight - p] = 0;
		rename(t, at);
		lines[n++] = (struct line) { at, strtoull(weight, NULL, 10) };
		at += strlen(at) + 1;
	}
	if (n)
		qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0, k; i < n; i = k) {
		uint64_t ns = 0;

		for (k = i; k < n && !strcmp(lines[i].text, lines[k].text); k++)
			ns += lines[k].ns;
		fprintf(out, "%s %" PRIu64 "\n", lines[i].text, ns);
	}
	fclose(out);
	free(lines);
	free(copy);
	return text;
}

/* ---- each option on many traces -------------------------------------------------------------- */

/* Lines of the first options, renamed, are those of the others, renamed in their way (or NULL). */
static void expect_renamed(const struct trace *t, const char *name, const struct options *from,
			   renamer rename, const struct options *to, renamer other)
{
	char *named = trace_folded(t, from), *expected = trace_folded(t, to);
	char *got = renamed(t, named, rename);

	if (other) {
		char *cut = renamed(t, expected, other);

		free(expected);
		expected = cut;
	}
	if (strcmp(expected, got))
		print_message("%s\n", name);
	assert_string_equal(got, expected);
	free(named);
	free(expected);
	free(got);
}

static void only_names_differ(const struct trace *t, const char *name, void *arg)
{
	uint64_t *with_objects = arg;
	struct options o, other;
	char *text;

	for (int classic = 0; classic < 2; classic++) {
		options_init(&o);
		o.unit = UNIT_NS;
		o.parts = PART_ALL;
		o.mode = classic ? MODE_CLASSIC : MODE_EXACT;
		other = o;
		other.plain_ends = true;
		expect_renamed(t, name, &o, make_plain, &other, NULL);
		text = trace_folded(t, &other);
		assert_null(strstr(text, ";[timer] "));
		free(text);
		other = o;
		other.objects = OBJECTS_NONE;
		expect_renamed(t, name, &o, make_none_and_cut, &other, cut_places);
		other.objects = OBJECTS_FULL;
		expect_renamed(t, name, &other, make_classes_and_cut, &o, cut_places);
		text = trace_folded(t, &other);
		*with_objects += strstr(text, ";[futex ") != NULL;
		free(text);
	}
}

TEST(on_random_schedules)
{
	uint64_t with_objects = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		on_schedule(seed, SCHEDULE_WHOLE, only_names_differ, &with_objects);
		on_schedule(seed, SCHEDULE_LOSSY, only_names_differ, &with_objects);
	}
}

TEST(on_recorded_traces)
{
	uint64_t with_objects = 0;

	on_recorded(only_names_differ, &with_objects);
	assert_true(with_objects > 0);
}
